"""Features of a placement that depend on the belief: likely replies and chances to win the match.

| feature | size        | meaning                                                                          |
|---------|-------------|----------------------------------------------------------------------------------|
| likely  | (n - 1) * 6 | per other seat, chances that it holds a tile that fits, one that scores without  |
|         |             | overshooting, and one that hits the target; expected points of its tiles,        |
|         |             | summed, in 8ths; expected points of its best tile, in 8ths; the change of the    |
|         |             | own chance to win the match by that tile, times 4                                |
| own_hit | 1           | 1 if a remaining tile of the own hand could then hit the target                  |
| chance  | 2           | own chance to win the match if the round ended now; its change by the credit of  |
|         |             | the placement, times 4                                                           |

All points are display points. `placement_features` appends these features for networks with `belief`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.agents.search.equity import LONGEST, mean_chance
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import ACTION_PIP, LAY_SPINNER, PLACEMENTS_OF
from fiveup_env.rules.layout import SUM_CHANGE, packed
from fiveup_env.rules.record import ALONE, ONE_ARM, TERMINAL
from fiveup_env.rules.tiles import NUM_TILES

_PER_SEAT = 6
_BEHIND = 3
_MOST_POINTS = 16
OUTLOOK_SCRATCH = (2, _MOST_POINTS)
"""Shape of the float64 scratch of `write_outlook`."""
ANY_POINTS = 255
"""Limit of `best_points` that no placement reaches."""


class Outlook(NamedTuple):
    """Inputs of the features.

    Attributes:
        belief: float32 [N, n, 28], likely places of every tile (see `belief.approximation`).
        chances: flat table of chances to win the match, float32 [61 ** sides * sides] (see `agents.search.equity`).
    """

    belief: np.ndarray
    chances: np.ndarray


class AfterPlacement(NamedTuple):
    """Position after a placement.

    Attributes:
        total: sum of the counted ends, raw.
        ends, spinners: see `rules.layout.layout_after`.
        hand: remaining tiles of the own hand, a tile set.
        credit: display points of the placement, 0 for an overshoot.
    """

    total: int
    ends: int
    spinners: int
    hand: int
    credit: int


def num_outlook(num_players: int) -> int:
    """Return the number of these features."""
    return _PER_SEAT * (num_players - 1) + _BEHIND


@kernel
def best_points(after: AfterPlacement, tile: int, limit: int) -> int:
    """Return the most display points of laying a tile (R5.2), 0 for none, -1 if it fits nowhere.

    A placement of more than `limit` points is an overshoot and brings 0 (R6.1).
    """
    best = -1
    for i in range(4):
        action = PLACEMENTS_OF[tile, i]
        if action < 0:
            break
        pip = ACTION_PIP[action]
        state = packed(after.spinners, pip)
        free = ALONE <= state <= ONE_ARM if action >= LAY_SPINNER else packed(after.ends, pip) > 0
        if free:
            total = after.total + SUM_CHANGE[int(state == TERMINAL), action]
            best = max(best, total // 5 if total % 5 == 0 and total // 5 <= limit else 0)
    return best


@kernel
def chance_of(chances: np.ndarray, sides: int, to_go: np.ndarray, scoring: int, points: int) -> float:
    """Return the own chance to win the match if side `scoring` gets `points` and the round ends.

    The opener of the next round is taken as uniformly random over the sides.

    Args:
        chances: see `Outlook`.
        sides: 2 or 3.
        to_go: display points to go by relative side, the own side first.
        scoring: relative side.
        points: display points, no overshoot.
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
def write_replies(
    likely: np.ndarray, worth: np.ndarray, to_go: int, change: np.ndarray, none_of: np.ndarray, out: np.ndarray
) -> None:
    """Write the features `likely` of one other seat.

    Args:
        likely: chance that the seat holds each tile [28]; chances are taken as independent.
        worth: display points of each tile without overshooting, -1 if it fits nowhere [28].
        to_go: display points to go of the seat's side.
        change: change of the own chance to win the match, by points [_MOST_POINTS].
        none_of: scratch [_MOST_POINTS], the chance that the seat holds no tile of that many points.
        out: [_PER_SEAT].
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
    after: AfterPlacement,
    outlook: Outlook,
    row: int,
    to_go: np.ndarray,
    scratch: tuple[np.ndarray, np.ndarray],
    out: np.ndarray,
) -> None:
    """Write the features of one placement.

    Args:
        players: number of seats.
        after: position after the placement.
        outlook: beliefs of all positions, and chances.
        row: index of the position.
        to_go: display points to go by relative side before the placement; updated to those after it.
        scratch: points per tile, int64 [28], and float64 of shape `OUTLOOK_SCRATCH`.
        out: features, zero on entry.
    """
    likely, chances, worth = outlook.belief[row], outlook.chances, scratch[0]
    change, none_of = scratch[1][0], scratch[1][1]
    sides, end = 3 if players == 3 else 2, _PER_SEAT * (players - 1)
    out[end + 1] = before = chance_of(chances, sides, to_go, 0, 0)
    now = chance_of(chances, sides, to_go, 0, after.credit)
    out[end + 2] = (now - before) * 4
    to_go[0] -= after.credit
    for side in range(sides):
        for points in range(_MOST_POINTS):
            won = to_go[0] == 0 or points > to_go[side]
            change[points] = 0.0 if won else chance_of(chances, sides, to_go, side, points) - now
        for tile in range(NUM_TILES):
            worth[tile] = best_points(after, tile, to_go[side])
        for other in range(1, players):
            if other % sides == side:
                here = out[_PER_SEAT * (other - 1) :]
                write_replies(likely[other - 1], worth, to_go[side], change, none_of, here)
        if side == 0:
            for tile in range(NUM_TILES):
                if after.hand >> tile & 1 and worth[tile] == to_go[0]:
                    out[end] = 1.0
