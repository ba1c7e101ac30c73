"""Behaviour of agents as rates with intervals: going out, blocks, overshoots, exact hits, help for the partner.

Counts of `behaviour_kernels` are added up per start and turned into ratios. The unit of observation is the start with
all its seatings, so sums and sums of products over starts are enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from fiveup_env.evaluation import behaviour_kernels as counted
from fiveup_env.evaluation.behaviour_kernels import BOUNDS, FIELDS, REGIONS
from fiveup_env.evaluation.statistics import Estimate, t_quantile, wilson
from fiveup_env.rules.record import MAX_PLAYERS

A, FIRST, SECOND, B = range(4)
"""Groups of seats: A's side, its first and second partner (four players), and all of B's seats."""
GROUPS = ("a", "a_first", "a_second", "b")
REGION_NAMES = (
    f"below {BOUNDS[0]}",
    *(f"{low} to {high - 1}" for low, high in itertools.pairwise(BOUNDS)),
    f"{BOUNDS[-1]} to 60",
)
ALL = REGIONS
"""Number of the region that holds all scores."""
PER_SIDE = [counted.ROUNDS, counted.BLOCKS, counted.BLOCKS_WON]  # counted for every seat of a side


@dataclass(frozen=True)
class Measure:
    """A ratio of two counts.

    Attributes:
        name: name in tables.
        top, bottom: fields of `behaviour_kernels`.
        share: whether it is a share of cases; otherwise it is in display points.
        partners: whether it requires partners (four players).
    """

    name: str
    top: int
    bottom: int
    share: bool = False
    partners: bool = False


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "points": Measure("points by placements, per deal", counted.POINTS, counted.ROUNDS),
        "out": Measure("goes out", counted.OUTS, counted.ROUNDS, share=True),
        "out_points": Measure("points for going out", counted.OUT_POINTS, counted.OUTS),
        "hand_cost": Measure("cost of the partner's hand", counted.HAND_COST, counted.PARTNER_OUTS, partners=True),
        "blocked": Measure("deals that end blocked", counted.BLOCKS, counted.ROUNDS, share=True),
        "blocks_won": Measure("blocks won", counted.BLOCKS_WON, counted.BLOCKS, share=True),
        "block_points": Measure("points for a block", counted.BLOCK_POINTS, counted.BLOCKS),
        "overshot": Measure("scoring events that overshoot", counted.OVERSHOTS, counted.EVENTS, share=True),
        "lost": Measure("points lost by overshoots, per deal", counted.LOST_POINTS, counted.ROUNDS),
        "hits": Measure("hits 61 exactly, per deal", counted.HITS, counted.ROUNDS, share=True),
        "for_opponent": Measure("left to the next opponent, per placement", counted.FOR_OPPONENT, counted.LEFT),
        "for_partner": Measure("left to the partner, per placement", counted.FOR_PARTNER, counted.LEFT, partners=True),
    }
)
"""Measures by key of the JSON."""


@dataclass(frozen=True, eq=False)
class Conduct:
    """Counts over starts.

    Attributes:
        starts: number of starts.
        sums: sums of counts, float64 [groups, REGIONS + 1, FIELDS]; the last region holds all scores.
        products: sums of products of two counts of a start, float64 [groups, REGIONS + 1, FIELDS, FIELDS].
    """

    starts: int
    sums: np.ndarray
    products: np.ndarray

    @classmethod
    def none(cls) -> Conduct:
        """Counts of no starts."""
        shape = (len(GROUPS), REGIONS + 1, FIELDS)
        return cls(0, np.zeros(shape), np.zeros((*shape, FIELDS)))

    @classmethod
    def of(cls, counts: np.ndarray, num_players: int) -> Conduct:
        """Add up counts of starts, int [starts, 4 seats, REGIONS, FIELDS], A's seats first."""
        partners = num_players == MAX_PLAYERS
        own = 2 if partners else 1
        groups = np.zeros((len(counts), len(GROUPS), REGIONS, FIELDS))
        groups[:, A], groups[:, B] = counts[:, :own].sum(1), counts[:, own:].sum(1)
        if partners:
            groups[:, FIRST : SECOND + 1] = counts[:, :own]
            groups[:, A, :, PER_SIDE] /= 2
            groups[:, B, :, PER_SIDE] /= 2
        groups = np.concatenate([groups, groups.sum(2, keepdims=True)], 2)
        products = groups.transpose(1, 2, 3, 0) @ groups.transpose(1, 2, 0, 3)
        return cls(len(counts), groups.sum(0), products)

    def __add__(self, other: Conduct) -> Conduct:
        return Conduct(self.starts + other.starts, self.sums + other.sums, self.products + other.products)

    def of_group(self, group: int) -> Conduct:
        """Counts of one group in the place of A, without the others."""
        sums, products = np.zeros_like(self.sums), np.zeros_like(self.products)
        sums[A], products[A] = self.sums[group], self.products[group]
        return Conduct(self.starts, sums, products)

    def estimate(self, measure: Measure, group: int, region: int = ALL) -> Estimate | None:
        """Ratio with its 95% interval over starts; None if there is no case."""
        sums = self.sums[group, region]
        top, bottom = float(sums[measure.top]), float(sums[measure.bottom])
        if bottom <= 0:
            return None
        ratio = top / bottom
        if self.starts < 2:
            return Estimate(ratio, *((0.0, 1.0) if measure.share else (-math.inf, math.inf)))
        weights = np.zeros(FIELDS)
        weights[measure.top] += 1
        weights[measure.bottom] -= ratio
        squares = float(weights @ self.products[group, region] @ weights)
        variance = max(squares, 0.0) * self.starts / (self.starts - 1) / bottom**2
        quantile = t_quantile(self.starts - 1)
        if measure.share:
            effective = ratio * (1 - ratio) / variance if 0 < ratio < 1 and variance > 0 else bottom
            return wilson(ratio, effective, quantile)
        half = quantile * math.sqrt(variance)
        return Estimate(ratio, ratio - half, ratio + half)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: group -> region -> measure -> estimate, without measures that have no case."""
        found: dict[str, Any] = {}
        for group, name in enumerate(GROUPS):
            regions: dict[str, Any] = {}
            for region, called in enumerate((*REGION_NAMES, "all")):
                estimates = {key: self.estimate(m, group, region) for key, m in MEASURES.items()}
                if shown := {key: estimate.as_dict() for key, estimate in estimates.items() if estimate is not None}:
                    regions[called] = shown
            if regions:
                found[name] = regions
        return found


class Tally:
    """Sum of counts per start, while seatings end one by one.

    Args:
        starts: number of starts.
        num_players: 2, 3 or 4.
    """

    def __init__(self, starts: int, num_players: int) -> None:
        self._num_players, self._sides = num_players, 2 if num_players == MAX_PLAYERS else num_players
        self._counts = np.zeros((starts, MAX_PLAYERS, REGIONS, FIELDS), np.int32)
        order = [sorted(range(MAX_PLAYERS), key=lambda s: (s % self._sides != side, s)) for side in range(self._sides)]
        self._order = np.array(order)

    def note(self, starts: np.ndarray, seatings: np.ndarray | int, counts: np.ndarray) -> None:
        """Add matches [K] of these starts and seatings, int32 [K, 4, REGIONS, FIELDS] by seat."""
        order = np.broadcast_to(self._order[seatings], (len(starts), MAX_PLAYERS))
        np.add.at(self._counts, starts, np.take_along_axis(counts, order[:, :, None, None], 1))

    def conduct(self) -> Conduct:
        """Counts added so far."""
        return Conduct.of(self._counts, self._num_players)
