"""`check_vector`: Gymnasium vector environments.

What a row shows of hidden tiles is not looked at here, because a vector environment takes no deals: check the
single environment of the same wrapper, and give it as `single`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from fiveup_env.testing.conformance_report import Broken, Checks, Report
from fiveup_env.testing.masks import check_same, check_space, mask_of
from fiveup_env.testing.same_bits import difference, kept, other_global_chance

CHECKS = {
    "spaces": "every observation and every legal action is in its space",
    "rewards": "rewards are finite numbers, one a row",
    "seed": "the same seeds give the same bits, in a fresh environment and in a used one; other seeds do not",
    "rows": "a row depends on its own seed and actions alone, not on its place and not on its neighbours",
    "single": "the first episodes of rows are those of the single environment",
}
STEPS = 20


def check_vector(
    make: Callable[[], gymnasium.vector.VectorEnv],
    *,
    episodes: int,
    seed: int,
    single: Callable[[], gymnasium.Env] | None,
    skip: Collection[str],
) -> Report:
    """See `check_env`."""
    env = make()
    checks = Checks(f"environment {type(env).__name__} of {env.num_envs}", CHECKS, skip)
    steps, seeds = STEPS * episodes, [seed + i for i in range(env.num_envs)]
    checks.run("spaces", lambda: _spaces(make(), seeds, steps))
    checks.run("rewards", lambda: _rewards(make(), seeds, steps))
    checks.run("seed", lambda: _seeds(make, seeds, steps))
    checks.run("rows", lambda: _rows(make, seeds, steps))
    if single is not None:
        checks.run("single", lambda: _single(make(), single, seeds, steps))
    begun = time.perf_counter()
    _trace(make(), seeds, steps)
    checks.figures["steps a second"] = steps * env.num_envs / (time.perf_counter() - begun)
    return checks.report()


def _actions(masks: np.ndarray, seeds: list[int], number: int) -> np.ndarray:
    """A legal action a row, chosen by that row's seed and the step's number."""
    actions = np.zeros(len(masks), np.int64)
    for row, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        if not len(legal):
            raise Broken(f"no legal action in row {row} at step {number}")
        actions[row] = legal[np.random.default_rng([seeds[row], number]).integers(len(legal))]
    return actions


Seen = list[tuple[Any, ...]]


def _trace(env: gymnasium.vector.VectorEnv, seeds: list[int], steps: int) -> Seen:
    """Observation, reward, flags and action of every step, copied."""
    observation, info = env.reset(seed=seeds)  # type: ignore[arg-type]  # Gymnasium takes lists too
    reward, terminated, truncated = np.zeros(env.num_envs), np.zeros(env.num_envs, bool), np.zeros(env.num_envs, bool)
    disabled = env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED
    seen: Seen = []
    for number in range(steps):
        over = np.asarray(terminated | truncated)
        if disabled and over.any():
            observation, info = env.reset(options={"reset_mask": over})
        masks = mask_of(observation, info, f"at step {number}")
        masks = np.where(masks.any(1, keepdims=True) | ~over[:, None], masks, 1)  # NEXT_STEP ignores these actions
        actions = _actions(masks, seeds, number)
        seen.append(kept((observation, reward, terminated, truncated, actions)))
        observation, reward, terminated, truncated, info = env.step(actions)
    return seen


def _spaces(env: gymnasium.vector.VectorEnv, seeds: list[int], steps: int) -> None:
    for number, (observation, _, _, _, actions) in enumerate(_trace(env, seeds, steps)):
        check_space(env.observation_space, observation, "the observation", f"at step {number}")
        check_space(env.action_space, actions, "the batch of legal actions", f"at step {number}")


def _rewards(env: gymnasium.vector.VectorEnv, seeds: list[int], steps: int) -> None:
    for number, (_, reward, *_) in enumerate(_trace(env, seeds, steps)):
        if np.shape(reward) != (env.num_envs,):
            raise Broken(f"rewards have the shape {list(np.shape(reward))} at step {number}, right is [{env.num_envs}]")
        if not np.isfinite(reward).all():
            raise Broken(f"the reward of row {int(np.argmin(np.isfinite(reward)))} is not finite at step {number}")


def _seeds(make: Callable[[], gymnasium.vector.VectorEnv], seeds: list[int], steps: int) -> None:
    used = make()
    _trace(used, [seed + 1000 for seed in seeds], 3)
    with other_global_chance(1):
        one = _trace(make(), seeds, steps)
    with other_global_chance(2):
        two = _trace(used, seeds, steps)
    for number, (left, right) in enumerate(zip(one, two, strict=True)):
        check_same(left, right, "the same seeds, two runs", f"at step {number}")
    if difference(one[0], _trace(make(), [seed + 1000 for seed in seeds], 1)[0]) is None:
        raise Broken("other seeds give the same start: seeds do not reach the environment")


def _row(value: Any, row: int) -> Any:
    return {key: _row(part, row) for key, part in value.items()} if isinstance(value, dict) else np.asarray(value)[row]


def _rows(make: Callable[[], gymnasium.vector.VectorEnv], seeds: list[int], steps: int) -> None:
    straight, turned = _trace(make(), seeds, steps), _trace(make(), seeds[::-1], steps)
    for number, (left, right) in enumerate(zip(straight, turned, strict=True)):
        for row in range(len(seeds)):
            other = len(seeds) - 1 - row
            mine, theirs = [_row(part, row) for part in left], [_row(part, other) for part in right]
            where = f"at step {number} for seed {seeds[row]} (row {row}, and row {other})"
            check_same(mine, theirs, "two rows differ", where)


def _single(env: gymnasium.vector.VectorEnv, single: Callable[[], gymnasium.Env], seeds: list[int], steps: int) -> None:
    trace = _trace(env, seeds, steps)
    for row, seed in enumerate(seeds[:8]):
        one = single()
        observation, _ = one.reset(seed=seed)
        reward, over = 0.0, False
        for number, seen in enumerate(trace):
            where = f"at step {number} in row {row} (seed {seed})"
            _equal(_row(seen[1], row), reward, "reward", where)
            _equal(bool(_row(seen[2], row) | _row(seen[3], row)), over, "end of the episode", where)
            if over:
                break
            for key, part in _row(seen[0], row).items():
                check_same(np.asarray(observation[key]), part, f"the single environment observes another {key}", where)
            observation, given, terminated, truncated, _ = one.step(int(seen[4][row]))
            reward, over = float(given), bool(terminated or truncated)


def _equal(left: Any, right: Any, what: str, where: str) -> None:
    if not np.isclose(float(left), float(right), rtol=1e-6, atol=1e-6):
        raise Broken(f"the {what} of the single environment is {right}, of the row {left} {where}")
