"""`check_agent`: an agent keeps the contract of `fiveup_env.agents.protocol`."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, Policy, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.belief.resample import resample
from fiveup_env.evaluation import evaluate
from fiveup_env.rules.actions import checked_id, describe
from fiveup_env.rules.match import Match
from fiveup_env.testing.conformance import Broken, Checks, Report, other_global_chance, position_of
from fiveup_env.views.view import View, Views

CHECKS = {
    "made": "it can be made, has reset and act, and can be copied for every seat",
    "legal": "every answer is the id of a legal action (R3.1, R3.2)",
    "unchanged": "it does not change the view that it is shown",
    "seed": "the same seed gives the same actions, in any state of the global generators",
    "hidden": "its actions are the same in other worlds that its seat cannot tell apart (R2.2, D6)",
    "own eyes": "views of other seats or earlier matches change nothing",
    "batch": "act_many answers each row alone: the same action in any order and in any batch",
    "match-up": "it plays an evaluation without a forfeit",
}


@dataclass(frozen=True)
class Decision:
    """An answer of the agent, and the match before it."""

    match: Match
    seat: int
    action: int


@dataclass(frozen=True)
class CheckedMatch:
    """A match with the agent at some seats and random play at the others."""

    num_players: int
    seed: int
    seats: tuple[int, ...]
    decisions: list[Decision]


def check_agent(
    agent: AgentSpec,
    num_players: int | None = None,
    *,
    matches: int = 3,
    decisions: int = 40,
    seed: int = 0,
    skip: Collection[str] = (),
) -> Report:
    """Check an agent: legality, seeds, hidden tiles, its view, batches, and a short evaluation.

    Args:
        agent: an agent, or anything that `fiveup_env.agents.load` accepts.
        num_players: 2, 3 or 4; None for all numbers that the agent plays.
        matches: number of matches per number of players. In every second one the other seats play at random.
        decisions: most decisions to look at in a match; each is asked a few times.
        seed: seed of the matches and of the agent.
        skip: names of checks to leave out: made, legal, unchanged, seed, hidden, own eyes, batch, match-up.

    Returns:
        A report with `microseconds per decision` (median of the wall clock) and, for policies, `microseconds per
        decision in a batch of N`.

    Raises:
        ConformanceError: at the first failing check; the text gives the fault and the position.
        ValueError: if `skip` names an unknown check, or a number is out of range.
    """
    for name, value in (("matches", matches), ("decisions", decisions)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value!r}")
    checks = Checks(f"agent {agent if isinstance(agent, str) else agent_name(agent)}", CHECKS, skip)
    with checks.named("made"):
        made = make_agent(agent, num_players)
        _fresh(made, 0)
    checks.passed("made")
    own_number = getattr(made, "num_players", None)
    numbers = [n for n in (2, 3, 4) if n == (num_players or own_number or n)]
    _Examination(made, checks, seed).run(numbers, matches, decisions)
    return checks.report()


class _Examination:
    """One agent under examination."""

    def __init__(self, agent: Agent, checks: Checks, seed: int) -> None:
        self._agent, self._checks, self._seed = agent, checks, seed
        self._seconds: list[float] = []

    def run(self, numbers: Sequence[int], matches: int, limit: int) -> None:
        checks = self._checks
        with checks.named("legal"):  # the other checks look at the matches played here
            played = [
                self._play(n, self._seed + 1000 * n + k, range(n) if k % 2 == 0 else [k % n], limit)
                for n in numbers
                for k in range(matches)
            ]
        checks.passed("legal")
        checks.passed("unchanged")
        checks.run("seed", self._same_again, played)
        why = "its answer depends on tiles that its seat cannot see (other hands, boneyard, seed of the deals)"
        checks.run("hidden", lambda match: self._ask_again(match, why, other_worlds=True), played)
        why = (
            "its answer depends on what copies at other seats saw, or on an earlier match; keep what it"
            " remembers in the instance, not in the class or module, and forget it in reset"
        )
        checks.run("own eyes", lambda match: self._ask_again(match, why), played)
        if is_policy(self._agent):
            policy = self._agent
            decisions = [[d for match in played if match.num_players == n for d in match.decisions] for n in numbers]
            checks.run("batch", lambda rows: self._batch(policy, rows), decisions)
        checks.run("match-up", self._evaluate, numbers)
        if self._seconds:  # the median, because the first answers may compile something
            checks.figures["microseconds per decision"] = 1e6 * median(self._seconds)

    def _play(self, num_players: int, seed: int, seats: Iterable[int], limit: int) -> CheckedMatch:
        match, chance = Match(num_players, seed), random.Random(seed)
        copies = {seat: _fresh(self._agent, seed, seat) for seat in seats}
        decisions: list[Decision] = []
        while match.winner is None and len(decisions) < limit:
            legal, seat = match.legal_actions(), match.turn
            action = legal[0] if len(legal) == 1 else chance.choice(legal)
            if len(legal) > 1 and seat in copies:
                action = self._ask(copies[seat], match, seat)
                decisions.append(Decision(match.copy(), seat, action))
            match.play(action)
        return CheckedMatch(num_players, seed, tuple(copies), decisions)

    def _ask(self, agent: Agent, match: Match, seat: int) -> int:
        view = View.of(match, seat)
        before, begun = view.game.tobytes(), time.perf_counter()
        try:
            answer = agent.act(view)
        except Exception as error:
            raise Broken(f"act raises {type(error).__name__}: {error} ({position_of(match, seat)})") from error
        self._seconds.append(time.perf_counter() - begun)
        if self._checks.wanted("unchanged") and (view.seat != seat or view.game.tobytes() != before):
            with self._checks.named("unchanged"):
                where = position_of(match, seat)
                raise Broken(f"act changed the view it was shown ({where}); work on view.game.copy()")
        return _legal(answer, match, seat)

    def _same_again(self, first: CheckedMatch) -> None:
        with other_global_chance(first.seed + 1):
            again = self._play(first.num_players, first.seed, first.seats, len(first.decisions))
        for old, new in zip(first.decisions, again.decisions, strict=False):
            if old.action != new.action:
                raise Broken(
                    f"reset({first.seed}) twice, the same view, two answers: {_named(old.action)} and"
                    f" {_named(new.action)} ({position_of(old.match, old.seat)}); draw all random numbers from the"
                    " seed of reset, and forget everything else there"
                )

    def _ask_again(self, played: CheckedMatch, why: str, *, other_worlds: bool = False) -> None:
        """Show each seat's views to a fresh copy in the same order, on request in other worlds."""
        copies = {seat: _fresh(self._agent, played.seed, seat) for seat in played.seats}
        for seat in played.seats:
            for i, decision in enumerate(played.decisions):
                if decision.seat == seat:
                    match = resample(decision.match, seat, played.seed + i) if other_worlds else decision.match
                    answer = self._ask(copies[seat], match, seat)
                    if answer != decision.action:
                        where = position_of(decision.match, seat)
                        raise Broken(f"{why}: it chose {_named(decision.action)}, and now {_named(answer)} ({where})")

    def _batch(self, policy: Policy, decisions: Sequence[Decision]) -> None:
        games = np.concatenate([decision.match._games for decision in decisions])
        seats = np.array([decision.seat for decision in decisions])
        views = Views(games, seats)
        keys = keys_of(views, np.arange(len(views), dtype=np.uint64))
        before, keys_before = views.games.tobytes(), keys.copy()
        many = np.asarray(policy.act_many(views, keys))
        if views.games.tobytes() != before or keys.tobytes() != keys_before.tobytes():
            raise Broken("act_many changes the views or keys that it is given")
        if many.shape != (len(views),) or many.dtype.kind not in "iu":
            raise Broken(f"act_many gives {many.dtype} {list(many.shape)}; right is one integer a row [{len(views)}]")
        for decision, action in zip(decisions, many, strict=True):
            _legal(int(action), decision.match, decision.seat)
        part = np.random.default_rng(0).permutation(len(views))[: max(1, len(views) // 2)]
        some = np.asarray(policy.act_many(Views(games[part], seats[part]), keys[part]))
        alone = [policy.choose(views[i], int(keys[i])) for i in range(len(views))]
        answers = [(int(i), other, "in a batch of other rows") for i, other in zip(part, some, strict=True)]
        answers += [(i, other, "asked alone by choose") for i, other in enumerate(alone)]
        for i, other, how in answers:
            if int(many[i]) != int(other):
                where = position_of(decisions[i].match, decisions[i].seat)
                text = f"{_named(int(many[i]))} in the batch, {_named(int(other))} {how}"
                raise Broken(f"the same view and key, two answers: {text} ({where})")
        begun = time.perf_counter()
        policy.act_many(views, keys)
        took = time.perf_counter() - begun
        name = f"microseconds per decision in a batch of {len(views)}, {decisions[0].match.num_players} players"
        self._checks.figures[name] = 1e6 * took / len(views)

    def _evaluate(self, num_players: int) -> None:
        sides = 3 if num_players == 3 else 2
        try:
            evaluate(self._agent, "random", num_players, 2 * sides, self._seed, max_rounds=2, strict=True)
        except AgentError as error:
            raise Broken(str(error)) from error


def _fresh(agent: Agent, seed: int, seat: int = 0) -> Agent:
    """Return a reset copy; the seed follows evaluation: policies derive keys from it, others need one per seat."""
    fresh = own_copy(agent)
    fresh.reset(seed if is_policy(agent) else 8 * seed + seat)
    return fresh


def _legal(answer: Any, match: Match, seat: int) -> int:
    where = position_of(match, seat)
    try:
        action = checked_id(answer)
    except ValueError as error:
        raise Broken(f"{error} ({where})") from error
    if action not in match.legal_actions():
        legal = ", ".join(map(_named, match.legal_actions()[:6]))
        raise Broken(f"it answers {_named(action)}, which is not legal; legal: {legal} ({where})")
    return action


def _named(action: int) -> str:
    return f"{action} ({describe(action)})"
