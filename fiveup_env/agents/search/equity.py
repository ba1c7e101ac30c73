"""Value of a finished round: the chance to win the match (match equity), or the difference of scores.

The *match equity* of a side at the start of a round depends on the points that every side still needs and on the
opener. It is far from smooth near the target, because only exactly 61 points win (R6.1). The shipped tables cover two
players, three players and two partnerships. `training/equity_table.py` computes them from greedy self-play with the
last two kernels of this file.

In kernels a table is flat: float32 [61 ** sides * sides], indexed by the display points (1 to 61) that the opener's
side, the next side clockwise, ... still need, and finally by the side counted from the opener's. An empty table stands
for the difference of scores in raw points.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import GREEDY, play_out_round
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import MAX_PLAYERS, RAW_PER_POINT, Game, Variant, start_match
from fiveup_env.rules.scoring import side_of

LONGEST = 61  # display points to go at 0 : 0 (R1.1); scores below zero (D3) count as zero
TABLES = Path(__file__).parent / "data" / "equity.npz"

NO_TABLE = np.zeros(0, np.float32)
"""Empty table: values are differences of raw scores."""
NO_TABLE.flags.writeable = False  # like the shipped tables, so that kernels are compiled once for both


@kernel
def points_to_go(game: Game, side: int) -> int:
    """Display points that a side still needs, from 1 to `LONGEST`."""
    points = (int64(game.target) - int64(game.scores[side])) // RAW_PER_POINT
    return min(max(points, 1), LONGEST)


@kernel(inline=True)
def chance_between(table: np.ndarray, to_go: tuple[int, int, int], sides: int, opening: int, side: int) -> float:
    """Look up the chance that `side` wins the match if side `opening` opens the next round.

    Args:
        table: flat table, see above.
        to_go: display points that each side still needs, 1 to `LONGEST`; the third is not read if there are two sides.
        sides: 2 or 3.
    """
    at = 0
    for k in range(sides):
        at = at * LONGEST + to_go[(opening + k) % sides] - 1
    return float(table[at * sides + (side - opening) % sides])


@kernel(inline=True)
def mean_chance(table: np.ndarray, to_go: tuple[int, int, int], sides: int, side: int) -> float:
    """Chance that `side` wins the match, averaged over the side that opens the next round; see `chance_between`."""
    total = 0.0
    for opening in range(sides):
        total += chance_between(table, to_go, sides, opening, side)
    return total / sides


@kernel
def points_of_sides(game: Game) -> tuple[int, int, int]:
    """`points_to_go` of the three possible sides."""
    return points_to_go(game, 0), points_to_go(game, 1), points_to_go(game, 2)


@kernel
def chance_at_start(table: np.ndarray, game: Game, opening: int, side: int) -> float:
    """Chance that `side` wins the match if side `opening` opens the next round."""
    return chance_between(table, points_of_sides(game), int64(game.num_sides), opening, side)


@kernel
def win_chance(table: np.ndarray, game: Game, side: int) -> float:
    """Chance that `side` wins the match, at the end of a round or of the match (R2.5, R6.2)."""
    if game.winner >= 0:
        return 1.0 if game.winner == side else 0.0
    if game.next_opener >= 0:
        return chance_at_start(table, game, side_of(game, int64(game.next_opener)), side)
    return mean_chance(table, points_of_sides(game), int64(game.num_sides), side)


@kernel
def score_lead(game: Game, side: int) -> float:
    """Raw points of `side` above the mean of the others; winning the match adds the target."""
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
    """Value of a finished round to one side. The values of all sides add up to a constant."""
    return win_chance(table, game, side) if len(table) > 0 else score_lead(game, side)


def unfold(coarse: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return a flat table for kernels, float32, interpolated linearly between the grid's points along every axis.

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
    """Flat table of the full game for 2, 3 or 4 players; read-only."""
    with np.load(TABLES) as arrays:
        table = unfold(arrays[f"players_{num_players}"] / 65535.0, arrays[f"grid_{num_players}"])
    table.flags.writeable = False
    return table


def table_for(variant: Variant, equity: bool) -> np.ndarray:
    """Table for rounds of this variant: the shipped one if `equity` and the target is at most 61, else an empty one."""
    return shipped_table(variant.num_players) if equity and variant.target <= LONGEST else NO_TABLE


@entry
def play_rounds(games: np.ndarray, to_go: np.ndarray, seed: int, ends: np.ndarray) -> None:
    """Play one greedy round from every state with every deal; seat 0 opens.

    Args:
        games: one record of the variant, scratch.
        to_go: int64 [states, sides], display points that every side still needs.
        seed: seed of the deals, which are the same for every state.
        ends: written, int16 [states, deals, sides + 2]: points to go after the round, 1 to `LONGEST`; side that opens
            the next round (-1: a lot); side that has won the match (-1: none).
    """
    game = games[0]
    sides = to_go.shape[1]
    policies = np.full(MAX_PLAYERS, GREEDY)
    for i in range(len(to_go)):
        for deal in range(ends.shape[1]):
            start_match(game, stream(seed, deal))
            game.opener = 0
            game.turn = 0
            for side in range(sides):
                game.scores[side] = int64(game.target) - RAW_PER_POINT * to_go[i, side]
            play_out_round(game, policies, 0)
            for side in range(sides):
                ends[i, deal, side] = points_to_go(game, side)
            ends[i, deal, sides] = -1 if game.next_opener < 0 else int64(game.next_opener) % sides
            ends[i, deal, sides + 1] = game.winner


@entry
def improve_chances(games: np.ndarray, ends: np.ndarray, table: np.ndarray, chances: np.ndarray) -> None:
    """Do one step of value iteration: the mean chance of every side over the deals of each state.

    Args:
        games: one record of the variant, scratch.
        ends: written by `play_rounds`.
        table: flat table of the current chances.
        chances: written, float64 [states, sides].
    """
    game = games[0]
    deals, sides = ends.shape[1], chances.shape[1]
    for i in range(len(ends)):
        chances[i] = 0.0
        for deal in range(deals):
            for side in range(sides):
                game.scores[side] = int64(game.target) - RAW_PER_POINT * int64(ends[i, deal, side])
            game.next_opener = ends[i, deal, sides]
            game.winner = ends[i, deal, sides + 1]
            for side in range(sides):
                chances[i, side] += win_chance(table, game, side)
        for side in range(sides):
            chances[i, side] /= deals
