"""What a finished round is worth: the chance to win the match from here, or the plain difference of scores.

The *match equity* of a side at the start of a round depends on the points that every side still needs (6.1 wants
exactly 61, so it is far from smooth near the target) and on who opens. The shipped tables hold it for two players,
three players and two partnerships; `training/equity_table.py` makes them, from greedy self-play.

A table is flat in kernels: float32 [61 ** sides * sides], by the display points (1 to 61) that the opener's side, the
next side clockwise, ... still need, and last by the side counted from the opener's. An empty table stands for the
difference of scores in raw points.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import RAW_PER_POINT, Game, Variant
from fiveup_env.rules.scoring import side_of

LONGEST = 61  # display points to go at 0 : 0 (R1.1); who is below zero (D3) counts as if at zero
TABLES = Path(__file__).parent / "data" / "equity.npz"

NO_TABLE = np.zeros(0, np.float32)
"""Values are differences of scores."""
NO_TABLE.flags.writeable = False  # as the shipped ones are: kernels are compiled once for both


@kernel
def points_to_go(game: Game, side: int) -> int:
    """Display points that a side still needs, from 1 to `LONGEST`."""
    points = (int64(game.target) - int64(game.scores[side])) // RAW_PER_POINT
    return min(max(points, 1), LONGEST)


@kernel
def chance_at_start(table: np.ndarray, game: Game, opening: int, side: int) -> float:
    """Chance that `side` wins the match if side `opening` opens the next round."""
    sides = int64(game.num_sides)
    at = 0
    for k in range(sides):
        at = at * LONGEST + points_to_go(game, (opening + k) % sides) - 1
    return float(table[at * sides + (side - opening) % sides])


@kernel
def win_chance(table: np.ndarray, game: Game, side: int) -> float:
    """Chance that `side` wins the match, at the end of a round or of the match (R2.5, R6.2)."""
    if game.winner >= 0:
        return 1.0 if game.winner == side else 0.0
    if game.next_opener >= 0:
        return chance_at_start(table, game, side_of(game, int64(game.next_opener)), side)
    sides = int64(game.num_sides)
    total = 0.0
    for opening in range(sides):
        total += chance_at_start(table, game, opening, side)
    return total / sides


@kernel
def score_lead(game: Game, side: int) -> float:
    """Raw points of `side` above the mean of the others; the match itself counts as much as its target."""
    sides = int64(game.num_sides)
    others = 0
    for other in range(sides):
        if other != side:
            others += int64(game.scores[other])
    lead = int64(game.scores[side]) - others / (sides - 1)
    if game.winner < 0:
        return lead
    target = float(int64(game.target))
    return lead + target if game.winner == side else lead - target / (sides - 1)


@kernel
def worth(table: np.ndarray, game: Game, side: int) -> float:
    """Value of a finished round to one side; over all sides the values add up to a constant."""
    return win_chance(table, game, side) if len(table) > 0 else score_lead(game, side)


def unfold(coarse: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A flat table for kernels, float32, by linear interpolation between the grid's points along every axis.

    Args:
        coarse: chances [len(grid), ..., sides], one axis per side.
        grid: ascending points to go, the first 1 and the last `LONGEST`.
    """
    points = np.arange(1, LONGEST + 1)
    below = np.clip(np.searchsorted(grid, points, side="right") - 1, 0, max(len(grid) - 2, 0))
    share = (points - grid[below]) / (grid[below + 1] - grid[below])
    full = coarse.astype(np.float64)
    for axis in range(coarse.ndim - 1):
        weights = share.reshape([-1 if a == axis else 1 for a in range(coarse.ndim)])
        full = full.take(below, axis) * (1 - weights) + full.take(below + 1, axis) * weights
    return np.ascontiguousarray(full, np.float32).reshape(-1)


@cache
def shipped_table(num_players: int) -> np.ndarray:
    """The flat table of the real game for 2, 3 or 4 players; read-only."""
    with np.load(TABLES) as arrays:
        table = unfold(arrays[f"players_{num_players}"] / 65535.0, arrays[f"grid_{num_players}"])
    table.flags.writeable = False
    return table


def table_for(variant: Variant, equity: bool) -> np.ndarray:
    """The table that values rounds of this variant: the shipped one for matches to at most 61, else none."""
    return shipped_table(variant.num_players) if equity and variant.target <= LONGEST else NO_TABLE
