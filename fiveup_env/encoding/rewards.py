"""Reward schemes by name. All are per side; partners get the same.

| name     | what                                                                           | sum over an episode     |
|----------|--------------------------------------------------------------------------------|-------------------------|
| `win`    | at the end: +1 winner, -1 loser; three players +1, -1/2, -1/2                  | that                    |
| `points` | every accepted event: own points minus the others' mean, display points / 61   | final lead / 61         |
| `equity` | change of (b - a) / (a + b); a, b: points to go of the own and best other side | its end minus its start |

`win` and `points` are zero-sum. `equity` is potential-based shaping (Ng, Harada, Russell, 1999) of the match end: a
side that wins ends at +1 and every other at -1, so from an even start a match sums to exactly +1 or -1 (three players:
+1, -1, -1). With `episode="round"` the end of `win` is the end of the round: its winner by D8 and R8.5 gets +1, a tie
gives 0 to all.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy import int64

from fiveup_env.rules.game import RAW_PER_POINT, Game
from fiveup_env.rules.kernels import kernel

RewardName = Literal["win", "points", "equity"]
REWARDS: tuple[RewardName, ...] = ("win", "points", "equity")
WIN, POINTS, EQUITY = range(3)
POINTS_SCALE = 61 * RAW_PER_POINT


def reward_index(name: str) -> int:
    """Number of a scheme for the kernels.

    Raises:
        ValueError: if there is no scheme of that name.
    """
    if name not in REWARDS:
        raise ValueError(f"reward must be one of {', '.join(map(repr, REWARDS))}, not {name!r}")
    return REWARDS.index(name)


@kernel
def write_potential(game: Game, scheme: int, out: np.ndarray) -> None:
    """Standing of every side by scheme POINTS or EQUITY, float64 [sides]; rewards are differences of it."""
    sides = int64(game.num_sides)
    for side in range(sides):
        if scheme == POINTS:
            others = 0.0
            for other in range(sides):
                if other != side:
                    others += int64(game.scores[other])
            out[side] = (int64(game.scores[side]) - others / (sides - 1)) / POINTS_SCALE
        else:
            out[side] = _equity(game, side)


@kernel
def _equity(game: Game, side: int) -> float:
    own = int64(game.target) - int64(game.scores[side])
    best = 1 << 30
    for other in range(int64(game.num_sides)):
        if other != side:
            best = min(best, int64(game.target) - int64(game.scores[other]))
    return (best - own) / (own + best)


@kernel
def add_win(winner: int, sides: int, out: np.ndarray) -> None:
    """The end of `win`: +1 for the winning side, the others share -1; nothing without a winner."""
    if winner < 0:
        return
    for side in range(sides):
        out[side] += 1.0 if side == winner else -1.0 / (sides - 1)
