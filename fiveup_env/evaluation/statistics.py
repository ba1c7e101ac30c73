"""Point estimates with 95% intervals; the unit of observation is a deal, whose seatings are not independent.

Win rate: Wilson's score interval at the effective number of matches, p (1 - p) / Var(p), where the variance of the
estimate is taken over deals (Korn and Graubard, 1998, use it so). It stays in [0, 1] and does not collapse at 0 or 1,
where the number of deals counts as the effective number. If every deal is shared equally the width is zero.

Ratios such as points per round: the ratio of sums, with the linearised (delta method) variance over deals.

Both use the quantile of Student's t with one degree of freedom less than there are deals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

METHOD = "95% intervals over deals: Wilson score (win rate), linearised ratio (points)"
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value and its 95% interval; the bounds of a lone deal's ratio are infinite."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def t_quantile(freedom: int) -> float:
    """Two-sided 95% quantile of Student's t (Cornish-Fisher expansion; below 3 degrees the exact values)."""
    if freedom < 3:
        return {1: 12.706, 2: 4.303}.get(freedom, math.inf)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def mean_share(shares: np.ndarray) -> Estimate:
    """Mean of shares in [0, 1], float64 [deals], one per deal."""
    deals, p = len(shares), float(shares.mean())
    if deals < 2:
        return Estimate(p, 0.0, 1.0)
    if shares.min() == shares.max() and p in (0, 1):
        effective = float(deals)
    else:
        variance = float(shares.var(ddof=1)) / deals
        if variance == 0:
            return Estimate(p, p, p)
        effective = p * (1 - p) / variance
    z2 = t_quantile(deals - 1) ** 2 / effective
    center = (p + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * p * (1 - p) + z2 * z2 / 4) / (1 + z2)
    return Estimate(p, max(0.0, center - half), min(1.0, center + half))


def ratio_of_sums(numerators: np.ndarray, denominators: np.ndarray) -> Estimate:
    """Sum of numerators over sum of (positive) denominators, float64 [deals] each, one of both per deal."""
    deals = len(numerators)
    ratio = float(numerators.sum() / denominators.sum())
    if deals < 2:
        return Estimate(ratio, -math.inf, math.inf)
    residuals = (numerators - ratio * denominators) / denominators.mean()
    half = t_quantile(deals - 1) * float(residuals.std(ddof=1)) / math.sqrt(deals)
    return Estimate(ratio, ratio - half, ratio + half)
