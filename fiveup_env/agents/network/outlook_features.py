"""What a placement is worth given where tiles are likely to be: more features of pairs (position, placement).

| feature         | size        | meaning                                                                             |
|-----------------|-------------|-------------------------------------------------------------------------------------|
| likely          | (n - 1) * 6 | for every other seat the chance that it has a tile that fits; one that scores        |
|                 |             | without overshooting; one that hits the target; the points that its tiles could     |
|                 |             | bring on average, summed, in 8ths; the most that one of them could bring on         |
|                 |             | average, in 8ths; what that changes of the own chance to win the match, times 4     |
| own_hit         | 1           | 1 if a tile left in the hand could then hit the target                              |
| chance          | 2           | own chance to win the match if the round ended now; what the placement's own        |
|                 |             | credit changes of it, times 4                                                       |

They stand behind those of `agents.network.placement_features`, for networks that are told a belief.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fiveup_env.agents.network.laying import points_now
from fiveup_env.agents.search.equity import LONGEST, mean_chance
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.tiles import NUM_TILES

_PER_SEAT = 6
_BEHIND = 3
_MOST_POINTS = 16
OUTLOOK_SCRATCH = (2, _MOST_POINTS)
"""Shape of float64 scratch for `write_outlook`."""


@dataclass(frozen=True)
class Outlook:
    """What else the features may tell of.

    Attributes:
        belief: float32 [N, n, 28], where every tile is likely to be (see `belief.approximation`).
        chances: flat table of chances to win the match, float32 [61 ** sides * sides] (see `agents.search.equity`).
    """

    belief: np.ndarray
    chances: np.ndarray


def num_outlook(num_players: int) -> int:
    """Number of these features."""
    return _PER_SEAT * (num_players - 1) + _BEHIND


@kernel
def chance_of(chances: np.ndarray, sides: int, to_go: np.ndarray, scoring: int, points: int) -> float:
    """Own chance to win the match if side `scoring` gets these points and the round ends; any side may open the next.

    Args:
        chances: see `Outlook`.
        sides: 2 or 3.
        to_go: display points missing by relative side, the own one first.
        scoring, points: see above; no overshoot.
    """
    if to_go[scoring] == points:
        return 1.0 if scoring == 0 else 0.0
    points_of = (points if scoring == 0 else 0, points if scoring == 1 else 0, points if scoring == 2 else 0)
    left = (
        min(to_go[0] - points_of[0], LONGEST),
        min(to_go[1] - points_of[1], LONGEST),
        min(to_go[2] - points_of[2], LONGEST),
    )
    return mean_chance(chances, left, sides, 0)


@kernel
def write_likely(
    likely: np.ndarray, worth: np.ndarray, to_go: int, change: np.ndarray, none_of: np.ndarray, out: np.ndarray
) -> None:
    """What the tiles that another seat is likely to hold are worth on the new layout.

    Args:
        likely: chance that it holds each tile [28]; chances are taken as independent.
        worth: points that each tile could bring without overshooting, -1 if it fits nowhere [28].
        to_go: display points that the seat's side misses.
        change: by points what they change of the own chance to win the match [_MOST_POINTS].
        none_of: scratch [_MOST_POINTS]: chance that it holds no tile of so many points.
        out: written, [_PER_SEAT].
    """
    none_of[:] = 1.0
    mean, none_hits = 0.0, 1.0
    for tile in range(NUM_TILES):
        if likely[tile] > 0 and worth[tile] >= 0:
            points = min(worth[tile], _MOST_POINTS - 1)
            none_of[points] *= 1 - likely[tile]
            mean += likely[tile] * points
            if worth[tile] == to_go:
                none_hits *= 1 - likely[tile]
    best, changed, none = 0.0, 0.0, 1.0
    for points in range(_MOST_POINTS - 1, 0, -1):
        most = none * (1 - none_of[points])
        best += most * points
        changed += most * change[points]
        none *= none_of[points]
    out[0], out[1], out[2] = 1 - none * none_of[0], 1 - none, 1 - none_hits
    out[3], out[4], out[5] = mean / 8, best / 8, changed * 4


@kernel
def write_outlook(
    players: int,
    layout: tuple[int, int, int],
    hand: int,
    likely: np.ndarray,
    chances: np.ndarray,
    to_go: np.ndarray,
    credit: int,
    worth: np.ndarray,
    scratch: np.ndarray,
    out: np.ndarray,
) -> None:
    """The features of one placement.

    Args:
        players: number of seats.
        layout: total, ends and spinners after the placement, see `points_now`.
        hand: own tiles left, a set.
        likely: chances of the other seats' tiles, clockwise [players - 1 or more, 28].
        chances: see `Outlook`.
        to_go: display points missing before the placement by relative side; those after it when this returns.
        credit: display points of the placement, 0 if they overshoot.
        worth, scratch: scratch; the second of shape `OUTLOOK_SCRATCH`.
        out: written, zeros before.
    """
    total, ends, spinners = layout
    change, none_of = scratch[0], scratch[1]
    sides, end = 3 if players == 3 else 2, _PER_SEAT * (players - 1)
    out[end + 1] = before = chance_of(chances, sides, to_go, 0, 0)
    now = chance_of(chances, sides, to_go, 0, credit)
    out[end + 2] = (now - before) * 4
    to_go[0] -= credit
    for side in range(sides):
        for points in range(_MOST_POINTS):
            won = to_go[0] == 0 or points > to_go[side]
            change[points] = 0.0 if won else chance_of(chances, sides, to_go, side, points) - now
        for tile in range(NUM_TILES):
            worth[tile] = points_now(total, ends, spinners, tile, to_go[side])
        for other in range(1, players):
            if other % sides == side:
                here = out[_PER_SEAT * (other - 1) :]
                write_likely(likely[other - 1], worth, to_go[side], change, none_of, here)
        if side == 0:
            for tile in range(NUM_TILES):
                if hand >> tile & 1 and worth[tile] == to_go[0]:
                    out[end] = 1.0
