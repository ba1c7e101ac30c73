"""Matches of a match-up, and their results.

Match i of a match-up belongs to deal i // S and seating i % S, where S is the number of sides: agent A has side
`seating`, agent B every other side. All seatings of a deal share its seed, so they get the same tiles and lots round by
round and the policies get the same random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fiveup_env.evaluation.behaviour import Conduct
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MAX_PLAYERS, RAW_PER_POINT, Variant

# Streams of one seed: deals, random numbers of the policies, and starting scores (one stream per side).
DEALS, POLICIES, SCORES = 0, 1, 2
APART = 8  # first stream of policies that do not share random numbers, one per seating


@dataclass(frozen=True)
class MatchPlan:
    """Matches to play.

    Attributes:
        num_players: 2, 3 or 4.
        deals: number of deals; each is played once per side.
        seed: seed of deals and policies.
        max_rounds: rounds after which a match is left unfinished, 0 for no limit.
        start: lowest and highest starting score in display points; drawn per side and deal.
        common: whether policies draw the same random numbers in all seatings of a deal.
        first: number of the first deal.
    """

    num_players: int
    deals: int
    seed: int
    max_rounds: int = 0
    start: tuple[int, int] = (0, 0)
    common: bool = True
    first: int = 0

    @property
    def variant(self) -> Variant:
        """Variant of the game."""
        return Variant(self.num_players)

    @property
    def sides(self) -> int:
        """Number of sides, and of seatings of a deal."""
        return self.variant.num_sides

    @property
    def matches(self) -> int:
        """Number of matches."""
        return self.deals * self.sides

    def part(self, first: int, deals: int) -> MatchPlan:
        """Plan of some of the deals, with the same matches as in the whole plan."""
        return replace(self, first=self.first + first, deals=deals)

    def seeds(self, purpose: int) -> np.ndarray:
        """Seed of every deal for DEALS, POLICIES, ..., uint64 [deals]; independent of the number of deals."""
        return spread_seeds(spread_seeds(self.seed, 1, purpose)[0], self.deals, self.first)

    def policy_seeds(self) -> np.ndarray:
        """Policy seed of every match, uint64 [deals, seatings]."""
        purposes = [POLICIES if self.common else APART + seating for seating in range(self.sides)]
        return np.stack([self.seeds(purpose) for purpose in purposes], 1)

    def scores(self) -> np.ndarray:
        """Starting scores in raw points, int16 [deals, MAX_PLAYERS]; all seatings of a deal share them."""
        low, high = self.start
        scores = np.zeros((self.deals, MAX_PLAYERS), np.int16)
        for side in range(self.sides):
            scores[:, side] = RAW_PER_POINT * (low + self.seeds(SCORES + side) % np.uint64(high - low + 1))
        return scores


@dataclass(frozen=True)
class Forfeit:
    """A match lost because an agent failed.

    Attributes:
        deal, seating: identify the match.
        by_a: whether agent A failed; otherwise B.
        reason: one line.
    """

    deal: int
    seating: int
    by_a: bool
    reason: str


@dataclass(frozen=True)
class Results:
    """Results of every match; arrays [deals, seatings].

    Attributes:
        winner: side that won, -1 for an unfinished match; int8.
        scores: raw points of every side at the end; int16 [deals, seatings, sides].
        rounds: number of rounds played, including the last; int32.
        luck: luck of A's side, see `evaluation.luck`: display points of lead by deal (lot included) and by draws, and
            win chance by both; float64 [deals, seatings, 4].
        forfeits: forfeited matches in order of deals.
        conduct: behaviour counts over all deals.
    """

    winner: np.ndarray
    scores: np.ndarray
    rounds: np.ndarray
    luck: np.ndarray
    forfeits: tuple[Forfeit, ...] = ()
    conduct: Conduct = field(default_factory=Conduct.none)

    @classmethod
    def empty(cls, plan: MatchPlan) -> Results:
        """Empty results of a plan."""
        shape = (plan.deals, plan.sides)
        return cls(
            np.full(shape, -1, np.int8),
            np.zeros((*shape, plan.sides), np.int16),
            np.zeros(shape, np.int32),
            np.zeros((*shape, 4)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Results]) -> Results:
        """Join the results of consecutive deals."""
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.ARRAYS}
        forfeits = tuple(forfeit for part in parts for forfeit in part.forfeits)
        return cls(**arrays, forfeits=forfeits, conduct=sum((part.conduct for part in parts), Conduct.none()))

    ARRAYS = ("winner", "scores", "rounds", "luck")

    def note(self, deals: np.ndarray, seatings: np.ndarray | int, games: np.ndarray, luck: np.ndarray) -> None:
        """Write finished matches: records [K] and luck [K, 5, 3] of `evaluation.luck`."""
        self.winner[deals, seatings] = games["winner"]
        self.scores[deals, seatings] = games["scores"][:, : self.scores.shape[2]]
        self.rounds[deals, seatings] = games["round_number"]
        self.luck[deals, seatings] = luck[np.arange(len(games)), :4, seatings]

    @property
    def won(self) -> np.ndarray:
        """Share of the match that A won: 1 or 0, and 1 / sides if unfinished; float64."""
        sides = self.winner.shape[1]
        return np.where(self.winner < 0, 1 / sides, self.winner == np.arange(sides))

    @property
    def lead(self) -> np.ndarray:
        """Display points of A's side minus the mean of the others; float64."""
        sides = self.winner.shape[1]
        own = np.diagonal(self.scores, axis1=1, axis2=2).astype(np.float64)
        others = (self.scores.sum(2) - own) / (sides - 1)
        return (own - others) / RAW_PER_POINT
