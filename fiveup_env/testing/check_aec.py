"""`check_aec`: PettingZoo AEC environments."""

from __future__ import annotations

import contextlib
import copy
import io
import math
import random
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from fiveup_env.belief.resample import resample
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS, PASS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.testing.conformance_report import Broken, Checks, Report
from fiveup_env.testing.masks import MOST_STEPS, check_mask, check_same, check_space, chosen, is_that_match, mask_of
from fiveup_env.testing.same_bits import difference, kept, other_global_chance

CHECKS = {
    "api": "PettingZoo's own api_test passes",
    "mask": "the masks show no action that the rules forbid, and who is not to act has none",
    "spaces": "what every agent observes, and every legal action, is in its space",
    "rewards": "rewards are finite, and last() gives all since the agent's own last step",
    "end": "the episode ends for all agents, each is stepped with None, and nobody is left",
    "seed": "the same seed gives the same bits, in a fresh environment and in a used one; another seed does not",
    "hidden": "what an agent gets is the same in other worlds that it cannot tell apart (R2.2, D6)",
    "unchanged": "observing changes nothing, and what was handed out is not written to later",
    "copy": "a deep copy in mid-episode goes on in the same way",
}
KEPT_WORLDS, LOOK_AHEAD = 12, 3


@dataclass(frozen=True)
class Step:
    """What `last()` gave, what all observed, and the action that is taken next."""

    agent: str
    observation: Any
    reward: float
    over: bool
    info: dict[str, Any]
    action: int | None

    @property
    def seen(self) -> tuple[Any, ...]:
        """All of it, to compare."""
        return self.agent, self.observation, self.reward, self.over, self.info, self.action


def check_aec(make: Callable[[], AECEnv], *, episodes: int, seed: int, skip: Collection[str]) -> Report:
    """See `check_env`."""
    checks = Checks(f"environment {make()}", CHECKS, skip)
    seeds = range(seed, seed + episodes)
    checks.run("api", lambda: _api(make))
    checks.each("mask", lambda s: _masks(make(), s), seeds)
    checks.each("spaces", lambda s: _spaces(make(), s), seeds)
    checks.each("rewards", lambda s: _rewards(make(), s), seeds)
    checks.each("end", lambda s: _end(make(), s), seeds)
    checks.run("seed", lambda: _seeds(make, seeds))
    checks.each("hidden", lambda s: _hidden(make, s), seeds)
    checks.each("unchanged", lambda s: _unchanged(make(), s), seeds)
    checks.each("copy", lambda s: _copies(make(), s), seeds)
    begun, steps = time.perf_counter(), sum(1 for s in seeds for _ in walk(make(), s))
    checks.figures["steps a second"] = steps / (time.perf_counter() - begun)
    return checks.report()


def walk(env: AECEnv, seed: int, *, dealt: bool = False) -> Iterator[Step]:
    """Play an episode at random to its very end; each step is yielded before it is taken."""
    if not dealt:
        env.reset(seed=seed)
    yield from _go_on(env, random.Random(seed))


def _go_on(env: AECEnv, chance: random.Random) -> Iterator[Step]:
    for number in range(MOST_STEPS):
        if not env.agents:
            return
        agent, where = env.agent_selection, f"for {env.agent_selection} at step {number}"
        observation, reward, terminated, truncated, info = env.last()
        over = bool(terminated or truncated)
        action = None if over else chosen(mask_of(observation, info, where), chance, where)
        yield Step(agent, observation, float(reward), over, info, action)
        env.step(action)
    raise Broken(f"the episode has not ended after {MOST_STEPS} steps")


def _match(env: AECEnv) -> Match | None:
    """The match behind the wrappers, if this package's environment is there."""
    match = getattr(env.unwrapped, "match", None)
    return match if isinstance(match, Match) else None


def _at(env: AECEnv, agent: str, seed: int, number: int) -> str:
    return f"for {agent} at step {number} of reset(seed={seed})"


def _api(make: Callable[[], AECEnv]) -> None:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # It warns of observations that are dicts with a mask, unless the environment is on its own list.
        warnings.simplefilter("ignore")
        from pettingzoo.test import api_test

        api_test(make(), num_cycles=100)


def _spaces(env: AECEnv, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        for agent in env.agents:
            where = _at(env, agent, seed, number)
            check_space(env.observation_space(agent), env.observe(agent), "the observation", where)
        if step.action is not None:
            where = _at(env, step.agent, seed, number)
            check_space(env.action_space(step.agent), step.action, f"the legal action {step.action}", where)


def _masks(env: AECEnv, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        match, where = _match(env), _at(env, step.agent, seed, number)
        if not step.over:
            truth = None if match is None else match.action_mask()
            check_mask(mask_of(step.observation, step.info, where), truth, where)
        for other in env.agents:
            if other != step.agent or step.over:
                seen = env.observe(other)
                mask = mask_of(seen, env.infos[other], _at(env, other, seed, number))
                if np.any(mask):
                    raise Broken(f"a legal action though it is not its turn {_at(env, other, seed, number)}")


def _rewards(env: AECEnv, seed: int) -> None:
    owed: dict[str, float] = {}
    for number, step in enumerate(walk(env, seed)):
        where = _at(env, step.agent, seed, number)
        if number:  # what the step before this one paid
            for agent, paid in env.rewards.items():
                owed[agent] = owed.get(agent, 0.0) + float(paid)
        if not math.isfinite(step.reward):
            raise Broken(f"the reward is {step.reward} {where}")
        if not step.over and not math.isclose(step.reward, owed.get(step.agent, 0.0), rel_tol=1e-6, abs_tol=1e-6):
            due = owed.get(step.agent, 0.0)
            raise Broken(f"last() gives the reward {step.reward:g} {where}; since its own last step there were {due:g}")
        if step.over:
            return  # the first step with None pays nothing
        owed[step.agent] = 0.0


def _end(env: AECEnv, seed: int) -> None:
    ended = 0
    for step in walk(env, seed):
        if step.over:
            ended += 1
            flags = [env.terminations[a] or env.truncations[a] for a in env.agents]
            if not all(flags):
                raise Broken(f"the episode of reset(seed={seed}) is over for {step.agent} and not for all agents")
    if ended != len(env.possible_agents):
        raise Broken(f"{ended} agents were stepped with None at the end, right are {len(env.possible_agents)}")


def _traces(env: AECEnv, seed: int) -> list[Any]:
    return [kept(step.seen) for step in walk(env, seed)]


def _seeds(make: Callable[[], AECEnv], seeds: Collection[int]) -> None:
    used = make()
    for seed in seeds:
        with other_global_chance(seed + 1):
            one = _traces(make(), seed)
        with other_global_chance(seed + 2):
            two = _traces(used, seed)
        for number, (left, right) in enumerate(zip(one, two, strict=False)):
            why = "the same seed, two episodes (in a fresh environment and in a used one)"
            check_same(left, right, why, f"at step {number} of reset(seed={seed})")
    starts = [_start(make(), seed) for seed in range(min(seeds), min(seeds) + 6)]
    if all(difference(starts[0], other) is None for other in starts[1:]):
        raise Broken("six different seeds give the same start: the seed does not reach the environment")


def _start(env: AECEnv, seed: int) -> Any:
    env.reset(seed=seed)
    return env.agent_selection, kept([env.observe(agent) for agent in env.agents])


def _hidden(make: Callable[[], AECEnv], seed: int) -> None:
    """Two fresh environments in worlds that a seat cannot tell apart, looked at, and stepped with the same actions."""
    env, chance = make(), random.Random(seed)
    worlds = []
    for step in walk(env, seed):
        match = _match(env)
        if match is None:
            raise Broken("env.unwrapped.match is no Match of this package; skip this check for another base")
        if not step.over and match.game.phase == PLAYING:
            worlds.append(match)
    one, other = make(), make()
    for match in chance.sample(worlds, min(KEPT_WORLDS, len(worlds))):
        for seat, agent in enumerate(env.possible_agents):
            world = resample(match, seat, chance.getrandbits(60))
            if _deal(one, match) and _deal(other, world):
                _alike(one, other, seat, agent, match, chance)


def _deal(env: AECEnv, match: Match) -> bool:
    """Start from a match; False where somebody must draw or pass in it, and the environment does that by itself."""
    try:
        env.reset(options={"deal": match})
    except TypeError as error:
        raise Broken(f"reset does not take options={{'deal': match}} and pass it on ({error})") from error
    if is_that_match(_match(env), match):
        return True
    if match.legal_actions()[0] < DRAW:
        raise Broken("reset(options={'deal': match}) does not start from that match: pass options on")
    return False


def _alike(one: AECEnv, other: AECEnv, seat: int, agent: str, match: Match, chance: random.Random) -> None:
    """The same to one agent now, and after each of a few actions that both worlds allow."""
    where = f"for {agent} in round {match.round_number} after {len(match.history)} actions (match seed {match.seed})"
    for ahead in range(LOOK_AHEAD + 1):
        why = "other hands, boneyard and seed, and it sees something else"
        check_same(one.observe(agent), other.observe(agent), f"{why} in its observation", where)
        check_same(one.infos[agent], other.infos[agent], f"{why} in its infos", where)
        check_same(one.rewards[agent], other.rewards[agent], f"{why} in its rewards", where)
        if ahead == LOOK_AHEAD or not _both_step(one, other, seat, chance):
            return


def _both_step(one: AECEnv, other: AECEnv, seat: int, chance: random.Random) -> bool:
    """Lay the same tile in both; False if there is none, or if what the seat knows then differs rightly."""
    left, right = _match(one), _match(other)
    assert left is not None and right is not None
    both = sorted(set(left.legal_actions()) & set(right.legal_actions()) - {DRAW, PASS})
    if not both or one.action_space(one.agent_selection).n != NUM_ACTIONS:
        return False
    action, number = chance.choice(both), left.round_number
    for env in (one, other):
        env.step(action)
    left, right = _match(one), _match(other)
    assert left is not None and right is not None
    if not left.round_number == right.round_number == number or any(m.game.phase != PLAYING for m in (left, right)):
        return False  # a settlement shows hands (D5)
    return left.history == right.history and left.hands[seat] == right.hands[seat] and left.turn == right.turn


def _unchanged(env: AECEnv, seed: int) -> None:
    calm, watched = _traces(env, seed), []
    handed: list[tuple[Any, Any, int]] = []
    for number, step in enumerate(walk(env, seed)):
        watched.append(kept(step.seen))
        for agent in env.agents:
            first = env.observe(agent)
            before = kept(first)
            _scribble_free(env, agent, before, seed, number)
            handed.append((first, before, number))
    for left, right in zip(calm, watched, strict=False):
        check_same(left, right, "observing between the steps changes the episode", f"of reset(seed={seed})")
    for value, before, number in handed:
        why = f"the observation handed out at step {number} was changed by later steps"
        check_same(before, value, why, f"of reset(seed={seed})")


def _scribble_free(env: AECEnv, agent: str, before: Any, seed: int, number: int) -> None:
    check_same(before, env.observe(agent), "two observations in a row differ", _at(env, agent, seed, number))
    scribbled = env.observe(agent)
    for array in _arrays(scribbled):
        if array.flags.writeable:
            array[...] = 0
    why = "writing to an observation that was handed out changes the next one"
    check_same(before, env.observe(agent), why, _at(env, agent, seed, number))


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _arrays(part)


def _copies(env: AECEnv, seed: int) -> None:
    steps = walk(env, seed)
    for number, step in enumerate(steps):
        if number == 15 or step.over:
            break
    twin = copy.deepcopy(env)
    one = [kept(step.seen) for step in _go_on(env, random.Random(seed))]
    two = [kept(step.seen) for step in _go_on(twin, random.Random(seed))]
    for left, right in zip(one, two, strict=False):
        check_same(left, right, "a deep copy goes on in another way", f"after step 15 of reset(seed={seed})")
