"""The laid graph as named objects: who was joined to what, what is free, what counts (R3.1, R4, R5.1).

Everything here is recounted from the graph itself, not from the engine's running sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fiveup_env.rules.actions import Tile
from fiveup_env.rules.record import NO_PORT, Game
from fiveup_env.rules.tiles import TILES

PORT_NAMES = (None, "small", "big", "line_a", "line_b", "arm_a", "arm_b")
DOUBLE_PORTS = ("line_a", "line_b", "arm_a", "arm_b")


class Port(NamedTuple):
    """One half or side of a laid tile: "small" or "big" of a non-double, "line_a" .. "arm_b" of a double."""

    tile: Tile
    port: str


class Join(NamedTuple):
    """Two joined ports; `parent` is the one that lay there before."""

    parent: Port
    child: Port


class FreePlace(NamedTuple):
    """A place where a half with `pip` may be laid (R3.1, R4.3). Not the same as a counted end (R5.1)."""

    tile: Tile
    port: str
    pip: int


class Contribution(NamedTuple):
    """A counted end: a free half of a non-double, or a terminal double with both halves (R4.4)."""

    tile: Tile
    value: int


def is_double(tile: Tile) -> bool:
    """Whether both halves show the same pip count; every such tile is a spinner (R4.1)."""
    return tile[0] == tile[1]


def pip_at(port: Port) -> int:
    """The pip count that a port shows."""
    return port.tile[1] if port.port == "big" else port.tile[0]


def half_with(tile: Tile, pip: int) -> str:
    """Name of the half of a non-double that shows `pip`."""
    return "small" if tile[0] == pip else "big"


@dataclass(frozen=True)
class Layout:
    """A layout: `tiles` in laying order and `joins`; the rest is derived."""

    tiles: tuple[Tile, ...]
    joins: tuple[Join, ...]

    @classmethod
    def of(cls, game: Game) -> Layout:
        """Read the graph out of a record."""
        # Each attribute of a record costs microseconds: read the arrays once.
        laid, parents, ports = game.laid[: int(game.num_laid)].tolist(), game.parent.tolist(), game.port.tolist()
        joins = []
        for t in laid:
            if ports[t] == NO_PORT:
                continue
            parent = Port(TILES[parents[t] - 1], str(PORT_NAMES[ports[t]]))
            tile = TILES[t]
            own = "line_a" if is_double(tile) else half_with(tile, pip_at(parent))
            joins.append(Join(parent, Port(tile, own)))
        return cls(tuple(TILES[t] for t in laid), tuple(joins))

    @property
    def spinners(self) -> tuple[Tile, ...]:
        """Laid doubles in laying order (R4.1)."""
        return tuple(tile for tile in self.tiles if is_double(tile))

    @property
    def occupied(self) -> dict[Port, Port]:
        """Joined port -> the port on the other side of the join."""
        pairs = {join.parent: join.child for join in self.joins}
        return pairs | {child: parent for parent, child in pairs.items()}

    @property
    def free_places(self) -> tuple[FreePlace, ...]:
        """All places where a tile may be laid, in laying order of the tiles that offer them."""
        taken = self.occupied
        places = []
        for tile in self.tiles:
            for port in self._offered(tile, taken):
                if port not in taken:
                    places.append(FreePlace(tile, port.port, pip_at(port)))
        return tuple(places)

    @staticmethod
    def _offered(tile: Tile, taken: dict[Port, Port]) -> tuple[Port, ...]:
        if not is_double(tile):
            return (Port(tile, "small"), Port(tile, "big"))
        line_a, line_b, arm_a, arm_b = (Port(tile, name) for name in DOUBLE_PORTS)
        return (arm_a, arm_b) if line_a in taken and line_b in taken else (line_a, line_b)

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """Counted ends in laying order (R5.1)."""
        taken = self.occupied
        counted = []
        for tile in self.tiles:
            if not is_double(tile):
                halves = (Port(tile, "small"), Port(tile, "big"))
                counted += [Contribution(tile, pip_at(half)) for half in halves if half not in taken]
            elif not (Port(tile, "line_a") in taken and Port(tile, "line_b") in taken):
                counted.append(Contribution(tile, sum(tile)))
        return tuple(counted)

    @property
    def end_sum(self) -> int:
        """Sum of the counted ends (R5.1), raw."""
        return sum(end.value for end in self.contributions)

    def lines(self) -> list[str]:
        """The layout as text: the first line, then one row per started side arm, each tile turned as it lies."""
        if not self.tiles:
            return ["(empty)"]
        taken, root = self.occupied, self.tiles[0]
        first, last = ("line_a", "line_b") if is_double(root) else ("small", "big")
        before = self._walk(Port(root, first), taken)
        after = self._walk(Port(root, last), taken)
        row = [_shown(tile, start=False) for tile in reversed(before)]
        row += [_name(root), *(_shown(tile, start=True) for tile in after)]
        rows = ["-".join(row)]
        for spinner in self.spinners:
            for arm in ("arm_a", "arm_b"):
                if path := self._walk(Port(spinner, arm), taken):
                    tiles = "-".join(_shown(tile, start=True) for tile in path)
                    rows.append(f"{_name(spinner)} {arm}: {tiles}")
        return rows

    @staticmethod
    def _walk(port: Port, taken: dict[Port, Port]) -> list[Port]:
        """Ports by which the tiles straight on from `port` are joined, nearest first."""
        path = []
        while port in taken:
            port = taken[port]
            path.append(port)
            if is_double(port.tile):
                port = Port(port.tile, "line_b" if port.port == "line_a" else "line_a")
            else:
                port = Port(port.tile, "big" if port.port == "small" else "small")
        return path


def _name(tile: Tile) -> str:
    return f"[{tile[0]}|{tile[1]}]"


def _shown(joined_by: Port, *, start: bool) -> str:
    """The tile with its joined half first (start) or last."""
    near = pip_at(joined_by)
    far = sum(joined_by.tile) - near
    return _name((near, far) if start else (far, near))
