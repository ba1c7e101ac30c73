"""Entries that let the tests call kernels that are building blocks of the package."""

from __future__ import annotations

import numpy as np

from fiveup_env.envs.transition import transition
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.record import start_round
from fiveup_env.rules.turn import play, write_mask
from fiveup_env.views.observation_kernels import write_state


@entry
def play_on(games: np.ndarray, action: int) -> None:
    """Take a legal action in games[0]; a round that ends is settled and left as it is."""
    play(games[0], action)


@entry
def deal(games: np.ndarray) -> None:
    """Deal the next round in games[0]."""
    start_round(games[0])


@entry
def masks(games: np.ndarray, out: np.ndarray, first: int) -> None:
    """Write every mask into out[i, first : first + 121]."""
    for i in range(len(games)):
        write_mask(games[i], out[i, first : first + 121])


@entry
def global_states(games: np.ndarray, out: np.ndarray) -> None:
    """Write the global state of every game into out[i]."""
    for i in range(len(games)):
        write_state(games[i], out[i])


@entry
def advance(
    games: np.ndarray,
    action: int,
    options: np.ndarray,
    rewards: np.ndarray,
) -> int:
    """`transition` of games[0]; options [1] of dtype `STEP_OPTIONS`, rewards float64 [sides]."""
    status, gained = transition(games[0], action, options[0])
    for side in range(len(rewards)):
        rewards[side] = gained[side]
    return status
