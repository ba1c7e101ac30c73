"""Control variate: the luck of a side in a match, measured with a fixed linear value function.

Luck enters a match through the lot for the opener, the deal, and the tiles drawn. Each contributes the value of the
outcome minus its mean over all possible outcomes at that moment. Every term has mean zero for all agents, because the
order of the boneyard is uniform given all hands; so subtracting luck leaves the mean of a result unchanged. This is
the idea of AIVAT (Burch, Schmid, Moravcik, Morrill, Bowling, 2018) without its correction for the agents' randomness.

`statistics.less_luck` fits the share of luck to subtract on the other half of the starts, so a poor value function does
no harm. `training/luck_weights.py` fits the value function on self-play of greedy agents. For win rates, points are
weighted with the slope of the match equity at the scores of the round.

Kernels keep luck per match as float64 [5, 3]: one row per source (`DEAL_POINTS` …) plus the slope, one column per side.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import int64

from fiveup_env.agents.search.equity import LONGEST, chance_at_start, mean_chance, points_of_sides, shipped_table
from fiveup_env.evaluation.behaviour_kernels import best_credit
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import MAX_SIDES, RAW_PER_POINT, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.tiles import NUM_TILES, PIPS
from fiveup_env.rules.turn import can_lay

WEIGHTS = Path(__file__).parent / "data" / "luck.npz"
DEAL_POINTS, DRAW_POINTS, DEAL_WINS, DRAW_WINS, SLOPE = 0, 1, 2, 3, 4
"""Rows of a match's luck: display points by deal (lot included) and by draws; win chance by both; the slope."""
STEP = 4  # display points to either side over which the slope is taken
FEATURES = ("fits", "credit", "pips", "opponent_short", "hand", "credit_short")
"""Features of a drawn tile; see `drawn_features`."""
SHORT = 2  # largest hand of an opponent who is about to go out


class ValueFunction(NamedTuple):
    """Linear value function for a number of players.

    Attributes:
        deal: display points of lead per dealt tile, float64 [sides, players, 28], for the j-th side if the k-th seat
            gets the tile, both counted from the opener. The mean over tiles is zero.
        draw: weights of `FEATURES` for the drawer, and last the value of the lot for the opener, float64 [F + 1].
        table: match equity, see `agents.search.equity`.
    """

    deal: np.ndarray
    draw: np.ndarray
    table: np.ndarray


@cache
def value_function(num_players: int) -> ValueFunction:
    """Shipped value function for 2, 3 or 4 players."""
    with np.load(WEIGHTS) as arrays:
        deal = arrays[f"deal_{num_players}"].astype(np.float64)
        draw = arrays[f"draw_{num_players}"].astype(np.float64)
    assert draw.shape == (len(FEATURES) + 1,)
    return ValueFunction(deal - deal.mean(2, keepdims=True), draw, shipped_table(num_players))


def new_luck(count: int) -> np.ndarray:
    """Zero luck of `count` matches, float64 [N, 5, 3]."""
    return np.zeros((count, SLOPE + 1, MAX_SIDES))


@kernel
def shifted_chance(table: np.ndarray, game: Game, side: int, own: int, others: int) -> float:
    """Win chance of `side`, averaged over openers, with its score and the others' raised by these display points."""
    now = points_of_sides(game)
    higher = (own if side == 0 else others, own if side == 1 else others, own if side == 2 else others)
    to_go = (
        min(max(now[0] - higher[0], 1), LONGEST),
        min(max(now[1] - higher[1], 1), LONGEST),
        min(max(now[2] - higher[2], 1), LONGEST),
    )
    return mean_chance(table, to_go, int64(game.num_sides), side)


@kernel
def note_slopes(game: Game, table: np.ndarray, luck: np.ndarray) -> None:
    """Write the win chance per display point of lead in this round."""
    for side in range(int64(game.num_sides)):
        up = shifted_chance(table, game, side, STEP, 0) - shifted_chance(table, game, side, -STEP, 0)
        down = shifted_chance(table, game, side, 0, -STEP) - shifted_chance(table, game, side, 0, STEP)
        luck[SLOPE, side] = (up + down) / (4 * STEP)


@kernel
def note_deal(game: Game, value: ValueFunction, luck: np.ndarray) -> None:
    """Add the luck of a new round: of the lot, if there was one (R2.3, R2.5), and of the hands given the opener."""
    sides, players, opener = int64(game.num_sides), int64(game.num_players), int64(game.opener)
    opening, lot = side_of(game, opener), value.draw[len(value.draw) - 1]
    note_slopes(game, value.table, luck)
    if game.next_opener < 0:
        for side in range(sides):
            luck[DEAL_POINTS, side] += lot if side == opening else -lot / (sides - 1)
            chance = chance_at_start(value.table, game, opening, side)
            luck[DEAL_WINS, side] += chance - shifted_chance(value.table, game, side, 0, 0)
    for k in range(players):
        hand = int64(game.hands[(opener + k) % players])
        while hand:
            tile = lowest_bit(hand)
            hand &= hand - 1
            for j in range(sides):
                side = (opening + j) % sides
                luck[DEAL_POINTS, side] += value.deal[j, k, tile]
                luck[DEAL_WINS, side] += value.deal[j, k, tile] * luck[SLOPE, side]


@kernel
def drawn_features(game: Game, tile: int, shortest: int) -> tuple[float, float, float, float, float, float]:
    """Features of a tile for the seat that draws it; a tile that fits is placed at once (R3.2).

    1 if it fits; its best credit in display points; its pips if it does not fit; 1 if it does not fit and an opponent
    has at most `SHORT` tiles; the drawer's number of tiles if it does not fit; the credit again if such an opponent
    exists.
    """
    seat = int64(game.turn)
    hand = int64(game.hands[seat])
    game.hands[seat] = 1 << tile
    fits, credit = can_lay(game, seat), best_credit(game, seat) / RAW_PER_POINT
    game.hands[seat] = hand
    held, short = float(int64(game.hand_sizes[seat])), shortest <= SHORT
    short_credit = credit if short else 0.0
    if fits:
        return 1.0, credit, 0.0, 0.0, 0.0, short_credit
    return 0.0, credit, float(PIPS[tile]), 1.0 if short else 0.0, held, short_credit


@kernel
def note_draw(game: Game, value: ValueFunction, luck: np.ndarray) -> None:
    """Add the luck of the next drawn tile: its value minus the mean over the boneyard (R3.2)."""
    seat, sides = int64(game.turn), int64(game.num_sides)
    drawer, shortest = side_of(game, seat), NUM_TILES
    for other in range(int64(game.num_players)):
        if side_of(game, other) != drawer:
            shortest = min(shortest, int64(game.hand_sizes[other]))
    first, end = int64(game.boneyard_next), int64(game.boneyard_end)
    actual = mean = 0.0
    for i in range(first, end):
        features = drawn_features(game, int64(game.boneyard[i]), shortest)
        worth = 0.0
        for f in range(len(features)):
            worth += value.draw[f] * features[f]
        mean += worth / (end - first)
        if i == first:
            actual = worth
    for side in range(sides):
        change = actual - mean if side == drawer else (mean - actual) / (sides - 1)
        luck[DRAW_POINTS, side] += change
        luck[DRAW_WINS, side] += change * luck[SLOPE, side]
