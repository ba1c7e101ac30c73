"""The 28 tiles of a double-six set (R1.1), and bit sets and tables over them.

Tile `t` with halves low <= high has the index `high * (high + 1) // 2 + low`, so the sets of the smaller variants
(double-two, double-three, ...) are the first 6, 10, ... tiles. A set of tiles is an integer with bit `t` set, a set of
pip counts an integer with bit `pip` set.
"""

from __future__ import annotations

from operator import index

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import kernel

MAX_PIP = 6
NUM_PIPS = MAX_PIP + 1
NUM_TILES = 28
NO_TILE = 255

TILES: tuple[tuple[int, int], ...] = tuple((low, high) for high in range(NUM_PIPS) for low in range(high + 1))
"""Tile index -> (low, high)."""

LOW = np.array([low for low, _ in TILES], np.int64)
HIGH = np.array([high for _, high in TILES], np.int64)
PIPS = LOW + HIGH
DOUBLE_OF_PIP = np.array([TILES.index((pip, pip)) for pip in range(NUM_PIPS)], np.int64)
DOUBLES = int(sum(1 << int(tile) for tile in DOUBLE_OF_PIP))

TILES_WITH = np.array(
    [sum(1 << t for t, tile in enumerate(TILES) if any(mask >> pip & 1 for pip in tile)) for mask in range(128)],
    np.int64,
)
"""Set of pip counts -> set of the tiles that show at least one of them [128]."""

# A 28-bit set splits into four groups of seven bits; sums over a set are four look-ups.
PIP_SUM = np.array(
    [[sum(int(PIPS[7 * g + b]) for b in range(7) if bits >> b & 1) for bits in range(128)] for g in range(4)],
    np.int64,
)


def set_size(max_pip: int) -> int:
    """Number of tiles in a double-`max_pip` set."""
    return (max_pip + 1) * (max_pip + 2) // 2


def tile_index(tile: tuple[int, int]) -> int:
    """Index of a tile given as a pair of pip counts in any order.

    Raises:
        ValueError: if it is not a tile of the double-six set.
    """
    try:
        low, high = sorted(index(pip) for pip in tile)
    except (TypeError, ValueError):
        raise ValueError(f"a tile is a pair of pip counts such as (1, 4), not {tile!r}") from None
    if not 0 <= low <= high <= MAX_PIP:
        raise ValueError(f"a tile has pip counts from 0 to {MAX_PIP}, not {tile!r}")
    return high * (high + 1) // 2 + low


def tile_set(tiles: object) -> int:
    """Bit set of an iterable of tiles.

    Raises:
        ValueError: if a tile is not in the set or occurs twice.
    """
    bits = 0
    for tile in tiles:  # type: ignore[attr-defined]
        bit = 1 << tile_index(tile)
        if bits & bit:
            raise ValueError(f"tile {tile!r} is named twice")
        bits |= bit
    return bits


def tiles_in(bits: int) -> tuple[tuple[int, int], ...]:
    """Tiles of a bit set as (low, high) pairs, in order of their index."""
    return tuple(tile for t, tile in enumerate(TILES) if int(bits) >> t & 1)


def tile_name(tile: int) -> str:
    """Text such as `[1|4]` for the tile with that index."""
    low, high = TILES[tile]
    return f"[{low}|{high}]"


@kernel
def pip_sum(bits: int) -> int:
    """Sum of all pips in a set of tiles."""
    bits = int64(bits)
    return PIP_SUM[0, bits & 127] + PIP_SUM[1, bits >> 7 & 127] + PIP_SUM[2, bits >> 14 & 127] + PIP_SUM[3, bits >> 21]
