"""Point estimates with 95% intervals; the unit of observation is a deal, whose seatings are not independent.

Win rate: Wilson's score interval at the effective number of matches, p (1 - p) / Var(p), where the variance of the
estimate is taken over deals (Korn and Graubard, 1998, use it so). It stays in [0, 1] and does not collapse at 0 or 1,
where the number of deals counts as the effective number. If every deal is shared equally the width is zero.

Ratios such as points per round: the ratio of sums, with the linearised (delta method) variance over deals.

Both use the quantile of Student's t with one degree of freedom less than there are deals.

Sequential evaluation (`Precision`) goes on until the half-width of an interval is small enough. Stopping by width is
Chow and Robbins' fixed-width procedure (1965): the interval at the moment of stopping covers with the stated
probability as the width goes to zero, without the price that stopping by significance has, since the width follows
from the spread of the results and not from their mean. Too small a spread seen by chance at the start would stop it
too early, so it never looks before `LEAST_DEALS` deals. `tests/evaluation/test_coverage.py` simulates it.
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
    """A value and its 95% interval; the bounds of a lone deal's ratio are infinite."""

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
    return wilson(p, effective, t_quantile(deals - 1))


def wilson(p: float, effective: float, quantile: float) -> Estimate:
    """Wilson's score interval of a share p of so many effective cases."""
    z2 = quantile**2 / effective
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


def less_luck(numerators: np.ndarray, denominators: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Numerators less what luck explains of them, float64 [deals].

    Luck has mean zero. What it is worth is fitted on one half of the deals and taken away in the other, so what is
    taken away has mean zero too (a control variate with cross-fitting). With fewer than eight deals nothing is.

    Args:
        numerators, denominators: of a ratio, float64 [deals].
        luck: float64 [deals, K].
    """
    left = np.array(numerators, np.float64)
    if len(left) < 8:
        return left
    residuals = left - left.sum() / denominators.sum() * denominators
    for own in (0, 1):
        others = luck[1 - own :: 2]
        worth = np.linalg.lstsq(others, residuals[1 - own :: 2], rcond=1e-9)[0]
        left[own::2] -= luck[own::2] @ worth
    return left


def mean_value(values: np.ndarray) -> Estimate:
    """Mean of float64 [deals], one value per deal."""
    return ratio_of_sums(values, np.ones(len(values)))


@dataclass(frozen=True)
class Precision:
    """When to stop.

    Attributes:
        half_width: of the 95% interval: a share of matches, or display points per deal.
        of_wins: whether of the win rate, else of the points per deal.
    """

    half_width: float
    of_wins: bool

    @classmethod
    def parse(cls, text: str) -> Precision:
        """`0.1` means display points per deal, `1%` win rate.

        Raises:
            ValueError: if it is neither.
        """
        found = re.fullmatch(r"([0-9]*\.?[0-9]+)(%?)", text.strip())
        half = float(found[1]) / (100 if found[2] else 1) if found else 0.0
        if not found or not half > 0 or (found[2] and half >= 0.5):
            raise ValueError(f"a precision is written 0.1 (points per deal) or 1% (win rate, below 50%), not {text!r}")
        return cls(half, bool(found[2]))

    def reached(self, estimate: Estimate, deals: int) -> bool:
        """Whether an estimate over so many deals is precise enough."""
        return deals >= LEAST_DEALS and (estimate.high - estimate.low) / 2 <= self.half_width

    def __str__(self) -> str:
        return f"{100 * self.half_width:g}%" if self.of_wins else f"{self.half_width:g}"
