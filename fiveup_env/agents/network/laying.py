"""Laying on a layout that is given by its ends and spinners alone, as an observation shows it."""

from __future__ import annotations

import numpy as np

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import ACTION_OTHER, ACTION_PIP, ACTION_TILE, LAY_DOUBLE, LAY_END, LAY_SPINNER
from fiveup_env.rules.record import ALONE, ONE_ARM, TERMINAL
from fiveup_env.rules.tiles import HIGH, LOW

ANY_POINTS = 255
"""More than any placement brings."""


@kernel
def points_now(total: int, ends: np.ndarray, spinners: np.ndarray, tile: int, most: int) -> int:
    """Most display points that a tile could bring on this layout (R5.2), 0 for none, -1 if it fits nowhere.

    Args:
        total: sum of the counted ends, raw.
        ends: single ends per pip, int64 [7].
        spinners: state of every spinner, int64 [7], see `rules.record`.
        tile: to be laid.
        most: more than these are an overshoot and bring none (R6.1).
    """
    low, high = LOW[tile], HIGH[tile]
    best = -1
    for turned in range(2):
        pip, other = (high, low) if turned else (low, high)
        if low == high and turned:
            break
        if ends[pip] > 0:
            best = max(best, points_up_to(total + (pip if low == high else other - pip), most))
        if low != high and ALONE <= spinners[pip] <= ONE_ARM:
            best = max(best, points_up_to(total + other - (2 * pip if spinners[pip] == TERMINAL else 0), most))
    return best


@kernel
def points_up_to(total: int, most: int) -> int:
    """Display points of a sum of the counted ends (R5.2), 0 if they are more than `most`."""
    return total // 5 if total % 5 == 0 and total // 5 <= most else 0


@kernel
def lay_here(total: int, ends: np.ndarray, spinners: np.ndarray, action: int) -> int:
    """Lay on this layout, given as in `points_now`; returns the new sum of the counted ends."""
    tile, pip, other = ACTION_TILE[action], ACTION_PIP[action], ACTION_OTHER[action]
    if action < LAY_DOUBLE:
        if LOW[tile] == HIGH[tile]:
            spinners[LOW[tile]] = ALONE
        else:
            ends[LOW[tile]] += 1
            ends[HIGH[tile]] += 1
        return LOW[tile] + HIGH[tile]
    if action < LAY_END:
        ends[pip] -= 1
        spinners[pip] = TERMINAL
        return total + pip
    ends[other] += 1
    if action < LAY_SPINNER:
        ends[pip] -= 1
        return total + other - pip
    inside = 2 * pip if spinners[pip] == TERMINAL else 0
    spinners[pip] += 1
    return total + other - inside
