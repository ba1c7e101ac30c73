"""Two report cards side by side: the difference of their figures, start by start where they played the same starts."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.statistics import Estimate, t_quantile
from fiveup_env.reports.matchup_card import FORMAT
from fiveup_env.reports.tables import between, percent, points

SAME = ("num_players", "seed", "max_rounds", "start")


@dataclass(frozen=True)
class Comparison:
    """The second report less the first.

    Attributes:
        names: what was played in each.
        paired: number of starts that both played, 0 if they were compared as independent.
        points: display points per deal.
        wins: win rate.
        values: points and win rate of both reports, over the starts that were compared.
    """

    names: tuple[str, str]
    paired: int
    points: Estimate
    wins: Estimate
    values: tuple[tuple[float, float], tuple[float, float]]


def read_report(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON of a report card, given its folder or the file.

    Raises:
        ValueError: one line, if there is none or it is not whole.
    """
    file = Path(path) / "report.json" if Path(path).is_dir() else Path(path)
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"{file} is no report: {error}") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT or "starts" not in report:
        raise ValueError(f"{file} is no report of this version's format {FORMAT}")
    return report


def compare(first: dict[str, Any], second: dict[str, Any]) -> Comparison:
    """The difference of two reports; those of the same starts are compared start by start.

    Raises:
        ValueError: if they are of different numbers of players.
    """
    if first["num_players"] != second["num_players"]:
        raise ValueError(f"the reports are of {first['num_players']} and of {second['num_players']} players")
    paired = 0
    if all(first[key] == second[key] for key in SAME):
        paired = min(first["deals"], second["deals"])
    one, two = (_residuals(report, paired or report["deals"]) for report in (first, second))
    differences = []
    for metric in range(2):
        (value, left), (other, right) = one[metric], two[metric]
        if paired:
            error = _error(right - left)
            freedom = paired - 1
        else:
            error = math.hypot(
                *(float(r.std(ddof=1)) / math.sqrt(len(r)) if len(r) > 1 else math.inf for r in (left, right))
            )
            freedom = min(len(left), len(right)) - 1
        half = t_quantile(freedom) * error
        differences.append(Estimate(other - value, other - value - half, other - value + half))
    names = tuple(f"{report['a']} against {report['b']}" for report in (first, second))
    values = ((one[0][0], one[1][0]), (two[0][0], two[1][0]))
    return Comparison((names[0], names[1]), paired, differences[0], differences[1], values)


def _error(values: np.ndarray) -> float:
    """Standard error of their mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _residuals(report: dict[str, Any], deals: int) -> list[tuple[float, np.ndarray]]:
    """Points per deal and win rate over the first starts, each with what every start moves it by times their number."""
    sides = 3 if report["num_players"] == 3 else 2
    starts = report["starts"]
    lead = np.array(starts["lead"][:deals], float) / (5 * (sides - 1))
    rounds, won = np.array(starts["rounds"][:deals], float), np.array(starts["won"][:deals], float) / sides
    ratio = float(lead.sum() / rounds.sum())
    return [(ratio, (lead - ratio * rounds) / rounds.mean()), (float(won.mean()), won - won.mean())]


def show(comparison: Comparison) -> Group:
    """The comparison for people."""
    c = comparison
    table = Table(title=Text(f"{c.names[1]}, less {c.names[0]}"), title_justify="left")
    table.add_column("of A", no_wrap=True)
    for heading in ("first", "second", "difference", "95% interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for i, (name, estimate, shown) in enumerate((("points per deal", c.points, points), ("win rate", c.wins, percent))):
        row = (shown(c.values[0][i]), shown(c.values[1][i]), shown(estimate.value), between(estimate, shown))
        table.add_row(name, *row)
    how = f"the same {c.paired:,} starts, compared one by one" if c.paired else "other starts: compared as independent"
    return Group(table, Text(how, style="dim"))
