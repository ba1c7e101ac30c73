"""Play the matches of a plan: in compiled code if both agents are kernels, otherwise many in lockstep.

No match depends on which others are played with it. An agent that raises, takes too long, or returns an illegal action
loses that match by forfeit; the other matches continue.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from types import FrameType
from typing import Protocol

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, AgentTimeout, Policy, agent_name, is_policy, keys_of, own_copy
from fiveup_env.evaluation.behaviour import Tally
from fiveup_env.evaluation.match_plan import DEALS, Forfeit, MatchPlan, Results
from fiveup_env.evaluation.match_play_kernels import new_observers, play_kernels, start_matches, take_choices
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MATCH_OVER, MAX_PLAYERS, PLAYING, copy_games, new_games
from fiveup_env.views.view import View, Views

Progress = Callable[[int, int], None]
"""Called with the number of finished matches and of all matches."""

LANES = 2048  # matches in lockstep; more are not faster
LANES_ONE_BY_ONE = 64  # the same if an agent is copied for every seat of every lane
COMPILED_CHUNK = 8192  # matches between two reports of progress
PATIENCE = 3  # time-outs after which an agent forfeits the rest of a plan


def play_compiled(a: Agent, b: Agent, plan: MatchPlan, progress: Progress) -> Results:
    """Play whole matches of two kernel policies in compiled code."""
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
    """Play matches of any agents side by side, with decisions in batches; a free lane takes the next match."""
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
    """Matches in progress.

    Attributes:
        games: records [lanes].
        observers: luck and behaviour of the lanes.
        match: number of the match in each lane, -1 if none.
        a_side: A's side in each lane.
        policy_seeds: policy seed in each lane, uint64 [lanes].
        forfeits: matches forfeited so far.
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
        """Let A (0) or B (1) choose in every lane where it is to act, and play on to the next decisions."""
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
        """Actions, int64 [K], -1 for a failure, and the reason per failed row."""


class _Batched:
    """A policy that acts on all rows at once; if that fails, row by row."""

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
            except Exception as error:
                broken[int(row)] = self._limit.noted(error)
        return actions, broken

    def _together(self, views: Views, keys: np.ndarray) -> np.ndarray:
        actions = np.asarray(self.agent.act_many(views, keys))
        if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
            raise AgentError(f"act_many must give {len(views)} integers, not {actions.dtype} {list(actions.shape)}")
        return actions.astype(np.int64)


class _OneByOne:
    """An agent with memory: one copy per seat and lane, reset when a match starts there."""

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
            except Exception as error:
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
    """Limits of an agent: time per decision, and with `strict` no failure at all.

    An agent that exceeded the time `PATIENCE` times forfeits without being called.
    """

    def __init__(self, seconds: float | None = None, strict: bool = False) -> None:
        self.seconds, self.strict, self.left = seconds, strict, PATIENCE

    def of(self, decisions: int) -> AbstractContextManager[None]:
        if self.left <= 0:
            raise AgentTimeout(f"exceeded the time limit {PATIENCE} times before")
        return time_limit(None if self.seconds is None else self.seconds * decisions)

    def check(self, error: Exception, agent: Agent) -> None:
        """With `strict`, raise: a ValueError in one line, other errors unchanged."""
        if self.strict and isinstance(error, ValueError):
            raise AgentError(f"agent {agent_name(agent)}: {error_line(error)}") from error
        if self.strict:
            raise error

    def noted(self, error: Exception) -> str:
        """Reason of a forfeit."""
        self.left -= isinstance(error, AgentTimeout)
        return error_line(error)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `AgentTimeout` inside the block after this number of seconds; None for no limit.

    Only the main thread on systems with `setitimer` can be interrupted, and compiled code only when it returns;
    elsewhere there is no limit.
    """
    here = threading.current_thread() is threading.main_thread()
    if seconds is None or not here or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise AgentTimeout(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def error_line(error: Exception) -> str:
    """One line on the failure of an agent."""
    text = " ".join(str(error).split())
    return text if isinstance(error, AgentError | ValueError) and text else f"raised {type(error).__name__}: {text}"


def why_not(game: np.void, action: int) -> str:
    """Reason why an action is illegal, in one line."""
    try:
        Match.of(game).play(action)
    except ValueError as error:
        return str(error)
    raise AssertionError("the action is legal")


def play_matches(
    a: Agent, b: Agent, plan: MatchPlan, progress: Progress, *, strict: bool = False, timeout: float | None = None
) -> Results:
    """Play all matches of a plan in the fastest way for these agents.

    Args:
        a, b: the agents.
        plan: the matches.
        progress: called from time to time.
        strict: raise if an agent fails, instead of counting a forfeit.
        timeout: seconds per decision (see `time_limit`); None for no limit.

    Raises:
        AgentError: with `strict`, if an agent fails.
    """
    if _kernel(a) is not None and _kernel(b) is not None:
        return play_compiled(a, b, plan, progress)
    return play_lockstep(a, b, plan, progress, strict=strict, timeout=timeout)


def _kernel(agent: Agent) -> int | None:
    return getattr(agent, "kernel", None)
