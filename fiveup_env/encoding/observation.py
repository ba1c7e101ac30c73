"""The observation: one table of named sections, one writer, always from the observing seat's perspective.

Seats are relative: 0 is the observing seat, 1 the next clockwise, and so on; sides likewise, 0 is the own side. Most
values are 0 or 1. The others are small counts ("codes") times a power of two named in the table, so they are exact in
both dtypes: a float32 observation is `code * unit`, a uint8 observation is the bare code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy import int64

from fiveup_env.encoding.belief import may_hold
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.game import PLAYING, Game
from fiveup_env.rules.kernels import kernel, lowest_bit
from fiveup_env.rules.layout import end_sum_after
from fiveup_env.rules.scoring import credit_of, side_of
from fiveup_env.rules.turn import end_placements, spinner_placements

FINE_POINTS = 16
NUM_RECENT = 8

# Positions in the table `sections`; kernels get the offsets in this order.
(
    HAND,
    LAID,
    MAY_HOLD,
    ENDS,
    SPINNERS,
    END_SUM,
    SUM_MOD_5,
    CREDITS,
    ORDER,
    PARENT,
    PORT,
    HAND_SIZES,
    DRAWN,
    BONEYARD,
    POINTS_TO_GO,
    FINE_TO_GO,
    OPENER,
    RECENT_SEAT,
    RECENT_ACTION,
) = range(19)


@dataclass(frozen=True)
class Section:
    """A named piece of the observation vector.

    Attributes:
        name: its key in the dict observation.
        shape: shape of the piece; flattened in C order in the vector.
        unit: what one count is worth in a float observation (1 for plain 0/1 values).
        max_code: largest count, the bound of the space is `unit * max_code`.
        meaning: for people, with the rule it comes from.
    """

    name: str
    shape: tuple[int, ...]
    unit: float
    max_code: int
    meaning: str

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))


@cache
def sections(num_players: int) -> tuple[Section, ...]:
    """The observation table for 2, 3 or 4 players."""
    n, sides = num_players, 3 if num_players == 3 else 2
    return (
        Section("hand", (28,), 1, 1, "own tiles"),
        Section("laid", (28,), 1, 1, "tiles on the table"),
        Section(
            "may_hold",
            (n - 1, 28),
            1,
            1,
            "tiles that each other seat may hold, given what its draws and passes revealed (R3.2)",
        ),
        Section("ends", (3, 7), 1, 1, "row k: pips shown by more than k single ends"),
        Section(
            "spinners",
            (5, 7),
            1,
            1,
            "per double: alone; terminal with one line side taken; inside with 2, 1, 0 side arms left (R4)",
        ),
        Section("end_sum", (1,), 1 / 64, 255, "sum of the counted ends (R5.1), raw"),
        Section("end_sum_mod_5", (5,), 1, 1, "its remainder by 5, one-hot (R5.2)"),
        Section(
            "credits",
            (91,),
            1 / 8,
            255,
            "for each placement action 28..118 that is legal now: the display points its placement credit would bring,"
            " 0 if it would overshoot (R5.2, R6.1)",
        ),
        Section("order", (28,), 1 / 32, 28, "laid graph: 1 + place of the tile in the laying order, 0 if not laid"),
        Section("parent", (28,), 1 / 32, 28, "laid graph: 1 + the tile it was laid on, 0 if none"),
        Section(
            "port",
            (28,),
            1 / 8,
            6,
            "laid graph: port of that tile: 1 small half, 2 big half, 3, 4 line sides, 5, 6 side arms",
        ),
        Section("hand_sizes", (n, 4), 1 / 8, 28, "per seat: tiles held; then whether exactly 1, 2, 3"),
        Section("drawn", (n,), 1 / 8, 28, "per seat: tiles drawn this round"),
        Section("boneyard", (2,), 1 / 16, 28, "tiles left to draw; then whether none is"),
        Section(
            "points_to_go",
            (sides,),
            1 / 64,
            255,
            "per side: display points missing to the target (R6), own side first",
        ),
        Section("fine_to_go", (sides, FINE_POINTS), 1, 1, f"the same, one-hot for 1 to {FINE_POINTS} points"),
        Section("opener", (n,), 1, 1, "who opened this round, one-hot"),
        Section("recent_seat", (NUM_RECENT,), 1 / 4, 4, "latest actions of the round, newest first: 1 + seat, 0 if none"),
        Section("recent_action", (NUM_RECENT,), 1 / 128, 121, "the same: 1 + action; a draw does not show its tile (D6)"),
    )


@cache
def offsets(num_players: int) -> np.ndarray:
    """Start of every section in the vector, and the vector's length last, int64 [20]."""
    starts = np.cumsum([0, *(section.size for section in sections(num_players))])
    starts.setflags(write=False)
    return starts.astype(np.int64)


def observation_size(num_players: int) -> int:
    """Length of the observation vector."""
    return int(offsets(num_players)[-1])


def _repeated(num_players: int, values: Iterator[float]) -> np.ndarray:
    sizes = [section.size for section in sections(num_players)]
    return np.repeat(np.fromiter(values, np.float32, len(sizes)), sizes)


@cache
def units(num_players: int) -> np.ndarray:
    """What one count is worth at every index of the vector, float32 [F]."""
    table = _repeated(num_players, (s.unit for s in sections(num_players)))
    start = offsets(num_players)
    # Flags that stand beside a count are plain 0 or 1.
    table[start[HAND_SIZES] : start[DRAWN]].reshape(num_players, 4)[:, 1:] = 1
    table[start[BONEYARD] + 1] = 1
    table.setflags(write=False)
    return table


@cache
def upper_bounds(num_players: int, codes: bool = False) -> np.ndarray:
    """Largest value at every index: float32 [F], or uint8 for bare codes."""
    largest = _repeated(num_players, (s.max_code for s in sections(num_players)))
    if codes:
        return largest.astype(np.uint8)
    return largest * units(num_players)


def split(vector: np.ndarray, num_players: int) -> dict[str, np.ndarray]:
    """The named sections of observation vectors [..., F], as views of shape [..., *section.shape]."""
    start = offsets(num_players)
    return {
        section.name: vector[..., start[i] : start[i + 1]].reshape(*vector.shape[:-1], *section.shape)
        for i, section in enumerate(sections(num_players))
    }


@kernel
def write_observation(game: Game, seat: int, out: np.ndarray, start: np.ndarray, unit: np.ndarray) -> None:
    """Write what `seat` sees into `out` [F]; `start` = `offsets(n)`, `unit` = `unit_table(dtype)`."""
    write_table(game, out, start, unit)
    write_seats(game, seat, out, start, unit)
    write_bits(out, start[HAND], int64(game.hands[seat]))
    for i in range(91):
        out[start[CREDITS] + i] = 0
    if seat == game.turn and game.phase == PLAYING:
        write_credits(game, seat, out, start[CREDITS], unit[CREDITS])


def unit_table(dtype: np.dtype | type) -> np.ndarray:
    """Unit per section as the writer wants it for an observation dtype [19]; all ones for uint8 (bare codes)."""
    if np.dtype(dtype) == np.uint8:
        return np.ones(19, np.uint8)
    return np.array([section.unit for section in sections(4)], np.float32)


@kernel
def write_bits(out: np.ndarray, at: int, bits: int) -> None:
    """28 values, 1 for each set bit."""
    for i in range(28):
        out[at + i] = bits >> i & 1


@kernel
def write_table(game: Game, out: np.ndarray, start: np.ndarray, unit: np.ndarray) -> None:
    """The sections that are the same for all seats and are not about seats."""
    for tile in range(28):
        out[start[LAID] + tile] = game.order[tile] != 0
        out[start[ORDER] + tile] = game.order[tile] * unit[ORDER]
        out[start[PARENT] + tile] = game.parent[tile] * unit[PARENT]
        out[start[PORT] + tile] = game.port[tile] * unit[PORT]
    for pip in range(7):
        first = int64(game.ends[pip])
        second = first & (first - 1)
        out[start[ENDS] + pip] = first != 0
        out[start[ENDS] + 7 + pip] = second != 0
        out[start[ENDS] + 14 + pip] = second & (second - 1) != 0
        for state in range(5):
            out[start[SPINNERS] + 7 * state + pip] = game.spinners[pip] == state + 1
    for rest in range(5):
        out[start[SUM_MOD_5] + rest] = game.end_sum % 5 == rest
    out[start[END_SUM]] = game.end_sum * unit[END_SUM]
    left = int64(game.boneyard_end) - int64(game.boneyard_next)
    out[start[BONEYARD]] = left * unit[BONEYARD]
    out[start[BONEYARD] + 1] = left == 0


@kernel
def write_seats(game: Game, me: int, out: np.ndarray, start: np.ndarray, unit: np.ndarray) -> None:
    """The sections that go by relative seat or side."""
    players, sides = int64(game.num_players), int64(game.num_sides)
    for relative in range(players):
        seat = (me + relative) % players
        size = int64(game.hand_sizes[seat])
        at = start[HAND_SIZES] + 4 * relative
        out[at] = size * unit[HAND_SIZES]
        for k in range(1, 4):
            out[at + k] = size == k
        out[start[DRAWN] + relative] = game.drawn[seat] * unit[DRAWN]
        out[start[OPENER] + relative] = seat == game.opener
        if relative > 0:
            write_bits(out, start[MAY_HOLD] + 28 * (relative - 1), may_hold(game, me, seat))
    for relative in range(sides):
        side = (side_of(game, me) + relative) % sides
        write_to_go(game, side, relative, out, start, unit)
    write_recent(game, me, out, start, unit)


@kernel
def write_to_go(game: Game, side: int, relative: int, out: np.ndarray, start: np.ndarray, unit: np.ndarray) -> None:
    """Display points a side misses: a count (255 and more look alike), and one-hot near the target."""
    to_go = (int64(game.target) - int64(game.scores[side])) // 5
    out[start[POINTS_TO_GO] + relative] = min(to_go, 255) * unit[POINTS_TO_GO]
    at = start[FINE_TO_GO] + FINE_POINTS * relative
    for k in range(FINE_POINTS):
        out[at + k] = to_go == k + 1


@kernel
def write_recent(game: Game, me: int, out: np.ndarray, start: np.ndarray, unit: np.ndarray) -> None:
    """The latest actions, newest first. Who acted is counted back from whose turn it is: only a draw keeps it."""
    players = int64(game.num_players)
    count = int64(game.num_history)
    seat = int64(game.turn)
    if game.phase != PLAYING and count > 0 and game.history[count - 1] != DRAW:
        seat += 1  # the turn stays with who acted last once the round is over
    for k in range(NUM_RECENT):
        who, what = 0, 0
        if k < count:
            action = int64(game.history[count - 1 - k])
            if action != DRAW:
                seat = (seat + players - 1) % players
            who = (seat - me + players) % players + 1
            what = action + 1
        out[start[RECENT_SEAT] + k] = who * unit[RECENT_SEAT]
        out[start[RECENT_ACTION] + k] = what * unit[RECENT_ACTION]


@kernel
def placement_points(game: Game, seat: int, action: int) -> int:
    """Display points that a legal placement's own credit would bring now; 0 if it would overshoot (R5.2, R6.1).

    For a last tile this is the placement part of the domino event only (R7.4): the rest is hidden.
    """
    credit = credit_of(end_sum_after(game, action))
    if int64(game.scores[side_of(game, seat)]) + credit > int64(game.target):
        return 0
    return credit // 5


@kernel
def write_credits(game: Game, seat: int, out: np.ndarray, at: int, unit: float) -> None:
    """Points of the legal placements, at `at` + action - 28."""
    if game.num_laid == 0:
        return
    bits = end_placements(game, seat)
    while bits:
        j = lowest_bit(bits)
        bits &= bits - 1
        out[at + j] = placement_points(game, seat, LAY_DOUBLE + j) * unit
    bits = spinner_placements(game, seat)
    while bits:
        j = lowest_bit(bits)
        bits &= bits - 1
        out[at + LAY_SPINNER - LAY_DOUBLE + j] = placement_points(game, seat, LAY_SPINNER + j) * unit
