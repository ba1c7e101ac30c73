"""Cross-play: partnerships of policies from different training runs or of different kinds (four players).

Each cell of the matrix is a match-up of a partnership, the row's agent with the column's, against the same opponents on
the same deals. Self-play pairs a policy with itself, cross-play with a policy of another run. The gap between them
measures zero-shot coordination (Hu, Lerer, Peysakhovich, Foerster, 2020). Its interval is over deals: it holds for
these runs and says nothing about further training runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.pair import SEATS, WITH
from fiveup_env.agents.registry import PAIR, files_of
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.matchup import MatchUp, evaluate
from fiveup_env.evaluation.plan_parts import subfolder
from fiveup_env.evaluation.statistics import Estimate, interval_around, linearised

Cell = tuple[int, int]


@dataclass(frozen=True)
class CrossPlay:
    """Match-ups of all partnerships.

    Attributes:
        agents: policies of the training runs.
        others: partners of other kinds.
        opponent: opponent of all partnerships.
        cells: (row, column) -> match-up. Rows number `agents`, columns `agents` and then `others`; two agents are at
            (smaller, larger).
        points, wins: self-play minus cross-play among `agents`, in display points per deal and share of matches.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    opponent: str
    cells: Mapping[Cell, MatchUp]
    points: Estimate
    wins: Estimate

    def cell(self, row: int, column: int) -> MatchUp:
        """Match-up of two partners, in either order."""
        return self.cells[row, column] if (row, column) in self.cells else self.cells[column, row]

    def of_agent(self, row: int) -> tuple[Estimate, Estimate]:
        """Gap of one agent: self-play minus its mean with the other runs, in points per deal and wins."""
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
    """Mean points per deal and win rate of `own` minus those of `crossed`; all match-ups play the same deals."""
    found = []
    for metric in (_points, _wins):
        (value, residuals), (other, others) = (_mean_of([metric(m) for m in some]) for some in (own, crossed))
        found.append(interval_around(value - other, residuals - others))
    return found[0], found[1]


def _mean_of(figures: Sequence[tuple[float, np.ndarray]]) -> tuple[float, np.ndarray]:
    values, residuals = zip(*figures, strict=True)
    return float(np.mean(values)), np.mean(residuals, 0)


def _points(m: MatchUp) -> tuple[float, np.ndarray]:
    return linearised(m.results.lead.sum(1), m.results.rounds.sum(1))


def _wins(m: MatchUp) -> tuple[float, np.ndarray]:
    won = m.results.won.mean(1)
    return linearised(won, np.ones(len(won)))


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
        others: names of partners of other kinds; each plays with every agent.
        opponent: name of the opponent.
        matches, seed: per partnership, see `evaluate`.
        watch: returns the progress callback of a partnership, given its name.
        folder: save finished parts in subfolders and reuse those found there.
        options: further arguments of `evaluate`, except `precision`: all cells play the same deals.

    Raises:
        ValueError: if there are fewer than two agents or one is given twice; as `evaluate`.
    """
    names = [*agents, *others]
    if len(agents) < 2:
        raise ValueError("cross-play needs the policies of at least two runs")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{twice[0]} is given twice; give every partner once")
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
    """Short names for tables: for checkpoint files the name of the run's folder, where these differ."""
    short = [Path(name).parent.name if files_of(name) and Path(name).parent.name else name for name in names]
    return short if len(set(short)) == len(names) else list(names)
