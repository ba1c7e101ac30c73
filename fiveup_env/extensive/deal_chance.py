"""A deal as a row of chance outcomes, one tile each, so that every deal comes up once and all are equally likely.

A hand has no order. Tiles are dealt seat by seat, and to each seat in ascending order of their index; the probability
of a tile is the share of the hands of that size, from the tiles left, whose next tile it is. Tile by tile in any order
would give every deal (hand size)! ** players times over, which exact methods would pay for.
"""

from __future__ import annotations

import math
from functools import cache

Outcomes = tuple[tuple[int, float], ...]
"""Chance outcomes with their probabilities, ascending."""


@cache
def _shares(candidates: int, missing: int) -> tuple[float, ...]:
    """P(the first, second, ... of the candidates is the lowest of a random set of `missing` of them)."""
    ways = math.comb(candidates, missing)
    return tuple(math.comb(candidates - 1 - i, missing - 1) / ways for i in range(candidates - missing + 1))


def next_tiles(dealt: tuple[int, ...], hand_size: int, num_tiles: int) -> Outcomes:
    """What may be dealt next.

    Args:
        dealt: tiles so far, seat by seat; the last seat's may be incomplete.
        hand_size: tiles of each seat.
        num_tiles: the tiles with the indices below it are dealt.
    """
    held = len(dealt) % hand_size
    lowest = dealt[-1] + 1 if held else 0
    candidates = [tile for tile in range(lowest, num_tiles) if tile not in dealt]
    return tuple(zip(candidates, _shares(len(candidates), hand_size - held), strict=False))


def evenly(outcomes: tuple[int, ...]) -> Outcomes:
    """Each with the same probability."""
    return tuple((outcome, 1 / len(outcomes)) for outcome in outcomes)
