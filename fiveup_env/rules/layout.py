"""The layout: joins, free places and counted ends (R3.1, R4, R5.1).

`Layout` shows the laid graph as named objects and recounts everything from it. The kernels update the running sums and
sets of a record; the tables state the effect of each placement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import (
    ACTION_OTHER,
    ACTION_PIP,
    ACTION_TILE,
    LAY_DOUBLE,
    LAY_END,
    LAY_SPINNER,
    NAMED,
    Action,
    Lay,
    Lead,
    Tile,
)
from fiveup_env.rules.record import (
    ALONE,
    BIG,
    CLOSED,
    LINE_A,
    NO_PORT,
    SMALL,
    TERMINAL,
    Game,
)
from fiveup_env.rules.tiles import DOUBLE_OF_PIP, HIGH, LOW, TILES

PORT_NAMES = (None, "small", "big", "line_a", "line_b", "arm_a", "arm_b")
DOUBLE_PORTS = ("line_a", "line_b", "arm_a", "arm_b")


class Port(NamedTuple):
    """One half or side of a laid tile: "small" or "big" of a non-double, "line_a" .. "arm_b" of a double."""

    tile: Tile
    port: str


class Join(NamedTuple):
    """Two joined ports; `parent` was laid first."""

    parent: Port
    child: Port


class FreePlace(NamedTuple):
    """A place where a half with `pip` may be laid (R3.1, R4.3); not the same as a counted end (R5.1)."""

    tile: Tile
    port: str
    pip: int


class Contribution(NamedTuple):
    """A counted end: a free half of a non-double, or both halves of a terminal double (R4.4)."""

    tile: Tile
    value: int


def is_double(tile: Tile) -> bool:
    """Whether both halves show the same pip count; such a tile is a spinner (R4.1)."""
    return tile[0] == tile[1]


def pip_at(port: Port) -> int:
    """The pip count that a port shows."""
    return port.tile[1] if port.port == "big" else port.tile[0]


def half_with(tile: Tile, pip: int) -> str:
    """Name of the half of a non-double that shows `pip`."""
    return "small" if tile[0] == pip else "big"


@dataclass(frozen=True)
class Layout:
    """A layout: `tiles` in laying order and `joins`; everything else is derived."""

    tiles: tuple[Tile, ...]
    joins: tuple[Join, ...]

    @classmethod
    def of(cls, game: Game) -> Layout:
        """Read the graph from a record."""
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
        """Joined port -> port on the other side of the join."""
        pairs = {join.parent: join.child for join in self.joins}
        return pairs | {child: parent for parent, child in pairs.items()}

    @property
    def free_places(self) -> tuple[FreePlace, ...]:
        """All places where a tile may be laid, in laying order of their tiles."""
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
        """Text of the layout: the first line, then one row per started side arm, each tile turned as it lies."""
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


def _changes(action: Action) -> tuple[int, int, set[int], set[int], tuple[int, int]]:
    """Effect of a placement: sum, sum if its spinner is terminal, ends taken, ends added, (spinner, states)."""
    if isinstance(action, Lead):
        low, high = action.tile
        if low == high:
            return 2 * low, 2 * low, set(), set(), (low, ALONE)
        return low + high, low + high, set(), {low, high}, (0, 0)
    if not isinstance(action, Lay):
        return 0, 0, set(), set(), (0, 0)
    pip, other = action.pip, sum(action.tile) - action.pip
    if pip == other:  # one half replaced by both halves
        return pip, pip, {pip}, set(), (pip, TERMINAL)
    if action.onto == "end":
        return other - pip, other - pip, {pip}, {other}, (0, 0)
    return other, other - 2 * pip, set(), {other}, (pip, 1)


_CHANGES = [_changes(action) for action in NAMED]
SUM_CHANGE = np.array([[change[row] for change in _CHANGES] for row in (0, 1)], np.int64)
"""Change of the sum of the counted ends (R4.4, R4.5, R5.1), raw [2, 121]; row 1: onto a spinner in state TERMINAL."""
ENDS_TAKEN = np.array([sum(1 << pip for pip in change[2]) for change in _CHANGES], np.int64)
"""Action -> set of the pip count of which it covers a single end [121]."""
ENDS_ADDED = np.array([sum(1 << pip for pip in change[3]) for change in _CHANGES], np.int64)
"""Action -> set of the pip counts of which it adds a single end [121]."""
SPINNER_STEP = np.array([change[4][1] for change in _CHANGES], np.int64)
"""Action -> step in state (ABSENT .. CLOSED) of the spinner that it lays or joins [121]."""
ENDS_CHANGE = np.array(
    [sum(8**pip for pip in change[3]) - sum(8**pip for pip in change[2]) for change in _CHANGES], np.int64
)
SPINNERS_CHANGE = np.array([change[4][1] * 8 ** change[4][0] for change in _CHANGES], np.int64)


@kernel(inline=True)
def packed(counts: int, pip: int) -> int:
    """Value of a pip count in a word of three bits per pip."""
    return counts >> 3 * pip & 7


@kernel(inline=True)
def layout_after(total: int, ends: int, spinners: int, action: int) -> tuple[int, int, int]:
    """Return the counted layout after a placement.

    Args:
        total: sum of the counted ends, raw.
        ends: number of single ends, three bits per pip.
        spinners: state of every spinner (ABSENT .. CLOSED), three bits per pip.
        action: a legal placement.
    """
    terminal = packed(spinners, ACTION_PIP[action]) == TERMINAL
    return total + SUM_CHANGE[int64(terminal), action], ends + ENDS_CHANGE[action], spinners + SPINNERS_CHANGE[action]


@kernel
def place_tile(game: Game, tile: int) -> int:
    """Append a tile to the laying order; returns its index there."""
    index = int64(game.num_laid)
    game.laid[index] = tile
    game.order[tile] = index + 1
    game.num_laid = index + 1
    game.table = int64(game.table) | 1 << tile
    return index


@kernel
def add_end(game: Game, pip: int, index: int) -> None:
    """Add the free single half of `pip` of the tile laid at `index`."""
    game.ends[pip] |= 1 << index
    game.end_pips |= 1 << pip


@kernel
def take_end(game: Game, pip: int) -> int:
    """Cover the earliest-laid single end of `pip` (D7); returns the laying index of its tile."""
    bits = int64(game.ends[pip])
    game.ends[pip] = bits & (bits - 1)
    if bits & (bits - 1) == 0:
        game.end_pips = int64(game.end_pips) & ~(1 << pip)
    return lowest_bit(bits)


@kernel
def lead(game: Game, tile: int) -> None:
    """Lay the opening tile: a double is a spinner with both line sides free (R4.2)."""
    index = place_tile(game, tile)
    low, high = LOW[tile], HIGH[tile]
    if low == high:
        game.spinners[low] = ALONE
        game.spinner_pips = 1 << low
    else:
        add_end(game, low, index)
        add_end(game, high, index)


@kernel
def join_end(game: Game, tile: int, pip: int) -> None:
    """Join `tile` to the earliest-laid single end of `pip`, which is covered now."""
    parent = int64(game.laid[take_end(game, pip)])
    game.parent[tile] = parent + 1
    game.port[tile] = SMALL if LOW[parent] == pip else BIG


@kernel
def lay_double(game: Game, tile: int, pip: int) -> None:
    """Lay a double on a single end: terminal, its own line side A taken (R4.2)."""
    join_end(game, tile, pip)
    place_tile(game, tile)
    game.spinners[pip] = TERMINAL
    game.spinner_pips |= 1 << pip


@kernel
def lay_on_end(game: Game, tile: int, pip: int, other: int) -> None:
    """Lay a non-double on a single end: its other half is the new end."""
    join_end(game, tile, pip)
    add_end(game, other, place_tile(game, tile))


@kernel
def lay_on_spinner(game: Game, tile: int, pip: int, other: int) -> None:
    """Lay a non-double on a spinner: line sides first, then the side arms (R4.3). Port and state advance together."""
    state = int64(game.spinners[pip])
    game.spinners[pip] = state + 1
    if state + 1 == CLOSED:
        game.spinner_pips = int64(game.spinner_pips) & ~(1 << pip)
    game.parent[tile] = DOUBLE_OF_PIP[pip] + 1
    game.port[tile] = state + LINE_A - ALONE
    add_end(game, other, place_tile(game, tile))


@kernel
def end_sum_after(game: Game, action: int) -> int:
    """Sum of the counted ends after a legal placement (R5.1), raw; the layout is not changed."""
    total = int64(game.end_sum) + SUM_CHANGE[0, action]
    if action >= LAY_SPINNER and game.spinners[ACTION_PIP[action]] == TERMINAL:
        total -= 2 * ACTION_PIP[action]  # as row 1 of SUM_CHANGE, without another look-up on this hot path
    return total


@kernel
def lay(game: Game, action: int) -> None:
    """Carry out a placement action on the layout; the caller has checked that it is legal."""
    tile = ACTION_TILE[action]
    game.end_sum = end_sum_after(game, action)
    if action < LAY_DOUBLE:
        lead(game, tile)
    elif action < LAY_END:
        lay_double(game, tile, ACTION_PIP[action])
    elif action < LAY_SPINNER:
        lay_on_end(game, tile, ACTION_PIP[action], ACTION_OTHER[action])
    else:
        lay_on_spinner(game, tile, ACTION_PIP[action], ACTION_OTHER[action])
