"""A match-up as a table for people."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import METHOD


def report(matchup: MatchUp) -> Group:
    """Win rate and points per round with their intervals, what equal agents would get, and how it was measured."""
    return Group(table(matchup), *(Text(line, style="dim") for line in notes(matchup)))


def table(matchup: MatchUp) -> Table:
    """Win rate and points per round of A."""
    m = matchup
    who = {2: "two players", 3: "three players, A against two Bs", 4: "two partnerships"}[m.num_players]
    result = Table(title=Text(f"{m.a} against {m.b}: {who}"), title_justify="left")
    result.add_column("of A", no_wrap=True)
    for heading in ("value", "95% interval", "equal agents"):
        result.add_column(heading, justify="right", no_wrap=True)
    for name, estimate, equal, shown in (
        ("win rate", m.win_rate, m.chance, _percent),
        ("points per round", m.points_per_round, 0.0, _points),
    ):
        interval = f"{shown(estimate.low)} to {shown(estimate.high)}"
        result.add_row(name, shown(estimate.value), interval, shown(equal))
    return result


def notes(matchup: MatchUp) -> list[str]:
    """How much was played, how fast, and what the intervals are."""
    m = matchup
    times = "twice" if m.matches == 2 * m.deals else f"{m.matches // m.deals} times"
    lines = [
        f"{m.matches:,} matches: {m.deals:,} deals, each played {times} with A on each side in turn; seed {m.seed}"
    ]
    if m.start != (0, 0):
        lines.append(f"each side starts at {m.start[0]} to {m.start[1]} points, drawn for every deal")
    if m.unfinished:
        lines.append(
            f"{m.unfinished:,} unfinished after {m.max_rounds} rounds, each counted as {_percent(m.chance)} won"
        )
    speed = m.matches / max(m.seconds, 1e-9)
    lines.append(f"{m.rounds_per_match:.2f} rounds a match; {m.seconds:.2f} s, {speed:,.0f} matches/s")
    return [*lines, METHOD]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _points(points: float) -> str:
    return f"{points:+.2f}"
