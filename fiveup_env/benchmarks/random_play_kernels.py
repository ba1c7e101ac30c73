"""Random play inside compiled code, with as much of what a learner receives as is asked for."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from fiveup_env.agents.baseline_kernels import random_action
from fiveup_env.envs.self_play_vector_kernels import CHECKED, CHECKED_BYTES
from fiveup_env.jit.compilation import borrowed, entry, kernel, prefetch, uint64
from fiveup_env.rules.random import GOLDEN, mix
from fiveup_env.rules.record import MATCH_OVER, Game, start_match
from fiveup_env.rules.turn import step, write_mask
from fiveup_env.views.observation_kernels import write_seat_to_act


@kernel
def step_at_random(game: Game, state: Any) -> None:
    """A uniformly random legal action and its step; a match that is over is followed by another."""
    key = mix(state)
    step(game, random_action(game, key))
    if game.phase == MATCH_OVER:
        start_match(game, key)


@entry
def begin_all(games: np.ndarray, state: Any) -> None:
    """Begin every match, each from a seed of its own."""
    for i in range(len(games)):
        state = uint64(state) + GOLDEN
        start_match(games[i], mix(state))


@entry
def play_rules(games: np.ndarray, sweeps: int, state: Any) -> int:
    """So many steps in every match, one after the other as a vector env does; returns the next random state."""
    state = uint64(state)
    for _ in range(sweeps):
        for i in range(len(games)):
            state += GOLDEN
            step_at_random(games[i], state)
    return state


@entry
def play_with_mask(games: np.ndarray, sweeps: int, state: Any, mask: np.ndarray) -> int:
    """The same, and writes the mask of the seat to act: int8 [N, 121]."""
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
    """The same, and writes the observation of the seat to act (see `write_seat_to_act`)."""
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
    """Arithmetic in registers, a share of it for each word of `words`, uint64 [threads], in a thread of its own."""
    for i in numba.prange(len(words)):
        word = words[i]
        for _ in range(times // len(words)):
            word = mix(word + GOLDEN)
        words[i] = word


@entry
def choose_at_random(games: np.ndarray, state: Any, actions: np.ndarray) -> int:
    """A uniformly random legal action for every match, int64 [N]; returns the next random state."""
    games, actions, state = borrowed(games), borrowed(actions), uint64(state)
    for i in range(len(games)):
        prefetch(games, i + CHECKED, CHECKED_BYTES)
        state += GOLDEN
        actions[i] = random_action(games[i], mix(state))
    return state
