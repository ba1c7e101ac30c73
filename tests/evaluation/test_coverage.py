"""Do the intervals cover? Two hundred small evaluations of match-ups whose truth a large one has found.

`pytest -m slow tests/evaluation/test_coverage.py -s` prints the table of docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fiveup_env.evaluation import MatchUp, evaluate, parts
from fiveup_env.evaluation.statistics import Estimate

pytestmark = [pytest.mark.slow, pytest.mark.jit, pytest.mark.timeout(3600)]

REPEATS = 200
MATCHES = 200
TRUTH = 100_000
CASES = [("greedy", "random", 4, (50, 60)), ("greedy", "random", 3, (50, 60)), ("greedy", "random", 2, (0, 0))]
METRICS: dict[str, Callable[[MatchUp], Estimate]] = {
    "points per deal": lambda m: m.points_per_round,
    "points less luck": lambda m: m.points_without_luck,
    "win rate": lambda m: m.win_rate,
    "win rate less luck": lambda m: m.wins_without_luck,
}


def inside(low: int, high: int, count: int) -> bool:
    """Whether so many hits of `REPEATS` are within these percentages."""
    return low * REPEATS <= 100 * count <= high * REPEATS


@pytest.mark.parametrize(("a", "b", "players", "start"), CASES)
def test_intervals_cover(a, b, players, start):
    truth = evaluate(a, b, players, TRUTH, 10**6, start=start)
    small = [evaluate(a, b, players, MATCHES, seed, start=start) for seed in range(REPEATS)]
    for name, metric in METRICS.items():
        true = metric(truth).value
        hits = sum(metric(m).low <= true <= metric(m).high for m in small)
        bias = sum(metric(m).value for m in small) / REPEATS - true
        width = sum(metric(m).high - metric(m).low for m in small) / REPEATS
        print(
            f"| {a}, {b}, {players} players | {name} | {true:.3f} | {bias:+.4f} | {width:.3f} | {hits / REPEATS:.1%} |"
        )
        assert inside(91, 99, hits), name
        assert abs(bias) < width / REPEATS**0.5, name


@pytest.mark.parametrize("precision", ["0.4", "3%"])
def test_sequential_intervals_cover(precision, monkeypatch):
    """Stopped by their own width, looked at after every 20 starts."""
    monkeypatch.setattr(parts, "COMPILED", 20)
    a, b, players, start = CASES[0]
    truth = evaluate(a, b, players, TRUTH, 10**6, start=start)
    small = [evaluate(a, b, players, None, seed, start=start, precision=precision) for seed in range(REPEATS)]
    metric = METRICS["win rate" if precision.endswith("%") else "points per deal"]
    hits = sum(metric(m).low <= metric(truth).value <= metric(m).high for m in small)
    deals = sum(m.deals for m in small) / REPEATS
    print(f"| {a}, {b}, {players} players | until ± {precision} | {deals:.0f} starts | {hits / REPEATS:.1%} |")
    assert inside(91, 99, hits)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_no_bias_between_equal_agents(players):
    """Random against itself, without the pairing that would make it exact: each seating by itself is even."""
    result = evaluate("random", "random", players, 30_000, 5)
    for seating in range(result.results.winner.shape[1]):
        won = result.results.won[:, seating]
        assert abs(won.mean() - result.chance) < 4 * won.std() / len(won) ** 0.5
