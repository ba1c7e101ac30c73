"""Tables and report card of a match-up.

The JSON holds the result of every start, so that `report_comparison` can compare two reports start by start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from fiveup_env.agents.pair import split_pair
from fiveup_env.agents.registry import PAIR
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import METHOD, Estimate, mean_share, ratio_of_sums
from fiveup_env.reports.behaviour_tables import behaviour_grids, partners_grid
from fiveup_env.reports.plots import curve, histogram, intervals
from fiveup_env.reports.report_writer import ReportContent
from fiveup_env.reports.study_reports import endgame_grid
from fiveup_env.reports.tables import Grid, Shown, between, percent, points
from fiveup_env.rules.record import RAW_PER_POINT
from fiveup_env.studies.endgame_regret import EndgameRegret

FORMAT = 1  # of the JSON
TABLE_OF = {2: "two players", 3: "three players, A against two Bs", 4: "four players in two partnerships"}
REASONS = 5  # reasons of forfeits shown in the terminal
LUCK_STARTS = 100  # least number of starts for results without luck: fitting the control variate needs them


def matchup_grid(m: MatchUp, title: str | None = None) -> Grid:
    """Points per deal and win rate of A, as played and, with `LUCK_STARTS` starts, without luck."""
    rows: list[tuple[str, Estimate, float, Shown]] = [
        ("points per deal", m.points_per_round, 0.0, points),
        ("  without luck", m.points_without_luck, 0.0, points),
        ("win rate", m.win_rate, m.chance, percent),
        ("  without luck", m.wins_without_luck, m.chance, percent),
    ]
    if m.deals < LUCK_STARTS:
        rows = rows[::2]
    cells = [(name, shown(e.value), between(e, shown), shown(equal)) for name, e, equal, shown in rows]
    head = ("of A", "value", "95% interval", "equal agents")
    return Grid(title or f"{m.a} against {m.b}: {TABLE_OF[m.num_players]}", head, cells, matchup_notes(m))


def matchup_notes(m: MatchUp) -> list[str]:
    """Lines on the matches, forfeits, speed and method."""
    times = "twice" if m.matches == 2 * m.deals else f"{m.matches // m.deals} times"
    lines = [f"{m.matches:,} matches: {m.deals:,} starts, each played {times}, once with A on each side; seed {m.seed}"]
    if m.start != (0, 0):
        lines.append(f"starting scores of {m.start[0]} to {m.start[1]} points, drawn per side and start")
    if m.unfinished:
        share = percent(m.chance)
        lines.append(f"{m.unfinished:,} unfinished after {m.max_rounds} rounds, each counted as {share} won")
    for name, count in zip((m.a, m.b), m.forfeits, strict=True):
        if count:
            lines.append(f"{name} lost {count:,} matches by forfeit")
    lines += [f"  {reason}" for reason in m.reasons[:REASONS]]
    if len(m.reasons) > REASONS:
        lines.append(f"  and {len(m.reasons) - REASONS} other reasons")
    if m.precision:
        estimate, shown = (m.win_rate, percent) if m.precision.endswith("%") else (m.points_per_round, points)
        half = shown((estimate.high - estimate.low) / 2).lstrip("+")
        reached = f"± {half}" if m.deals > 1 else "one start has no interval"
        lines.append(f"played until ± {m.precision} or the maximum number of matches: {reached}")
    speed = m.matches / max(m.seconds, 1e-9)
    pace = f"{speed:,.0f} matches/s" if speed >= 1 else f"{1 / speed:,.0f} s per match"
    lines.append(f"{m.rounds_per_match:.2f} deals per match; {m.seconds:.2f} s, {pace}")
    if m.deals >= LUCK_STARTS:
        lines.append("without luck: minus the estimated luck of lots, deals and draws")
    return [*lines, METHOD]


def matchup_content(m: MatchUp, endgame: EndgameRegret | None = None) -> dict[str, Any]:
    """JSON of the report card; lists per start hold lead (raw points times sides - 1), rounds and matches won."""
    results, sides = m.results, m.results.winner.shape[1]
    starts = {
        "lead": np.rint(results.lead.sum(1) * RAW_PER_POINT * (sides - 1)).astype(int).tolist(),
        "rounds": results.rounds.sum(1).tolist(),
        "won": [round(float(won), 6) for won in results.won.sum(1)],
    }
    parts = {"conduct": results.conduct.as_dict(), "endgame": endgame and endgame.as_dict(), "starts": starts}
    return {"format": FORMAT, **m.as_dict(), **parts}


def matchup_report(m: MatchUp, endgame: EndgameRegret | None = None) -> ReportContent:
    """ReportContent card of a match-up."""
    content = matchup_content(m, endgame)
    return ReportContent(f"{m.a} against {m.b}", content, list(_sections(m, endgame)), matchup_notes(m), markdown=False)


def _sections(m: MatchUp, endgame: EndgameRegret | None) -> Iterator[Grid | str]:
    yield f"<p>Exact 61 Five Up, {TABLE_OF[m.num_players]}: {m.matches:,} matches on {m.deals:,} duplicate starts.</p>"
    yield f"<p><strong>{escape(verdict(m))}</strong></p>"
    for title, plain, without, equal, shown in (
        ("Points per deal", m.points_per_round, m.points_without_luck, 0.0, points),
        ("Win rate", m.win_rate, m.wins_without_luck, m.chance, percent),
    ):
        rows = [("as played", plain), ("without luck", without)][: 1 + (m.deals >= LUCK_STARTS)]
        yield f"<h2>{title}</h2>" + intervals(rows, equal, shown, title.lower())
    figures = matchup_grid(m, "Figures")
    yield Grid(figures.title, figures.head, figures.rows)
    yield from behaviour_grids(m.results.conduct, (m.a, m.b), m.num_players)
    if m.a.startswith(PAIR):
        yield partners_grid(m.results.conduct, split_pair(m.a.removeprefix(PAIR)))
    if endgame is not None:
        yield endgame_grid(endgame)
    lead, rounds, won = m.results.lead.sum(1), m.results.rounds.sum(1), m.results.won.mean(1)
    yield "<h2>Start by start</h2>"
    yield histogram(lead / rounds, "points per deal of a start, all seatings together")
    yield curve(*_course(lead, rounds, ratio_of_sums), points, "points per deal by number of starts")
    yield curve(*_course(won, np.ones(len(won)), lambda n, d: mean_share(n)), percent, "win rate by number of starts")
    if m.reasons:
        counts = f"{escape(m.a)}: {m.forfeits[0]:,}; {escape(m.b)}: {m.forfeits[1]:,}"
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in m.reasons[:10])
        yield f"<h2>Forfeits</h2><p>{counts}</p><ul>{reasons}</ul>"


def verdict(m: MatchUp) -> str:
    """The result in a sentence."""
    low, high = m.points_per_round.low, m.points_per_round.high
    if m.deals < 2:
        return "One start has no interval: no difference is shown."
    if low > 0:
        return f"{m.a} is better, by {low:.2f} to {high:.2f} points per deal (95% interval)."
    if high < 0:
        return f"{m.b} is better, by {-high:.2f} to {-low:.2f} points per deal (95% interval)."
    return f"No difference is shown: {low:+.2f} to {high:+.2f} points per deal for {m.a} (95% interval)."


def _course(
    numerators: np.ndarray, denominators: np.ndarray, estimate: Callable[[np.ndarray, np.ndarray], Estimate]
) -> tuple[Sequence[int], list[Estimate]]:
    """Estimates over the first n starts, for up to 40 values of n from 10 on."""
    last = len(numerators)
    at = sorted({*np.unique(np.geomspace(min(10, last), last, 40).astype(int)).tolist(), last})
    return at, [estimate(numerators[:n], denominators[:n]) for n in at]
