"""Plays the matches of a plan: inside compiled code where both agents are kernels, else many in lockstep.

Nothing about a match depends on which others are played with it. An agent that raises, takes too long, or answers with
something that is no legal action loses that match by forfeit; the plan's other matches go on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, AgentTimeout, Policy, agent_name, is_policy, keys_of, own_copy
from fiveup_env.evaluation.behaviour import Tally
from fiveup_env.evaluation.match_plan import DEALS, Forfeit, MatchPlan, Results
from fiveup_env.evaluation.match_play_kernels import new_observers, play_kernels, start_matches, take_choices
from fiveup_env.evaluation.time_limit import time_limit
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MATCH_OVER, MAX_PLAYERS, PLAYING, copy_games, new_games
from fiveup_env.views.view import View, Views

Progress = Callable[[int, int], None]
"""Called with the numbers of matches that are finished and that there are."""

LANES = 2048  # matches in lockstep; more than this does not pay
LANES_ONE_BY_ONE = 64  # where an agent is copied for every seat of every lane
COMPILED_CHUNK = 8192  # matches between two reports of progress
PATIENCE = 3  # time-outs after which the rest of a plan is not played any more


def play_compiled(a: Agent, b: Agent, plan: MatchPlan, progress: Progress) -> Results:
    """Both agents are kernel policies: whole matches inside compiled code."""
    results, tally = Results.empty(plan), Tally(plan.deals, plan.num_players)
    deal_seeds, policy_seeds, scores = plan.seeds(DEALS), plan.policy_seeds(), plan.scores()
    done = 0
    for first in range(0, plan.deals, COMPILED_CHUNK):
        deals = np.arange(first, min(first + COMPILED_CHUNK, plan.deals))
        for seating in range(plan.sides):
            kernels = [_kernel(a if seat % plan.sides == seating else b) for seat in range(MAX_PLAYERS)]
            games = new_games(len(deals), plan.variant)
            observers = new_observers(len(deals), plan.num_players)
            start_matches(games, np.arange(len(deals)), deal_seeds[deals], scores[deals], observers)
            seeds = np.ascontiguousarray(policy_seeds[deals, seating])
            play_kernels(games, np.array(kernels, np.int64), seeds, plan.max_rounds, observers)
            results.note(deals, seating, games, observers.luck)
            tally.note(deals, seating, observers.counts)
            done += len(deals)
            progress(done, plan.matches)
    return replace(results, conduct=tally.conduct())


def play_lockstep(
    a: Agent, b: Agent, plan: MatchPlan, progress: Progress, *, strict: bool = False, timeout: float | None = None
) -> Results:
    """Any agents: matches side by side, everyone asked in batches; a lane that is free takes the next match."""
    results, tally = Results.empty(plan), Tally(plan.deals, plan.num_players)
    lanes = min(plan.matches, LANES if is_policy(a) and is_policy(b) else LANES_ONE_BY_ONE)
    table = _Lanes(lanes, plan, strict)
    players: list[_Player] = []
    for agent in (a, b):
        limit = _Limit(timeout, strict)
        players.append(_Batched(agent, limit) if is_policy(agent) else _OneByOne(agent, limit))
    free, started, done = np.arange(lanes), 0, 0
    while done < plan.matches:
        free = free[: plan.matches - started]
        table.start(free, np.arange(started, started + len(free)))
        started += len(free)
        for player in players:
            player.start(free, table.policy_seeds[free])
        busy = table.busy()
        while (table.games["phase"][busy] == PLAYING).all():
            for which, player in enumerate(players):
                table.ask(player, which)
        over = busy[table.games["phase"][busy] != PLAYING]
        deals, seatings = divmod(table.match[over], plan.sides)
        results.note(deals, seatings, copy_games(table.games, over), table.observers.luck[over])
        tally.note(deals, seatings, table.observers.counts[over])
        free = over
        table.match[over] = -1
        done += len(over)
        progress(done, plan.matches)
    forfeits = tuple(sorted(table.forfeits, key=lambda f: (f.deal, f.seating)))
    return replace(results, forfeits=forfeits, conduct=tally.conduct())


class _Lanes:
    """Matches under way.

    Attributes:
        games: records [lanes].
        observers: luck and behaviour in the lanes.
        match: number of the match in each lane, -1 if none.
        a_side: side that A has there.
        policy_seeds: seed of the policies there, uint64 [lanes].
        forfeits: matches given up so far.
    """

    def __init__(self, lanes: int, plan: MatchPlan, strict: bool = False) -> None:
        self.plan, self.strict = plan, strict
        self.games, self.observers = new_games(lanes, plan.variant), new_observers(lanes, plan.num_players)
        self.match = np.full(lanes, -1)
        self.a_side = np.zeros(lanes, np.int64)
        self.policy_seeds = np.zeros(lanes, np.uint64)
        self.forfeits: list[Forfeit] = []
        self._deal_seeds, self._policy_seeds, self._scores = plan.seeds(DEALS), plan.policy_seeds(), plan.scores()

    def start(self, rows: np.ndarray, matches: np.ndarray) -> None:
        deals, self.a_side[rows] = divmod(matches, self.plan.sides)
        self.match[rows] = matches
        self.policy_seeds[rows] = self._policy_seeds[deals, self.a_side[rows]]
        start_matches(self.games, rows, self._deal_seeds[deals], self._scores[deals], self.observers)

    def busy(self) -> np.ndarray:
        return np.flatnonzero(self.match >= 0)

    def ask(self, player: _Player, which: int) -> None:
        """Let A (0) or B (1) choose wherever it is to act, and play on."""
        turns = self.games["turn"].astype(np.int64)
        playing = (self.match >= 0) & (self.games["phase"] == PLAYING)
        rows = np.flatnonzero(playing & ((turns % self.plan.sides != self.a_side) == which))
        if not len(rows):
            return
        views = Views(copy_games(self.games, rows), turns[rows])
        actions, broken = player.actions(rows, views, keys_of(views, self.policy_seeds[rows]))
        while len(rows):
            wrong = take_choices(self.games, rows, actions, self.plan.max_rounds, self.observers)
            if wrong < 0:
                return
            row, action = int(rows[wrong]), int(actions[wrong])
            reason = broken.get(row) or why_not(self.games[row], action)
            self.forfeit(row, which, f"agent {agent_name(player.agent)}: {reason}")
            rows, actions = rows[wrong + 1 :], actions[wrong + 1 :]

    def forfeit(self, row: int, which: int, reason: str) -> None:
        """The side of A (0) or B (1) loses the match: all other sides get the target, in one event."""
        if self.strict:
            raise AgentError(reason)
        game, sides, a_side = self.games[row], self.plan.sides, int(self.a_side[row])
        losers = [side for side in range(sides) if (side != a_side) == which]
        winners = [side for side in range(sides) if side not in losers]
        for side in winners:
            game["scores"][side] = game["target"]
        game["winner"], game["phase"] = winners[0], MATCH_OVER
        deal, seating = divmod(int(self.match[row]), sides)
        self.forfeits.append(Forfeit(self.plan.first + deal, seating, which == 0, reason))


class _Player(Protocol):
    @property
    def agent(self) -> Agent: ...

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None: ...

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        """Actions, int64 [K], -1 where there is none, and for such a row why."""


class _Batched:
    """A policy, asked for all rows at once; where that fails, row by row."""

    def __init__(self, agent: Policy, limit: _Limit | None = None) -> None:
        self.agent, self._limit = agent, limit or _Limit()

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        pass

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        try:
            with self._limit.of(len(rows)):
                return self._together(views, keys), {}
        except Exception as error:
            self._limit.check(error, self.agent)
        actions = np.full(len(rows), -1)
        broken: dict[int, str] = {}
        for i, row in enumerate(rows):
            one = Views(views.games[i : i + 1], views.seats[i : i + 1])
            try:
                with self._limit.of(1):
                    actions[i] = self._together(one, keys[i : i + 1])[0]
            except Exception as error:  # whatever somebody else's code does
                broken[int(row)] = self._limit.noted(error)
        return actions, broken

    def _together(self, views: Views, keys: np.ndarray) -> np.ndarray:
        actions = np.asarray(self.agent.act_many(views, keys))
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            raise AgentError(f"act_many must give {len(views)} integers, not {actions.dtype} {list(actions.shape)}")
        return actions.astype(np.int64)


class _OneByOne:
    """An agent that may remember: a copy for every seat of every lane, reset when a match starts there."""

    def __init__(self, agent: Agent, limit: _Limit | None = None) -> None:
        self.agent, self._limit = agent, limit or _Limit()
        self._copies: dict[tuple[int, int], Agent] = {}
        self._seeds: dict[tuple[int, int], int] = {}

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        for row, seed in zip(rows, seeds, strict=True):
            for seat, own in enumerate(spread_seeds(seed, MAX_PLAYERS).tolist()):
                self._seeds[int(row), seat] = own

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        actions = np.full(len(rows), -1)
        broken: dict[int, str] = {}
        for i, row in enumerate(rows):
            try:
                with self._limit.of(1):
                    actions[i] = self._act(int(row), views[i])
            except Exception as error:  # whatever somebody else's code does
                self._limit.check(error, self.agent)
                broken[int(row)] = self._limit.noted(error)
        return actions, broken

    def _act(self, row: int, view: View) -> int:
        place = (row, view.seat)
        if place not in self._copies:
            self._copies[place] = own_copy(self.agent)
        if place in self._seeds:  # its first decision of this match
            self._copies[place].reset(self._seeds.pop(place))
        return checked_id(self._copies[place].act(view))


class _Limit:
    """What an agent may do: how long a decision may take, and with `strict` nothing wrong at all.

    An agent that was too slow `PATIENCE` times is not asked any more.
    """

    def __init__(self, seconds: float | None = None, strict: bool = False) -> None:
        self.seconds, self.strict, self.left = seconds, strict, PATIENCE

    def of(self, decisions: int) -> AbstractContextManager[None]:
        if self.left <= 0:
            raise AgentTimeout(f"was too slow {PATIENCE} times, and is not asked any more")
        return time_limit(None if self.seconds is None else self.seconds * decisions)

    def check(self, error: Exception, agent: Agent) -> None:
        """With `strict` raise: what looks like a bug as it is, anything else in one line."""
        if self.strict and isinstance(error, ValueError):
            raise AgentError(f"agent {agent_name(agent)}: {error_line(error)}") from error
        if self.strict:
            raise error

    def noted(self, error: Exception) -> str:
        """The reason of a forfeit."""
        self.left -= isinstance(error, AgentTimeout)
        return error_line(error)


def error_line(error: Exception) -> str:
    """One line for what an agent did wrong."""
    text = " ".join(str(error).split())
    return text if isinstance(error, AgentError | ValueError) and text else f"raised {type(error).__name__}: {text}"


def why_not(game: np.void, action: int) -> str:
    """Why an action is not legal there, in one line."""
    try:
        Match.of(game).play(action)
    except ValueError as error:
        return str(error)
    raise AssertionError("the action is legal")


def play_matches(
    a: Agent, b: Agent, plan: MatchPlan, progress: Progress, *, strict: bool = False, timeout: float | None = None
) -> Results:
    """All matches of a plan, the fastest way there is for these agents.

    Args:
        a, b: the agents.
        plan: which matches.
        progress: called now and then.
        strict: raise where an agent does something wrong, instead of counting a forfeit.
        timeout: seconds a decision may take, where the platform can interrupt (see `limits`); None for no limit.

    Raises:
        AgentError: if `strict`.
    """
    if _kernel(a) is not None and _kernel(b) is not None:
        return play_compiled(a, b, plan, progress)
    return play_lockstep(a, b, plan, progress, strict=strict, timeout=timeout)


def _kernel(agent: Agent) -> int | None:
    return getattr(agent, "kernel", None)
