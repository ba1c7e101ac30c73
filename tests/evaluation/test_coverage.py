"""Coverage of the intervals: small evaluations against the truth of a large one.

`pytest -m slow tests/evaluation/test_coverage.py -s` prints the table of docs/evaluation.md. The test
requires that 92% to 98% of 1,000 intervals hold the truth: perfect intervals leave that range once in 50,000 times
(with 200 repeats, once in seventeen). The seeds 0, 1, 2, ... were fixed beforehand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fiveup_env.evaluation import MatchUp, evaluate
from fiveup_env.evaluation import plan_parts as parts
from fiveup_env.evaluation.statistics import Estimate
from fiveup_env.studies.tournament import round_robin

pytestmark = [pytest.mark.slow, pytest.mark.jit, pytest.mark.timeout(3600)]

REPEATS, SHOWN = 1000, 200
MATCHES = 200
TRUTH, TRUTH_SEED = 200_000, 10**6
CASES = [("greedy", "random", 4, (50, 60)), ("greedy", "random", 3, (50, 60)), ("greedy", "random", 2, (0, 0))]
METRICS: dict[str, Callable[[MatchUp], Estimate]] = {
    "points per deal": lambda m: m.points_per_round,
    "points without luck": lambda m: m.points_without_luck,
    "win rate": lambda m: m.win_rate,
    "win rate without luck": lambda m: m.wins_without_luck,
}


def judge(what: str, true: float, found: list[Estimate]) -> None:
    """Print a row and check coverage and bias."""
    held = np.array([estimate.low <= true <= estimate.high for estimate in found])
    values = np.array([estimate.value for estimate in found])
    width = float(np.mean([estimate.high - estimate.low for estimate in found]))
    bias, error = values.mean() - true, values.std(ddof=1) / len(values) ** 0.5
    print(f"| {what} | {true:.3f} | {bias:+.4f} | {width:.3f} | {held[:SHOWN].mean():.1%} | {held.mean():.1%} |")
    assert 0.92 <= held.mean() <= 0.98, what
    assert abs(bias) < 4 * error + 0.01 * width, what  # the truth is itself an estimate


@pytest.mark.parametrize(("a", "b", "players", "start"), CASES)
def test_intervals_cover(a, b, players, start):
    truth = evaluate(a, b, players, TRUTH, TRUTH_SEED, start=start)
    small = [evaluate(a, b, players, MATCHES, seed, start=start) for seed in range(REPEATS)]
    for name, metric in METRICS.items():
        judge(f"{players} players: {name}", metric(truth).value, [metric(m) for m in small])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ratings_cover(players):
    """Ratings of played tournaments; the truth is the rating over many deals."""
    agents, start = ["random", "greedy", "heuristic"], (40, 60)
    truth = round_robin(agents, players, TRUTH // 4, TRUTH_SEED, start=start).ratings
    small = [round_robin(agents, players, MATCHES, seed, start=start).ratings for seed in range(REPEATS)]
    for i, name in enumerate(agents):
        found = [ratings.ratings[i] for ratings in small]
        # The log odds of small samples lie a little too far from zero; the interval has to make up for it.
        held = np.array([e.low <= truth.ratings[i].value <= e.high for e in found])
        bias = float(np.mean([e.value for e in found])) - truth.ratings[i].value
        width = float(np.mean([e.high - e.low for e in found]))
        row = f"{players} players: rating of {name} | {truth.ratings[i].value:+.0f} | {bias:+.1f} | {width:.0f}"
        print(f"| {row} | {held[:SHOWN].mean():.1%} | {held.mean():.1%} |")
        assert 0.92 <= held.mean() <= 0.98, name
        assert abs(bias) < 0.1 * width, name


@pytest.mark.parametrize("precision", ["0.4", "3%"])
def test_sequential_intervals_cover(precision, monkeypatch):
    """Evaluations stopped by their width, checked after every 20 starts."""
    monkeypatch.setattr(parts, "COMPILED", 20)
    a, b, players, start = CASES[0]
    truth = evaluate(a, b, players, TRUTH, TRUTH_SEED, start=start)
    metric = METRICS["win rate" if precision.endswith("%") else "points per deal"]
    small = [evaluate(a, b, players, None, seed, start=start, precision=precision) for seed in range(SHOWN)]
    held = np.array([metric(m).low <= metric(truth).value <= metric(m).high for m in small])
    deals = np.mean([m.deals for m in small])
    print(f"| {players} players: until ± {precision} | {deals:.0f} starts | {held.mean():.1%} of {len(held)} |")
    assert 0.91 <= held.mean() <= 0.99


@pytest.mark.parametrize("players", [2, 3, 4])
def test_no_bias_between_equal_agents(players):
    """Random against itself: each seating is even, without pairing."""
    result = evaluate("random", "random", players, 30_000, 5)
    for seating in range(result.results.winner.shape[1]):
        won = result.results.won[:, seating]
        assert abs(won.mean() - result.chance) < 4 * won.std() / len(won) ** 0.5
