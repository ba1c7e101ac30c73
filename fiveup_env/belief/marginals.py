"""The observation section `belief`: exact marginals of where every tile may be, as one seat sees it.

They are those of `exact_belief.Belief`, for many matches at once. They cost ten to a hundred times what a step costs,
so they have an entry of their own, which is called (and compiled) only where they are asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numba import prange
from numpy import int64

from fiveup_env.belief.deal_counts import BELIEF, BeliefRecord, prepare
from fiveup_env.jit.compilation import borrowed, entry, kernel, threads_used
from fiveup_env.rules.record import MAX_PLAYERS, Game
from fiveup_env.rules.tiles import NUM_TILES

EXACT_SCRATCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("belief", BELIEF),
                ("places", "i8", (MAX_PLAYERS + 1, NUM_TILES)),
                ("at", "i8"),  # the match to go on with
            ],
            align=True,
        ),
    )
)
"""dtype of what a thread needs beside its cells."""

FEW_CELLS = 1 << 13
"""Cells to begin with: enough for most beliefs of the real game, and small enough for the fast caches."""


def belief_shape(num_players: int) -> tuple[int, int]:
    """Shape of the section: a row for each other seat, clockwise, and one for the boneyard; a column for each tile."""
    return num_players, NUM_TILES


@kernel
def count_places(game: Game, belief: BeliefRecord, cells: np.ndarray, out: np.ndarray) -> None:
    """In how many of the `belief.ways` ways each tile is where; divided by them these are the marginals.

    Args:
        out: written, [players + 1, 28]: a row per relative seat (0 is the own hand, which is known), the boneyard
            last; laid tiles are nowhere.
    """
    players, states = int64(belief.num_players), belief.num_states
    for tile in range(28):
        for row in range(players + 1):
            out[row, tile] = 0
        if int64(game.hands[int64(belief.seat)]) >> tile & 1:
            out[0, tile] = belief.ways
        elif int64(belief.rest) >> tile & 1:
            out[players, tile] = belief.ways
    count = int64(belief.num_tiles)
    now, following = (count + 1) * states, (count + 2) * states
    for s in range(states):
        cells[now + s] = 0
    cells[now] = 1  # ways to reach each state with the tiles before tile i
    for i in range(count):
        tile, row = int64(belief.tiles[i]), (i + 1) * states
        left = belief.ways
        for s in range(states):
            cells[following + s] = cells[now + s]
        for relative in range(1, players):
            stride = belief.stride[i, relative]
            if stride > 0:
                held = _give(cells, states, now, following, row, stride, stride * belief.radix[i, relative])
                out[relative, tile] = held
                left -= held
        out[players, tile] = left
        now, following = following, now


@kernel
def _give(cells: np.ndarray, states: int, now: int, following: int, row: int, stride: int, block: int) -> int:
    """Let one seat take one tile from every state that has room; returns the ways in which it does."""
    held = 0
    for start in range(0, states, block):
        for s in range(start, start + block - stride):
            ways = cells[now + s]
            cells[following + s + stride] += ways
            held += ways * cells[row + s + stride]
    return held


@kernel
def write_marginals(
    game: Game, seat: int, belief: BeliefRecord, cells: np.ndarray, places: np.ndarray, out: np.ndarray
) -> bool:
    """The section of one seat; nothing but what the seat has seen is read.

    Args:
        game: a full record or a view's.
        seat: the seat that looks.
        belief, cells: scratch, see `prepare`.
        places: scratch, int64 [players + 1 or more, 28].
        out: written, float32 [players or more, 28]: row r is P(tile in the hand of seat + r + 1), row players - 1
            P(tile in the boneyard); rows behind are zero. All are if no deal agrees, which no game can reach.

    Returns:
        False if `cells` is too small.
    """
    if not prepare(game, seat, belief, cells):
        return False
    rows = 0
    if belief.ways > 0:
        rows = int64(belief.num_players)
        count_places(game, belief, cells, places)
    for row in range(rows):
        for tile in range(NUM_TILES):
            out[row, tile] = places[row + 1, tile] / belief.ways
    for row in range(rows, len(out)):
        for tile in range(NUM_TILES):
            out[row, tile] = 0.0
    return True


@kernel
def write_share(
    part: int,
    games: np.ndarray,
    seats: np.ndarray,
    fresh: bool,
    scratch: np.ndarray,
    cells: np.ndarray,
    out: np.ndarray,
) -> bool:
    """One thread's share of `write_all_marginals`."""
    own, count, parts = scratch[part], len(games), len(scratch)
    last = count * (part + 1) // parts
    at = count * part // parts if fresh else int64(own.at)
    while at < last and write_marginals(games[at], int64(seats[at]), own.belief, cells[part], own.places, out[at]):
        at += 1
    own.at = at
    return at == last


@entry
def write_all_marginals(
    games: np.ndarray, seats: np.ndarray, fresh: bool, scratch: np.ndarray, cells: np.ndarray, out: np.ndarray
) -> bool:
    """Write the sections of `seats` int64 [N] into `out` float32 [N, rows, 28].

    Args:
        fresh: begin; else go on where the last call, which returned False, stopped.
        scratch: dtype `EXACT_SCRATCH` [1].
        cells: int64 [1, any length].

    Returns:
        False if `cells` is too small for a match.
    """
    return write_share(0, borrowed(games), borrowed(seats), fresh, borrowed(scratch), borrowed(cells), borrowed(out))


@entry(parallel=True)
def write_all_marginals_parallel(
    games: np.ndarray, seats: np.ndarray, fresh: bool, scratch: np.ndarray, cells: np.ndarray, out: np.ndarray
) -> bool:
    """The same with a thread for each of `scratch` [threads] and `cells` [threads, any length]."""
    games, seats, out = borrowed(games), borrowed(seats), borrowed(out)
    scratch, cells = borrowed(scratch), borrowed(cells)
    done = 0
    for part in prange(len(scratch)):
        done += 1 if write_share(part, games, seats, fresh, scratch, cells, out) else 0
    return done == len(scratch)


class BeliefWriter(ABC):
    """What writes the section `belief` for many matches."""

    threads: int
    """Cores to use; results do not depend on it."""

    @abstractmethod
    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """Write what is seen by a seat of every match; nothing hidden is read.

        Args:
            games: records [N] of dtype `GAME`, in C order.
            seats: the seat that looks, integers [N].
            out: float32 [N, n, 28] in C order, with n the largest number of players or more: row r of a match is
                P(tile in the hand of seat + r + 1), the row of its number of players less one P(tile in the boneyard);
                rows behind are zero.
        """

    def write_rows(self, games: np.ndarray, seats: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        """The same for matches [K] that belong into the rows [K] of `out`."""
        part = out[rows]
        self.write(games, seats, part)
        out[rows] = part

    def seen_by(self, games: np.ndarray, seat: int) -> np.ndarray:
        """The section of one seat of one match: `games` is [1], the result float32 [n, 28]."""
        out = np.empty((1, *belief_shape(int(games["num_players"][0]))), np.float32)
        self.write(games, (seat,), out)
        return out[0]

    def __reduce__(self) -> tuple[Any, ...]:
        # Scratch is nobody's state: a copy makes its own.
        return type(self), (self.threads,)


class Marginals(BeliefWriter):
    """Writes the exact marginals, belief="exact", and keeps the scratch for it.

    Args:
        threads: cores to use; results do not depend on it.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._scratch = np.zeros(threads, EXACT_SCRATCH)
        self._cells: np.ndarray = np.empty((threads, FEW_CELLS), np.int64)

    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """See `BeliefWriter.write` and `write_marginals`."""
        seats, fresh = np.ascontiguousarray(seats, np.int64), True
        while not self._write_some(games, seats, fresh, out):
            threads, length = self._cells.shape
            self._cells, fresh = np.empty((threads, 2 * length), np.int64), False

    def _write_some(self, games: np.ndarray, seats: np.ndarray, fresh: bool, out: np.ndarray) -> bool:
        arguments = games, seats, fresh, self._scratch, self._cells, out
        if self.threads == 1:
            return bool(write_all_marginals(*arguments))
        with threads_used(self.threads):
            return bool(write_all_marginals_parallel(*arguments))
