"""The writer of the observation: one kernel that writes bare codes, and one that turns them into floats.

Most of the vector is 0/1 values of bit sets. They are written eight bytes at a time (`store_bits`), in ascending
order: what a store spills over its set is overwritten by what stands behind it. That, constant offsets, no integer
division and one vectorised conversion replace plain loops over float rows.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.encoding.belief import may_hold
from fiveup_env.encoding.observation import (
    DRAWN,
    FINE_POINTS,
    FINE_TO_GO,
    HAND_SIZES,
    MAY_HOLD,
    NUM_RECENT,
    OPENER,
    POINTS_TO_GO,
    offsets,
    units,
)
from fiveup_env.rules.actions import ACTION_CHANGE, DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.game import PLAYING, Game
from fiveup_env.rules.kernels import copy_field, kernel, lowest_bit, store_bits, store_word
from fiveup_env.rules.layout import end_sum_after
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import end_placements, spinner_placements

# Offsets of the sections of one size, as constants for the compiler.
(
    _HAND,
    _LAID,
    _ENDS,
    _SPINNERS,
    _END_SUM,
    _SUM_MOD_5,
    _CREDITS,
    _ORDER,
    _PARENT,
    _PORT,
    _BONEYARD,
    _RECENT_SEAT,
    _RECENT_ACTION,
) = (int(start) for start in offsets(4)[:MAY_HOLD])

ROW = 512
"""Length of a scratch row of codes, enough for every observation and the spill of a last store."""


def offset_table() -> np.ndarray:
    """Section offsets by number of players, int64 [5, 20]; rows 0 and 1 are unused."""
    table = np.zeros((5, len(offsets(4))), np.int64)
    for players in (2, 3, 4):
        table[players] = offsets(players)
    return table


def unit_table() -> np.ndarray:
    """Value of one count by number of players and index, float32 [5, 512]; zero behind the observation."""
    table = np.zeros((5, ROW), np.float32)
    for players in (2, 3, 4):
        table[players, : len(units(players))] = units(players)
    return table


@kernel(inline=True)
def write_observation(
    game: Game, seat: int, out: np.ndarray, row: np.ndarray, start: np.ndarray, unit: np.ndarray | None
) -> None:
    """Write what `seat` sees into `out` [F].

    Args:
        out: float32, or uint8 for bare codes; if it is longer than the observation, the rest becomes zero.
        row: scratch, uint8 [512].
        start: `offset_table()`.
        unit: `unit_table()` for float32, None for uint8.
    """
    players = int64(game.num_players)
    write_codes(game, seat, row, start[players])
    size = start[players, 19]
    if unit is None:
        write_as_codes(out, row, size)
    else:
        write_as_floats(out, row, unit[players], size)
    for i in range(size, len(out)):
        out[i] = 0


@kernel(inline=True)
def write_as_codes(out: np.ndarray, row: np.ndarray, size: int) -> None:
    """Copy a row of codes."""
    for i in range(size):
        out[i] = row[i]


@kernel(inline=True)
def write_as_floats(out: np.ndarray, row: np.ndarray, unit: np.ndarray, size: int) -> None:
    """Turn a row of codes into a float observation."""
    for i in range(size):
        out[i] = row[i] * unit[i]


@kernel(inline=True)
def write_codes(game: Game, seat: int, row: np.ndarray, start: np.ndarray) -> None:
    """Write the bare codes of what `seat` sees into `row`, uint8 [512]; `start` = `offsets(num_players)`."""
    write_tiles(row, _HAND, int64(game.hands[seat]))
    write_table(game, row)
    for i in range(91):
        row[_CREDITS + i] = 0
    if seat == game.turn and game.phase == PLAYING and game.num_laid > 0:
        write_credits(game, seat, row)
    write_graph(game, row)
    write_recent(game, seat, row)
    write_may_hold(game, seat, row, start[MAY_HOLD])
    write_seats(game, seat, row, start)
    write_sides(game, seat, row, start)


@kernel(inline=True)
def write_tiles(row: np.ndarray, at: int, tiles: int) -> None:
    """28 values, 1 for each tile of a set; spills zeros over the four behind."""
    store_bits(row, at, tiles & 255)
    store_bits(row, at + 8, tiles >> 8 & 255)
    store_bits(row, at + 16, tiles >> 16 & 255)
    store_bits(row, at + 24, tiles >> 24)


@kernel(inline=True)
def write_table(game: Game, row: np.ndarray) -> None:
    """Laid tiles, single ends, spinners and the sum of the counted ends."""
    write_tiles(row, _LAID, int64(game.table))
    twice, thrice, states = 0, 0, 0
    for pip in range(7):
        more = int64(game.ends[pip])
        more &= more - 1
        twice |= int64(more != 0) << pip
        more &= more - 1
        thrice |= int64(more != 0) << pip
        states |= 1 << 7 * int64(game.spinners[pip]) + pip
    store_bits(row, _ENDS, int64(game.end_pips))
    store_bits(row, _ENDS + 7, twice)
    store_bits(row, _ENDS + 14, thrice)
    for state in range(5):
        store_bits(row, _SPINNERS + 7 * state, states >> 7 * state + 7 & 127)
    total = int64(game.end_sum)
    row[_END_SUM] = min(total, 255)
    store_bits(row, _SUM_MOD_5, 1 << total % 5)


@kernel(inline=True)
def write_graph(game: Game, row: np.ndarray) -> None:
    """The laid graph, and how many tiles can be drawn."""
    copy_field(row, _ORDER, game.order)
    copy_field(row, _PARENT, game.parent)
    copy_field(row, _PORT, game.port)
    left = int64(game.boneyard_end) - int64(game.boneyard_next)
    row[_BONEYARD] = left
    row[_BONEYARD + 1] = left == 0


@kernel(inline=True)
def write_may_hold(game: Game, me: int, row: np.ndarray, at: int) -> None:
    """Tiles that each other seat may hold, by relative seat."""
    players = int64(game.num_players)
    for relative in range(1, players):
        seat = me + relative
        seat -= players if seat >= players else 0
        write_tiles(row, at, may_hold(game, me, seat))
        at += 28


@kernel(inline=True)
def write_seats(game: Game, me: int, row: np.ndarray, start: np.ndarray) -> None:
    """Hand sizes and tiles drawn, by relative seat."""
    players, at = int64(game.num_players), start[HAND_SIZES]
    seat, drawn = me, 0
    for relative in range(players):
        size = int64(game.hand_sizes[seat])
        flags = 1 << 8 * size if 1 <= size <= 3 else 0
        store_word(row, at, size | flags)
        at += 4
        drawn |= int64(game.drawn[seat]) << 8 * relative
        seat = seat + 1 if seat + 1 < players else 0
    store_word(row, start[DRAWN], drawn)


@kernel(inline=True)
def write_sides(game: Game, me: int, row: np.ndarray, start: np.ndarray) -> None:
    """Display points every side misses, own side first: a count (255 and more look alike), and one-hot near 0.

    The relative seat of the opener stands behind, the last of the row.
    """
    sides, side, at = int64(game.num_sides), side_of(game, me), start[FINE_TO_GO]
    counts = 0
    for relative in range(sides):
        to_go = (int64(game.target) - int64(game.scores[side])) // 5
        counts |= min(to_go, 255) << 8 * relative
        fine = 1 << to_go - 1 if 1 <= to_go <= FINE_POINTS else 0
        store_bits(row, at, fine & 255)
        store_bits(row, at + 8, fine >> 8)
        at += FINE_POINTS
        side = side + 1 if side + 1 < sides else 0
    for relative in range(sides):
        row[start[POINTS_TO_GO] + relative] = counts >> 8 * relative & 255
    opener = int64(game.opener) - me
    store_bits(row, start[OPENER], 1 << (opener if opener >= 0 else opener + int64(game.num_players)))


@kernel(inline=True)
def write_recent(game: Game, me: int, row: np.ndarray) -> None:
    """The latest actions, newest first. Who acted is counted back from whose turn it is: only a draw keeps it."""
    players = int64(game.num_players)
    count = int64(game.num_history)
    # The seat to act relative to the observing one; it stays with who acted last once the round is over.
    seat = int64(game.turn) - me
    if game.phase != PLAYING and count > 0 and game.history[count - 1] != DRAW:
        seat += 1
    seats, first = 0, 0
    actions, rest = 0, 0
    for k in range(NUM_RECENT):
        there = k < count
        action = int64(game.history[count - 1 - k if there else 0])
        seat -= int64(action != DRAW)
        seat += players if seat < 0 else 0
        seat -= players if seat >= players else 0
        seats |= (seat + 1 if there else 0) << 8 * (k & 3)
        actions |= (action + 1 if there else 0) << 8 * (k & 3)
        if k == 3:
            first, rest, seats, actions = seats, actions, 0, 0
    store_word(row, _RECENT_SEAT, first | seats << 32)
    store_word(row, _RECENT_ACTION, rest | actions << 32)


POINTS_OF_SUM = np.array([total // 5 if total % 5 == 0 else 0 for total in range(256)], np.int64)
"""Sum of the counted ends -> display points of the placement that leaves it (R5.2)."""


@kernel(inline=True)
def write_credits(game: Game, seat: int, row: np.ndarray) -> None:
    """For every legal placement the display points that its own credit would bring now, 0 if it would overshoot.

    For a last tile this is the placement part of the domino event only (R7.4): the rest is hidden (R5.2, R6.1).
    """
    to_go = (int64(game.target) - int64(game.scores[side_of(game, seat)])) // 5
    total = int64(game.end_sum)
    bits = end_placements(game, seat)
    while bits:
        j = lowest_bit(bits)
        bits &= bits - 1
        points = POINTS_OF_SUM[total + ACTION_CHANGE[LAY_DOUBLE + j]]
        row[_CREDITS + j] = points if points <= to_go else 0
    bits = spinner_placements(game, seat)
    while bits:
        j = lowest_bit(bits)
        bits &= bits - 1
        points = POINTS_OF_SUM[end_sum_after(game, LAY_SPINNER + j)]
        row[_CREDITS + LAY_SPINNER - LAY_DOUBLE + j] = points if points <= to_go else 0
