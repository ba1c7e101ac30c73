"""`check_env`: environments, wrapped or not, keep the promises of this package's environments."""

from __future__ import annotations

import contextlib
import copy
import io
import math
import random
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from pettingzoo import AECEnv

from fiveup_env.belief.resample import resample
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS, PASS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.testing.conformance import (
    Broken,
    Checks,
    Report,
    check_same,
    difference,
    other_global_chance,
    position_of,
)
from fiveup_env.testing.episode_walk import (
    AnyEnv,
    OneLearner,
    Step,
    mask_of,
    match_of,
    trace,
    trace_rows,
    walk,
    walk_on,
)

CHECKS = {
    "api": "the library's own check passes (PettingZoo: api_test, Gymnasium: check_env)",
    "mask": "masks agree and show no action that the rules forbid; an agent that is not to act has an empty mask",
    "spaces": "every observation and every legal action is in its space",
    "rewards": "rewards are finite, and last() gives the sum since the agent's own last step",
    "end": "the episode ends for all agents, and each is stepped with None once",
    "seed": "the same seed gives the same bits in a fresh and in a used environment; another seed does not",
    "hidden": "an agent gets the same in other worlds that it cannot tell apart (R2.2, D6)",
    "unchanged": "observing, and writing to an observation, changes nothing; later steps do not write to it",
    "copy": "a deep copy in mid-episode continues in the same way",
}
ROW_CHECKS = {
    "spaces": CHECKS["spaces"],
    "rewards": "rewards are finite numbers, one per row",
    "seed": CHECKS["seed"],
    "rows": "a row depends on its own seed and actions only, not on its place or its neighbours",
    "single": "the first episode of a row is that of the single environment",
}
STEPS, COMPARED_ROWS = 20, 8
COMPARED_WORLDS, LOOK_AHEAD, COPIED_AT = 12, 3, 5


def check_env(
    make: Callable[[], Any],
    *,
    episodes: int = 3,
    seed: int = 0,
    single: Callable[[], Any] | None = None,
    skip: Collection[str] = (),
) -> Report:
    """Check a PettingZoo AEC, Gymnasium or Gymnasium vector environment, with or without wrappers.

    Args:
        make: makes a fresh environment at each call, e.g. `lambda: MyWrapper(fiveup_v0.env())`.
        episodes: number of episodes to play in each check (vector environment: 20 steps per episode).
        seed: seed of the deals and of the random legal actions.
        single: for a vector environment, makes the Gymnasium environment that a row must equal in its first episode.
        skip: names of checks to leave out. PettingZoo: api, mask, spaces, rewards, end, seed, hidden, unchanged, copy.
            Gymnasium: the same without end. Vector: spaces, rewards, seed, rows, single.

    Returns:
        A report with `steps a second` (wall clock, including the choice of a random legal action).

    Raises:
        ConformanceError: at the first failing check; the text gives the fault and its place.
        TypeError: if `make` is not callable or makes something else.
        ValueError: if `skip` names an unknown check or `episodes` is below 1.
    """
    if not callable(make):
        raise TypeError(f"make is a function that makes a fresh environment, not {make!r}: lambda: MyWrapper(...)")
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, not {episodes!r}")
    env = make()
    if isinstance(env, VectorEnv):
        return _check_rows(make, range(seed, seed + env.num_envs), STEPS * episodes, single, skip)
    if single is not None:
        raise TypeError(f"single is for vector environments; make gives {type(env).__name__}")
    seeds = range(seed, seed + episodes)
    if isinstance(env, gymnasium.Env):
        known = {name: meaning for name, meaning in CHECKS.items() if name != "end"}
        return _check_episodes(lambda: OneLearner(make()), Checks(f"environment {env}", known, skip), seeds)
    if isinstance(env, AECEnv):
        return _check_episodes(make, Checks(f"environment {env}", CHECKS, skip), seeds)
    raise TypeError(f"make gives {type(env).__name__}, not a PettingZoo AECEnv, gymnasium.Env or VectorEnv")


def _check_episodes(make: Callable[[], AnyEnv], checks: Checks, seeds: range) -> Report:
    checks.run("api", lambda: _api(make()))
    checks.run("mask", lambda s: _masks(make(), s), seeds)
    checks.run("spaces", lambda s: _spaces(make(), s), seeds)
    checks.run("rewards", lambda s: _rewards(make(), s), seeds)
    if isinstance(make(), AECEnv):
        checks.run("end", lambda s: _end(make(), s), seeds)
    checks.run("seed", lambda: _seeds(make, trace, seeds, lambda s: _start(make(), s)))
    checks.run("hidden", lambda s: _hidden(make, s), seeds)
    checks.run("unchanged", lambda s: _unchanged(make(), s), seeds)
    checks.run("copy", lambda s: _copies(make(), s), seeds)
    begun, steps = time.perf_counter(), sum(1 for s in seeds for _ in walk(make(), s))
    checks.figures["steps a second"] = steps / (time.perf_counter() - begun)
    return checks.report()


def _at(number: int, seed: Any, agent: str | None = None) -> str:
    return f"{f'for {agent} ' if agent else ''}at step {number} of reset(seed={seed})"


def _api(env: AnyEnv) -> None:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # They warn of observations that are dicts with a mask, of wrappers, and of infinite bounds.
        warnings.simplefilter("ignore")
        if isinstance(env, OneLearner):
            from gymnasium.utils.env_checker import check_env as library_check

            library_check(env.env, skip_render_check=True)
        else:
            from pettingzoo.test import api_test

            api_test(env, num_cycles=100)


def _spaces(env: AnyEnv, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        for agent in env.agents:
            space, where = env.observation_space(agent), _at(number, seed, agent)
            _check_space(space, env.observe(agent), "the observation", where)
        if step.action is not None:
            space, where = env.action_space(step.agent), _at(number, seed, step.agent)
            _check_space(space, step.action, f"the legal action {step.action}", where)


def _check_space(space: Any, value: Any, what: str, where: str) -> None:
    if space.contains(value):
        return
    if isinstance(space, gymnasium.spaces.Dict) and isinstance(value, Mapping) and set(space.spaces) == set(value):
        for key, part in space.spaces.items():
            _check_space(part, value[key], f"{what}, {key!r},", where)
    reason = f", right is {space}"
    if isinstance(space, gymnasium.spaces.Box) and isinstance(value, np.ndarray):
        reason = f": it is {value.dtype} {list(value.shape)}, right is {space.dtype} {list(space.shape)}"
        if value.dtype == space.dtype and value.shape == space.shape:
            at = tuple(np.argwhere(~((value >= space.low) & (value <= space.high)))[0].tolist())
            reason = f": it is {value[at]} at {list(at)}, the bounds are {space.low[at]} to {space.high[at]}"
    raise Broken(f"{what} is not in its space {where}{reason}")


def _masks(env: AnyEnv, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        if isinstance(env, OneLearner) and step.over:
            return
        if not step.over:
            _check_mask(env, step, _at(number, seed, step.agent))
        for other in env.agents:
            where = _at(number, seed, other)
            if (other != step.agent or step.over) and np.any(mask_of(env.observe(other), env.infos[other], where)):
                raise Broken(f"a legal action though it is not its turn {where}")


def _check_mask(env: AnyEnv, step: Step, where: str) -> None:
    """A wrapper may allow fewer actions than the rules, or number them in another way, but not allow more."""
    match, mask = match_of(env), mask_of(step.observation, step.info, where)
    if match is not None and mask.shape == (NUM_ACTIONS,):
        extra = np.flatnonzero((mask != 0) & (match.action_mask() == 0))
        if len(extra):
            raise Broken(f"the mask shows actions {extra[:8].tolist()} as legal {where}; the rules do not allow them")
    if isinstance(env, OneLearner):
        with contextlib.suppress(AttributeError):  # for sb3-contrib
            if not np.array_equal(np.asarray(env.env.get_wrapper_attr("action_masks")(), bool), mask.astype(bool)):
                raise Broken(f"action_masks() and the mask that was observed do not agree {where}")


def _rewards(env: AnyEnv, seed: int) -> None:
    owed: dict[str, float] = {}
    for number, step in enumerate(walk(env, seed)):
        where = _at(number, seed, step.agent)
        if number:  # rewards of the previous step
            for agent, paid in env.rewards.items():
                owed[agent] = owed.get(agent, 0.0) + float(paid)
        if not math.isfinite(step.reward):
            raise Broken(f"the reward is {step.reward} {where}")
        due = owed.get(step.agent, 0.0)
        if not step.over and not math.isclose(step.reward, due, rel_tol=1e-6, abs_tol=1e-6):
            raise Broken(f"last() gives the reward {step.reward:g} {where}; since its own last step there were {due:g}")
        if step.over:
            return  # a step with None pays nothing
        owed[step.agent] = 0.0


def _end(env: AECEnv, seed: int) -> None:
    ended = 0
    for step in walk(env, seed):
        if step.over:
            ended += 1
            if not all(env.terminations[agent] or env.truncations[agent] for agent in env.agents):
                raise Broken(f"the episode of reset(seed={seed}) is over for {step.agent} and not for all agents")
    if ended != len(env.possible_agents):
        raise Broken(f"{ended} agents were stepped with None at the end, right are {len(env.possible_agents)}")


def _seeds(
    make: Callable[[], Any], trace_of: Callable[[Any, Any], Any], seeds: Iterable[Any], start: Callable[[int], Any]
) -> None:
    used = make()
    for seed in seeds:
        with other_global_chance(1):
            one = trace_of(make(), seed)
        with other_global_chance(2):
            two = trace_of(used, seed)
        for number, (left, right) in enumerate(zip(one, two, strict=False)):
            why = "the same seed, two episodes (in a fresh environment and in a used one)"
            check_same(left, right, why, _at(number, seed))
    starts = [start(seed) for seed in range(6)]
    if all(difference(starts[0], other) is None for other in starts[1:]):
        raise Broken("six different seeds give the same start: the seed does not reach the environment")


def _start(env: AnyEnv, seed: int) -> Any:
    env.reset(seed=seed)
    return env.agent_selection, copy.deepcopy([env.observe(agent) for agent in env.agents])


def _hidden(make: Callable[[], AnyEnv], seed: int) -> None:
    """Compare two fresh environments in worlds that a seat cannot tell apart."""
    env, chance, positions = make(), random.Random(seed), []
    for step in walk(env, seed):
        match = match_of(env)
        if match is None:
            raise Broken("env.unwrapped.match is no Match of this package; skip this check for another base")
        if not step.over and match.game.phase == PLAYING:
            seats = range(match.num_players) if isinstance(env, AECEnv) else [step.info.get("seat", match.turn)]
            positions.append((match, seats))
    one, other = make(), make()
    for match, seats in chance.sample(positions, min(COMPARED_WORLDS, len(positions))):
        for seat in seats:
            world = resample(match, seat, chance.getrandbits(60))
            if _deal(one, match, seat, seed) and _deal(other, world, seat, seed):
                _alike(one, other, seat, match, chance)


def _deal(env: AnyEnv, match: Match, seat: int, seed: int) -> bool:
    """Start from a match; False where a draw or pass is forced and the environment takes it."""
    options = {"deal": match} if isinstance(env, AECEnv) else {"deal": match, "seat": seat}
    try:
        env.reset(seed=seed, options=options)
    except TypeError as error:
        raise Broken(f"reset does not take options={{'deal': match}} and pass it on ({error})") from error
    now = match_of(env)
    if now is not None and all(
        getattr(now, name) == getattr(match, name) for name in ("hands", "boneyard", "turn", "scores", "history")
    ):
        return True
    if match.legal_actions()[0] < DRAW:
        raise Broken("reset(options={'deal': match}) does not start from that match: pass options on")
    return False


def _alike(one: AnyEnv, other: AnyEnv, seat: int, match: Match, chance: random.Random) -> None:
    """Compare now and, in PettingZoo, after each of a few actions that both worlds allow."""
    agent = one.possible_agents[seat] if isinstance(one, AECEnv) else one.agent_selection
    for ahead in range(LOOK_AHEAD + 1):
        why = f"other hands, boneyard and seed, and {agent} sees something else"
        check_same(one.observe(agent), other.observe(agent), f"{why} in its observation", f"({position_of(match)})")
        check_same(one.infos[agent], other.infos[agent], f"{why} in its infos", f"({position_of(match)})")
        check_same(one.rewards[agent], other.rewards[agent], f"{why} in its rewards", f"({position_of(match)})")
        if isinstance(one, OneLearner) or ahead == LOOK_AHEAD or not _both_step(one, other, seat, chance):
            return


def _both_step(one: AECEnv, other: AECEnv, seat: int, chance: random.Random) -> bool:
    """Place the same tile in both; False if there is none, or if the seat then rightly sees a difference."""
    left, right = match_of(one), match_of(other)
    assert left is not None and right is not None
    both = sorted(set(left.legal_actions()) & set(right.legal_actions()) - {DRAW, PASS})
    if not both or one.action_space(one.agent_selection).n != NUM_ACTIONS:
        return False
    action, number = chance.choice(both), left.round_number
    for env in (one, other):
        env.step(action)
    left, right = match_of(one), match_of(other)
    assert left is not None and right is not None
    if not left.round_number == right.round_number == number or any(m.game.phase != PLAYING for m in (left, right)):
        return False  # a settlement shows hands (D5)
    return left.history == right.history and left.hands[seat] == right.hands[seat] and left.turn == right.turn


def _unchanged(env: AnyEnv, seed: int) -> None:
    calm = trace(env, seed)
    handed: list[tuple[Any, Any, str]] = []
    for number, step in enumerate(walk(env, seed)):
        seen, where = copy.deepcopy(step.seen), _at(number, seed)
        handed.append(((step.observation, step.info), (seen[1], seen[4]), where))
        for agent in env.agents:
            first = env.observe(agent)
            before = copy.deepcopy(first)
            check_same(before, env.observe(agent), f"two observations in a row differ for {agent}", where)
            handed.append((first, before, where))
        check_same(calm[number], seen, "observing changes the episode", where)
    for shown, before, where in handed:
        check_same(before, shown, "an observation or info was changed by later steps after it was handed out", where)
    for number, step in enumerate(walk(env, seed)):
        check_same(calm[number], step.seen, "writing to what was handed out changes the episode", _at(number, seed))
        before = copy.deepcopy([env.observe(agent) for agent in env.agents])
        _overwrite([step.observation, *(env.observe(agent) for agent in env.agents)])
        why = "writing to an observation that was handed out changes the next one"
        check_same(before, [env.observe(agent) for agent in env.agents], why, _at(number, seed))


def _overwrite(value: Any) -> None:
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value[...] = 0
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _overwrite(part)


def _copies(env: AnyEnv, seed: int) -> None:
    for number, step in enumerate(walk(env, seed)):
        if step.over:
            return
        if number == COPIED_AT:
            break
    twin = copy.deepcopy(env)
    one, two = ([copy.deepcopy(step.seen) for step in walk_on(each, seed)] for each in (env, twin))
    for left, right in zip(one, two, strict=False):
        check_same(left, right, "a deep copy continues in another way", f"after step {COPIED_AT} of reset(seed={seed})")


# Vector environments. They take no deals, so `hidden` is checked on the single environment of the same wrapper.


def _check_rows(
    make: Callable[[], VectorEnv],
    seeds: Sequence[int],
    steps: int,
    single: Callable[[], gymnasium.Env] | None,
    skip: Collection[str],
) -> Report:
    env = make()
    checks = Checks(f"environment {type(env).__name__} of {env.num_envs}", ROW_CHECKS, skip)
    other_seeds = [seed + 1000 for seed in seeds]

    def trace_of(env: VectorEnv, seeds: Sequence[int]) -> list[tuple[Any, ...]]:
        return trace_rows(env, seeds, steps)

    def start(seed: int) -> Any:
        return copy.deepcopy(make().reset(seed=[seed + i for i in seeds])[0])  # type: ignore[arg-type]

    checks.run("spaces", lambda: _row_spaces(env, trace_of(make(), seeds)))
    checks.run("rewards", lambda: _row_rewards(env, trace_of(make(), seeds)))
    checks.run("seed", lambda: _seeds(make, trace_of, [other_seeds, seeds], start))
    checks.run("rows", lambda: _rows(trace_of(make(), seeds), trace_of(make(), seeds[::-1]), seeds))
    if single is not None:
        checks.run("single", lambda: _single(trace_of(make(), seeds), single, seeds))
    begun = time.perf_counter()
    trace_of(make(), seeds)
    checks.figures["steps a second"] = steps * env.num_envs / (time.perf_counter() - begun)
    return checks.report()


def _row_spaces(env: VectorEnv, seen: list[tuple[Any, ...]]) -> None:
    for number, (observation, _, _, _, actions) in enumerate(seen):
        _check_space(env.observation_space, observation, "the observation", f"at step {number}")
        _check_space(env.action_space, actions, "the batch of legal actions", f"at step {number}")


def _row_rewards(env: VectorEnv, seen: list[tuple[Any, ...]]) -> None:
    for number, (_, reward, *_) in enumerate(seen):
        if np.shape(reward) != (env.num_envs,):
            raise Broken(f"rewards have the shape {list(np.shape(reward))} at step {number}, right is [{env.num_envs}]")
        if not np.isfinite(reward).all():
            raise Broken(f"the reward of row {int(np.argmin(np.isfinite(reward)))} is not finite at step {number}")


def _row(value: Any, row: int) -> Any:
    return {key: _row(part, row) for key, part in value.items()} if isinstance(value, dict) else np.asarray(value)[row]


def _rows(straight: list[tuple[Any, ...]], turned: list[tuple[Any, ...]], seeds: Sequence[int]) -> None:
    for number, (left, right) in enumerate(zip(straight, turned, strict=True)):
        for row, other in enumerate(reversed(range(len(seeds)))):
            mine, theirs = [_row(part, row) for part in left], [_row(part, other) for part in right]
            where = f"at step {number} for seed {seeds[row]} (row {row}, and row {other})"
            check_same(mine, theirs, "two rows differ", where)


def _single(seen: list[tuple[Any, ...]], single: Callable[[], gymnasium.Env], seeds: Sequence[int]) -> None:
    for row, seed in enumerate(seeds[:COMPARED_ROWS]):
        one = OneLearner(single())
        one.reset(seed=seed)
        for number, step in enumerate(seen):
            observation, reward, terminated, truncated, action = (_row(part, row) for part in step)
            shown, given, *flags, _ = one.last()
            where = f"at step {number} in row {row} (seed {seed})"
            if not np.isclose(given, float(reward), rtol=1e-6, atol=1e-6):
                raise Broken(f"the reward of the single environment is {given}, of the row {reward} {where}")
            if any(flags) != bool(terminated | truncated):
                raise Broken(f"the episode ends in one of row and single environment only {where}")
            if any(flags):
                break
            for key, part in observation.items():
                check_same(np.asarray(shown[key]), part, f"the single environment observes another {key}", where)
            one.step(int(action))
