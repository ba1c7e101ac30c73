"""A match-up as a table for people."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.grids import between, percent, points
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import METHOD

REASONS = 5  # of forfeits that are shown


def report(matchup: MatchUp) -> Group:
    """Win rate and points per round with their intervals, what equal agents would get, and how it was measured."""
    return Group(table(matchup), *(Text(line, style="dim") for line in notes(matchup)))


def table(matchup: MatchUp) -> Table:
    """Points per deal and win rate of A, as they came and without luck."""
    m = matchup
    who = {2: "two players", 3: "three players, A against two Bs", 4: "two partnerships"}[m.num_players]
    result = Table(title=Text(f"{m.a} against {m.b}: {who}"), title_justify="left")
    result.add_column("of A", no_wrap=True)
    for heading in ("value", "95% interval", "equal agents"):
        result.add_column(heading, justify="right", no_wrap=True)
    for name, estimate, equal, shown in (
        ("points per deal", m.points_per_round, 0.0, points),
        ("  less luck", m.points_without_luck, 0.0, points),
        ("win rate", m.win_rate, m.chance, percent),
        ("  less luck", m.wins_without_luck, m.chance, percent),
    ):
        result.add_row(name, shown(estimate.value), between(estimate, shown), shown(equal))
    return result


def notes(matchup: MatchUp) -> list[str]:
    """How much was played, how fast, who forfeited, and what the intervals are."""
    m = matchup
    times = "twice" if m.matches == 2 * m.deals else f"{m.matches // m.deals} times"
    lines = [
        f"{m.matches:,} matches: {m.deals:,} starts, each played {times} with A on each side in turn; seed {m.seed}"
    ]
    if m.start != (0, 0):
        lines.append(f"each side starts at {m.start[0]} to {m.start[1]} points, drawn for every start")
    if m.unfinished:
        lines.append(
            f"{m.unfinished:,} unfinished after {m.max_rounds} rounds, each counted as {percent(m.chance)} won"
        )
    for name, count in zip((m.a, m.b), m.forfeits, strict=True):
        if count:
            lines.append(f"{name} lost {count:,} matches by forfeit")
    lines += [f"  {reason}" for reason in m.reasons[:REASONS]]
    if len(m.reasons) > REASONS:
        lines.append(f"  and {len(m.reasons) - REASONS} other reasons")
    if m.precision:
        estimate = m.win_rate if m.precision.endswith("%") else m.points_per_round
        half = (percent if m.precision.endswith("%") else points)((estimate.high - estimate.low) / 2).lstrip("+")
        reached = f"± {half}" if m.deals > 1 else "one start has no interval"
        lines.append(f"played until ± {m.precision} or the most matches allowed: {reached}")
    speed = m.matches / max(m.seconds, 1e-9)
    lines.append(f"{m.rounds_per_match:.2f} deals a match; {m.seconds:.2f} s, {speed:,.0f} matches/s")
    return [*lines, METHOD]
