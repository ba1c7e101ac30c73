"""`evaluate`: two agents against each other on duplicate deals."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field
from typing import Any

from fiveup_env.agents.base import agent_name
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.evaluation.play import Plan, Progress, Results, play_matches
from fiveup_env.evaluation.statistics import METHOD, Estimate, mean_share, ratio_of_sums
from fiveup_env.rules.game import Variant
from fiveup_env.rules.match import checked_seed


@dataclass(frozen=True)
class MatchUp:
    """What came of a match-up, all from A's side. Two match-ups are equal if all but the seconds is.

    Attributes:
        a, b: names of the agents; A has one side (a player, or a partnership of four), B every other.
        num_players: 2, 3 or 4.
        seed: decides the deals and what the policies draw.
        max_rounds: rounds after which a match was left unfinished, None for no limit.
        start: lowest and highest score that sides started from, in display points.
        deals: number of deals; each was played once per side, with A on that side.
        matches: number of matches, deals times sides.
        unfinished: matches without a winner; each counts as won to the chance level.
        win_rate: share of the matches that A won.
        chance: the win rate of equal agents, 1 / sides.
        points_per_round: display points of A's side minus the others' mean, per round played.
        rounds_per_match: mean number of rounds.
        seconds: time it took.
        results: every single match; not compared.
    """

    a: str
    b: str
    num_players: int
    seed: int
    max_rounds: int | None
    start: tuple[int, int]
    deals: int
    matches: int
    unfinished: int
    win_rate: Estimate
    chance: float
    points_per_round: Estimate
    rounds_per_match: float
    seconds: float = field(compare=False)
    results: Results = field(compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON; an infinite bound is None."""
        plain: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "a",
                "b",
                "num_players",
                "seed",
                "max_rounds",
                "start",
                "deals",
                "matches",
                "unfinished",
                "chance",
            )
        }
        for name in ("win_rate", "points_per_round"):
            estimate = getattr(self, name)
            bounds = [bound if math.isfinite(bound) else None for bound in (estimate.low, estimate.high)]
            plain[name] = {"value": estimate.value, "interval": bounds}
        return plain | {
            "rounds_per_match": self.rounds_per_match,
            "seconds": round(self.seconds, 3),
            "method": METHOD,
        }


def evaluate(
    a: AgentSpec,
    b: AgentSpec,
    num_players: int = 4,
    matches: int = 1000,
    seed: int = 0,
    *,
    max_rounds: int | None = None,
    start: tuple[int, int] = (0, 0),
    progress: Progress | None = None,
) -> MatchUp:
    """Play agent A against agent B on duplicate deals.

    Every deal is played once for each side, with A on that side and B on all others (two players and partnerships
    swap; three players rotate, A against two Bs). All seatings get the same tiles and lots in every round, and the
    same random numbers for the policies. Agents are asked only where they have a choice.

    Args:
        a, b: agents, or what `make_agent` makes one of.
        num_players: 2, 3 or 4.
        matches: how many at least; rounded up to whole deals.
        seed: decides everything; match i is the same whatever the number of matches.
        max_rounds: leave a match unfinished after so many rounds; None plays to exactly 61 (R9.1).
        start: matches start at scores drawn for each side and deal from this range of display points (0 to 60, both
            ends included); all seatings of a deal start from the same.
        progress: called now and then with the numbers of matches that are finished and that there are.

    Raises:
        ValueError: if a number is out of range.
        AgentError: if an agent cannot be made, does not fit, or answers with an illegal action.
    """
    _check("matches", matches, 1, 10**9)
    if max_rounds is not None:
        _check("max_rounds", max_rounds, 1, 2**31 - 1)
    _check("start[0]", start[0], 0, 60)
    _check("start[1]", start[1], int(start[0]), 60)
    sides = Variant(num_players).num_sides
    plan = Plan(num_players, -(-int(matches) // sides), checked_seed(seed), max_rounds or 0, (start[0], start[1]))
    agent_a, agent_b = make_agent(a, num_players), make_agent(b, num_players)
    began = time.perf_counter()
    results = play_matches(agent_a, agent_b, plan, progress or (lambda done, total: None))
    return MatchUp(
        a=_name(a, agent_a),
        b=_name(b, agent_b),
        num_players=plan.num_players,
        seed=plan.seed,
        max_rounds=max_rounds,
        start=plan.start,
        deals=plan.deals,
        matches=plan.matches,
        unfinished=int((results.winner < 0).sum()),
        win_rate=mean_share(results.won.mean(1)),
        chance=1 / sides,
        points_per_round=ratio_of_sums(results.lead.sum(1), results.rounds.sum(1)),
        rounds_per_match=float(results.rounds.mean()),
        seconds=time.perf_counter() - began,
        results=results,
    )


def _name(spec: AgentSpec, agent: object) -> str:
    return os.fspath(spec) if isinstance(spec, str | os.PathLike) else agent_name(agent)


def _check(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
