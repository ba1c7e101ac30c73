"""The report card of a match-up: one HTML page that needs nothing else, and the same as JSON.

The JSON holds what every start came to, so that two reports can be compared start by start (`evaluation.compare`).
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.parts import installed
from fiveup_env.evaluation.report import notes, percent, points
from fiveup_env.evaluation.statistics import Estimate, mean_share, ratio_of_sums
from fiveup_env.evaluation.svg import curve, histogram, intervals

FORMAT = 1
PACKAGES = ("fiveup-env", "numpy", "numba")
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th, td { padding: .3rem .6rem; border-bottom: 1px solid #d5dce3 }
th { text-align: left; font-weight: 600 } td { text-align: right; font-variant-numeric: tabular-nums }
svg { width: 100%; height: auto; display: block } pre { background: #f2f5f7; padding: .7rem; white-space: pre-wrap;
overflow-wrap: anywhere } .small { color: #55636f; font-size: .9rem }
"""


def machine() -> dict[str, str]:
    """Where it was measured."""
    found = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    found["cpus"] = str(os.cpu_count())
    return found | {package: installed(package) for package in PACKAGES}


def as_json(matchup: MatchUp, command: str) -> dict[str, Any]:
    """All figures, the command, the machine, and every start: lead in raw points times S - 1, hands, matches won."""
    results, sides = matchup.results, matchup.results.winner.shape[1]
    starts = {
        "lead": np.rint(results.lead.sum(1) * 5 * (sides - 1)).astype(int).tolist(),
        "rounds": results.rounds.sum(1).tolist(),
        "won": [round(float(won), 6) for won in results.won.sum(1)],
    }
    return {"format": FORMAT, **matchup.as_dict(), "command": command, "machine": machine(), "starts": starts}


def write_report(matchup: MatchUp, folder: str | os.PathLike[str], command: str) -> Path:
    """Write `report.json` and `index.html` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("report.json", json.dumps(as_json(matchup, command))),
        ("index.html", page(matchup, command)),
    ):
        new = target / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        os.replace(new, target / name)
    return target / "index.html"


def page(matchup: MatchUp, command: str) -> str:
    """The page."""
    title = escape(f"{matchup.a} against {matchup.b}")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(_body(matchup, title, command))
        + "\n</body>\n</html>\n"
    )


def _body(m: MatchUp, title: str, command: str) -> Iterator[str]:
    who = {2: "two players", 3: "three players, A against two Bs", 4: "four players in two partnerships"}
    yield f"<h1>{title}</h1>"
    yield f"<p>Exact 61 Five Up, {who[m.num_players]}: {m.matches:,} matches on {m.deals:,} duplicate starts.</p>"
    yield f"<p><strong>{escape(verdict(m))}</strong></p>"
    yield "<h2>Points per deal</h2>"
    yield intervals(_rows(m.points_per_round, m.points_without_luck), 0.0, points, "points per deal")
    yield "<h2>Win rate</h2>"
    yield intervals(_rows(m.win_rate, m.wins_without_luck), m.chance, percent, "win rate")
    yield "<h2>Figures</h2>"
    yield _figures(m)
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
    yield "<h2>How it was made</h2>"
    yield f"<pre>{escape(command)}</pre>"
    yield "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in notes(m)) + "</ul>"
    yield '<p class="small">' + escape(", ".join(f"{key} {value}" for key, value in machine().items())) + "</p>"


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


def _rows(plain: Estimate, without: Estimate) -> list[tuple[str, Estimate]]:
    return [("as played", plain), ("less luck", without)]


def _figures(m: MatchUp) -> str:
    rows: list[tuple[str, Estimate, float, Callable[[float], str]]] = [
        ("points per deal", m.points_per_round, 0.0, points),
        ("less luck", m.points_without_luck, 0.0, points),
        ("win rate", m.win_rate, m.chance, percent),
        ("less luck", m.wins_without_luck, m.chance, percent),
    ]
    cells = "".join(
        f"<tr><th>{name}</th><td>{shown(e.value)}</td><td>{shown(e.low)} to {shown(e.high)}</td>"
        f"<td>{shown(equal)}</td></tr>"
        for name, e, equal, shown in rows
    )
    head = '<tr><th>of A</th><td>value</td><td>95% interval</td><td class="small">equal agents</td></tr>'
    return f"<table>{head}{cells}</table>"


def _course(numerators: np.ndarray, denominators: np.ndarray, estimate: Any) -> tuple[Sequence[int], list[Estimate]]:
    """Estimates after some of the starts, from ten on."""
    last = len(numerators)
    at = sorted({*np.unique(np.geomspace(min(10, last), last, 40).astype(int)).tolist(), last})
    return at, [estimate(numerators[:n], denominators[:n]) for n in at]
