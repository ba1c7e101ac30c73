"""Intervals: known values, edge cases, and coverage in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fiveup_env.evaluation.statistics import mean_share, ratio_of_sums, t_quantile


@pytest.mark.parametrize(
    ("freedom", "value"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (30, 2.042), (999, 1.962)],
)
def test_quantiles_of_t(freedom, value):
    """The printed table; the expansion is within 1% of it from three degrees of freedom on."""
    assert t_quantile(freedom) == pytest.approx(value, rel=0.01)


def test_wilson_with_independent_matches():
    """60 of 100 by single matches: Wilson's interval at 99 degrees of freedom (z = 1.96 would give 0.502 to 0.691)."""
    estimate = mean_share(np.repeat([1.0, 0.0], [60, 40]))
    assert estimate.value == 0.6
    assert (estimate.low, estimate.high) == pytest.approx((0.501, 0.692), abs=0.002)


def test_shares_that_never_differ():
    """Every deal is shared equally, so the interval has no width."""
    estimate = mean_share(np.full(50, 0.5))
    assert (estimate.value, estimate.low, estimate.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("all_of_them", [0.0, 1.0])
def test_all_or_nothing_does_not_mean_certainty(all_of_them):
    """20 of 20: the interval is Wilson's for 20 matches, t² / (n + t²) wide."""
    estimate = mean_share(np.full(20, all_of_them))
    width = t_quantile(19) ** 2 / (20 + t_quantile(19) ** 2)
    assert estimate.high - estimate.low == pytest.approx(width)
    assert all_of_them in (estimate.low, estimate.high)


def test_one_deal_has_no_interval():
    assert (mean_share(np.array([0.5])).low, mean_share(np.array([0.5])).high) == (0, 1)
    estimate = ratio_of_sums(np.array([3.0]), np.array([2.0]))
    assert (estimate.value, estimate.low, estimate.high) == (1.5, -math.inf, math.inf)


def test_a_ratio_with_equal_denominators_is_a_mean():
    numbers = np.array([1.0, 2.0, 4.0, 5.0, 3.0])
    estimate = ratio_of_sums(numbers, np.full(5, 2.0))
    half = t_quantile(4) * numbers.std(ddof=1) / math.sqrt(5) / 2
    assert estimate.value == 1.5
    assert (estimate.low, estimate.high) == pytest.approx((1.5 - half, 1.5 + half))


@pytest.mark.parametrize("deals", [25, 200])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_coverage_of_the_win_rate(deals, p):
    """Partly correlated seatings: intervals cover the truth in about 95% of simulated match-ups."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        together = rng.random(deals) < 0.3
        first = rng.random(deals) < p
        second = np.where(together, first, rng.random(deals) < p)
        estimate = mean_share((1.0 * first + second) / 2)
        inside += estimate.low <= p <= estimate.high
    assert 0.93 < inside / 2000 < 0.98


@pytest.mark.parametrize("deals", [25, 200])
def test_coverage_of_points_per_round(deals):
    """Longer matches have smaller leads, so numerator and denominator are correlated."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(2000):
        rounds = rng.integers(4, 20, deals).astype(float)
        lead = 40 - rounds + rng.normal(0, 15, deals)
        estimate = ratio_of_sums(lead, rounds)
        inside += estimate.low <= (40 - 11.5) / 11.5 <= estimate.high
    assert 0.92 < inside / 2000 < 0.97
