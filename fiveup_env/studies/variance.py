"""How much each step of the design narrows an interval: the variance table of a match-up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from rich.table import Table
from rich.text import Text

from fiveup_env.agents.registry import AgentSpec
from fiveup_env.evaluation.match_plan import Plan, Results
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.plan_parts import Job, play_parts
from fiveup_env.evaluation.statistics import LEVEL, less_luck
from fiveup_env.rules.match import checked_seed
from fiveup_env.rules.record import Variant

POINTS, WINS = 0.1, 0.01  # half-widths that the table asks for


@dataclass(frozen=True)
class Row:
    """One way of measuring.

    Attributes:
        name: what it is called.
        points, wins: the estimates, in display points per deal and share of matches.
        deals_for_points: hands to be dealt for an interval of ± 0.1 display points per deal.
        deals_for_wins: hands to be dealt for ± 1% of the win rate.
    """

    name: str
    points: float
    wins: float
    deals_for_points: float
    deals_for_wins: float


def row(name: str, lead: np.ndarray, rounds: np.ndarray, won: np.ndarray, luck: np.ndarray | None) -> Row:
    """From what independent units came to.

    Args:
        name: of the row.
        lead, rounds: sums over a unit's matches, [units].
        won: share of them, [units].
        luck: to be taken away, [units, 4], or None.
    """
    if luck is not None:
        lead, won = less_luck(lead, rounds, luck), less_luck(won, np.ones(len(won)), luck)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    ratio = float(lead.sum() / rounds.sum())
    spread = float(((lead - ratio * rounds) / rounds.mean()).std(ddof=1))
    per_unit = float(rounds.mean())
    return Row(
        name,
        ratio,
        float(won.mean()),
        (z * spread / POINTS) ** 2 * per_unit,
        (z * float(won.std(ddof=1)) / WINS) ** 2 * per_unit,
    )


def rows(common: Results, apart: Results) -> list[Row]:
    """The table, from results with common random numbers for the policies and from results without."""
    deals, sides = common.winner.shape
    one = (np.arange(deals), np.arange(deals) % sides)  # a single match of every start, A's side in turn

    def single(name: str, r: Results, by_luck: bool) -> Row:
        return row(name, r.lead[one], r.rounds[one], r.won[one], r.luck[one] if by_luck else None)

    def paired(name: str, r: Results, by_luck: bool) -> Row:
        luck = r.luck.sum(1) if by_luck else None
        return row(name, r.lead.sum(1), r.rounds.sum(1), r.won.mean(1), luck)

    return [
        single("plain", apart, False),
        single("plain, control variate", apart, True),
        paired("duplicate", apart, False),
        paired("+ common random numbers", common, False),
        paired("+ control variate", common, True),
    ]


def measure(
    a: AgentSpec,
    b: AgentSpec,
    num_players: int,
    matches: int,
    seed: int,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Row]:
    """Play a match-up twice, with and without common random numbers, and compare; see `evaluate` for the arguments."""
    sides = Variant(num_players).num_sides
    found = []
    for common in (True, False):
        plan = Plan(num_players, max(2 * sides, -(-matches // sides)), checked_seed(seed), common=common)
        shown = progress or (lambda done, total: None)
        found.append(play_parts(Job(a, b, num_players), plan, shown, processes=processes))
    return rows(*found)


def table(rows: list[Row], title: str) -> Table:
    """The rows for people."""
    result = Table(title=Text(title), title_justify="left")
    result.add_column("measured by", no_wrap=True)
    for heading in ("points", "for ±0.1", "of plain", "wins", "for ±1%", "of plain"):
        result.add_column(heading, justify="right", no_wrap=True)
    for r in rows:
        points, wins = (
            f"{100 * own / plain:.0f}%" if plain > 0 and math.isfinite(own) else ""
            for own, plain in (
                (r.deals_for_points, rows[0].deals_for_points),
                (r.deals_for_wins, rows[0].deals_for_wins),
            )
        )
        result.add_row(
            r.name,
            f"{r.points:+.2f}",
            f"{r.deals_for_points:,.0f}",
            points,
            f"{100 * r.wins:.1f}%",
            f"{r.deals_for_wins:,.0f}",
            wins,
        )
    return result
