"""A match-up as a table for people."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import METHOD, Estimate


def table(matchup: MatchUp) -> Table:
    """Win rate and points per round with their intervals and what equal agents would get."""
    m = matchup
    who = {2: "two players", 3: "three players, A against two Bs", 4: "two partnerships"}[m.num_players]
    result = Table(title=Text(f"{m.a} against {m.b}: {who}"), title_justify="left", caption_justify="left")
    result.add_column("of A")
    for heading in ("value", "95% interval", "equal agents"):
        result.add_column(heading, justify="right", no_wrap=True)
    result.add_row("win rate", _percent(m.win_rate.value), _interval(m.win_rate, _percent), _percent(m.chance))
    result.add_row(
        "points per round", _points(m.points_per_round.value), _interval(m.points_per_round, _points), _points(0.0)
    )
    result.caption = Text("\n".join(_notes(m)))
    return result


def _notes(m: MatchUp) -> list[str]:
    speed = m.matches / max(m.seconds, 1e-9)
    sides = m.matches // m.deals
    notes = [
        f"{m.matches:,} matches: {m.deals:,} deals, each played {sides} times A on every side in turn; seed {m.seed}",
        f"{m.rounds_per_match:.2f} rounds a match; {m.seconds:.2f} s, {speed:,.0f} matches/s",
        METHOD,
    ]
    if m.unfinished:
        notes.insert(1, f"{m.unfinished:,} unfinished after {m.max_rounds} rounds, counted as {_percent(m.chance)} won")
    return notes


def _interval(estimate: Estimate, shown: object) -> str:
    return f"{shown(estimate.low)} to {shown(estimate.high)}"  # type: ignore[operator]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _points(points: float) -> str:
    return f"{points:+.2f}"
