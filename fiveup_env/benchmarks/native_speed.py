"""Cases of the compiled game: the rules alone, with mask and observation, as vector env; and the roof over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

import numba
import numpy as np

from fiveup_env.benchmarks.random_play_kernels import (
    begin_all,
    choose_at_random,
    play_rules,
    play_with_mask,
    play_with_observation,
    scramble,
)
from fiveup_env.benchmarks.timing import Case, Clock, Seconds
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.envs.step_arrays import FACTS
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.record import GAME, Variant, new_games
from fiveup_env.views.observation import observation_size

DTYPES = (np.float32, np.uint8)
STEP_ONLY = "step() alone"
CORES = "arithmetic in registers"
SCRAMBLES = 1 << 18
# A rollout buffer of this size does not fit into any cache.
STREAM_BYTES = 256 * 2**20


def bytes_per_step(num_players: int, dtype: type) -> int:
    """What a step of the vector env writes for one match: observation, mask and the small arrays."""
    return observation_size(num_players) * np.dtype(dtype).itemsize + NUM_ACTIONS + FACTS.itemsize


class Loop:
    """Random play of N matches inside compiled code."""

    def __init__(self, count: int, num_players: int) -> None:
        self.games = new_games(count, Variant(num_players))
        self.state = np.uint64(1)
        begin_all(self.games, self.state)
        self.mask = np.zeros((count, NUM_ACTIONS), np.int8)

    def rules(self, sweeps: int, clock: Clock) -> None:
        """Steps alone, choosing the action included."""
        self.state = np.uint64(play_rules(self.games, sweeps, self.state))

    def with_mask(self, sweeps: int, clock: Clock) -> None:
        """And the mask."""
        self.state = np.uint64(play_with_mask(self.games, sweeps, self.state, self.mask))

    def with_observation(self, dtype: type) -> Callable[[int, Clock], None]:
        """And the observation."""
        count, players = len(self.games), int(self.games["num_players"][0])
        observation: np.ndarray = np.zeros((count, observation_size(players)), dtype)

        def run(sweeps: int, clock: Clock) -> None:
            state = play_with_observation(self.games, sweeps, self.state, self.mask, observation)
            self.state = np.uint64(state)

        return run


class EnvLoop:
    """Random play of a vector env from Python: choose in one compiled call, step in another.

    Args:
        env: the vector env.
        outs: arrays that the steps write into, in turn; None for the two sets of the env.
    """

    def __init__(self, env: SelfPlayVectorEnv, outs: list[Any] | None = None) -> None:
        self.env = env
        self.outs: Iterator[Any] = cycle(outs or [None])
        self.actions = np.zeros(env.num_matches, np.int64)
        self.state = np.uint64(1)
        env.reset(0)

    def __call__(self, calls: int, clock: Clock) -> Seconds:
        """So many steps; the time that `step` takes is told apart."""
        env, actions, outs, inside = self.env, self.actions, self.outs, 0.0
        for _ in range(calls):
            self.state = np.uint64(choose_at_random(env.games, self.state, actions))
            begun = clock()
            env.step(actions, out=next(outs))
            inside += clock() - begun
        return {STEP_ONLY: inside}


def kernel_cases(num_players: int, count: int) -> Iterator[Case]:
    """Random play inside compiled code."""
    facts = {"players": num_players, "matches": count, "threads": 1}
    loop = Loop(count, num_players)
    yield Case("rules", loop.rules, count, facts)
    yield Case("rules, mask", loop.with_mask, count, facts | {"bytes": NUM_ACTIONS})
    for dtype in DTYPES:
        written = NUM_ACTIONS + observation_size(num_players) * np.dtype(dtype).itemsize
        name = f"rules, mask, observation {np.dtype(dtype).name}"
        yield Case(name, loop.with_observation(dtype), count, facts | {"bytes": written})


def env_case(
    num_players: int,
    count: int,
    dtype: type,
    *,
    draws: str = "explicit",
    threads: int = 1,
    stream: bool = False,
    one_set: bool = False,
) -> Case:
    """The vector env as a user steps it.

    Args:
        num_players, count, dtype, draws, threads: see `SelfPlayVectorEnv`.
        stream: write into a rollout buffer that is larger than every cache, step after step.
        one_set: write into one set of arrays again and again, as suits a learner that copies what it keeps; else the
            two sets of the env take turns.
    """
    env = SelfPlayVectorEnv(count, num_players=num_players, dtype=dtype, draws=draws, threads=threads)
    written = bytes_per_step(num_players, dtype)
    name = f"vector env {np.dtype(dtype).name}"
    name += ", auto draws" * (draws == "auto") + f", {threads} threads" * (threads > 1)
    outs = None
    if one_set:
        name += ", one set of arrays"
        outs = [env.arrays()]
    if stream:
        name += ", into a rollout buffer"
        length = max(2, STREAM_BYTES // (written * count))
        observations: np.ndarray = np.ones((length, count, env.observation_size), dtype)
        masks = np.ones((length, count, NUM_ACTIONS), np.int8)
        outs = [replace(env.arrays(), observation=observations[t], action_mask=masks[t]) for t in range(length)]
    facts = {"players": num_players, "matches": count, "threads": threads, "bytes": written}
    return Case(name, EnvLoop(env, outs), count, facts)


def roof_case(num_players: int, count: int, dtype: type, *, stream: bool = False) -> Case:
    """The bytes of a step written by a plain memory copy: to the same two buffers in turn, or through a long one."""
    written = bytes_per_step(num_players, dtype)
    source = np.ones(written * count, np.uint8)
    length = max(2, STREAM_BYTES // source.nbytes) if stream else 2
    targets = cycle(list(np.ones((length, source.size), np.uint8)))

    def run(calls: int, clock: Clock) -> None:
        for _ in range(calls):
            np.copyto(next(targets), source)

    name = f"memory copy of a step's bytes {np.dtype(dtype).name}{', into a rollout buffer' if stream else ''}"
    return Case(name, run, count, {"players": num_players, "matches": count, "threads": 1, "bytes": written})


def cores_case(threads: int) -> Case:
    """Arithmetic that touches no memory: what a second thread brings on this machine at best."""
    words = np.arange(threads, dtype=np.uint64)

    def run(calls: int, clock: Clock) -> None:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        for _ in range(calls):
            scramble(words, SCRAMBLES)
        numba.set_num_threads(before)

    return Case(f"{CORES}, {threads} threads", run, SCRAMBLES, {"threads": threads})


def memory_per_match(num_players: int, dtype: type, count: int = 4096) -> float:
    """Bytes that a vector env takes for each match, all arrays included, as tracemalloc counts them."""
    import tracemalloc

    running = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        env = SelfPlayVectorEnv(count, num_players=num_players, dtype=dtype)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        if not running:
            tracemalloc.stop()
    assert len(env.games) == count
    return (after - before) / count


def record_size() -> int:
    """Bytes of the record of one match."""
    return GAME.itemsize
