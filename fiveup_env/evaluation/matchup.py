"""Match-ups: `evaluate` plays two agents against each other on duplicate deals."""

from __future__ import annotations

import hashlib
import math
import os
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import agent_name
from fiveup_env.agents.registry import AgentSpec, files_of
from fiveup_env.evaluation.match_plan import MatchPlan, Results
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.plan_parts import Folder, Job, play_parts
from fiveup_env.evaluation.ray_parts import over_cluster
from fiveup_env.evaluation.statistics import (
    METHOD,
    Estimate,
    Precision,
    less_luck,
    mean_share,
    mean_value,
    ratio_of_sums,
)
from fiveup_env.rules.match import checked_seed
from fiveup_env.rules.record import Variant
from fiveup_env.system.machine import package_version

MOST_MATCHES = 1_000_000  # default maximum with a precision


@dataclass(frozen=True)
class MatchUp:
    """Result of a match-up from A's side. `seconds` and `results` are ignored by ==.

    Attributes:
        a, b: names of the agents; A has one side (a player, or a partnership of four), B all others.
        num_players: 2, 3 or 4.
        seed: seed of the deals and the policies.
        max_rounds: number of rounds after which a match is left unfinished, None for no limit.
        start: lowest and highest starting score in display points.
        precision: requested precision, None for a fixed number of matches.
        deals: number of starts; each was played once per side, with A on that side.
        matches: number of matches, deals times sides.
        unfinished: matches without a winner; each counts as `chance` won.
        points_per_round: display points of A's side minus the mean of the others, per round.
        win_rate: share of matches that A won.
        chance: win rate of equal agents, 1 / sides.
        points_without_luck, wins_without_luck: both minus the luck of lot, deal and draws (`evaluation.luck`).
        rounds_per_match: mean number of rounds.
        forfeits: number of matches that A and B lost by forfeit.
        seconds: time taken.
        results: results of every match.
    """

    a: str
    b: str
    num_players: int
    seed: int
    max_rounds: int | None
    start: tuple[int, int]
    precision: str | None
    deals: int
    matches: int
    unfinished: int
    points_per_round: Estimate
    win_rate: Estimate
    chance: float
    points_without_luck: Estimate
    wins_without_luck: Estimate
    rounds_per_match: float
    forfeits: tuple[int, int]
    seconds: float = field(compare=False)
    results: Results = field(compare=False, repr=False)

    @classmethod
    def of(
        cls, names: tuple[str, str], plan: MatchPlan, results: Results, seconds: float, precision: str | None
    ) -> MatchUp:
        """Estimate all figures from the results of a plan."""
        rounds, luck = results.rounds.sum(1), results.luck.sum(1)
        by_a = sum(forfeit.by_a for forfeit in results.forfeits)
        return cls(
            a=names[0],
            b=names[1],
            num_players=plan.num_players,
            seed=plan.seed,
            max_rounds=plan.max_rounds or None,
            start=plan.start,
            precision=precision,
            deals=len(results.winner),
            matches=results.winner.size,
            unfinished=int((results.winner < 0).sum()),
            points_per_round=ratio_of_sums(results.lead.sum(1), rounds),
            win_rate=mean_share(results.won.mean(1)),
            chance=1 / plan.sides,
            points_without_luck=ratio_of_sums(less_luck(results.lead.sum(1), rounds, luck), rounds),
            wins_without_luck=mean_value(less_luck(results.won.mean(1), np.ones(len(luck)), luck)),
            rounds_per_match=float(results.rounds.mean()),
            forfeits=(by_a, len(results.forfeits) - by_a),
            seconds=seconds,
            results=results,
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons of forfeits, each once, in order of deals."""
        return tuple(dict.fromkeys(forfeit.reason for forfeit in self.results.forfeits))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON; an infinite bound is None."""
        names = "a b num_players seed max_rounds start precision deals matches unfinished chance rounds_per_match"
        plain: dict[str, Any] = {name: getattr(self, name) for name in names.split()}
        plain["start"] = list(self.start)
        for name in ("points_per_round", "win_rate", "points_without_luck", "wins_without_luck"):
            plain[name] = getattr(self, name).as_dict()
        return plain | {
            "forfeits": {"a": self.forfeits[0], "b": self.forfeits[1], "reasons": list(self.reasons[:10])},
            "seconds": round(self.seconds, 3),
            "method": METHOD,
        }


def evaluate(
    a: AgentSpec,
    b: AgentSpec,
    num_players: int = 4,
    matches: int | None = None,
    seed: int = 0,
    *,
    max_rounds: int | None = None,
    start: tuple[int, int] = (0, 0),
    precision: str | None = None,
    processes: int = 1,
    ray: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    strict: bool = False,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> MatchUp:
    """Play agent A against agent B on duplicate deals.

    Every deal is played once per side, with A on that side and B on all others (with three players, A plays against
    two Bs). All seatings get the same tiles and lots in every round, and the same random numbers for the policies.
    Agents act only at decisions, never in forced moves.

    Args:
        a, b: agents or their names, see `make_agent`.
        num_players: 2, 3 or 4.
        matches: number of matches, rounded up to whole deals (maximum with a precision); None for 1000, or one million
            with a precision.
        seed: seed of everything; match i does not depend on the number of matches.
        max_rounds: leave a match unfinished after this number of rounds; None plays to exactly 61 (R9.1).
        start: range of starting scores in display points (0 to 60, both included), drawn per side and deal; all
            seatings of a deal start from the same scores.
        precision: play until the half-width of the 95% interval is small enough: "0.1" display points per deal or "1%"
            win rate (see `statistics.Precision`).
        processes: number of processes; results do not depend on it.
        ray: address of a Ray cluster that plays instead, or "local" for a Ray on this machine (see
            `fiveup_env.system.ray_cluster`); results do not depend on it.
        folder: save finished parts there and reuse those of the same evaluation (agents by name only).
        strict: raise if an agent fails, instead of counting a forfeit (61 points for the other side).
        timeout: seconds per decision (see `match_play.time_limit`), None for no limit.
        progress: called with the number of finished matches and of all matches.

    Raises:
        ValueError: if a number is out of range, or the folder holds something else.
        ClusterError: (a ValueError) if Ray is missing, the cluster cannot be reached or fails.
        AgentError: if an agent cannot be made or does not fit; with `strict` if it fails.
    """
    wanted = None if precision is None else Precision.parse(precision)
    matches = (1000 if wanted is None else MOST_MATCHES) if matches is None else matches
    _check("matches", matches, 1, 10**9)
    _check("processes", processes, 1, 1024)
    if ray is not None and processes != 1:
        raise ValueError("processes run on this machine, a Ray cluster uses all of its CPUs: give one or the other")
    if max_rounds is not None:
        _check("max_rounds", max_rounds, 1, 2**31 - 1)
    _check("start[0]", start[0], 0, 60)
    _check("start[1]", start[1], int(start[0]), 60)
    if timeout is not None and not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a positive number of seconds, not {timeout!r}")
    sides = Variant(num_players).num_sides
    plan = MatchPlan(num_players, -(-int(matches) // sides), checked_seed(seed), max_rounds or 0, (start[0], start[1]))
    job = Job(a, b, num_players, strict, timeout)
    names = tuple(_name(spec, agent) for spec, agent in zip((a, b), job.agents(), strict=True))
    began = time.perf_counter()

    def so_far(results: Results) -> MatchUp:
        seconds = time.perf_counter() - began
        return MatchUp.of((names[0], names[1]), plan, results, seconds, str(wanted) if wanted else None)

    def precise(results: Results) -> bool:
        found = so_far(results)
        assert wanted is not None
        return wanted.reached(found.win_rate if wanted.of_wins else found.points_per_round, found.deals)

    results = play_parts(
        job,
        plan,
        progress or (lambda done, total: None),
        processes=int(processes),
        spread=None if ray is None else partial(over_cluster, ray),
        folder=None if folder is None else Folder(folder, _identity(job, plan)),
        enough=precise if wanted else None,
    )
    return so_far(results)


def _identity(job: Job, plan: MatchPlan) -> dict[str, Any]:
    """Everything that the result of a deal depends on: names, checkpoint hashes, options, the version."""
    about: dict[str, Any] = {
        "version": package_version("fiveup-env"),
        "num_players": plan.num_players,
        "seed": plan.seed,
    }
    about |= {"max_rounds": plan.max_rounds, "start": list(plan.start), "strict": job.strict, "timeout": job.timeout}
    for key, spec in (("a", job.a), ("b", job.b)):
        if not isinstance(spec, str | os.PathLike):
            raise ValueError(f"agent {key.upper()} must be given by name where partial results are kept")
        about[key] = os.fspath(spec)
        if paths := files_of(os.fspath(spec)):
            about[f"{key} sha256"] = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    return about


def _name(spec: AgentSpec, agent: object) -> str:
    return os.fspath(spec) if isinstance(spec, str | os.PathLike) else agent_name(agent)


def _check(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
