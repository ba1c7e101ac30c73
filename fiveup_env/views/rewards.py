"""Reward schemes by name. All are per side; partners get the same.

| name     | reward                                                                         | sum over an episode     |
|----------|--------------------------------------------------------------------------------|-------------------------|
| `win`    | at the end: +1 winner, -1 loser; three players +1, -1/2, -1/2                  | the same                |
| `points` | every accepted event: own points minus the others' mean, display points / 61   | final lead / 61         |
| `equity` | change of (b - a) / (a + b); a, b: points to go of the own and best other side | its end minus its start |

`win` and `points` are zero-sum. `equity` is potential-based shaping (Ng, Harada, Russell, 1999) of the match end: the
winning side ends at +1 and every other at -1, so from an even start a match sums to exactly +1 or -1 (three players:
+1, -1, -1). With `episode="round"`, `win` is paid at the end of the round: its winner by D8 and R8.5 gets +1, a tie
gives 0 to all.
"""

from __future__ import annotations

from typing import Literal

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import RAW_PER_POINT, Game

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


@kernel(inline=True)
def scores_of(game: Game) -> tuple[int, int, int]:
    """Raw scores by side; 0 for an unused third side."""
    return int64(game.scores[0]), int64(game.scores[1]), int64(game.scores[2])


@kernel
def standing(own: int, other: int, third: int, target: int, sides: int, scheme: int) -> float:
    """Standing of a side by scheme POINTS or EQUITY at these raw scores; rewards are its differences.

    Args:
        own: score of the side.
        other, third: scores of the others; `third` is ignored with two sides.
        target, sides, scheme: of the match.
    """
    if scheme == POINTS:
        others = other + third if sides == 3 else other
        return (own - others / (sides - 1)) / POINTS_SCALE
    to_go, best = float(target - own), float(target - other)
    if sides == 3:
        best = min(best, float(target - third))
    return (best - to_go) / (to_go + best)


@kernel
def changes(
    before: tuple[int, int, int], now: tuple[int, int, int], target: int, sides: int, scheme: int
) -> tuple[float, float, float]:
    """Reward of every side for a change of the raw scores, by POINTS or EQUITY; 0 for an unused third side."""
    gained = (
        standing(now[0], now[1], now[2], target, sides, scheme)
        - standing(before[0], before[1], before[2], target, sides, scheme),
        standing(now[1], now[0], now[2], target, sides, scheme)
        - standing(before[1], before[0], before[2], target, sides, scheme),
    )
    third = 0.0
    if sides == 3:
        third = standing(now[2], now[0], now[1], target, sides, scheme)
        third -= standing(before[2], before[0], before[1], target, sides, scheme)
    return gained[0], gained[1], third


@kernel
def win_rewards(winner: int, sides: int) -> tuple[float, float, float]:
    """Final reward by `win`: +1 for the winning side, the others share -1. All zero if there is no winner."""
    if winner < 0:
        return 0.0, 0.0, 0.0
    lost = -1.0 / (sides - 1)
    third = lost if sides == 3 else 0.0
    return 1.0 if winner == 0 else lost, 1.0 if winner == 1 else lost, 1.0 if winner == 2 else third
