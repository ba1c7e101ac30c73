"""Points of tiles on a layout that is given by its ends and spinners alone, as an observation shows it."""

from __future__ import annotations

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import ACTION_PIP, LAY_SPINNER, PLACEMENTS_OF
from fiveup_env.rules.layout import SUM_CHANGE, packed
from fiveup_env.rules.record import ALONE, ONE_ARM, TERMINAL

ANY_POINTS = 255
"""More than any placement brings."""


@kernel
def points_now(total: int, ends: int, spinners: int, tile: int, most: int) -> int:
    """Most display points that a tile could bring on this layout (R5.2), 0 for none, -1 if it fits nowhere.

    Args:
        total: sum of the counted ends, raw.
        ends, spinners: see `rules.layout.layout_after`.
        tile: index of the tile.
        most: a placement of more points is an overshoot and brings none (R6.1).
    """
    best = -1
    for i in range(4):
        action = PLACEMENTS_OF[tile, i]
        if action < 0:
            break
        pip = ACTION_PIP[action]
        state = packed(spinners, pip)
        free = ALONE <= state <= ONE_ARM if action >= LAY_SPINNER else packed(ends, pip) > 0
        if free:
            best = max(best, points_up_to(total + SUM_CHANGE[int(state == TERMINAL), action], most))
    return best


@kernel
def points_up_to(total: int, most: int) -> int:
    """Display points of a sum of the counted ends (R5.2), 0 if they are more than `most`."""
    return total // 5 if total % 5 == 0 and total // 5 <= most else 0
