"""Plays the matches of a match-up: inside compiled code where both agents are kernels, else many in lockstep.

Match i of a match-up belongs to deal i // S and seating i % S, where S is the number of sides: agent A has side
`seating`, agent B every other side. All seatings of a deal share its seed, so they get the same tiles and lots round by
round, and the policies the same random numbers. Nothing about a match depends on which others are played with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np

from fiveup_env.agents.base import Agent, AgentError, Policy, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.kernels import rollout
from fiveup_env.encoding.view import View, Views
from fiveup_env.evaluation.kernels import play_choices
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.batch import begin, copy_games, spread_seeds
from fiveup_env.rules.game import MAX_PLAYERS, PLAYING, RAW_PER_POINT, Variant, new_games
from fiveup_env.rules.match import Match

Progress = Callable[[int, int], None]
"""Called with the numbers of matches that are finished and that there are."""

# Streams of one seed: what is dealt, what the policies draw, and the scores to start from (one stream per side).
DEALS, POLICIES, SCORES = 0, 1, 2

LANES = 2048  # matches in lockstep; more than this does not pay
LANES_ONE_BY_ONE = 64  # where an agent is copied for every seat of every lane
COMPILED_CHUNK = 8192  # matches between two reports of progress


@dataclass(frozen=True)
class Plan:
    """Which matches are played.

    Attributes:
        num_players: 2, 3 or 4.
        deals: number of deals; each is played once per side.
        seed: decides deals and policies.
        max_rounds: rounds after which a match is left unfinished, 0 for no limit.
        start: lowest and highest score to start from, in display points; each side's is drawn per deal.
    """

    num_players: int
    deals: int
    seed: int
    max_rounds: int = 0
    start: tuple[int, int] = (0, 0)

    @property
    def variant(self) -> Variant:
        """The game that is played."""
        return Variant(self.num_players)

    @property
    def sides(self) -> int:
        """Number of sides, and of seatings of a deal."""
        return self.variant.num_sides

    @property
    def matches(self) -> int:
        """Number of matches."""
        return self.deals * self.sides

    def seeds(self, purpose: int) -> np.ndarray:
        """Seed of every deal for DEALS, POLICIES, ..., uint64 [deals]; the first ones do not depend on how many."""
        base, seeds = np.empty(1, np.uint64), np.empty(self.deals, np.uint64)
        spread_seeds(np.uint64(self.seed), purpose, base)
        spread_seeds(base[0], 0, seeds)
        return seeds

    def scores(self) -> np.ndarray:
        """Raw points that every side starts with, int16 [deals, MAX_PLAYERS]; all seatings of a deal share them."""
        low, high = self.start
        scores = np.zeros((self.deals, MAX_PLAYERS), np.int16)
        for side in range(self.sides):
            scores[:, side] = RAW_PER_POINT * (low + self.seeds(SCORES + side) % np.uint64(high - low + 1))
        return scores


@dataclass(frozen=True)
class Results:
    """What came of every match; arrays [deals, seatings].

    Attributes:
        winner: side that won, -1 where the match was left unfinished; int8.
        scores: raw points of every side at the end; int16 [deals, seatings, sides].
        rounds: rounds played, the last one included; int32.
    """

    winner: np.ndarray
    scores: np.ndarray
    rounds: np.ndarray

    @classmethod
    def empty(cls, plan: Plan) -> Results:
        """Arrays to be filled."""
        shape = (plan.deals, plan.sides)
        return cls(np.full(shape, -1, np.int8), np.zeros((*shape, plan.sides), np.int16), np.zeros(shape, np.int32))

    def note(self, deals: np.ndarray, seatings: np.ndarray | int, games: np.ndarray) -> None:
        """Write down finished matches."""
        self.winner[deals, seatings] = games["winner"]
        self.scores[deals, seatings] = games["scores"][:, : self.scores.shape[2]]
        self.rounds[deals, seatings] = games["round_number"]

    @property
    def won(self) -> np.ndarray:
        """Share of the match that A won: 1 or 0, an unfinished match counts 1 / sides; float64."""
        sides = self.winner.shape[1]
        return np.where(self.winner < 0, 1 / sides, self.winner == np.arange(sides))

    @property
    def lead(self) -> np.ndarray:
        """Display points of A's side minus the others' mean; float64."""
        sides = self.winner.shape[1]
        own = np.diagonal(self.scores, axis1=1, axis2=2).astype(np.float64)
        others = (self.scores.sum(2) - own) / (sides - 1)
        return (own - others) / RAW_PER_POINT


def play_compiled(a: Agent, b: Agent, plan: Plan, progress: Progress) -> Results:
    """Both agents are kernel policies: whole matches inside compiled code."""
    results = Results.empty(plan)
    deal_seeds, policy_seeds, scores = plan.seeds(DEALS), plan.seeds(POLICIES), plan.scores()
    done = 0
    for first in range(0, plan.deals, COMPILED_CHUNK):
        deals = np.arange(first, min(first + COMPILED_CHUNK, plan.deals))
        for seating in range(plan.sides):
            kernels = [_kernel(a if seat % plan.sides == seating else b) for seat in range(MAX_PLAYERS)]
            games = new_games(len(deals), plan.variant)
            begin(games, np.arange(len(deals)), deal_seeds[deals])
            games["scores"] = scores[deals]
            rollout(games, np.array(kernels, np.int64), policy_seeds[deals], plan.max_rounds)
            results.note(deals, seating, games)
            done += len(deals)
            progress(done, plan.matches)
    return results


def play_lockstep(a: Agent, b: Agent, plan: Plan, progress: Progress) -> Results:
    """Any agents: matches side by side, everyone asked in batches; a lane that is free takes the next match."""
    results = Results.empty(plan)
    lanes = min(plan.matches, LANES if is_policy(a) and is_policy(b) else LANES_ONE_BY_ONE)
    table = _Lanes(lanes, plan)
    players: list[_Player] = [_Batched(agent) if is_policy(agent) else _OneByOne(agent) for agent in (a, b)]
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
        results.note(deals, seatings, copy_games(table.games, over))
        free = over
        table.match[over] = -1
        done += len(over)
        progress(done, plan.matches)
    return results


class _Lanes:
    """Matches under way.

    Attributes:
        games: records [lanes].
        match: number of the match in each lane, -1 if none.
        a_side: side that A has there.
        policy_seeds: seed of the policies there, uint64 [lanes].
    """

    def __init__(self, lanes: int, plan: Plan) -> None:
        self.plan = plan
        self.games = new_games(lanes, plan.variant)
        self.match = np.full(lanes, -1)
        self.a_side = np.zeros(lanes, np.int64)
        self.policy_seeds = np.zeros(lanes, np.uint64)
        self._deal_seeds, self._policy_seeds, self._scores = plan.seeds(DEALS), plan.seeds(POLICIES), plan.scores()

    def start(self, rows: np.ndarray, matches: np.ndarray) -> None:
        deals, self.a_side[rows] = divmod(matches, self.plan.sides)
        self.match[rows] = matches
        self.policy_seeds[rows] = self._policy_seeds[deals]
        begin(self.games, rows, self._deal_seeds[deals])
        self.games["scores"][rows] = self._scores[deals]

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
        actions = player.actions(rows, views, keys_of(views, self.policy_seeds[rows]))
        wrong = play_choices(self.games, rows, actions, self.plan.max_rounds)
        if wrong >= 0:
            _refuse(player.agent, self.games[rows[wrong]], int(actions[wrong]))


class _Player(Protocol):
    @property
    def agent(self) -> Agent: ...

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None: ...

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> np.ndarray: ...


class _Batched:
    """A policy, asked for all rows at once."""

    def __init__(self, agent: Policy) -> None:
        self.agent = agent

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        pass

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> np.ndarray:
        actions = np.asarray(self.agent.act_many(views, keys))
        if actions.shape != (len(rows),) or actions.dtype.kind not in "iu":
            raise AgentError(
                f"agent {agent_name(self.agent)}: act_many must give {len(rows)} integers, "
                f"not {actions.dtype} {list(actions.shape)}"
            )
        return actions.astype(np.int64)


class _OneByOne:
    """An agent that may remember: a copy for every seat of every lane, reset when a match starts there."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._copies: dict[tuple[int, int], Agent] = {}
        self._seeds: dict[tuple[int, int], int] = {}

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        own = np.empty(MAX_PLAYERS, np.uint64)
        for row, seed in zip(rows, seeds, strict=True):
            spread_seeds(seed, 0, own)
            for seat in range(MAX_PLAYERS):
                self._seeds[int(row), seat] = int(own[seat])

    def actions(self, rows: np.ndarray, views: Views, keys: np.ndarray) -> np.ndarray:
        return np.array([self._act(int(row), views[i]) for i, row in enumerate(rows)], np.int64)

    def _act(self, row: int, view: View) -> int:
        place = (row, view.seat)
        if place not in self._copies:
            self._copies[place] = own_copy(self.agent)
        if place in self._seeds:  # its first decision of this match
            self._copies[place].reset(self._seeds.pop(place))
        action = self._copies[place].act(view)
        try:
            return checked_id(action)
        except ValueError as error:
            raise AgentError(f"agent {agent_name(self.agent)}: {error}") from None


def _refuse(agent: Agent, game: np.void, action: int) -> NoReturn:
    """Say why the action is not one."""
    try:
        Match.of(game).play(action)
    except ValueError as error:
        raise AgentError(f"agent {agent_name(agent)}: {error}") from None
    raise AssertionError("the action is legal")


def play_matches(a: Agent, b: Agent, plan: Plan, progress: Progress) -> Results:
    """All matches of a plan, the fastest way there is for these agents."""
    if _kernel(a) is not None and _kernel(b) is not None:
        return play_compiled(a, b, plan, progress)
    return play_lockstep(a, b, plan, progress)


def _kernel(agent: Agent) -> int | None:
    return getattr(agent, "kernel", None)
