"""Variance removed by duplicate deals, common random numbers and the control variate, for one match-up."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fiveup_env.agents.registry import AgentSpec
from fiveup_env.evaluation.match_plan import MatchPlan, Results
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.plan_parts import Job, play_parts
from fiveup_env.evaluation.statistics import LEVEL, less_luck, linearised
from fiveup_env.rules.match import checked_seed
from fiveup_env.rules.record import Variant

POINTS, WINS = 0.1, 0.01  # half-widths of the intervals that deals are counted for


@dataclass(frozen=True)
class VarianceRow:
    """Estimates by one method, and its cost.

    Attributes:
        name: name of the method.
        points, wins: the estimates, in display points per deal and share of matches.
        deals_for_points: number of deals for an interval of ± 0.1 display points per deal.
        deals_for_wins: number of deals for an interval of ± 1% of the win rate.
    """

    name: str
    points: float
    wins: float
    deals_for_points: float
    deals_for_wins: float


def variance_row(
    name: str, lead: np.ndarray, rounds: np.ndarray, won: np.ndarray, luck: np.ndarray | None
) -> VarianceRow:
    """Make a row from the results of independent units.

    Args:
        name: name of the method.
        lead, rounds: sums over the matches of a unit, [units].
        won: share of matches won, [units].
        luck: luck to subtract, [units, 4], or None.
    """
    if luck is not None:
        lead, won = less_luck(lead, rounds, luck), less_luck(won, np.ones(len(won)), luck)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    ratio, residuals = linearised(lead, rounds)
    spread = float(residuals.std(ddof=1))
    per_unit = float(rounds.mean())
    return VarianceRow(
        name,
        ratio,
        float(won.mean()),
        (z * spread / POINTS) ** 2 * per_unit,
        (z * float(won.std(ddof=1)) / WINS) ** 2 * per_unit,
    )


def variance_rows(common: Results, apart: Results) -> list[VarianceRow]:
    """All rows, from results with common random numbers for the policies and from results without."""
    deals, sides = common.winner.shape
    one = (np.arange(deals), np.arange(deals) % sides)  # a single match of every start, A's side in turn

    def single(name: str, r: Results, by_luck: bool) -> VarianceRow:
        return variance_row(name, r.lead[one], r.rounds[one], r.won[one], r.luck[one] if by_luck else None)

    def paired(name: str, r: Results, by_luck: bool) -> VarianceRow:
        luck = r.luck.sum(1) if by_luck else None
        return variance_row(name, r.lead.sum(1), r.rounds.sum(1), r.won.mean(1), luck)

    return [
        single("plain", apart, False),
        single("plain, control variate", apart, True),
        paired("duplicate", apart, False),
        paired("+ common random numbers", common, False),
        paired("+ control variate", common, True),
    ]


def measure_variance(
    a: AgentSpec,
    b: AgentSpec,
    num_players: int,
    matches: int,
    seed: int,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[VarianceRow]:
    """Play a match-up with and without common random numbers; see `evaluate` for the arguments."""
    sides = Variant(num_players).num_sides
    found = []
    for common in (True, False):
        plan = MatchPlan(num_players, max(2 * sides, -(-matches // sides)), checked_seed(seed), common=common)
        shown = progress or (lambda done, total: None)
        found.append(play_parts(Job(a, b, num_players), plan, shown, processes=processes))
    return variance_rows(*found)
