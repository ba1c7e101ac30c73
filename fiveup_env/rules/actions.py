"""The 121 actions, one table for all numbers of players and all variants.

| ids       | action                                                                             |
|-----------|------------------------------------------------------------------------------------|
| 0 .. 27   | lead tile t (the opening placement, R2.4)                                          |
| 28 .. 34  | lay the double of pip p on a single end of its pip                                 |
| 35 .. 76  | lay a non-double, by its low or its high half, on a single end                     |
| 77 .. 118 | lay a non-double, by its low or its high half, on the spinner of that pip (R4)     |
| 119       | draw one tile (R3.2)                                                               |
| 120       | pass (R3.2)                                                                        |

Places that make no difference to the rest of the match are one action (D7): two single ends of one pip count, the two
line sides of a lone opening double, the two side arms of one spinner. A spinner offers either its line side or its side
arms (R4.3), so "onto the spinner" is one action. The engine lays on the earliest-laid of equal single ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fiveup_env.rules.tiles import DOUBLE_OF_PIP, TILES, tile_index, tile_name

NUM_ACTIONS = 121
LAY_DOUBLE = 28
LAY_END = 35
LAY_SPINNER = 77
DRAW = 119
PASS = 120

Tile: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Lead:
    """Open the round with `tile` (R2.4)."""

    tile: Tile


@dataclass(frozen=True)
class Lay:
    """Lay `tile` with the half that shows `pip` on a single end or on the spinner of that pip (R3.1)."""

    tile: Tile
    pip: int
    onto: Literal["end", "spinner"]


@dataclass(frozen=True)
class Draw:
    """Draw one tile from the boneyard (R3.2)."""


@dataclass(frozen=True)
class Pass:
    """Pass: nothing fits and the boneyard is empty (R3.2)."""


Action: TypeAlias = Lead | Lay | Draw | Pass


def _named_actions() -> tuple[Action, ...]:
    doubles = [TILES[int(t)] for t in DOUBLE_OF_PIP]
    others = [tile for tile in TILES if tile not in doubles]
    halves = [(tile, pip) for tile in others for pip in tile]
    return (
        *(Lead(tile) for tile in TILES),
        *(Lay(tile, tile[0], "end") for tile in doubles),
        *(Lay(tile, pip, "end") for tile, pip in halves),
        *(Lay(tile, pip, "spinner") for tile, pip in halves),
        Draw(),
        Pass(),
    )


NAMED: tuple[Action, ...] = _named_actions()
_IDS = {action: i for i, action in enumerate(NAMED)}

ACTION_TILE = np.array([tile_index(a.tile) if isinstance(a, Lead | Lay) else 255 for a in NAMED], np.int64)
"""Action -> tile laid, 255 for draw and pass [121]."""
ACTION_PIP = np.array([a.pip if isinstance(a, Lay) else 0 for a in NAMED], np.int64)
"""Action -> pip count of the joined half, 0 where nothing is joined [121]."""
ACTION_OTHER = np.array(
    [sum(a.tile) - a.pip if isinstance(a, Lay) else 0 for a in NAMED],
    np.int64,
)
"""Action -> pip count of the half that stays outside [121]."""

PLACEMENTS_OF = np.array(
    [([i for i, a in enumerate(NAMED) if isinstance(a, Lay) and a.tile == tile] + [-1] * 3)[:4] for tile in TILES],
    np.int64,
)
"""Tile -> its placements other than a lead, -1 behind the last [28, 4]."""

# Placements other than leads are two bit sets: bit j of `end` is the action LAY_DOUBLE + j (49 actions), bit j of
# `spinner` is the action LAY_SPINNER + j (42 actions).
_END = range(LAY_DOUBLE, LAY_SPINNER)
_SPINNER = range(LAY_SPINNER, DRAW)


def _by_hand(ids: range) -> np.ndarray:
    table = np.zeros((4, 128), np.int64)
    for group in range(4):
        for bits in range(128):
            for i in ids:
                tile = int(ACTION_TILE[i]) - 7 * group
                if 0 <= tile < 7 and bits >> tile & 1:
                    table[group, bits] |= 1 << (i - ids.start)
    return table


def _by_pips(ids: range) -> np.ndarray:
    bit = {i: 1 << (i - ids.start) for i in ids}
    return np.array([sum(bit[i] for i in ids if mask >> ACTION_PIP[i] & 1) for mask in range(128)], np.int64)


HAND_END = _by_hand(_END)
"""Group of seven tiles, set of held tiles in it -> possible placements on ends [4, 128]."""
HAND_SPINNER = _by_hand(_SPINNER)
"""The same for placements on spinners [4, 128]."""
OFFER_END = _by_pips(_END)
"""Set of pip counts with a single end -> placements on ends that the layout takes [128]."""
OFFER_SPINNER = _by_pips(_SPINNER)
"""Set of pip counts whose spinner has a free place -> placements on spinners that the layout takes [128]."""


def decode(action: int) -> Action:
    """Return the named action of an id.

    Raises:
        ValueError: if the id is not an integer from 0 to 120.
    """
    return NAMED[checked_id(action)]


def encode(action: Action) -> int:
    """Return the id of a named action, the inverse of `decode`; the halves of a tile may be in any order.

    Raises:
        ValueError: if there is no such action (a half that the tile does not show, a double onto a spinner, ...).
    """
    if isinstance(action, Lead):
        action = Lead(TILES[tile_index(action.tile)])
    elif isinstance(action, Lay):
        action = Lay(TILES[tile_index(action.tile)], action.pip, action.onto)
    try:
        return _IDS[action]
    except (KeyError, TypeError):
        raise ValueError(f"{action!r} is not an action of the game") from None


def describe(action: int) -> str:
    """Text of an action, for example `lay [1|4] by its 4 on an end`."""
    named = decode(action)
    if isinstance(named, Lead):
        return f"lead {tile_name(tile_index(named.tile))}"
    if isinstance(named, Lay):
        place = "an end" if named.onto == "end" else f"the spinner {tile_name(int(DOUBLE_OF_PIP[named.pip]))}"
        half = "" if named.tile[0] == named.tile[1] else f" by its {named.pip}"
        return f"lay {tile_name(tile_index(named.tile))}{half} on {place}"
    return "draw a tile" if isinstance(named, Draw) else "pass"


def checked_id(action: object) -> int:
    """Return `action` as a plain int from 0 to 120; NumPy integers and 0-d integer arrays are accepted.

    Raises:
        ValueError: for anything else.
    """
    if not isinstance(action, bool | np.bool_):
        try:
            number = action.__index__()  # type: ignore[attr-defined]
        except (AttributeError, TypeError):
            number = -1
        if 0 <= number < NUM_ACTIONS:
            return int(number)
    raise ValueError(f"an action is an integer from 0 to {NUM_ACTIONS - 1}, not {action!r}")
