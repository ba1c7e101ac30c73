"""Cross-play: partners from different training runs, or of different kinds, at one side of the table (four players).

Every cell of the matrix is a match-up of a partnership, the agent of the row with that of the column, against the same
opponents on the same deals. Self-play is a policy with itself, cross-play one with another of the runs; the gap between
them is what a policy loses with a partner who learned the same way but not together with it (Hu, Lerer, Peysakhovich,
Foerster, 2020, measure zero-shot coordination so). Its interval is over deals: it holds for these runs, not for others
that might have been trained.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.pair import SEATS, WITH
from fiveup_env.agents.registry import PAIR, files_of
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.matchup import MatchUp, evaluate
from fiveup_env.evaluation.plan_parts import subfolder
from fiveup_env.evaluation.statistics import Estimate, t_quantile
from fiveup_env.reports.behaviour_tables import partnerships_grid
from fiveup_env.reports.html_page import grids_page, grids_text, write_folder
from fiveup_env.reports.tables import Grid, between, percent, points, within
from fiveup_env.system.machine import describe_machine

Cell = tuple[int, int]


@dataclass(frozen=True)
class CrossPlay:
    """The matrix.

    Attributes:
        agents: names of the runs' policies, whose gap is told.
        others: names of partners of other kinds.
        opponent: whom all of them play against.
        cells: (row, column) -> match-up; a row is an agent, a column an agent or after them one of the others. An agent
            with an agent stands at (smaller, larger).
        points, wins: self-play minus cross-play among the agents, in display points per deal and share of matches.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    opponent: str
    cells: Mapping[Cell, MatchUp]
    points: Estimate
    wins: Estimate

    def cell(self, row: int, column: int) -> MatchUp:
        """The match-up of two partners, in either order."""
        return self.cells[row, column] if (row, column) in self.cells else self.cells[column, row]

    def of_agent(self, row: int) -> tuple[Estimate, Estimate]:
        """The gap of one agent: with itself, less its mean with the others of the runs."""
        crossed = [self.cell(row, column) for column in range(len(self.agents)) if column != row]
        return gap([self.cell(row, row)], crossed)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        names = (*self.agents, *self.others)
        return {
            "agents": list(self.agents),
            "others": list(self.others),
            "opponent": self.opponent,
            "gap": {"points": self.points.as_dict(), "wins": self.wins.as_dict()},
            "cells": [
                {"partners": [names[row], names[column]]} | m.as_dict() | {"conduct": m.results.conduct.as_dict()}
                for (row, column), m in self.cells.items()
            ],
        }


def gap(own: Sequence[MatchUp], crossed: Sequence[MatchUp]) -> tuple[Estimate, Estimate]:
    """Points per deal and win rate of some match-ups less those of others on the same deals, means over match-ups."""
    found = []
    for metric in (_points, _wins):
        values, residuals = [], []
        for match_ups in (own, crossed):
            told = [metric(m) for m in match_ups]
            values.append(float(np.mean([value for value, _ in told])))
            residuals.append(np.mean([residual for _, residual in told], 0))
        spread, deals = residuals[0] - residuals[1], len(residuals[0])
        half = t_quantile(deals - 1) * float(spread.std(ddof=1)) / math.sqrt(deals) if deals > 1 else math.inf
        difference = values[0] - values[1]
        found.append(Estimate(difference, difference - half, difference + half))
    return found[0], found[1]


def _points(m: MatchUp) -> tuple[float, np.ndarray]:
    """Points per deal, and what every start moves it by times their number."""
    lead, rounds = m.results.lead.sum(1), m.results.rounds.sum(1)
    ratio = float(lead.sum() / rounds.sum())
    return ratio, (lead - ratio * rounds) / rounds.mean()


def _wins(m: MatchUp) -> tuple[float, np.ndarray]:
    won = m.results.won.mean(1)
    return float(won.mean()), won - won.mean()


def cross_play(
    agents: Sequence[str],
    others: Sequence[str] = (),
    opponent: str = "greedy",
    matches: int = 1000,
    seed: int = 0,
    *,
    watch: Callable[[str], Progress] | None = None,
    folder: str | None = None,
    **options: Any,
) -> CrossPlay:
    """Play all partnerships.

    Args:
        agents: names of at least two policies, each once.
        others: names of partners of other kinds; every agent plays with each of them too.
        opponent: a name.
        matches, seed: of every partnership, see `evaluate`.
        watch: given the name of a partnership, what is called with its progress.
        folder: keep finished parts in folders in it, and go on from what is there.
        options: of `evaluate`; no precision, since all cells play the same deals.

    Raises:
        ValueError: if there are fewer than two agents or one is there twice, or as `evaluate`.
    """
    names = [*agents, *others]
    if len(agents) < 2:
        raise ValueError("cross-play needs the policies of at least two runs")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{twice[0]} is there twice; every partner has one place")
    cells: dict[Cell, MatchUp] = {}
    for row in range(len(agents)):
        for column in range(row, len(names)):
            partners = names[row] if row == column else f"{PAIR}{names[row]}{WITH}{names[column]}"
            progress = watch(f"{names[row]}{WITH}{names[column]}") if watch else None
            kept = subfolder(folder, partners, opponent)
            cells[row, column] = evaluate(
                partners, opponent, SEATS, matches, seed, progress=progress, folder=kept, **options
            )
    own = [cells[row, row] for row in range(len(agents))]
    crossed = [m for (row, column), m in cells.items() if row < column < len(agents)]
    return CrossPlay(tuple(agents), tuple(others), opponent, cells, *gap(own, crossed))


def labels(names: Sequence[str]) -> list[str]:
    """Short names for tables: of checkpoint files the folder of the run, where that tells them apart."""
    short = [Path(name).parent.name if files_of(name) and Path(name).parent.name else name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def grids(result: CrossPlay) -> Iterator[Grid]:
    """The matrix in points and wins, the gaps, and what the partnerships do."""
    names, first = labels((*result.agents, *result.others)), result.cells[0, 0]
    for title, told, shown in (
        ("points per deal", lambda m: m.points_per_round, points),
        ("win rate", lambda m: m.win_rate, percent),
    ):
        rows = [
            (name, *(within(told(result.cell(row, column)), shown) for column in range(len(names))))
            for row, name in enumerate(names[: len(result.agents)])
        ]
        note = f"row with column, against {result.opponent}; {first.matches:,} matches each, seed {first.seed}"
        yield Grid(f"Cross-play: {title}", ("", *names), rows, (note,))
    told_gaps = [(names[row], *result.of_agent(row)) for row in range(len(result.agents))]
    gaps = [
        (name, points(p.value), between(p, points), percent(w.value), between(w, percent))
        for name, p, w in [*told_gaps, ("all of them", result.points, result.wins)]
    ]
    yield Grid(
        "Self-play less cross-play",
        ("", "points per deal", "95% interval", "win rate", "95% interval"),
        gaps,
        ("intervals are over deals, for these runs; another run may differ from them by more",),
    )
    shown_cells = list(result.cells.items())
    called = [names[r] if r == c else f"{names[r]}{WITH}{names[c]}" for (r, c), _ in shown_cells]
    yield partnerships_grid([m.results.conduct for _, m in shown_cells], called)


def write_report(result: CrossPlay, folder: str | os.PathLike[str], command: str) -> Path:
    """Write `index.html`, `report.json` and `report.md` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    shown = list(grids(result))
    title = f"Cross-play of {', '.join(result.agents)} against {result.opponent}"
    content = result.as_dict() | {"command": command, "machine": describe_machine()}
    return write_folder(folder, grids_page(title, shown, command), content, grids_text(shown, command))
