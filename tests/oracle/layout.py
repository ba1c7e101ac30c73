"""The laid tiles as an explicit graph: nodes are tiles with named ports, edges are joins."""

from __future__ import annotations

from typing import NamedTuple

Tile = tuple[int, int]

SINGLE_PORTS = ("small", "big")
LINE_PORTS = ("line_a", "line_b")
ARM_PORTS = ("arm_a", "arm_b")


def is_double(tile: Tile) -> bool:
    return tile[0] == tile[1]


def pips(tile: Tile) -> int:
    return tile[0] + tile[1]


class Place(NamedTuple):
    """One port of one laid tile."""

    tile: Tile
    port: str

    @property
    def pip(self) -> int:
        """The pip count that a tile joined here must show (R3.1)."""
        return self.tile[1] if self.port == "big" else self.tile[0]

    @property
    def on_spinner(self) -> bool:
        """Every double is a spinner (R4.1, D10)."""
        return is_double(self.tile)


def own_port(tile: Tile, pip: int) -> str | None:
    """The port by which a hand tile is joined to a place of this pip count, None if it can't (R3.1, R4.2)."""
    low, high = tile
    if low == high:
        return "line_a" if low == pip else None
    return "small" if low == pip else "big" if high == pip else None


class Layout:
    """The graph. ``nodes[tile][port]`` is the place at the other end of the join there, or None."""

    def __init__(self) -> None:
        self.root: Tile | None = None
        self.nodes: dict[Tile, dict[str, Place | None]] = {}
        self.joins: list[tuple[Place, Place]] = []  # (older tile's place, newer's), in laying order

    def lead(self, tile: Tile) -> None:
        """R2.4: the opening tile."""
        assert self.root is None
        self.root = tile
        self._add_node(tile)

    def lay(self, tile: Tile, port: str, place: Place) -> None:
        """R3.1: join a new tile's port to a place, which the caller knows to be free (``free_places``)."""
        assert tile not in self.nodes and self.nodes[place.tile][place.port] is None
        self._add_node(tile)
        self.nodes[tile][port] = place
        self.nodes[place.tile][place.port] = Place(tile, port)
        self.joins.append((place, Place(tile, port)))

    def _add_node(self, tile: Tile) -> None:
        ports = LINE_PORTS + ARM_PORTS if is_double(tile) else SINGLE_PORTS
        self.nodes[tile] = dict.fromkeys(ports)

    def walk(self) -> list[Tile]:
        """All tiles reached from the opening tile over the joins, each once."""
        if self.root is None:
            return []
        reached = [self.root]
        seen = {self.root}
        for tile in reached:  # the list grows while it is walked
            for other in self.nodes[tile].values():
                if other is not None and other.tile not in seen:
                    seen.add(other.tile)
                    reached.append(other.tile)
        return reached

    def is_terminal(self, double: Tile) -> bool:
        """R4.4: fewer than two line sides occupied."""
        ports = self.nodes[double]
        return ports["line_a"] is None or ports["line_b"] is None

    def free_places(self) -> list[Place]:
        """R3.1, R4.3: every free place; a spinner's side arms only once both its line sides are occupied."""
        places = []
        for tile in self.walk():
            ports = self.nodes[tile]
            if not is_double(tile):
                usable = SINGLE_PORTS
            elif self.is_terminal(tile):
                usable = LINE_PORTS
            else:
                usable = ARM_PORTS
            places += [Place(tile, port) for port in usable if ports[port] is None]
        return places

    def contributions(self) -> list[tuple[Tile, int]]:
        """R5.1: free halves of non-doubles; terminal doubles with twice their pips, once (R4.4, R4.5)."""
        ends = []
        for tile in self.walk():
            ports = self.nodes[tile]
            if is_double(tile):
                if self.is_terminal(tile):
                    ends.append((tile, pips(tile)))
            else:
                ends += [(tile, half) for port, half in zip(SINGLE_PORTS, tile, strict=True) if ports[port] is None]
        return ends

    def end_sum(self) -> int:
        return sum(value for _, value in self.contributions())
