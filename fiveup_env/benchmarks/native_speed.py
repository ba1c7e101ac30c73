"""Cases of the compiled game: rules alone, with mask and observation, as vector env; and memory copies as the limit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

import numba
import numpy as np

from fiveup_env.agents.baseline_kernels import random_action
from fiveup_env.benchmarks.timing import Case, Clock, Seconds
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.envs.self_play_vector_kernels import CHECKED, CHECKED_BYTES, FACTS
from fiveup_env.jit.compilation import borrowed, entry, kernel, prefetch, uint64
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.random import GOLDEN, mix
from fiveup_env.rules.record import GAME, MATCH_OVER, Game, Variant, new_games, start_match
from fiveup_env.rules.turn import step, write_mask
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_seat_to_act

DTYPES = (np.float32, np.uint8)
STEP_ONLY = "step() alone"
CORES = "arithmetic in registers"
SCRAMBLES = 1 << 18
STREAM_BYTES = 256 * 2**20  # a rollout buffer that fits into no cache


@kernel
def step_at_random(game: Game, state: Any) -> None:
    """Play a uniformly random legal action; a finished match is followed by another."""
    key = mix(state)
    step(game, random_action(game, key))
    if game.phase == MATCH_OVER:
        start_match(game, key)


@entry
def start_matches_from(games: np.ndarray, state: Any) -> None:
    """Start every match with a seed derived from `state`."""
    for i in range(len(games)):
        state = uint64(state) + GOLDEN
        start_match(games[i], mix(state))


@entry
def play_rules(games: np.ndarray, sweeps: int, state: Any) -> int:
    """Play `sweeps` random steps in every match, one match after the other; returns the next random state."""
    state = uint64(state)
    for _ in range(sweeps):
        for i in range(len(games)):
            state += GOLDEN
            step_at_random(games[i], state)
    return state


@entry
def play_with_mask(games: np.ndarray, sweeps: int, state: Any, mask: np.ndarray) -> int:
    """`play_rules` that also writes the mask of the seat to act, int8 [N, 121]."""
    state = uint64(state)
    for _ in range(sweeps):
        for i in range(len(games)):
            state += GOLDEN
            step_at_random(games[i], state)
            write_mask(games[i], mask[i])
    return state


@entry
def play_with_observation(
    games: np.ndarray,
    sweeps: int,
    state: Any,
    mask: np.ndarray,
    observation: np.ndarray,
) -> int:
    """`play_with_mask` that also writes the observation of the seat to act (see `write_seat_to_act`)."""
    games, mask, observation = borrowed(games), borrowed(mask), borrowed(observation)
    state = uint64(state)
    for _ in range(sweeps):
        for i in range(len(games)):
            state += GOLDEN
            game = games[i]
            step_at_random(game, state)
            write_seat_to_act(game, observation[i], mask[i])
    return state


@entry(parallel=True)
def scramble(words: np.ndarray, times: int) -> None:
    """Divide `times` mixing steps among the words, uint64 [threads], with one thread per word."""
    for i in numba.prange(len(words)):
        word = words[i]
        for _ in range(times // len(words)):
            word = mix(word + GOLDEN)
        words[i] = word


@entry
def choose_at_random(games: np.ndarray, state: Any, actions: np.ndarray) -> int:
    """Write a uniformly random legal action for every match, int64 [N]; returns the next random state."""
    games, actions, state = borrowed(games), borrowed(actions), uint64(state)
    for i in range(len(games)):
        prefetch(games, i + CHECKED, CHECKED_BYTES)
        state += GOLDEN
        actions[i] = random_action(games[i], mix(state))
    return state


def bytes_per_step(num_players: int, dtype: type) -> int:
    """Bytes that a step of the vector env writes per match: observation, mask and the small arrays."""
    return observation_size(num_players) * np.dtype(dtype).itemsize + NUM_ACTIONS + FACTS.itemsize


def kernel_cases(num_players: int, count: int) -> Iterator[Case]:
    """Random play of `count` matches inside compiled code; all cases play on in the same matches."""
    games, state = new_games(count, Variant(num_players)), np.uint64(1)
    start_matches_from(games, state)
    mask = np.zeros((count, NUM_ACTIONS), np.int8)

    def case(name: str, play: Callable[..., int], *written: np.ndarray) -> Case:
        def run(sweeps: int, clock: Clock) -> None:
            nonlocal state
            state = np.uint64(play(games, sweeps, state, *written))

        size = {"bytes": sum(array.nbytes for array in written) // count} if written else {}
        return Case(name, run, count, {"players": num_players, "matches": count, "threads": 1} | size)

    yield case("rules", play_rules)
    yield case("rules, mask", play_with_mask, mask)
    for dtype in DTYPES:
        observation: np.ndarray = np.zeros((count, observation_size(num_players)), dtype)
        yield case(f"rules, mask, observation {observation.dtype}", play_with_observation, mask, observation)


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
    """The vector env as a user steps it: one compiled call chooses, then `step` plays and is also timed alone.

    Args:
        num_players, count, dtype, draws, threads: see `SelfPlayVectorEnv`.
        stream: write into a rollout buffer that is larger than every cache, one step after the other.
        one_set: write into one set of arrays at every step, for a learner that copies the data it keeps; by default
            the two sets of the env take turns.
    """
    env = SelfPlayVectorEnv(count, num_players=num_players, dtype=dtype, draws=draws, threads=threads)
    written = bytes_per_step(num_players, dtype)
    name = f"vector env {np.dtype(dtype).name}"
    name += ", auto draws" * (draws == "auto") + f", {threads} threads" * (threads > 1)
    outs: list[Any] = [None]  # the two sets of the env
    if one_set:
        name += ", one set of arrays"
        outs = [env.arrays()]
    if stream:
        name += ", into a rollout buffer"
        length = max(2, STREAM_BYTES // (written * count))
        observations: np.ndarray = np.ones((length, count, env.observation_size), dtype)
        masks = np.ones((length, count, NUM_ACTIONS), np.int8)
        outs = [replace(env.arrays(), observation=observations[t], action_mask=masks[t]) for t in range(length)]
    targets: Iterator[Any] = cycle(outs)
    actions, state = np.zeros(count, np.int64), np.uint64(1)
    env.reset(0)

    def run(calls: int, clock: Clock) -> Seconds:
        nonlocal state
        inside = 0.0
        for _ in range(calls):
            state = np.uint64(choose_at_random(env.games, state, actions))
            begun = clock()
            env.step(actions, out=next(targets))
            inside += clock() - begun
        return {STEP_ONLY: inside}

    return Case(name, run, count, {"players": num_players, "matches": count, "threads": threads, "bytes": written})


def roof_case(num_players: int, count: int, dtype: type, *, stream: bool = False) -> Case:
    """Memory copy of the bytes of a step, to two buffers in turn or through a rollout buffer."""
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
    """Arithmetic without memory access: upper limit for the gain of a second thread on this machine."""
    words = np.arange(threads, dtype=np.uint64)

    def run(calls: int, clock: Clock) -> None:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        for _ in range(calls):
            scramble(words, SCRAMBLES)
        numba.set_num_threads(before)

    return Case(f"{CORES}, {threads} threads", run, SCRAMBLES, {"threads": threads})


def memory_use(num_players: int, count: int = 4096) -> dict[str, float]:
    """Bytes of a match: its record, and all arrays of a vector env with each dtype as tracemalloc counts them."""
    found = {"record of a match": float(GAME.itemsize)}
    running = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        for dtype in DTYPES:
            before, _ = tracemalloc.get_traced_memory()
            env = SelfPlayVectorEnv(count, num_players=num_players, dtype=dtype)
            after, _ = tracemalloc.get_traced_memory()
            found[f"vector env, per match, {np.dtype(dtype).name}"] = (after - before) / env.num_matches
            del env
    finally:
        if not running:
            tracemalloc.stop()
    return found
