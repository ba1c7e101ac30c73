"""`check_single`: Gymnasium environments, one learner against agents."""

from __future__ import annotations

import copy
import math
import random
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from fiveup_env.belief.resample import resample
from fiveup_env.rules.match import Match
from fiveup_env.testing.conformance_report import Broken, Checks, Report
from fiveup_env.testing.masks import MOST_STEPS, check_mask, check_same, check_space, chosen, is_that_match, mask_of
from fiveup_env.testing.same_bits import difference, kept, other_global_chance

CHECKS = {
    "api": "Gymnasium's own check_env passes",
    "mask": "the masks agree, and show no action that the rules forbid",
    "spaces": "every observation and every legal action is in its space",
    "rewards": "rewards are finite numbers",
    "seed": "the same seed gives the same bits, in a fresh environment and in a used one; another seed does not",
    "hidden": "what the learner gets is the same in other worlds that it cannot tell apart (R2.2, D6)",
    "unchanged": "what was handed out is not written to later, and writing to it changes nothing",
    "copy": "a deep copy in mid-episode goes on in the same way",
}
KEPT_WORLDS = 12


@dataclass(frozen=True)
class Step:
    """What `reset` or `step` gave, and the action that is taken next (None at the end)."""

    observation: Any
    reward: float
    over: bool
    info: dict[str, Any]
    action: int | None

    @property
    def seen(self) -> tuple[Any, ...]:
        """All of it, to compare."""
        return self.observation, self.reward, self.over, self.info, self.action


def check_single(make: Callable[[], gymnasium.Env], *, episodes: int, seed: int, skip: Collection[str]) -> Report:
    """See `check_env`."""
    checks = Checks(f"environment {make()}", CHECKS, skip)
    seeds = range(seed, seed + episodes)
    checks.run("api", lambda: _api(make))
    checks.each("mask", lambda s: _masks(make(), s), seeds)
    checks.each("spaces", lambda s: _spaces(make(), s), seeds)
    checks.each("rewards", lambda s: _rewards(make(), s), seeds)
    checks.run("seed", lambda: _seeds(make, seeds))
    checks.each("hidden", lambda s: _hidden(make, s), seeds)
    checks.each("unchanged", lambda s: _unchanged(make(), s), seeds)
    checks.each("copy", lambda s: _copies(make(), s), seeds)
    begun, steps = time.perf_counter(), sum(1 for s in seeds for _ in walk(make(), s))
    checks.figures["steps a second"] = steps / (time.perf_counter() - begun)
    return checks.report()


def walk(env: gymnasium.Env, seed: int) -> Iterator[Step]:
    """Play an episode at random; each step is yielded before its action is taken."""
    observation, info = env.reset(seed=seed)
    yield from _go_on(env, observation, info, random.Random(seed))


def _go_on(env: gymnasium.Env, observation: Any, info: dict[str, Any], chance: random.Random) -> Iterator[Step]:
    reward = 0.0
    for number in range(MOST_STEPS):
        action = chosen(mask_of(observation, info, f"at step {number}"), chance, f"at step {number}")
        yield Step(observation, reward, False, info, action)
        observation, given, terminated, truncated, info = env.step(action)
        reward = float(given)
        if terminated or truncated:
            yield Step(observation, reward, True, info, None)
            return
    raise Broken(f"the episode has not ended after {MOST_STEPS} steps")


def _match(env: gymnasium.Env) -> Match | None:
    match = getattr(env.unwrapped, "match", None)
    return match if isinstance(match, Match) else None


def _at(seed: int, number: int) -> str:
    return f"at step {number} of reset(seed={seed})"


def _api(make: Callable[[], gymnasium.Env]) -> None:
    from gymnasium.utils.env_checker import check_env as library_check

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of wrappers, and of bounds that are infinite
        library_check(make(), skip_render_check=True)


def _spaces(env: gymnasium.Env, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        check_space(env.observation_space, step.observation, "the observation", _at(seed, number))
        if step.action is not None:
            check_space(env.action_space, step.action, f"the legal action {step.action}", _at(seed, number))


def _masks(env: gymnasium.Env, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        if step.over:
            return
        where, match = _at(seed, number), _match(env)
        mask = mask_of(step.observation, step.info, where)
        check_mask(mask, None if match is None else match.action_mask(), where)
        try:
            asked = env.get_wrapper_attr("action_masks")()
        except AttributeError:
            continue
        if not np.array_equal(np.asarray(asked, bool), mask.astype(bool)):
            raise Broken(f"action_masks() and the mask that was observed do not agree {where}")


def _rewards(env: gymnasium.Env, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        if not math.isfinite(step.reward):
            raise Broken(f"the reward is {step.reward} {_at(seed, number)}")


def _traces(env: gymnasium.Env, seed: int) -> list[Any]:
    return [kept(step.seen) for step in walk(env, seed)]


def _seeds(make: Callable[[], gymnasium.Env], seeds: Collection[int]) -> None:
    used = make()
    for seed in seeds:
        with other_global_chance(seed + 1):
            one = _traces(make(), seed)
        with other_global_chance(seed + 2):
            two = _traces(used, seed)
        for number, (left, right) in enumerate(zip(one, two, strict=False)):
            why = "the same seed, two episodes (in a fresh environment and in a used one)"
            check_same(left, right, why, _at(seed, number))
    starts = [kept(make().reset(seed=seed)) for seed in range(min(seeds), min(seeds) + 6)]
    if all(difference(starts[0], other) is None for other in starts[1:]):
        raise Broken("six different seeds give the same start: the seed does not reach the environment")


def _hidden(make: Callable[[], gymnasium.Env], seed: int) -> None:
    env, chance, positions = make(), random.Random(seed), []
    for step in walk(env, seed):
        match = _match(env)
        if match is None:
            raise Broken("env.unwrapped.match is no Match of this package; skip this check for another base")
        if not step.over:
            positions.append((match, step.info.get("seat", match.turn)))
    one, other = make(), make()
    for match, seat in chance.sample(positions, min(KEPT_WORLDS, len(positions))):
        where = f"in round {match.round_number} after {len(match.history)} actions (match seed {match.seed})"
        seen = []
        for env, world in ((one, match), (other, resample(match, seat, chance.getrandbits(60)))):
            seen.append(kept(env.reset(seed=seed, options={"deal": world, "seat": seat})))
            if not is_that_match(_match(env), world):
                raise Broken("reset(options={'deal': match, 'seat': 0}) does not start from that match: pass them on")
        check_same(seen[0], seen[1], "other hands, boneyard and seed, and the learner sees something else", where)


def _unchanged(env: gymnasium.Env, seed: int) -> None:
    calm, handed = _traces(env, seed), []
    for number, step in enumerate(walk(env, seed)):
        handed.append((step.observation, kept(step.observation), number))
    for value, before, number in handed:
        why = f"the observation handed out at step {number} was changed by later steps"
        check_same(before, value, why, f"of reset(seed={seed})")
    scribbled = []
    for step in walk(env, seed):
        scribbled.append(kept(step.seen))
        _scribble(step.observation)
    for number, (left, right) in enumerate(zip(calm, scribbled, strict=False)):
        check_same(left, right, "writing to what was handed out changes the episode", _at(seed, number))


def _scribble(value: Any) -> None:
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value[...] = 0
    elif isinstance(value, dict):
        for part in value.values():
            _scribble(part)


def _copies(env: gymnasium.Env, seed: int) -> None:
    step = next(walk(env, seed))
    for number, step in enumerate(walk(env, seed)):
        if number == 5 or step.over:
            break
    if step.over:
        return
    twin = copy.deepcopy(env)
    seen, told = step.observation, step.info
    one = [kept(each.seen) for each in _go_on(env, kept(seen), kept(told), random.Random(seed))]
    two = [kept(each.seen) for each in _go_on(twin, kept(seen), kept(told), random.Random(seed))]
    for left, right in zip(one, two, strict=False):
        check_same(left, right, "a deep copy goes on in another way", f"after step 5 of reset(seed={seed})")
