"""Comparison of two report cards: differences of their figures, paired by start where the starts are the same."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.evaluation.statistics import Estimate, linearised, t_quantile
from fiveup_env.reports.matchup_report import FORMAT
from fiveup_env.reports.tables import Grid, between, percent, points

SAME = ("num_players", "seed", "max_rounds", "start")


@dataclass(frozen=True)
class Comparison:
    """The second report minus the first.

    Attributes:
        names: match-up of each report.
        paired: number of common starts, 0 if the reports are compared as independent.
        points: difference in display points per deal.
        wins: difference in win rate.
        values: points and win rate of both reports, over the compared starts.
    """

    names: tuple[str, str]
    paired: int
    points: Estimate
    wins: Estimate
    values: tuple[tuple[float, float], tuple[float, float]]


def read_report(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the JSON of a report card from its folder or file.

    Raises:
        ValueError: one line, if the file is missing or is not a report card.
    """
    file = Path(path) / "report.json" if Path(path).is_dir() else Path(path)
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"{file} is not a report: {error}") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT or "starts" not in report:
        raise ValueError(f"{file} is not a report card in this version's format {FORMAT}")
    return report


def compare_reports(first: dict[str, Any], second: dict[str, Any]) -> Comparison:
    """Compare two reports, start by start where the starts are the same.

    Raises:
        ValueError: if the numbers of players differ.
    """
    if first["num_players"] != second["num_players"]:
        raise ValueError(f"the reports have {first['num_players']} and {second['num_players']} players")
    paired = 0
    if all(first[key] == second[key] for key in SAME):
        paired = min(first["deals"], second["deals"])
    one, two = (_residuals(report, paired or report["deals"]) for report in (first, second))
    differences = []
    for metric in range(2):
        (value, left), (other, right) = one[metric], two[metric]
        if paired:
            error, freedom = _error(right - left), paired - 1
        else:
            error, freedom = math.hypot(_error(left), _error(right)), min(len(left), len(right)) - 1
        half = t_quantile(freedom) * error
        differences.append(Estimate(other - value, other - value - half, other - value + half))
    names = tuple(f"{report['a']} against {report['b']}" for report in (first, second))
    values = ((one[0][0], one[1][0]), (two[0][0], two[1][0]))
    return Comparison((names[0], names[1]), paired, differences[0], differences[1], values)


def _error(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _residuals(report: dict[str, Any], deals: int) -> list[tuple[float, np.ndarray]]:
    """Points per deal and win rate over the first starts, each with its residual per start, float64 [deals]."""
    sides = 3 if report["num_players"] == 3 else 2
    starts = report["starts"]
    lead = np.array(starts["lead"][:deals], float) / (5 * (sides - 1))
    rounds, won = np.array(starts["rounds"][:deals], float), np.array(starts["won"][:deals], float) / sides
    return [linearised(lead, rounds), linearised(won, np.ones(len(won)))]


def comparison_grid(c: Comparison) -> Grid:
    """Figures of both reports and their difference."""
    rows = [
        (name, shown(c.values[0][i]), shown(c.values[1][i]), shown(estimate.value), between(estimate, shown))
        for i, (name, estimate, shown) in enumerate(
            (("points per deal", c.points, points), ("win rate", c.wins, percent))
        )
    ]
    note = (
        f"the same {c.paired:,} starts, compared one by one"
        if c.paired
        else "different starts, compared as independent"
    )
    head = ("of A", "first", "second", "difference", "95% interval")
    return Grid(f"{c.names[1]}, minus {c.names[0]}", head, rows, (note,))
