"""The report card of a match-up: one HTML page that needs nothing else, and the same as JSON.

The JSON holds what every start came to, so that two reports can be compared start by start (`reports.comparison`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.pair import split_pair
from fiveup_env.agents.registry import PAIR
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import Estimate, mean_share, ratio_of_sums
from fiveup_env.reports.behaviour_tables import conduct_grids, partners_grid
from fiveup_env.reports.html_page import how_it_was_made, write_folder
from fiveup_env.reports.html_page import page as whole_page
from fiveup_env.reports.matchup_table import LUCK_STARTS, figures, notes
from fiveup_env.reports.plots import curve, histogram, intervals
from fiveup_env.reports.tables import Grid, percent, points
from fiveup_env.studies.endgame_regret import EndgameRegret
from fiveup_env.system.machine import describe_machine

FORMAT = 1
WHO = {2: "two players", 3: "three players, A against two Bs", 4: "four players in two partnerships"}


def as_json(matchup: MatchUp, command: str, endgame: EndgameRegret | None = None) -> dict[str, Any]:
    """All figures, the command, the machine, and every start: lead in raw points times S - 1, hands, matches won."""
    results, sides = matchup.results, matchup.results.winner.shape[1]
    starts = {
        "lead": np.rint(results.lead.sum(1) * 5 * (sides - 1)).astype(int).tolist(),
        "rounds": results.rounds.sum(1).tolist(),
        "won": [round(float(won), 6) for won in results.won.sum(1)],
    }
    told = {"conduct": results.conduct.as_dict(), "endgame": endgame and endgame.as_dict()}
    return {
        "format": FORMAT,
        **matchup.as_dict(),
        **told,
        "command": command,
        "machine": describe_machine(),
        "starts": starts,
    }


def write_report(
    matchup: MatchUp, folder: str | os.PathLike[str], command: str, endgame: EndgameRegret | None = None
) -> Path:
    """Write `report.json` and `index.html` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    return write_folder(folder, page(matchup, command, endgame), as_json(matchup, command, endgame))


def page(matchup: MatchUp, command: str, endgame: EndgameRegret | None = None) -> str:
    """The page."""
    return whole_page(f"{matchup.a} against {matchup.b}", _body(matchup, command, endgame))


def _body(m: MatchUp, command: str, endgame: EndgameRegret | None) -> Iterator[str]:
    yield f"<p>Exact 61 Five Up, {WHO[m.num_players]}: {m.matches:,} matches on {m.deals:,} duplicate starts.</p>"
    yield f"<p><strong>{escape(verdict(m))}</strong></p>"
    yield "<h2>Points per deal</h2>"
    yield intervals(_rows(m, m.points_per_round, m.points_without_luck), 0.0, points, "points per deal")
    yield "<h2>Win rate</h2>"
    yield intervals(_rows(m, m.win_rate, m.wins_without_luck), m.chance, percent, "win rate")
    yield _figures(m).html()
    for grid in conduct_grids(m.results.conduct, (m.a, m.b), m.num_players):
        yield grid.html()
    if m.a.startswith(PAIR):
        yield partners_grid(m.results.conduct, split_pair(m.a.removeprefix(PAIR))).html()
    if endgame is not None:
        yield endgame.grid().html()
    yield "<h2>Start by start</h2>"
    lead, rounds = m.results.lead.sum(1), m.results.rounds.sum(1)
    yield histogram(lead / rounds, "points per deal of a start, all its seatings together")
    yield curve(*_course(lead, rounds, ratio_of_sums), points, "points per deal after so many starts")
    won = m.results.won.mean(1)
    yield curve(*_course(won, np.ones(len(won)), lambda n, d: mean_share(n)), percent, "win rate after so many starts")
    if m.reasons:
        yield "<h2>Forfeits</h2>"
        yield f"<p>{escape(m.a)}: {m.forfeits[0]:,}; {escape(m.b)}: {m.forfeits[1]:,}</p><ul>"
        yield from (f"<li>{escape(reason)}</li>" for reason in m.reasons[:10])
        yield "</ul>"
    yield how_it_was_made(command, notes(m))


def verdict(m: MatchUp) -> str:
    """The result in a sentence."""
    low, high = m.points_per_round.low, m.points_per_round.high
    if m.deals < 2:
        return "A single start says nothing about its spread: no difference is shown."
    if low > 0:
        return f"{m.a} is the better of the two, by {low:.2f} to {high:.2f} points per deal (95% interval)."
    if high < 0:
        return f"{m.b} is the better of the two, by {-high:.2f} to {-low:.2f} points per deal (95% interval)."
    return f"No difference is shown: {low:+.2f} to {high:+.2f} points per deal for {m.a} (95% interval)."


def _rows(m: MatchUp, plain: Estimate, without: Estimate) -> list[tuple[str, Estimate]]:
    return [("as played", plain), ("less luck", without)][: 1 + (m.deals >= LUCK_STARTS)]


def _figures(m: MatchUp) -> Grid:
    return Grid("Figures", ("of A", "value", "95% interval", "equal agents"), figures(m))


def _course(numerators: np.ndarray, denominators: np.ndarray, estimate: Any) -> tuple[Sequence[int], list[Estimate]]:
    """Estimates after some of the starts, from ten on."""
    last = len(numerators)
    at = sorted({*np.unique(np.geomspace(min(10, last), last, 40).astype(int)).tolist(), last})
    return at, [estimate(numerators[:n], denominators[:n]) for n in at]
