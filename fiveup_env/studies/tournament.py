"""Round robin: every agent against every other on the same deals, with Bradley-Terry ratings.

The chance that A wins against B is exp(a) / (exp(a) + (S - 1) exp(b)) with S sides (with three, A plays against two
Bs); ratings are a and b on the Elo scale (400 / ln 10) with mean zero, by maximum likelihood (Bradley and Terry, 1952;
Hunter, 2004). All pairs play the same deals, so their results are correlated; intervals follow by the delta method from
the covariance of the pairs' results over deals. Half a match added to every pair keeps ratings finite where one side
won everything.

Hotelling's T² of the pairs' residuals tests whether one number per agent is enough. Circles, in which A beats B, B
beats C and C beats A, each beyond its interval, are listed by name.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from fiveup_env.agents.registry import AgentSpec
from fiveup_env.evaluation.behaviour import B, Conduct
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.matchup import MatchUp, evaluate
from fiveup_env.evaluation.plan_parts import subfolder
from fiveup_env.evaluation.statistics import Estimate, t_quantile
from fiveup_env.rules.record import Variant

ELO = 400 / math.log(10)


@dataclass(frozen=True)
class Ratings:
    """Bradley-Terry ratings.

    Attributes:
        ratings: Elo points of every agent, mean zero, with 95% intervals.
        deviation: T² of the pairs' residuals, with `freedom` degrees of freedom.
        freedom: number of pairs minus fitted parameters; with zero there is nothing to test.
        p_value: probability of a deviation at least as large if one number per agent is enough; 1 with nothing to test.
    """

    ratings: tuple[Estimate, ...]
    deviation: float
    freedom: int
    p_value: float


def bradley_terry(pairs: Sequence[tuple[int, int]], shares: np.ndarray, sides: int, agents: int) -> Ratings:
    """Fit ratings to the results of all pairs.

    Args:
        pairs: numbers of A and B.
        shares: share of every deal that A won, float64 [deals, pairs]; all pairs play the same deals.
        sides: 2 or 3.
        agents: number of agents; the pairs connect all of them.
    """
    deals, count = shares.shape
    sign = np.zeros((count, agents))
    for k, (a, b) in enumerate(pairs):
        sign[k, a], sign[k, b] = 1, -1
    matches = deals * sides
    won = (matches * shares.mean(0) + 1 / sides) / (matches + 1)
    strength = np.zeros(agents)
    for _ in range(100):
        model = 1 / (1 + (sides - 1) * np.exp(-sign @ strength))
        weight = model * (1 - model)
        information = sign.T @ (weight[:, None] * sign) + np.ones((agents, agents))  # mean zero
        step = np.linalg.solve(information, sign.T @ (won - model))
        longest = float(np.abs(step).max())
        strength += step / max(1.0, longest)  # scaled as a whole, so that the mean stays zero
        if longest < 1e-10:
            break
    inverse = np.linalg.inv(information)
    spread = np.atleast_2d(np.cov(shares, rowvar=False)) / deals if deals > 1 else np.full((count, count), np.inf)
    effect = inverse @ sign.T
    error = np.sqrt(np.maximum(np.diag(effect @ spread @ effect.T), 0)) if deals > 1 else np.full(agents, np.inf)
    half = t_quantile(deals - 1) * error
    ratings = tuple(Estimate(ELO * s, ELO * (s - h), ELO * (s + h)) for s, h in zip(strength, half, strict=True))
    freedom = count - (agents - 1)
    if freedom < 1 or deals < 2:
        return Ratings(ratings, 0.0, 0, 1.0)
    left = np.eye(count) - weight[:, None] * (sign @ effect)
    residual = won - model
    deviation = float(residual @ np.linalg.pinv(left @ spread @ left.T, rcond=1e-8, hermitian=True) @ residual)
    rest = deals - freedom  # Hotelling: the covariance is estimated from `deals`
    p_value = f_tail(deviation * rest / (freedom * (deals - 1)), freedom, rest) if rest > 0 else 1.0
    return Ratings(ratings, deviation, freedom, p_value)


def f_tail(value: float, freedom: int, rest: int) -> float:
    """Upper tail of the F distribution (Paulson's cube root, 1942; accurate to about 0.01)."""
    one, two, root = 2 / (9 * freedom), 2 / (9 * max(rest, 1)), max(value, 0.0) ** (1 / 3)
    return 1 - NormalDist().cdf(((1 - two) * root - (1 - one)) / math.sqrt(two * root**2 + one))


@dataclass(frozen=True)
class RoundRobin:
    """All agents against each other.

    Attributes:
        agents: names of the agents.
        pairs: numbers of A and B of every match-up; with three sides in both orders.
        match_ups: one per pair.
        ratings: Bradley-Terry ratings.
    """

    agents: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    match_ups: tuple[MatchUp, ...]
    ratings: Ratings

    @property
    def circles(self) -> list[tuple[str, str, str]]:
        """Agents A, B, C such that A beats B, B beats C and C beats A, each beyond its interval."""
        beats = set()
        for (a, b), m in zip(self.pairs, self.match_ups, strict=True):
            if m.win_rate.low > m.chance:
                beats.add((a, b))
            if m.win_rate.high < m.chance:
                beats.add((b, a))
        found = []
        for a, b, c in itertools.permutations(range(len(self.agents)), 3):
            if a == min(a, b, c) and {(a, b), (b, c), (c, a)} <= beats:
                found.append((self.agents[a], self.agents[b], self.agents[c]))
        return found

    @property
    def failed(self) -> list[MatchUp]:
        """Match-ups with forfeits."""
        return [m for m in self.match_ups if sum(m.forfeits)]

    def conduct(self, i: int) -> Conduct:
        """Behaviour of agent number i over all its match-ups, taken as independent."""
        own = [m.results.conduct for (a, _), m in zip(self.pairs, self.match_ups, strict=True) if a == i]
        if self.match_ups[0].num_players != 3:  # with three, every agent is A against every other
            others = zip(self.pairs, self.match_ups, strict=True)
            own += [m.results.conduct.of_group(B) for (_, b), m in others if b == i]
        return sum(own, Conduct.none())

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        rated = zip(self.agents, self.ratings.ratings, strict=True)
        return {
            "agents": list(self.agents),
            "ratings": {name: estimate.as_dict() for name, estimate in rated},
            "one_number_is_enough": {
                "t_square": self.ratings.deviation,
                "freedom": self.ratings.freedom,
                "p_value": self.ratings.p_value,
                "circles": [list(circle) for circle in self.circles],
            },
            "match_ups": [m.as_dict() for m in self.match_ups],
        }


def round_robin(
    agents: Sequence[AgentSpec],
    num_players: int = 4,
    matches: int = 1000,
    seed: int = 0,
    *,
    watch: Callable[[str], Progress] | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Any,
) -> RoundRobin:
    """Play every agent against every other on the same deals.

    Args:
        agents: at least two, with different names.
        num_players, matches, seed: per pair, see `evaluate`.
        watch: returns the progress callback of a match-up, given its name.
        folder: save finished parts in subfolders and reuse those found there.
        options: further arguments of `evaluate`, except `precision`: all pairs play the same deals.

    Raises:
        ValueError: if there are fewer than two agents or two have the same name; as `evaluate`.
    """
    names = [str(agent) if isinstance(agent, str) else getattr(agent, "name", type(agent).__name__) for agent in agents]
    if len(agents) < 2:
        raise ValueError("a round robin needs at least two agents")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"agent {twice} is given twice; give every agent once")
    sides = Variant(num_players).num_sides
    order = itertools.permutations if sides == 3 else itertools.combinations
    pairs = tuple(order(range(len(agents)), 2))
    found = []
    for a, b in pairs:
        progress = watch(f"{names[a]} against {names[b]}") if watch else None
        kept = subfolder(folder, names[a], names[b])
        found.append(
            evaluate(agents[a], agents[b], num_players, matches, seed, progress=progress, folder=kept, **options)
        )
    shares = np.stack([m.results.won.mean(1) for m in found], 1)
    return RoundRobin(tuple(names), pairs, tuple(found), bradley_terry(pairs, shares, sides, len(agents)))
