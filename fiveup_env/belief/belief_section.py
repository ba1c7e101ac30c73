"""The observation section `belief`: where every tile may be, written for many matches at once.

Two kinds: "exact" holds the marginals of `exact_belief.Belief`, "likely" those weighed by the choice model
(`approximation`). They cost 10 to 100 times a step, so they have their own entries, compiled on first use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange
from numpy import int64

from fiveup_env.belief.approximation import approximate_all, approximate_all_parallel, new_approximations
from fiveup_env.belief.deal_counts import BeliefRecord, count_places, new_beliefs, new_cells, prepare
from fiveup_env.jit.compilation import borrowed, entry, kernel, threads_used
from fiveup_env.rules.record import MAX_PLAYERS, Game
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.views.view import Views

FEW_CELLS = 1 << 13
"""Initial number of cells: enough for most beliefs of the real game, and small enough for the fast caches."""


def belief_shape(num_players: int) -> tuple[int, int]:
    """Shape of the section: a row for each other seat, clockwise, then the boneyard; a column for each tile."""
    return num_players, NUM_TILES


@kernel
def write_marginals(
    game: Game, seat: int, belief: BeliefRecord, cells: np.ndarray, places: np.ndarray, out: np.ndarray
) -> bool:
    """Write the exact section of one seat; reads only what the seat has seen.

    Args:
        game: a full record or a view's.
        seat: the seat that looks.
        belief, cells: scratch, see `prepare`.
        places: scratch, int64 [players + 1 or more, 28].
        out: written, float32 [players or more, 28], see `BeliefWriter.write`; all zero if no deal is consistent, which
            no game can reach.

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
def write_share(part: int, matches: tuple, scratch: tuple, out: np.ndarray) -> bool:
    """Write the share of one thread; see `write_all_marginals`."""
    games, seats = borrowed(matches[0]), borrowed(matches[1])
    beliefs, cells, places, out = borrowed(scratch[0]), borrowed(scratch[1]), borrowed(scratch[2]), borrowed(out)
    count, parts = len(games), len(beliefs)
    for i in range(count * part // parts, count * (part + 1) // parts):
        if not write_marginals(games[i], int64(seats[i]), beliefs[part], cells[part], places[part], out[i]):
            return False
    return True


@entry
def write_all_marginals(matches: tuple, scratch: tuple, out: np.ndarray) -> bool:
    """Write the exact sections of many matches.

    Args:
        matches: records [N] and the seats that look, int64 [N].
        scratch: beliefs [1], cells [1, any length], places int64 [1, 5, 28].
        out: written, float32 [N, rows, 28].

    Returns:
        False if `cells` is too small for a match.
    """
    return write_share(0, matches, scratch, out)


@entry(parallel=True)
def write_all_marginals_parallel(matches: tuple, scratch: tuple, out: np.ndarray) -> bool:
    """The same with a thread for each row of the scratch arrays."""
    done = 0
    for part in prange(len(scratch[0])):
        done += 1 if write_share(part, matches, scratch, out) else 0
    return done == len(scratch[0])


class BeliefWriter(ABC):
    """Writer of the section `belief` for many matches; it keeps its scratch memory.

    Args:
        threads: cores to use; results do not depend on it.
    """

    single: Callable[..., Any]
    """Entry for one thread."""
    parallel: Callable[..., Any]
    """The same entry for many."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    @abstractmethod
    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """Write the section of one seat of every match; reads nothing hidden.

        Args:
            games: records [N] of dtype `GAME`, in C order.
            seats: the seat that looks, integers [N].
            out: float32 [N, n, 28] in C order, n at least the largest number of players. Row r of a match with p
                players is P(tile in the hand of seat + r + 1), row p - 1 P(tile in the boneyard); later rows are zero.
        """

    def _run(self, *arguments: Any) -> Any:
        if self.threads == 1:
            return type(self).single(*arguments)
        with threads_used(self.threads):
            return type(self).parallel(*arguments)

    def write_rows(self, games: np.ndarray, seats: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        """Write the sections of K matches into out[rows]; `rows` is int64 [K]."""
        part = out[rows]
        self.write(games, seats, part)
        out[rows] = part

    def seen_by(self, games: np.ndarray, seat: int) -> np.ndarray:
        """Return the section of one seat of one match, float32 [n, 28]; `games` is [1]."""
        out = np.empty((1, *belief_shape(int(games["num_players"][0]))), np.float32)
        self.write(games, (seat,), out)
        return out[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.threads,)  # a copy allocates its own scratch


class Marginals(BeliefWriter):
    """Writer of belief="exact"."""

    single, parallel = write_all_marginals, write_all_marginals_parallel

    def __init__(self, threads: int = 1) -> None:
        super().__init__(threads)
        self._beliefs = new_beliefs(threads)
        self._cells = new_cells(threads * FEW_CELLS).reshape(threads, FEW_CELLS)
        self._places = np.zeros((threads, MAX_PLAYERS + 1, NUM_TILES), np.int64)

    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """See `BeliefWriter.write`; the cells grow until they suffice."""
        matches = games, np.ascontiguousarray(seats, np.int64)
        while not self._run(matches, (self._beliefs, self._cells, self._places), out):
            threads, length = self._cells.shape
            self._cells = new_cells(2 * threads * length).reshape(threads, 2 * length)


class LikelyHands(BeliefWriter):
    """Writer of belief="likely"."""

    single, parallel = approximate_all, approximate_all_parallel

    def __init__(self, threads: int = 1) -> None:
        super().__init__(threads)
        self._scratch = new_approximations(threads)

    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """See `BeliefWriter.write`."""
        self._run(games, np.ascontiguousarray(seats, np.int64), self._scratch, out)


EXACT, LIKELY = "exact", "likely"
BELIEF_WRITERS: dict[str, Callable[[int], BeliefWriter]] = {EXACT: Marginals, LIKELY: LikelyHands}


def belief_writer(kind: str, threads: int = 1) -> BeliefWriter:
    """Return a writer of the section by name.

    Args:
        kind: "exact" or "likely".
        threads: cores to use; results do not depend on it.

    Raises:
        ValueError: if there is no such kind.
    """
    if kind not in BELIEF_WRITERS:
        raise ValueError(f"belief must be one of {', '.join(map(repr, BELIEF_WRITERS))}, not {kind!r}")
    return BELIEF_WRITERS[kind](threads)


def beliefs_of(views: Views, kind: str = EXACT) -> np.ndarray:
    """Return where every tile may be, float32 [N, n, 28]: a row per other seat, clockwise, then the boneyard.

    Args:
        views: views of N matches with n players.
        kind: "exact": P(tile is there | everything the seat has seen this round), every consistent deal equally
            likely; "likely": the same with deals weighed by the choice model, approximately.

    Raises:
        ValueError: if there is no such kind.
    """
    out = np.zeros((len(views), *belief_shape(views.num_players)), np.float32)
    belief_writer(kind).write(views.games, views.seats, out)
    return out
