"""The observation section `belief="likely"`: where tiles may be, weighed by what the others chose. An approximation.

The exact marginals (`marginals`) take all deals that agree with the events as equally likely. But whoever lays a tile
by choice says something about the rest of the hand, and that is worth more to a player than anything else that can be
inferred (see `docs/search.md`): it is what `pimc` weighs its worlds by (`inference`). Here the same model gives
probabilities without sampling, fast enough for a network to have them at every decision:

1. A weight for every tile and place: 1 if it may be there (`belief.may_hold`; any unseen tile in the boneyard).
2. Probabilities: the weights scaled so that every tile is somewhere and every place holds as many tiles as it has
   (iterative proportional fitting: Deming and Stephan, 1940).
3. For every choice of a seat, a tile that it may still hold and did not lay then makes the choice less likely: the
   weight of the tile is multiplied by rest / (rest + appeal), `rest` being what the hand attracts without the tile,
   each of its other tiles counted by its probability (a mean field). Then once more from 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy import int64

from fiveup_env.belief.choice_model import INFERENCE, infer
from fiveup_env.belief.marginals import BeliefWriter
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import borrowed, entry, kernel, threads_used
from fiveup_env.rules.record import MAX_PLAYERS, Game
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.views.observation_kernels import may_hold, unseen_tiles

FITTINGS = 4
"""Scalings of rows and columns after each change of the weights."""
REFINEMENTS = 2
"""Times that the choices are weighed."""

LIKELY_SCRATCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("inference", INFERENCE),
                ("num_tiles", "i8"),
                ("tiles", "i8", NUM_TILES),  # the unseen ones; columns below are in their order
                ("weights", "f8", (MAX_PLAYERS, NUM_TILES)),
                ("likely", "f8", (MAX_PLAYERS, NUM_TILES)),
                ("sizes", "f8", MAX_PLAYERS),
            ],
            align=True,
        ),
    )
)
"""dtype of what a thread needs."""


@kernel
def lay_out(game: Game, seat: int, scratch: Any) -> None:
    """Weights, and numbers of tiles, by place: the other seats, clockwise, and the boneyard last."""
    players, unseen, count = int64(game.num_players), unseen_tiles(game, seat), 0
    left = unseen
    while left:
        scratch.tiles[count] = lowest_bit(left)
        left &= left - 1
        count += 1
    scratch.num_tiles = count
    for row in range(players):
        other = (seat + row + 1) % players
        there = unseen if row + 1 == players else may_hold(game, seat, other)
        drawable = int64(game.boneyard_end) - int64(game.boneyard_next)
        scratch.sizes[row] = drawable if row + 1 == players else int64(game.hand_sizes[other])
        for i in range(count):
            scratch.weights[row, i] = scratch.likely[row, i] = there >> int64(scratch.tiles[i]) & 1


@kernel
def fit(scratch: Any, rows: int) -> None:
    """Scale `likely` until rows sum to the tiles there, nearly, and columns to one."""
    likely, count = scratch.likely, int64(scratch.num_tiles)
    for _ in range(FITTINGS):
        for row in range(rows):
            total = 0.0
            for i in range(count):
                total += likely[row, i]
            factor = scratch.sizes[row] / total if total > 0 else 0.0
            for i in range(count):
                likely[row, i] *= factor
        for i in range(count):
            total = 0.0
            for row in range(rows):
                total += likely[row, i]
            factor = 1 / total if total > 0 else 0.0
            for row in range(rows):
                likely[row, i] *= factor


@kernel
def weigh(game: Game, seat: int, scratch: Any) -> None:
    """Weigh the tiles of every other seat by its choices, given what is likely so far."""
    players, count, likely, inference = (
        int64(game.num_players),
        int64(scratch.num_tiles),
        scratch.likely,
        scratch.inference,
    )
    for row in range(players - 1):
        other = (seat + row + 1) % players
        choices = int64(inference.num_choices[other])
        for at in range(choices):
            total = inference.laid[other, at]
            for i in range(count):
                total += likely[row, i] * inference.held[other, int64(scratch.tiles[i]), at]
            inference.sums[at] = total
        for i in range(count):
            if likely[row, i] == 0:
                continue
            weight = 1.0
            for at in range(choices):
                appeal = inference.held[other, int64(scratch.tiles[i]), at]
                rest = inference.sums[at] - likely[row, i] * appeal
                weight *= rest / (rest + appeal)
            likely[row, i] *= weight / scratch.weights[row, i]
            scratch.weights[row, i] = weight


@kernel
def approximate(game: Game, seat: int, scratch: Any, out: np.ndarray) -> None:
    """The section of one seat; nothing but what the seat has seen is read.

    Args:
        game: a full record or a view's.
        seat: the seat that looks.
        scratch: a record of dtype `LIKELY_SCRATCH`.
        out: written, float32 [players or more, 28]: row r is P(tile in the hand of seat + r + 1), row players - 1
            P(tile in the boneyard), by the model; rows behind are zero. Columns of unseen tiles sum to one.
    """
    rows = int64(game.num_players)
    lay_out(game, seat, scratch)
    fit(scratch, rows)
    infer(game, seat, scratch.inference)
    for _ in range(REFINEMENTS):
        weigh(game, seat, scratch)
        fit(scratch, rows)
    out[:] = 0
    for row in range(rows):
        for i in range(int64(scratch.num_tiles)):
            out[row, int64(scratch.tiles[i])] = scratch.likely[row, i]


@kernel
def approximate_share(part: int, games: np.ndarray, seats: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """One thread's share of `approximate_all`."""
    count, parts = len(games), len(scratch)
    for i in range(count * part // parts, count * (part + 1) // parts):
        approximate(games[i], int64(seats[i]), scratch[part], out[i])


@entry
def approximate_all(games: np.ndarray, seats: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """Write the sections of `seats` int64 [N] into `out` [N, rows, 28]; `scratch`: dtype `LIKELY_SCRATCH` [1]."""
    approximate_share(0, borrowed(games), borrowed(seats), borrowed(scratch), borrowed(out))


@entry(parallel=True)
def approximate_all_parallel(games: np.ndarray, seats: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """The same with a thread for each of `scratch` [threads]."""
    games, seats, scratch, out = borrowed(games), borrowed(seats), borrowed(scratch), borrowed(out)
    for part in prange(len(scratch)):
        approximate_share(part, games, seats, scratch, out)


class LikelyHands(BeliefWriter):
    """Writes the section `belief` of belief="likely" for many matches, and keeps the scratch for it.

    Args:
        threads: cores to use; results do not depend on it.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._scratch = np.zeros(threads, LIKELY_SCRATCH)

    def write(self, games: np.ndarray, seats: Any, out: np.ndarray) -> None:
        """Write what is likely to a seat of every match; see `BeliefWriter.write`."""
        arguments = games, np.ascontiguousarray(seats, np.int64), self._scratch, out
        if self.threads == 1:
            approximate_all(*arguments)
        else:
            with threads_used(self.threads):
                approximate_all_parallel(*arguments)
