"""A control variate: what chance brought a side, by a value function that was fixed beforehand.

Luck in a match has three sources: the lot, the deal, and the tiles that are drawn. For every one of them the value of
what came up, less its mean over all that could have come up at that moment, is added to the luck of the side. Each of
these terms has mean zero whatever was played before and whoever plays (the order of the boneyard is uniform given all
hands), so taking luck from a result leaves its mean as it is: the idea of AIVAT (Burch, Schmid, Moravcik, Morrill,
Bowling, 2018), without its correction for what the agents draw. The better the value function foresees results, the
more variance goes. How much of the luck is taken away is found by regression on the other half of the starts
(`statistics.less_luck`), so it does not depend on what it is applied to, and a poor value function does no harm.

The value function is linear, so that the means are known: per tile and place at the table for the deal, per feature of
a drawn tile (`kernels.FEATURES`) for draws, a constant for the lot. `training/luck_weights.py` fits it on greedy
self-play. In chance to win, points are weighed with the slope of the match equity at the scores of the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.evaluation.match_play_kernels import FEATURES, SLOPE
from fiveup_env.rules.record import MAX_SIDES

WEIGHTS = Path(__file__).parent / "data" / "luck.npz"


@dataclass(frozen=True)
class Luck:
    """The value function for a number of players.

    Attributes:
        deal: display points of lead that a tile dealt is worth, float64 [sides, players, 28]: to the j-th side, counted
            from the opener's, if the k-th seat, counted from the opener, gets it. Its sum over tiles is zero.
        draw: worth of a drawn tile to the drawer per feature, and last of the lot to the opener, float64 [F + 1].
        table: match equity, see `agents.search.equity`.
    """

    deal: np.ndarray
    draw: np.ndarray
    table: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As kernels take them."""
        return self.deal, self.draw, self.table


@cache
def value_function(num_players: int) -> Luck:
    """The shipped one for 2, 3 or 4 players."""
    with np.load(WEIGHTS) as arrays:
        deal = arrays[f"deal_{num_players}"].astype(np.float64)
        draw = arrays[f"draw_{num_players}"].astype(np.float64)
    assert draw.shape == (len(FEATURES) + 1,)
    return Luck(deal - deal.mean(2, keepdims=True), draw, shipped_table(num_players))


def new_luck(count: int) -> np.ndarray:
    """No luck yet for so many matches, float64 [N, 5, 3]; see `evaluation.match_play_kernels`."""
    return np.zeros((count, SLOPE + 1, MAX_SIDES))
