"""Layouts for tests of pictures, and an independent check of placed layouts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from fiveup_env.rendering.geometry import PlacedTile, TablePlan
from fiveup_env.rules.layout import Join, Layout, Port, half_with, is_double
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.tiles import TILES
from tests.rules.support import FULL_SET, lead
from tests.rules.test_worked_positions import action, laying_order


def match_of(position: dict[str, Any], num_players: int = 2) -> Match:
    """A match that has just reached a worked position of the source."""
    opening, joins = laying_order(position)
    order = [opening] + [newer[0] for _, newer in joins]
    unused = sorted(FULL_SET - set(order), reverse=True)
    hands = [[*order[seat::num_players], unused[seat]] for seat in range(num_players)]
    match = Match.from_deal(hands, unused[num_players:], 0)
    match.play(lead(opening))
    for older, newer in joins:
        match.play(action(older, newer))
    return match


def layout_of(position: dict[str, Any]) -> Layout:
    """The layout of a worked position."""
    return match_of(position).layout


def rounds(num_players: int, count: int, seed: int = 0) -> Iterator[Layout]:
    """The layouts at the end of `count` random rounds."""
    rng = random.Random(f"{num_players}/{seed}")
    for _ in range(count):
        match = Match(num_players, seed=rng.getrandbits(64))
        while match.game.phase == PLAYING:
            legal = match.legal_actions()
            match.play(legal[int(rng.random() * len(legal))], deal=False)
        yield match.layout


def grown(rng: random.Random) -> Layout:
    """A layout grown at random free places until nothing fits, often to all 28 tiles."""
    tiles = rng.sample(TILES, len(TILES))
    layout = Layout((tiles.pop(),), ())
    while True:
        fits = [
            (place, tile)
            for place in layout.free_places
            for tile in tiles
            if place.pip in tile and not (is_double(tile) and is_double(place.tile))
        ]
        if not fits:
            return layout
        place, tile = rng.choice(fits)
        tiles.remove(tile)
        child = Port(tile, "line_a" if is_double(tile) else half_with(tile, place.pip))
        layout = Layout((*layout.tiles, tile), (*layout.joins, Join(Port(place.tile, place.port), child)))


def prefix(layout: Layout, count: int) -> Layout:
    """The layout of the first `count` tiles."""
    return Layout(layout.tiles[:count], layout.joins[: count - 1])


def half_square(placed: PlacedTile, port: str) -> tuple[int, int, int, int]:
    """The square of a non-double's half."""
    x, y = placed.low if port == "small" else placed.high
    return x - 1, y - 1, x + 1, y + 1


def shared_edge(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> int:
    """Length of the edge that two rectangles share, 0 if there is none, -1 if they overlap."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if wide > 0 and high > 0:
        return -1
    return max(wide, high) if min(wide, high) == 0 and max(wide, high) > 0 else 0


def side_of(spinner: PlacedTile, other: tuple[int, int, int, int]) -> tuple[bool, int]:
    """Whether a rectangle lies at the middle of a long side of a spinner (else at an end), and on which side."""
    x0, y0, x1, y1 = spinner.box
    stands = y1 - y0 > x1 - x0
    middle, around = (other[0] + other[2], x0 + x1), (other[1] + other[3], y0 + y1)
    across, along = (middle, around) if stands else (around, middle)
    if along[0] == along[1]:
        return True, 1 if across[0] > across[1] else -1
    assert across[0] == across[1], "neither in the middle of a side nor of an end"
    return False, 1 if along[0] > along[1] else -1


def check(layout: Layout, plan: TablePlan) -> None:
    """Check all properties of a placed layout from the rectangles alone."""
    assert tuple(placed.tile for placed in plan.tiles) == layout.tiles
    tiles = {placed.tile: placed for placed in plan.tiles}
    for placed in plan.tiles:
        assert sorted((placed.box.width, placed.box.height)) == [2, 4]
        low, high = half_square(placed, "small"), half_square(placed, "big")
        assert (min(low[0], high[0]), min(low[1], high[1]), max(low[2], high[2]), max(low[3], high[3])) == placed.box
        assert shared_edge(low, high) == 2
    boxes = np.array([placed.box for placed in plan.tiles])
    wide = np.minimum.outer(boxes[:, 2], boxes[:, 2]) - np.maximum.outer(boxes[:, 0], boxes[:, 0])
    high_ = np.minimum.outer(boxes[:, 3], boxes[:, 3]) - np.maximum.outer(boxes[:, 1], boxes[:, 1])
    assert ((wide > 0) & (high_ > 0)).sum() == len(boxes), "tiles overlap"
    assert plan.box == (*boxes[:, :2].min(0), *boxes[:, 2:].max(0))
    sides: dict[tuple, set[int]] = {}
    for join in layout.joins:
        pieces = []
        for port in join:
            placed = tiles[port.tile]
            pieces.append(placed.box if is_double(port.tile) else half_square(placed, port.port))
        assert shared_edge(*pieces) == 2, f"{join} does not touch along a half"
        for port, other in ((join.parent, pieces[1]), (join.child, pieces[0])):
            if is_double(port.tile):
                on_line, side = side_of(tiles[port.tile], other)
                assert on_line == port.port.startswith("line"), f"{port} lies at the wrong side"
                sides.setdefault((port.tile, on_line), set()).add(side)
    for (tile, on_line), taken in sides.items():
        names = {"line_a", "line_b"} if on_line else {"arm_a", "arm_b"}
        assert len(taken) == sum(Port(tile, name) in layout.occupied for name in names), (
            f"two tiles at one side of {tile}"
        )
    for place in layout.free_places:
        anchor = plan.anchor(place.tile, place.port)
        assert all(plan.anchor(*port) != anchor for port in layout.occupied), f"{place} is shown where a tile lies"
