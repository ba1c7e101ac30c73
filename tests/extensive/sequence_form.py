"""The value of a small two-player round by linear programming, independent of `fiveup_env.extensive`.

The tree comes from `Match` with every order of the set (hands and the whole boneyard dealt beforehand), information
sets from what a player has held and heard at its own decisions, and the value from the sequence form (Koller, Megiddo,
von Stengel, 1994): maximise q . f  with  F' q <= A' x,  E x = e,  x >= 0.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix, hstack

from fiveup_env import Match
from fiveup_env.rules.tiles import TILES

Payoff = Callable[[Match], float]
Sequence = tuple[int, int]
"""(information set, action) of a player's last choice; (-1, 0) before its first."""

NOTHING: Sequence = (-1, 0)


def won(match: Match) -> float:
    """+1 if player 0 has won the round, -1 if player 1 has, 0 for a tie."""
    assert match.last_round is not None
    return {0: 1.0, 1: -1.0, None: 0.0}[match.last_round["winner"]]


def led(match: Match) -> float:
    """Lead of player 0 in sixty-firsts of a point, as in `views.rewards`."""
    return (match.scores[0] - match.scores[1]) / 305


class SequenceForm:
    """The tree of a round, opened by player 0."""

    def __init__(self, max_pip: int, hand_size: int, payoff: Payoff) -> None:
        self.payoff = payoff
        self.sets: tuple[dict[Hashable, int], dict[Hashable, int]] = ({}, {})
        self.parents: tuple[dict[int, Sequence], dict[int, Sequence]] = ({}, {})
        self.sequences: tuple[dict[Sequence, int], dict[Sequence, int]] = ({NOTHING: 0}, {NOTHING: 0})
        self.values: dict[tuple[int, int], float] = defaultdict(float)
        tiles = TILES[: (max_pip + 1) * (max_pip + 2) // 2]
        rest = len(tiles) - 2 * hand_size
        weight = 1 / (
            math.comb(len(tiles), hand_size) * math.comb(len(tiles) - hand_size, hand_size) * math.factorial(rest)
        )
        for first in itertools.combinations(tiles, hand_size):
            others = [tile for tile in tiles if tile not in first]
            for second in itertools.combinations(others, hand_size):
                left = [tile for tile in others if tile not in second]
                for boneyard in itertools.permutations(left):
                    start = Match.from_deal([first, second], boneyard, 0, hand_size=hand_size, max_pip=max_pip)
                    self._walk(start, weight, (NOTHING, NOTHING), ((), ()))

    def _walk(self, match: Match, weight: float, last: tuple[Sequence, ...], held: tuple[Hashable, ...]) -> None:
        actions = match.legal_actions()
        if not actions:
            rows = self.sequences[0][last[0]], self.sequences[1][last[1]]
            self.values[rows] += weight * self.payoff(match)
            return
        me = match.turn
        known = (held[me], match.hands[me], match.history)
        here = self.sets[me].setdefault(known, len(self.sets[me]))
        assert self.parents[me].setdefault(here, last[me]) == last[me], "perfect recall"
        for action in actions:
            self.sequences[me].setdefault((here, action), len(self.sequences[me]))
            after = match.copy()
            after.play(action, deal=False)
            mine = (here, action)
            self._walk(
                after,
                weight,
                (mine, last[1]) if me == 0 else (last[0], mine),
                (known, held[1]) if me == 0 else (held[0], known),
            )

    def _constraints(self, player: int) -> csr_matrix:
        """Matrix E or F: the empty sequence has weight 1, and choices sum to the weight of their parent."""
        entries = [(0, 0, 1.0)]
        for (here, _), column in self.sequences[player].items():
            if here >= 0:
                entries.append((here + 1, column, 1.0))
        for here, parent in self.parents[player].items():
            entries.append((here + 1, self.sequences[player][parent], -1.0))
        rows, columns, values = zip(*entries, strict=True)
        shape = (len(self.sets[player]) + 1, len(self.sequences[player]))
        return coo_matrix((values, (rows, columns)), shape).tocsr()

    def value(self) -> float:
        """Value of the game to player 0 under optimal play."""
        e, f = self._constraints(0), self._constraints(1)
        rows, columns = zip(*self.values, strict=True)
        payoffs = coo_matrix((list(self.values.values()), (rows, columns)), (e.shape[1], f.shape[1])).tocsr()
        first = np.zeros(e.shape[0])
        first[0] = 1
        no_q = csr_matrix((e.shape[0], f.shape[0]))
        cost = np.zeros(e.shape[1] + f.shape[0])
        cost[e.shape[1]] = -1  # q of the empty sequence
        found = linprog(
            cost,
            A_ub=hstack([-payoffs.T, f.T]),
            b_ub=np.zeros(f.shape[1]),
            A_eq=hstack([e, no_q]),
            b_eq=first,
            bounds=[(0, None)] * e.shape[1] + [(None, None)] * f.shape[0],
            method="highs",
        )
        assert found.status == 0, found.message
        return float(-found.fun)
