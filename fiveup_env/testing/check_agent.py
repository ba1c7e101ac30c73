"""`check_agent`: whether an agent keeps to the contract of `fiveup_env.agents.protocol`."""

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
from fiveup_env.testing.conformance_report import Broken, Checks, Report
from fiveup_env.testing.same_bits import other_global_chance
from fiveup_env.views.view import View, Views

CHECKS = {
    "made": "it can be made, has reset and act, and can be copied for every seat",
    "legal": "every answer is the id of a legal action (R3.1, R3.2)",
    "unchanged": "it changes nothing of the view that it is shown",
    "seed": "the same seed gives the same actions, whatever state global generators are in",
    "hidden": "its actions are the same in other worlds that its seat cannot tell apart (R2.2, D6)",
    "own eyes": "what other seats or earlier matches showed its copies changes nothing",
    "batch": "act_many answers row by row: alone, in any order and company, the same action",
    "match-up": "it plays an evaluation without a forfeit",
}


@dataclass(frozen=True)
class Decision:
    """An answer that was given; `match` as it stood then."""

    match: Match
    seat: int
    action: int


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
        agent: an agent, or whatever `fiveup_env.agents.load` makes one of.
        num_players: 2, 3 or 4; None for all that it plays.
        matches: to play for every number of players; in every second one the other seats play at random.
        decisions: at most so many are looked at in each; every one is asked for a few times.
        seed: of the matches and of the agent.
        skip: names of checks to leave out: made, legal, unchanged, seed, hidden, own eyes, batch, match-up.

    Returns:
        A report with `microseconds a decision` (wall clock, the median) and, for policies, `microseconds a decision in
        a batch of N`.

    Raises:
        ConformanceError: at the first check that fails; the text says what broke and in which position.
        ValueError: if `skip` names no check, or a number is out of range.
    """
    for name, value in (("matches", matches), ("decisions", decisions)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value!r}")
    checks = Checks(f"agent {agent if isinstance(agent, str) else agent_name(agent)}", CHECKS, skip)
    with checks.named("made"):
        made = make_agent(agent, num_players)
        _remake(made, 0)
    checks.run("made", lambda: None)
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
        run = self._checks.run
        played: list[tuple[int, list[Decision]]] = []

        def play_all() -> None:
            for n in numbers:
                for k in range(matches):
                    seats = range(n) if k % 2 == 0 else [k % n]
                    number = self._seed + 1000 * n + k
                    played.append((number, self._play(Match(n, number), seats, number, limit)))

        with self._checks.named("legal"):  # the other checks look at what is played here
            play_all()
        run("legal", lambda: None)
        run("unchanged", lambda: None)
        run("seed", lambda: self._same_again(played))
        run("hidden", lambda: self._other_worlds(played))
        run("own eyes", lambda: self._own_eyes(played))
        if is_policy(self._agent):
            run("batch", lambda: self._batch(self._agent, played))  # type: ignore[arg-type]
        run("match-up", lambda: self._evaluate(numbers))
        if self._seconds:  # the median: the first answers may compile something
            self._checks.figures["microseconds a decision"] = 1e6 * median(self._seconds)

    # playing

    def _play(self, match: Match, seats: Iterable[int], seed: int, limit: int) -> list[Decision]:
        """Play, the agent at some seats and chance at the others, and return what it decided."""
        chance, made = random.Random(seed), list[Decision]()
        copies = {seat: _remake(self._agent, _seat_seed(self._agent, seed, seat)) for seat in seats}
        while match.winner is None and len(made) < limit:
            legal, seat = match.legal_actions(), match.turn
            action = legal[0] if len(legal) == 1 else chance.choice(legal)
            if len(legal) > 1 and seat in copies:
                action = self._ask(copies[seat], match, seat)
                made.append(Decision(match.copy(), seat, action))
            match.play(action)
        return made

    def _ask(self, agent: Agent, match: Match, seat: int) -> int:
        view = View.of(match, seat)
        before, begun = view.game.tobytes(), time.perf_counter()
        try:
            answer = agent.act(view)
        except Exception as error:
            raise Broken(f"act raises {type(error).__name__}: {error} ({_where(match, seat)})") from error
        self._seconds.append(time.perf_counter() - begun)
        if self._checks.wanted("unchanged") and (view.seat != seat or view.game.tobytes() != before):
            with self._checks.named("unchanged"):
                raise Broken(f"act changed the view it was shown ({_where(match, seat)}); work on view.game.copy()")
        return _legal(answer, match, seat)

    def _retell(self, decisions: Sequence[Decision], seat: int, seed: int, why: str, worlds: int | None = None) -> None:
        """Show a fresh copy what one seat saw, in its order (in other worlds, if `worlds` seeds them)."""
        agent = _remake(self._agent, _seat_seed(self._agent, seed, seat))
        for i, decision in enumerate(decisions):
            if decision.seat == seat:
                match = decision.match if worlds is None else resample(decision.match, seat, worlds + i)
                answer = self._ask(agent, match, seat)
                if answer != decision.action:
                    raise Broken(
                        f"{why}: it chose {_named(decision.action)}, and now {_named(answer)}"
                        f" ({_where(decision.match, seat)})"
                    )

    # checks

    def _same_again(self, played: Sequence[tuple[int, list[Decision]]]) -> None:
        for number, decisions in played:
            seats = sorted({decision.seat for decision in decisions})
            if not decisions:
                continue
            with other_global_chance(number + 1):
                first = decisions[0].match
                again = self._play_from(first.num_players, seats, number, len(decisions))
            for old, new in zip(decisions, again, strict=False):
                if old.action != new.action:
                    raise Broken(
                        f"reset({number}) twice, the same view, two answers: {_named(old.action)} and"
                        f" {_named(new.action)} ({_where(old.match, old.seat)}); draw all chance from the seed of"
                        " reset, and forget everything else there"
                    )

    def _play_from(self, num_players: int, seats: Sequence[int], number: int, limit: int) -> list[Decision]:
        return self._play(Match(num_players, number), seats, number, limit)

    def _other_worlds(self, played: Sequence[tuple[int, list[Decision]]]) -> None:
        for number, decisions in played:
            for seat in {decision.seat for decision in decisions}:
                why = "its answer depends on tiles that its seat cannot see (other hands, boneyard, seed of the deals)"
                self._retell(decisions, seat, number, why, worlds=number)

    def _own_eyes(self, played: Sequence[tuple[int, list[Decision]]]) -> None:
        for number, decisions in played:
            for seat in {decision.seat for decision in decisions}:
                why = (
                    "its answer depends on what copies at other seats saw, or on an earlier match; keep what it"
                    " remembers in the instance, not in the class or module, and forget it in reset"
                )
                self._retell(decisions, seat, number, why)

    def _batch(self, policy: Policy, played: Sequence[tuple[int, list[Decision]]]) -> None:
        by_number: dict[int, list[Decision]] = {}
        for _, decisions in played:
            for decision in decisions:
                by_number.setdefault(decision.match.num_players, []).append(decision)
        for decisions in by_number.values():
            self._one_batch(policy, decisions)

    def _one_batch(self, policy: Policy, decisions: Sequence[Decision]) -> None:
        games = np.concatenate([decision.match._games for decision in decisions])
        seats = [decision.seat for decision in decisions]
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
        order = np.random.default_rng(0).permutation(len(views))
        part = order[: max(1, len(order) // 2)]
        some = np.asarray(policy.act_many(Views(games[part], np.array(seats)[part]), keys[part]))
        _compare_rows(many[part], some, [decisions[i] for i in part], "in a batch of other rows")
        alone = [policy.choose(views[i], int(keys[i])) for i in range(len(views))]
        _compare_rows(many, alone, decisions, "asked alone by choose")
        begun = time.perf_counter()
        policy.act_many(views, keys)
        took = time.perf_counter() - begun
        name = f"microseconds a decision in a batch of {len(views)}, {decisions[0].match.num_players} players"
        self._checks.figures[name] = 1e6 * took / len(views)

    def _evaluate(self, numbers: Sequence[int]) -> None:
        for n in numbers:
            sides = 3 if n == 3 else 2
            try:
                evaluate(self._agent, "random", n, 2 * sides, self._seed, max_rounds=2, strict=True)
            except AgentError as error:
                raise Broken(str(error)) from error


def _remake(agent: Agent, seed: int) -> Agent:
    fresh = own_copy(agent)
    fresh.reset(seed)
    return fresh


def _seat_seed(agent: Agent, seed: int, seat: int) -> int:
    # As in evaluation: policies make their keys of (seed, round, action number), others draw streams of their own.
    return seed if is_policy(agent) else 8 * seed + seat


def _legal(answer: Any, match: Match, seat: int) -> int:
    try:
        action = checked_id(answer)
    except ValueError as error:
        raise Broken(f"{error} ({_where(match, seat)})") from error
    if action not in match.legal_actions():
        legal = ", ".join(map(_named, match.legal_actions()[:6]))
        raise Broken(f"it answers {_named(action)}, which is not legal; legal: {legal} ({_where(match, seat)})")
    return action


def _compare_rows(many: Any, others: Any, decisions: Sequence[Decision], how: str) -> None:
    for row, (left, right) in enumerate(zip(many, others, strict=True)):
        if int(left) != int(right):
            decision = decisions[row]
            raise Broken(
                f"the same view and key, two answers: {_named(int(left))} in the batch, {_named(int(right))} {how}"
                f" ({_where(decision.match, decision.seat)})"
            )


def _named(action: int) -> str:
    return f"{action} ({describe(action)})"


def _where(match: Match, seat: int) -> str:
    return (
        f"{match.num_players} players, match seed {match.seed}, round {match.round_number},"
        f" after {len(match.history)} actions, player_{seat}"
    )
