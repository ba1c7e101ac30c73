"""The belief section "likely": marginals weighed by the choice model, approximated without sampling.

The exact marginals take every consistent deal as equally likely, but a tile laid by choice carries information about
the rest of the hand (see `choice_model`, which search agents use to weigh worlds). Here the same model gives
probabilities fast enough for a network at every decision:

1. Weights per tile and place: 1 if the tile may be there (`may_hold`; any unseen tile in the boneyard).
2. Probabilities: weights scaled until every tile is somewhere and every place holds its number of tiles (iterative
   proportional fitting: Deming and Stephan, 1940).
3. Every choice lowers the weight of the tiles that the seat may still hold and did not lay: by the factor
   rest / (rest + appeal), where `rest` is the appeal of the laid tile and of all others, each counted by its
   probability (a mean field). Then step 2 again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy import int64

from fiveup_env.belief.choice_model import INFERENCE, infer
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import borrowed, entry, kernel
from fiveup_env.rules.record import MAX_PLAYERS, Game
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.views.observation_kernels import may_hold, unseen_tiles

FITTINGS = 4
"""Scalings of rows and columns after each change of the weights."""
REFINEMENTS = 2
"""Passes over the choices."""

_FIELDS: list[tuple[Any, ...]] = [
    ("inference", INFERENCE),
    ("num_tiles", "i8"),
    ("tiles", "i8", NUM_TILES),  # the unseen ones; columns below are in their order
    ("weights", "f8", (MAX_PLAYERS, NUM_TILES)),
    ("likely", "f8", (MAX_PLAYERS, NUM_TILES)),
    ("sizes", "f8", MAX_PLAYERS),
]
APPROXIMATION = np.dtype((np.record, np.dtype(_FIELDS, align=True)))
"""dtype of the scratch record of one thread."""


def new_approximations(count: int) -> np.ndarray:
    """Blank scratch records for `approximate` [count]."""
    return np.zeros(count, APPROXIMATION)


@kernel
def lay_out(game: Game, seat: int, scratch: Any) -> None:
    """Set weights and numbers of tiles by place: the other seats, clockwise, then the boneyard."""
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
    """Scale `likely`: rows to the number of tiles there (approximately), columns to one."""
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
    """Weigh the tiles of every other seat by its choices, given the probabilities so far."""
    players, count = int64(game.num_players), int64(scratch.num_tiles)
    likely, inference = scratch.likely, scratch.inference
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
    """Write the section of one seat; reads only what the seat has seen.

    Args:
        game: a full record or a view's.
        seat: the seat that looks.
        scratch: a record of dtype `APPROXIMATION`.
        out: written, float32 [players or more, 28]: row r is P(tile in the hand of seat + r + 1), row players - 1
            P(tile in the boneyard); later rows are zero. Columns of unseen tiles sum to one.
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
    """Write the share of one thread; see `approximate_all`."""
    games, seats, scratch, out = borrowed(games), borrowed(seats), borrowed(scratch), borrowed(out)
    count, parts = len(games), len(scratch)
    for i in range(count * part // parts, count * (part + 1) // parts):
        approximate(games[i], int64(seats[i]), scratch[part], out[i])


@entry
def approximate_all(games: np.ndarray, seats: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """Write the sections of `seats`, int64 [N], into `out`, float32 [N, rows, 28]; `scratch` is [1]."""
    approximate_share(0, games, seats, scratch, out)


@entry(parallel=True)
def approximate_all_parallel(games: np.ndarray, seats: np.ndarray, scratch: np.ndarray, out: np.ndarray) -> None:
    """The same with a thread for each record of `scratch` [threads]."""
    for part in prange(len(scratch)):
        approximate_share(part, games, seats, scratch, out)
