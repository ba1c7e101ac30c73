"""Point estimates with 95% intervals. The unit of observation is a deal with all its seatings.

Win rate: Wilson's score interval at the effective number of matches, p (1 - p) / Var(p), where the variance of the
estimate is taken over deals (Korn and Graubard, 1998). It stays in [0, 1] and has a width at 0 and 1, where the number
of deals is the effective number. If every deal is shared equally, the width is zero.

Ratios such as points per round: the ratio of sums, with the linearised (delta method) variance over deals.

Both use the quantile of Student's t with deals - 1 degrees of freedom.

Sequential evaluation (`Precision`) stops when the half-width of an interval is small enough, by Chow and Robbins'
fixed-width procedure (1965). The coverage is asymptotically exact, unlike with stopping by significance, because the
width depends on the spread of the results and not on their mean. It never stops before `LEAST_DEALS` deals, since the
spread of few deals may be small by chance. `tests/evaluation/test_coverage.py` simulates the coverage.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

METHOD = "95% intervals over deals: Wilson score (win rate), linearised ratio (points)"
LEVEL = 0.95
LEAST_DEALS = 200


@dataclass(frozen=True)
class Estimate:
    """A value and its 95% interval; a ratio over one deal has infinite bounds."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON; an infinite bound is None."""
        bounds = [bound if math.isfinite(bound) else None for bound in (self.low, self.high)]
        return {"value": self.value, "interval": bounds}

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def t_quantile(freedom: int) -> float:
    """Two-sided 95% quantile of Student's t (Cornish-Fisher expansion; exact below 3 degrees)."""
    if freedom < 3:
        return {1: 12.706, 2: 4.303}.get(freedom, math.inf)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def mean_share(shares: np.ndarray) -> Estimate:
    """Mean of shares in [0, 1], float64 [deals]."""
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
    return wilson(p, effective, t_quantile(deals - 1))


def wilson(p: float, effective: float, quantile: float) -> Estimate:
    """Wilson's score interval of a share `p` of `effective` cases."""
    z2 = quantile**2 / effective
    center = (p + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * p * (1 - p) + z2 * z2 / 4) / (1 + z2)
    return Estimate(p, max(0.0, center - half), min(1.0, center + half))


def ratio_of_sums(numerators: np.ndarray, denominators: np.ndarray) -> Estimate:
    """Sum of numerators over sum of (positive) denominators, float64 [deals] each."""
    return interval_around(*linearised(numerators, denominators))


def linearised(numerators: np.ndarray, denominators: np.ndarray) -> tuple[float, np.ndarray]:
    """Ratio of sums and its residual per deal, float64 [deals], whose spread is that of the ratio times deals."""
    ratio = float(numerators.sum() / denominators.sum())
    return ratio, (numerators - ratio * denominators) / denominators.mean()


def interval_around(value: float, residuals: np.ndarray) -> Estimate:
    """Interval of a value from its residual per deal; infinite for one deal."""
    deals = len(residuals)
    half = t_quantile(deals - 1) * float(residuals.std(ddof=1)) / math.sqrt(deals) if deals > 1 else math.inf
    return Estimate(value, value - half, value + half)


def less_luck(numerators: np.ndarray, denominators: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Numerators minus the share explained by luck, float64 [deals].

    Luck has mean zero. Its coefficients are fitted on one half of the deals and applied to the other, so the subtracted
    part has mean zero too (a control variate with cross-fitting). Below eight deals nothing is subtracted.

    Args:
        numerators, denominators: terms of a ratio, float64 [deals].
        luck: float64 [deals, K].
    """
    left = np.array(numerators, np.float64)
    if len(left) < 8:
        return left
    residuals = left - left.sum() / denominators.sum() * denominators
    for own in (0, 1):
        others = luck[1 - own :: 2]
        coefficients = np.linalg.lstsq(others, residuals[1 - own :: 2], rcond=1e-9)[0]
        left[own::2] -= luck[own::2] @ coefficients
    return left


def mean_value(values: np.ndarray) -> Estimate:
    """Mean of float64 [deals], one value per deal."""
    return ratio_of_sums(values, np.ones(len(values)))


@dataclass(frozen=True)
class Precision:
    """Half-width at which a sequential evaluation stops.

    Attributes:
        half_width: half-width of the 95% interval, as share of matches or display points per deal.
        of_wins: whether it is for the win rate; otherwise for points per deal.
    """

    half_width: float
    of_wins: bool

    @classmethod
    def parse(cls, text: str) -> Precision:
        """Parse `0.1` (display points per deal) or `1%` (win rate).

        Raises:
            ValueError: if the text is neither.
        """
        found = re.fullmatch(r"([0-9]*\.?[0-9]+)(%?)", text.strip())
        half = float(found[1]) / (100 if found[2] else 1) if found else 0.0
        if not found or not half > 0 or (found[2] and half >= 0.5):
            raise ValueError(f"a precision is written 0.1 (points per deal) or 1% (win rate, below 50%), not {text!r}")
        return cls(half, bool(found[2]))

    def reached(self, estimate: Estimate, deals: int) -> bool:
        """Whether an estimate over this number of deals is precise enough."""
        return deals >= LEAST_DEALS and (estimate.high - estimate.low) / 2 <= self.half_width

    def __str__(self) -> str:
        return f"{100 * self.half_width:g}%" if self.of_wins else f"{self.half_width:g}"
