"""The observation: one table of named sections, from the perspective of the observing seat.

Seats and sides are relative: 0 is the observing seat or its side, 1 the next clockwise, and so on. Most values are 0 or
1. The others are small counts ("codes") times a power of two named in the table, so they are exact in both dtypes: a
float32 observation is `code * unit`, a uint8 observation is the bare code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

FINE_POINTS = 16
NUM_RECENT = 8

# Positions in the table `sections`. The first thirteen sections have one size for every number of players, so their
# offsets are compile-time constants.
(
    HAND,
    LAID,
    ENDS,
    SPINNERS,
    END_SUM,
    SUM_MOD_5,
    CREDITS,
    ORDER,
    PARENT,
    PORT,
    BONEYARD,
    RECENT_SEAT,
    RECENT_ACTION,
    MAY_HOLD,
    HAND_SIZES,
    DRAWN,
    POINTS_TO_GO,
    FINE_TO_GO,
    OPENER,
) = range(19)


@dataclass(frozen=True)
class Section:
    """A named piece of the observation vector.

    Attributes:
        name: its key in the dict observation.
        shape: shape of the piece; flattened in C order in the vector.
        unit: value of one count in a float observation (1 for plain 0/1 values).
        max_code: largest count; the bound of the space is `unit * max_code`.
        meaning: description for people, with its rule.
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
    recent, one_hot = (NUM_RECENT,), f"the same, one-hot for 1 to {FINE_POINTS} points"
    rows: list[tuple[str, tuple[int, ...], float, int, str]] = [
        ("hand", (28,), 1, 1, "own tiles"),
        ("laid", (28,), 1, 1, "tiles on the table"),
        ("ends", (3, 7), 1, 1, "row k: pips shown by more than k single ends"),
        (
            "spinners",
            (5, 7),
            1,
            1,
            "per double: alone; one line side taken; both taken, 2, 1, 0 side arms free (R4)",
        ),
        ("end_sum", (1,), 1 / 64, 255, "sum of the counted ends (R5.1), raw"),
        ("end_sum_mod_5", (5,), 1, 1, "its remainder by 5, one-hot (R5.2)"),
        (
            "credits",
            (91,),
            1 / 8,
            255,
            "display points of each legal placement 28..118, 0 if over target (R6.1)",
        ),
        ("order", (28,), 1 / 32, 28, "laid graph: 1 + place of the tile in the laying order, 0 if not laid"),
        ("parent", (28,), 1 / 32, 28, "laid graph: 1 + the tile it was laid on, 0 if none"),
        (
            "port",
            (28,),
            1 / 8,
            6,
            "laid graph: port of that tile: 1, 2 small, big half, 3, 4 line sides, 5, 6 arms",
        ),
        ("boneyard", (2,), 1 / 16, 28, "tiles left to draw; then whether there are none"),
        ("recent_seat", recent, 1 / 4, 4, "latest actions of the round, newest first: 1 + seat, 0 if none"),
        ("recent_action", recent, 1 / 128, 121, "the same: 1 + action; a draw does not show its tile (D6)"),
        ("may_hold", (n - 1, 28), 1, 1, "tiles that each other seat may hold after its draws and passes (R3.2)"),
        ("hand_sizes", (n, 4), 1 / 8, 28, "per seat: tiles held; then whether exactly 1, 2, 3"),
        ("drawn", (n,), 1 / 8, 28, "per seat: tiles drawn this round"),
        ("points_to_go", (sides,), 1 / 64, 255, "per side: display points to the target (R6), own side first"),
        ("fine_to_go", (sides, FINE_POINTS), 1, 1, one_hot),
        ("opener", (n,), 1, 1, "opener of this round, one-hot"),
    ]
    return tuple(Section(*row) for row in rows)


@cache
def offsets(num_players: int) -> np.ndarray:
    """Start of every section in the vector, and last the length of the vector, int64 [20]."""
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
    """Value of one count at every index of the vector, float32 [F]."""
    table = _repeated(num_players, (s.unit for s in sections(num_players)))
    start = offsets(num_players)
    # Flags next to a count are plain 0 or 1.
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
    """Named sections of observation vectors [..., F], as NumPy views of shape [..., *section.shape]."""
    start = offsets(num_players)
    return {
        section.name: vector[..., start[i] : start[i + 1]].reshape(*vector.shape[:-1], *section.shape)
        for i, section in enumerate(sections(num_players))
    }


def state_size(num_players: int) -> int:
    """Length of the global state vector."""
    return 28 * (num_players + 1) + observation_size(num_players)


def state_units(num_players: int) -> np.ndarray:
    """Value of one count at every index of the global state, float32 [28 * (n + 1) + F]."""
    return np.concatenate([np.ones(28 * num_players), np.full(28, 1 / 32), units(num_players)]).astype(np.float32)
