"""A match-up as a table for people."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import METHOD, Estimate
from fiveup_env.reports.tables import Shown, between, percent, points

REASONS = 5  # of forfeits that are shown
LESS_LUCK = "less luck: the same without what lots, deals and draws brought, as far as that can be told"
LUCK_STARTS = 100  # from so many on results less luck are shown: fitting what luck is worth needs them


def report(matchup: MatchUp) -> Group:
    """Win rate and points per round with their intervals, what equal agents would get, and how it was measured."""
    lines = (Text(line, style="dim", no_wrap=True, overflow="ignore") for line in notes(matchup))
    return Group(table(matchup), *lines)


def table(matchup: MatchUp) -> Table:
    """Points per deal and win rate of A, as they came and, where there are enough starts for that, without luck."""
    m = matchup
    who = {2: "two players", 3: "three players, A against two Bs", 4: "two partnerships"}[m.num_players]
    result = Table(title=Text(f"{m.a} against {m.b}: {who}"), title_justify="left")
    result.add_column("of A", no_wrap=True)
    for heading in ("value", "95% interval", "equal agents"):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in figures(m, "  less luck"):
        result.add_row(*row)
    return result


def figures(m: MatchUp, less_luck: str = "less luck") -> list[tuple[str, str, str, str]]:
    """Name, value, interval and what equal agents get, of points per deal and win rate, as they came and less luck."""
    rows: list[tuple[str, Estimate, float, Shown]] = [
        ("points per deal", m.points_per_round, 0.0, points),
        (less_luck, m.points_without_luck, 0.0, points),
        ("win rate", m.win_rate, m.chance, percent),
        (less_luck, m.wins_without_luck, m.chance, percent),
    ]
    if m.deals < LUCK_STARTS:
        rows = rows[::2]
    return [(name, shown(e.value), between(e, shown), shown(equal)) for name, e, equal, shown in rows]


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
    pace = f"{speed:,.0f} matches/s" if speed >= 1 else f"{1 / speed:,.0f} s a match"
    lines.append(f"{m.rounds_per_match:.2f} deals a match; {m.seconds:.2f} s, {pace}")
    if m.deals >= LUCK_STARTS:
        lines.append(LESS_LUCK)
    return [*lines, METHOD]
