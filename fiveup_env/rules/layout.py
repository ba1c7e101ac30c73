"""The layout: joins, free places and counted ends (R3.1, R4, R5.1), kept up tile by tile.

The sum of the counted ends is kept incrementally; tests compare it with a recount over the laid graph.
"""

from __future__ import annotations

from numpy import int64

from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import (
    ACTION_CHANGE,
    ACTION_OTHER,
    ACTION_PIP,
    ACTION_TILE,
    LAY_DOUBLE,
    LAY_END,
    LAY_SPINNER,
)
from fiveup_env.rules.record import (
    ALONE,
    ARM_A,
    ARM_B,
    BIG,
    CLOSED,
    LINE_A,
    LINE_B,
    ONE_ARM,
    SMALL,
    TERMINAL,
    TWO_ARMS,
    Game,
)
from fiveup_env.rules.tiles import DOUBLE_OF_PIP, HIGH, LOW


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
    """The tile laid at `index` now shows a free single half of `pip`."""
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
    """The opening placement: a double is a spinner with both line sides free (R4.2)."""
    index = place_tile(game, tile)
    low, high = LOW[tile], HIGH[tile]
    game.end_sum = low + high
    if low == high:
        game.spinners[low] = ALONE
        game.spinner_pips = 1 << low
    else:
        add_end(game, low, index)
        add_end(game, high, index)


@kernel
def join_end(game: Game, tile: int, pip: int) -> None:
    """Note in the graph that `tile` lies on the earliest-laid single end of `pip`, which is covered now."""
    parent = int64(game.laid[take_end(game, pip)])
    game.parent[tile] = parent + 1
    game.port[tile] = SMALL if LOW[parent] == pip else BIG


@kernel
def lay_double(game: Game, tile: int, pip: int) -> None:
    """A double on a single end: terminal, its own line side A taken (R4.2), counts both halves (R4.4)."""
    join_end(game, tile, pip)
    place_tile(game, tile)
    game.spinners[pip] = TERMINAL
    game.spinner_pips |= 1 << pip
    game.end_sum += pip


@kernel
def lay_on_end(game: Game, tile: int, pip: int, other: int) -> None:
    """A non-double on a single end: its other half is the new end."""
    join_end(game, tile, pip)
    add_end(game, other, place_tile(game, tile))
    game.end_sum += other - pip


@kernel
def lay_on_spinner(game: Game, tile: int, pip: int, other: int) -> None:
    """A non-double on a spinner: line sides first, then the side arms (R4.3); inside, it counts nothing (R4.5)."""
    state = int64(game.spinners[pip])
    change = other
    if state == ALONE:
        port, state = LINE_A, TERMINAL
    elif state == TERMINAL:
        port, state = LINE_B, TWO_ARMS
        change -= 2 * pip
    elif state == TWO_ARMS:
        port, state = ARM_A, ONE_ARM
    else:
        port, state = ARM_B, CLOSED
        game.spinner_pips = int64(game.spinner_pips) & ~(1 << pip)
    game.spinners[pip] = state
    game.parent[tile] = DOUBLE_OF_PIP[pip] + 1
    game.port[tile] = port
    add_end(game, other, place_tile(game, tile))
    game.end_sum += change


@kernel
def lay(game: Game, action: int) -> None:
    """Carry out a placement action on the layout; the caller has checked that it is legal."""
    tile = ACTION_TILE[action]
    if action < LAY_DOUBLE:
        lead(game, tile)
    elif action < LAY_END:
        lay_double(game, tile, ACTION_PIP[action])
    elif action < LAY_SPINNER:
        lay_on_end(game, tile, ACTION_PIP[action], ACTION_OTHER[action])
    else:
        lay_on_spinner(game, tile, ACTION_PIP[action], ACTION_OTHER[action])


@kernel
def end_sum_after(game: Game, action: int) -> int:
    """Sum of the counted ends that a legal placement would leave (R5.1), raw; the layout is not changed."""
    total = int64(game.end_sum) + ACTION_CHANGE[action]
    if action >= LAY_SPINNER and game.spinners[ACTION_PIP[action]] == TERMINAL:
        total -= 2 * ACTION_PIP[action]
    return total
