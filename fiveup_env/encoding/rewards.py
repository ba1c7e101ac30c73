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
def standing(scores: np.ndarray, target: int, sides: int, scheme: int, side: int) -> float:
    """Standing of a side by scheme POINTS or EQUITY at these raw scores; rewards are differences of it."""
    if scheme == POINTS:
        others = 0.0
        for other in range(sides):
            if other != side:
                others += scores[other]
        return (scores[side] - others / (sides - 1)) / POINTS_SCALE
    own, best = float(target - scores[side]), 1e9
    for other in range(sides):
        if other != side:
            best = min(best, float(target - scores[other]))
    return (best - own) / (own + best)


@kernel
def write_changes(game: Game, scheme: int, before: np.ndarray, rewards: np.ndarray) -> None:
    """What the change of the scores since `before`, raw float64 [sides], is worth to every side by POINTS or EQUITY."""
    sides, target = int64(game.num_sides), int64(game.target)
    changed = False
    for side in range(sides):
        changed |= int64(game.scores[side]) != before[side]
        rewards[side] = 0.0
    if changed:  # most steps score nothing
        for side in range(sides):
            now = standing(game.scores, target, sides, scheme, side)
            rewards[side] = now - standing(before, target, sides, scheme, side)


@kernel
def add_win(winner: int, sides: int, out: np.ndarray) -> None:
    """The end of `win`: +1 for the winning side, the others share -1; nothing without a winner."""
    if winner < 0:
        return
    for side in range(sides):
        out[side] += 1.0 if side == winner else -1.0 / (sides - 1)
