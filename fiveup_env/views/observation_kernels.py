"""Kernels that write the observation and the global state, in float32 and uint8.

Most of the vector is 0/1 values of bit sets. They are written eight at a time from look-up tables, in ascending order:
each store overwrites what the one before spilled over its section, and the last store ends with the row. Short sections
with few states (sums, hand sizes, points to go) are whole rows of a table. `docs/performance.md` has measurements.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import lowest_bit, newest_first, repeats
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.jit.stores import store_bits, store_code, store_codes, store_eight, store_field, store_set
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, LAY_SPINNER, OFFER_SPINNER
from fiveup_env.rules.layout import SUM_CHANGE, end_sum_after
from fiveup_env.rules.record import MAX_PLAYERS, MAX_SIDES, PLAYING, TERMINAL, Game
from fiveup_env.rules.scoring import next_of, points_of, side_of
from fiveup_env.rules.tiles import TILES_WITH
from fiveup_env.rules.turn import legal_sets, write_sets
from fiveup_env.views.observation import (
    BONEYARD,
    CREDITS,
    DRAWN,
    END_SUM,
    ENDS,
    FINE_POINTS,
    HAND,
    HAND_SIZES,
    LAID,
    MAY_HOLD,
    NUM_RECENT,
    ORDER,
    PARENT,
    POINTS_TO_GO,
    PORT,
    RECENT_ACTION,
    RECENT_SEAT,
    offsets,
    sections,
    units,
)

# Offsets of the sections of one size, and units, as compile-time constants.
_START = [int(start) for start in offsets(4)]
_UNIT = [float(section.unit) for section in sections(4)]
_HAND, _LAID, _ENDS, _END_SUM, _CREDITS = (_START[i] for i in (HAND, LAID, ENDS, END_SUM, CREDITS))
_ORDER, _PARENT, _PORT, _BONEYARD = (_START[i] for i in (ORDER, PARENT, PORT, BONEYARD))
_RECENT_SEAT, _RECENT_ACTION, _MAY_HOLD = (_START[i] for i in (RECENT_SEAT, RECENT_ACTION, MAY_HOLD))
_CREDIT_UNIT, _ORDER_UNIT, _PARENT_UNIT, _PORT_UNIT = (_UNIT[i] for i in (CREDITS, ORDER, PARENT, PORT))
_SEAT_UNIT, _ACTION_UNIT = _UNIT[RECENT_SEAT], _UNIT[RECENT_ACTION]
_DRAWN_UNIT, _POINTS_UNIT = _UNIT[DRAWN], _UNIT[POINTS_TO_GO]
_SPINNER_CREDITS = _CREDITS + LAY_SPINNER - LAY_DOUBLE
assert NUM_RECENT == 8, "the latest actions are one word"


def _rows(section: int, size: int, codes: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of eight values, uint8 and float32 [n, 8], for adjacent sections, padded with zeros."""
    table = np.zeros((len(codes), 8), np.uint8)
    table[:, :size] = codes
    unit = np.zeros(8, np.float32)
    unit[:size] = units(4)[_START[section] :][:size]
    return table, table * unit


_SUMS, _SUM_VALUES = _rows(END_SUM, 6, [[total, *(int(total % 5 == r) for r in range(5))] for total in range(256)])
"""Sum of the counted ends -> itself and its remainder by 5."""
_LEFT, _LEFT_VALUES = _rows(BONEYARD, 2, [[left, int(left == 0)] for left in range(29)])
"""Tiles to draw -> their number, and whether there are none."""
_SIZES, _SIZE_VALUES = _rows(HAND_SIZES, 4, [[size, *(int(size == n) for n in (1, 2, 3))] for size in range(29)])
"""Tiles held -> their number, and whether there are 1, 2, 3."""


def _sets_by_five(actions: range, inside: bool = False) -> np.ndarray:
    """Remainder by 5 of the end sum -> placements that leave a multiple of 5, as a bit set, int64 [5].

    Args:
        actions: bit j is `actions[j]`.
        inside: they are laid on the second line side of a spinner, which then stops counting (R4.5).
    """
    changes = SUM_CHANGE[int(inside), actions].tolist()
    return np.array([sum(int((r + c) % 5 == 0) << j for j, c in enumerate(changes)) for r in range(5)], np.int64)


_END_FIVES = _sets_by_five(range(LAY_DOUBLE, LAY_SPINNER))
_SPINNER_FIVES = _sets_by_five(range(LAY_SPINNER, DRAW))
_INSIDE_FIVES = _sets_by_five(range(LAY_SPINNER, DRAW), inside=True)


@kernel(inline=True)
def unseen_tiles(game: Game, seat: int) -> int:
    """Set of the tiles that `seat` neither holds nor sees on the table."""
    return int64(game.in_play) & ~int64(game.table) & ~int64(game.hands[seat])


@kernel(inline=True)
def may_hold(game: Game, seat: int, other: int) -> int:
    """Set of the tiles that `other` may hold, as far as `seat` can tell from the other's last draw or pass (R3.2).

    When a seat draws or passes, no tile it holds fits the layout. A drawn tile that fits is laid at once, so the bound
    holds again when the turn moves on; right after a draw that tile may be anything.
    """
    tiles = unseen_tiles(game, seat)
    if game.just_drew and other == int64(game.turn):
        return tiles
    return tiles & ~TILES_WITH[int64(game.void[other])]


@kernel(inline=True)
def write_observation(game: Game, seat: int, out: np.ndarray) -> None:
    """Write the observation of `seat` into `out` [F], float32, or uint8 for bare codes; zeros behind if longer."""
    _, ends, spinners, _ = legal_sets(game)
    if seat != game.turn:
        ends, spinners = 0, 0
    write_sections(game, seat, ends, spinners, out)


@kernel(inline=True)
def write_seat_to_act(game: Game, out: np.ndarray, mask: np.ndarray) -> None:
    """Write observation and mask, int8 [121], of the seat to act; the legal actions are found once."""
    leads, ends, spinners, forced = legal_sets(game)
    write_sets(mask, leads, ends, spinners, forced)
    write_sections(game, int64(game.turn), ends, spinners, out)


@kernel
def write_sections(game: Game, seat: int, ends: int, spinners: int, out: np.ndarray) -> None:
    """The same; `ends` and `spinners` are the placements that are legal now for `seat` (see `legal_sets`)."""
    inside = write_table(game, seat, out)
    write_credits(game, seat, ends, spinners, inside, out)
    store_field(out, _ORDER, game.order, _ORDER_UNIT)
    store_field(out, _PARENT, game.parent, _PARENT_UNIT)
    store_field(out, _PORT, game.port, _PORT_UNIT)
    store_eight(out, _BONEYARD, _LEFT, _LEFT_VALUES, int64(game.boneyard_end) - int64(game.boneyard_next))
    write_recent(game, seat, out)
    at = write_seats(game, seat, out)
    end = write_sides(game, seat, out, at)
    for i in range(end, len(out)):
        out[i] = 0


@kernel(inline=True)
def write_tiles(row: np.ndarray, at: int, tiles: int) -> None:
    """Write 28 values, 1 for each tile of a set; spills zeros over the next four."""
    store_set(row, at, tiles, 4)


@kernel(inline=True)
def write_table(game: Game, seat: int, out: np.ndarray) -> int:
    """Write own and laid tiles, single ends, spinners and end sum; returns the pips of terminal spinners."""
    states = 0
    for pip in range(7):
        states |= 1 << 7 * int64(game.spinners[pip]) + pip
    # Two sections of 28 tiles, and three rows of single ends with five of spinners, fill seven stores each.
    store_set(out, _HAND, int64(game.hands[seat]) | int64(game.table) << 28, 7)
    ends = int64(game.end_pips) | repeats(game.ends) << 7
    store_set(out, _ENDS, ends | states >> 7 << 21, 7)
    store_eight(out, _END_SUM, _SUMS, _SUM_VALUES, min(int64(game.end_sum), 255))
    return states >> 7 * TERMINAL & 127


@kernel(inline=True)
def write_credits(game: Game, seat: int, ends: int, spinners: int, inside: int, out: np.ndarray) -> None:
    """Write the display points of every legal placement's own credit now, 0 if it would overshoot.

    For a last tile this is the placement part of the domino event only (R7.4): the rest is hidden (R5.2, R6.1).
    """
    store_set(out, _CREDITS, 0, 12)
    total = int64(game.end_sum)
    remainder = total % 5
    to_go = int64(game.target) - int64(game.scores[side_of(game, seat)])
    scoring = ends & _END_FIVES[remainder]
    while scoring:
        j = lowest_bit(scoring)
        scoring &= scoring - 1
        credit = total + SUM_CHANGE[0, LAY_DOUBLE + j]
        store_code(out, _CREDITS + j, points_of(credit) if credit <= to_go else 0, _CREDIT_UNIT)
    covered = OFFER_SPINNER[inside]
    scoring = spinners & (_SPINNER_FIVES[remainder] & ~covered | _INSIDE_FIVES[remainder] & covered)
    while scoring:
        j = lowest_bit(scoring)
        scoring &= scoring - 1
        credit = end_sum_after(game, LAY_SPINNER + j)
        store_code(out, _SPINNER_CREDITS + j, points_of(credit) if credit <= to_go else 0, _CREDIT_UNIT)


BYTES = 0x0101010101010101
_INVERSE = np.array([0] + [-(-256 // n) for n in range(1, MAX_PLAYERS + 1)], np.int64)
"""n -> 256 / n rounded up: x * that / 256 is x // n for the small x here."""


@kernel(inline=True)
def write_recent(game: Game, me: int, out: np.ndarray) -> None:
    """Write the latest actions, newest first, eight bytes of a word at once.

    The seats are counted back from the seat to act: every action but a draw moves the turn.
    """
    players, count = int64(game.num_players), int64(game.num_history)
    actions = newest_first(game.history, count)
    there = BYTES if count >= 8 else BYTES & (1 << 8 * count) - 1
    # Bytes are below 128, so nothing carries over: 1 where the action was not a draw.
    moved = (actions ^ BYTES * DRAW) + BYTES * 127 >> 7 & BYTES
    # The seat to act relative to the observing one; after the round it is the seat that acted last.
    seat = int64(game.turn) - me + 2 * players
    if game.phase != PLAYING:
        seat += moved & 1
    # Times 0x0101.., bytes become running sums: turn changes since then; 12 keeps the differences positive.
    turns = BYTES * int(seat + 12) - moved * BYTES
    even, odd = turns & 0x00FF00FF00FF00FF, turns >> 8 & 0x00FF00FF00FF00FF
    inverse = _INVERSE[players]
    even -= (even * inverse >> 8 & 0x00FF00FF00FF00FF) * players
    odd -= (odd * inverse >> 8 & 0x00FF00FF00FF00FF) * players
    store_codes(out, _RECENT_SEAT, ((even | odd << 8) + BYTES) & there * 127, _SEAT_UNIT)
    store_codes(out, _RECENT_ACTION, actions + there, _ACTION_UNIT)


@kernel(inline=True)
def write_seats(game: Game, me: int, out: np.ndarray) -> int:
    """Write tiles that each other seat may hold, hand sizes and tiles drawn, by relative seat; returns the end."""
    players = int64(game.num_players)
    at = _MAY_HOLD + 28 * (players - 1)
    seat, drawn = me, 0
    for relative in range(MAX_PLAYERS):
        # A fixed number of iterations, so that the compiler unrolls them.
        if relative < players:
            if relative > 0:
                write_tiles(out, _MAY_HOLD + 28 * (relative - 1), may_hold(game, me, seat))
            drawn |= int64(game.drawn[seat]) << 8 * relative
            seat = next_of(seat, players)
    for relative in range(MAX_PLAYERS):
        if relative < players:
            store_eight(out, at + 4 * relative, _SIZES, _SIZE_VALUES, int64(game.hand_sizes[seat]))
            seat = next_of(seat, players)
    store_codes(out, at + 4 * players, drawn, _DRAWN_UNIT)
    return at + 5 * players


@kernel(inline=True)
def write_sides(game: Game, me: int, out: np.ndarray, at: int) -> int:
    """Write the display points that every side misses, own side first: a count (at most 255), and one-hot near 0.

    The relative seat of the opener follows, last in the row. Returns the length of the row.
    """
    players, sides, side = int64(game.num_players), int64(game.num_sides), side_of(game, me)
    counts, near, fine = 0, at + sides, 0
    for relative in range(MAX_SIDES):
        if relative < sides:
            counts |= min(points_of(int64(game.target) - int64(game.scores[side])), 255) << 8 * relative
            side = next_of(side, sides)
    store_codes(out, at, counts, _POINTS_UNIT)
    for relative in range(MAX_SIDES):
        if relative < sides:
            fine = (1 << min(counts >> 8 * relative & 255, FINE_POINTS + 1)) >> 1 & (1 << FINE_POINTS) - 1
            store_set(out, near + FINE_POINTS * relative, fine, 2)
    opener = int64(game.opener) - me
    opener += players & opener >> 63
    # The last eight values of the row: the end of the section before last, and the opener.
    end = near + FINE_POINTS * sides + players
    store_bits(out, end - 8, fine >> 8 + players | 1 << 8 - players + opener)
    return end


@kernel
def write_state(game: Game, out: np.ndarray) -> None:
    """Write the global state from the perspective of the seat to act, float32 [28 * (n + 1) + F].

    First all hands by relative seat (n * 28), then for each tile of the boneyard 1 + its place in the drawing order (in
    32nds; 0 elsewhere), then the observation of the seat to act.
    """
    players, me = int64(game.num_players), int64(game.turn)
    at = 28 * players
    for relative in range(players):
        write_tiles(out, 28 * relative, int64(game.hands[(me + relative) % players]))
    write_tiles(out, at, 0)
    for i in range(int64(game.boneyard_next), int64(game.boneyard_end)):
        place = 1 + i - int64(game.boneyard_next)
        store_code(out, at + int64(game.boneyard[i]), place, 1 / 32)
    write_observation(game, me, out[at + 28 :])


@entry
def write_states(games: np.ndarray, out: np.ndarray) -> None:
    """Write global states of records [N] with n players each into `out`, float32 [N, 28 * (n + 1) + F]."""
    for i in range(len(games)):
        write_state(games[i], out[i])
