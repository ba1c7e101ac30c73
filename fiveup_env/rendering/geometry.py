"""Place a layout on a plane, the way people lay dominoes on a table.

The unit is a quarter of a tile: a half is a 2 x 2 square, a tile 4 x 2. Doubles lie crosswise to their line, arms leave
spinners at right angles, lines run straight while there is room and turn otherwise. Tiles that are not joined keep one
unit of distance where possible.

Tiles are placed in laying order, so placed tiles keep their place when a tile is added. If the new tile finds no place,
a search with backjumping moves the tiles in its way, the latest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fiveup_env.rules.actions import Tile
from fiveup_env.rules.layout import Join, Layout, Port, is_double

Point = tuple[int, int]

FRAME = (44, 30)  # beyond this width and height lines turn where possible
GAP = 1
LANE = 5  # units that an open place keeps free ahead of it
NODES = 4000  # tiles that one search may try before it drops the rules of style, and then the gap

# Costs of a place; only their order matters.
TURN, CORNER, LEANING, DOUBLE_TURN = 5.0, 6.0, 40.0, 60.0
BLOCKS, BLOCKED, SPREAD, OVER = 15.0, 8.0, 0.2, 2.0


class GeometryError(RuntimeError):
    """A layout that cannot be placed; no such layout is known."""


class Box(NamedTuple):
    """A rectangle, x to the right and y downwards."""

    x0: int
    y0: int
    x1: int
    y1: int

    def overlaps(self, other: Box) -> bool:
        """Whether they share more than an edge."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def grown(self, by: int) -> Box:
        """The rectangle with a margin."""
        return Box(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def with_(self, other: Box) -> Box:
        """The smallest rectangle that contains both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    @property
    def width(self) -> int:
        """Extent in x."""
        return self.x1 - self.x0

    @property
    def height(self) -> int:
        """Extent in y."""
        return self.y1 - self.y0


class Anchor(NamedTuple):
    """Middle of the edge where a port takes a tile, and the outward direction."""

    x: int
    y: int
    dx: int
    dy: int

    def lane(self, length: int, half_width: int) -> Box:
        """The strip ahead of the anchor, in units."""
        far_x, far_y = self.x + length * self.dx, self.y + length * self.dy
        wide_x, wide_y = half_width * abs(self.dy), half_width * abs(self.dx)
        x0, x1 = sorted((self.x, far_x))
        y0, y1 = sorted((self.y, far_y))
        return Box(x0 - wide_x, y0 - wide_y, x1 + wide_x, y1 + wide_y)

    def reversed(self) -> Anchor:
        """The same edge seen from the other tile."""
        return Anchor(self.x, self.y, -self.dx, -self.dy)

    def sides(self) -> tuple[Anchor, Anchor]:
        """The anchor turned left and turned right."""
        return Anchor(self.x, self.y, self.dy, -self.dx), Anchor(self.x, self.y, -self.dy, self.dx)


class PlacedTile(NamedTuple):
    """A tile on the plane.

    Attributes:
        tile: (low, high).
        box: its rectangle.
        low, high: centres of its halves.
        anchors: port -> anchor, joined ports included.
    """

    tile: Tile
    box: Box
    low: Point
    high: Point
    anchors: dict[str, Anchor]


class TablePlan(NamedTuple):
    """A placed layout: tiles in laying order, and the rectangle around them."""

    tiles: tuple[PlacedTile, ...]
    box: Box

    def anchor(self, tile: Tile, port: str) -> Anchor:
        """Anchor of a port, free or joined, of a placed tile."""
        return next(placed for placed in self.tiles if placed.tile == tile).anchors[port]


def plan_layout(layout: Layout) -> TablePlan:
    """Place a layout; the result depends on its tiles, joins and laying order alone.

    Raises:
        GeometryError: if a tile finds no place.
    """
    plane = Plane(layout)
    for level in range(len(layout.tiles)):
        plane.add(level)
    return plane.plan()


class _Spot(NamedTuple):
    cost: float
    box: Box
    low: Point
    high: Point
    anchors: dict[str, Anchor]  # a double's anchors carry provisional names, see `Plane.plan`
    by: Anchor | None  # the edge shared with the parent, seen from the parent
    takes: Anchor | None  # the parent's anchor that this occupies; differs from `by` at the side of a half

    @property
    def own(self) -> Anchor | None:
        """The edge shared with the parent, seen from this tile."""
        return None if self.by is None else self.by.reversed()


class Plane:
    """A partly placed layout that grows tile by tile.

    The two line sides of a lone double are interchangeable, and so are its two arms (D7): the first tile there may take
    either.

    Attributes:
        searches: number of tiles whose placing moved other tiles.
    """

    def __init__(self, layout: Layout) -> None:
        self._tiles = layout.tiles
        level = {tile: i for i, tile in enumerate(layout.tiles)}
        self._joins: list[Join | None] = [None] * len(layout.tiles)
        self._parents = [-1] * len(layout.tiles)
        for join in layout.joins:
            self._joins[level[join.child.tile]] = join
            self._parents[level[join.child.tile]] = level[join.parent.tile]
        self._spots: list[_Spot] = []
        self.searches = 0

    def add(self, level: int) -> None:
        """Place tile number `level`; all earlier tiles must be placed."""
        spots = self._ranked(level, GAP, plain=True)
        if spots:
            self._spots.append(spots[0])
            return
        self.searches += 1
        before = self._spots
        for gap, plain in ((GAP, True), (GAP, False), (0, False)):
            self._spots, self._budget = [], NODES
            if self._search(0, level, before, gap, plain) is None:
                return
        self._spots = before
        raise GeometryError(f"no place found for tile {self._tiles[level]}, number {level} of {self._tiles}")

    def _search(self, level: int, last: int, before: list[_Spot], gap: int, plain: bool) -> set[int] | None:
        """Place tiles `level` to `last`; return None on success, else the levels that block it."""
        self._budget -= 1
        if self._budget < 0:
            return set()
        blame = {self._parents[level]}
        spots = self._ranked(level, gap, plain, blame)
        if level < len(before):  # try the old place first
            spots.sort(key=lambda spot: spot.box != before[level].box)
        for spot in spots:
            self._spots.append(spot)
            if level == last:
                return None
            deeper = self._search(level + 1, last, before, gap, plain)
            if deeper is None:
                return None
            self._spots.pop()
            if level not in deeper:
                return deeper
            blame |= deeper
        blame.discard(level)
        return blame

    # candidate places

    def _ranked(self, level: int, gap: int, plain: bool, blame: set[int] | None = None) -> list[_Spot]:
        """Free places, cheapest first; tiles that block the other places are added to `blame`."""
        parent = self._parents[level]
        boxes = [spot.box for spot in self._spots]
        open_lanes: list[tuple[Anchor, Box]] | None = None
        around = self._bounds()
        found = []
        for spot in self._possible(level, blame):
            if plain and spot.cost >= LEANING:
                continue
            grown = spot.box.grown(gap)
            x0, y0, x1, y1 = grown
            hit = False
            for i, (a0, b0, a1, b1) in enumerate(boxes):
                if i != parent and a0 < x1 and x0 < a1 and b0 < y1 and y0 < b1:
                    hit = True
                    if blame is None:
                        break
                    blame.add(i)
            if hit:
                continue
            if open_lanes is None:
                open_lanes = [(anchor, anchor.lane(LANE, 2)) for anchor in self._open()]
            found.append(spot._replace(cost=spot.cost + self._cost(spot, boxes, open_lanes, around)))
        found.sort(key=lambda spot: spot.cost)
        return found

    def _cost(self, spot: _Spot, boxes: list[Box], open_lanes: list[tuple[Anchor, Box]], around: Box | None) -> float:
        cost = 0.0
        if around is not None:
            wide = around.with_(spot.box)
            cost += SPREAD * (wide.width - around.width + wide.height - around.height)
            cost += OVER * (max(wide.width, FRAME[0]) - max(around.width, FRAME[0]))
            cost += OVER * (max(wide.height, FRAME[1]) - max(around.height, FRAME[1]))
        for anchor, lane in open_lanes:
            if anchor != spot.takes and spot.box.overlaps(lane):
                cost += BLOCKS
        for anchor in spot.anchors.values():
            lane = anchor.lane(LANE - 1, 1)
            if lane.overlaps(spot.box) or anchor == spot.own:
                continue
            if any(lane.overlaps(box) for box in boxes):
                cost += BLOCKED
        return cost

    def _bounds(self) -> Box | None:
        if not self._spots:
            return None
        around = self._spots[0].box
        for spot in self._spots:
            around = around.with_(spot.box)
        return around

    def _open(self) -> Iterator[Anchor]:
        """Anchors that can still take a tile."""
        taken = {anchor for spot in self._spots for anchor in (spot.takes, spot.own) if anchor is not None}
        for spot in self._spots:
            yield from (anchor for anchor in spot.anchors.values() if anchor not in taken)

    def _possible(self, level: int, blame: set[int] | None) -> Iterator[_Spot]:
        """Every place that the join allows, free or not."""
        tile, join = self._tiles[level], self._joins[level]
        if join is None:
            yield _root(tile)
            return
        parent = self._spots[self._parents[level]]
        if not is_double(join.parent.tile):
            anchor = parent.anchors[join.parent.port]
            yield from _from_half(tile, join.child, anchor)
            return
        taken = set()
        for i, other in enumerate(self._joins[: len(self._spots)]):
            if other is not None and other.parent.tile == join.parent.tile:
                taken.add(self._spots[i].takes)
                if blame is not None:
                    blame.add(i)
        line = join.parent.port.startswith("line")
        for name in ("line_a", "line_b") if line else ("arm_a", "arm_b"):
            anchor = parent.anchors[name]
            if anchor in taken or anchor == parent.own:
                continue
            yield _straight(tile, join.child, anchor, anchor, 0.0)
            if not line:
                for turned in anchor.sides():
                    yield _halves(join.child, anchor, turned, anchor, LEANING)

    def plan(self) -> TablePlan:
        """The placed tiles, with the anchors of every double under their final port names."""
        placed = []
        for level, (tile, spot) in enumerate(zip(self._tiles, self._spots, strict=False)):
            anchors = self._named(level, spot) if is_double(tile) else spot.anchors
            placed.append(PlacedTile(tile, spot.box, spot.low, spot.high, anchors))
        return TablePlan(tuple(placed), self._bounds() or Box(0, 0, 0, 0))

    def _named(self, level: int, spot: _Spot) -> dict[str, Anchor]:
        """A double's anchors by port: occupied ones as the joins name them, the others in any order."""
        named = {}
        if spot.own is not None:
            named["line_a"] = spot.own
        for i, other in enumerate(self._joins[: len(self._spots)]):
            by = self._spots[i].by
            if other is not None and self._parents[i] == level and by is not None:
                named[other.parent.port] = by
        for pair in (("line_a", "line_b"), ("arm_a", "arm_b")):
            free = [spot.anchors[name] for name in pair if spot.anchors[name] not in named.values()]
            for name in pair:
                if name not in named:
                    named[name] = free.pop(0)
        return named


def _root(tile: Tile) -> _Spot:
    """The opening tile: a double upright, any other tile flat."""
    if is_double(tile):
        edge = Anchor(-1, 0, 1, 0)
        return _double(edge, edge, 0.0)._replace(by=None, takes=None)
    anchors = {"small": Anchor(-2, 0, -1, 0), "big": Anchor(2, 0, 1, 0)}
    return _Spot(0.0, Box(-2, -1, 2, 1), (-1, 0), (1, 0), anchors, None, None)


def _from_half(tile: Tile, child: Port, anchor: Anchor) -> Iterator[_Spot]:
    """Places at the free half of a non-double: straight ahead, around its corner, or at the side of the half."""
    yield _straight(tile, child, anchor, anchor, 0.0)
    if not is_double(tile):
        for turned in anchor.sides():
            yield _halves(child, anchor, turned, anchor, CORNER)
    half_x, half_y = anchor.x - anchor.dx, anchor.y - anchor.dy
    for turned in anchor.sides():
        side = Anchor(half_x + turned.dx, half_y + turned.dy, turned.dx, turned.dy)
        yield _straight(tile, child, side, anchor, DOUBLE_TURN if is_double(tile) else TURN)


def _straight(tile: Tile, child: Port, by: Anchor, takes: Anchor, cost: float) -> _Spot:
    return _double(by, takes, cost) if is_double(tile) else _halves(child, by, by, takes, cost)


def _halves(child: Port, by: Anchor, along: Anchor, takes: Anchor, cost: float) -> _Spot:
    """A non-double with its joined half at the edge `by` and the other half along `along`."""
    near = (by.x + by.dx, by.y + by.dy)
    dx, dy = along.dx, along.dy
    far = (near[0] + 2 * dx, near[1] + 2 * dy)
    (x0, x1), (y0, y1) = sorted((near[0], far[0])), sorted((near[1], far[1]))
    open_port = "big" if child.port == "small" else "small"
    anchors = {child.port: by.reversed(), open_port: Anchor(far[0] + dx, far[1] + dy, dx, dy)}
    low, high = (near, far) if child.port == "small" else (far, near)
    return _Spot(cost, Box(x0 - 1, y0 - 1, x1 + 1, y1 + 1), low, high, anchors, by, takes)


def _double(by: Anchor, takes: Anchor, cost: float) -> _Spot:
    """A double crosswise to the line that ends at `by`."""
    x, y, dx, dy = by.x + by.dx, by.y + by.dy, by.dx, by.dy
    px, py = abs(dy), abs(dx)
    box = Box(x - abs(dx) - 2 * px, y - abs(dy) - 2 * py, x + abs(dx) + 2 * px, y + abs(dy) + 2 * py)
    anchors = {
        "line_a": Anchor(by.x, by.y, -dx, -dy),
        "line_b": Anchor(x + dx, y + dy, dx, dy),
        "arm_a": Anchor(x - 2 * px, y - 2 * py, -px, -py),
        "arm_b": Anchor(x + 2 * px, y + 2 * py, px, py),
    }
    return _Spot(cost, box, (x - px, y - py), (x + px, y + py), anchors, by, takes)
