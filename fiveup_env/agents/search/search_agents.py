"""The search agents `pimc` and `ismcts`: they see a view, and all their chance comes from the key of the decision."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fiveup_env.agents.baseline_kernels import KERNEL_AGENTS
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.agents.search.endgame import new_frames, new_stack
from fiveup_env.agents.search.equity import table_for
from fiveup_env.agents.search.ismcts import NODE, new_tree, search_many
from fiveup_env.agents.search.pimc import BLOCK, new_race, race_many
from fiveup_env.belief.choice_model import new_inferences
from fiveup_env.belief.deal_counts import new_beliefs, new_cells
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MAX_PLAYERS, Variant
from fiveup_env.views.view import View, Views

ITERATIONS_A_CHUNK = 64  # between two looks at the clock
MOST_ITERATIONS = 1 << 17  # for which there are nodes when time is the budget; later ones grow nothing


def checked_count(name: str, value: Any, low: int, high: int) -> int:
    """An integer argument of an agent within its bounds, else an `AgentError`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise AgentError(f"{name} must be an integer from {low} to {high}, not {value!r}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise AgentError(f"{name} must be true or false, not {value!r}")
    return value


def checked_number(name: str, value: Any, low: float, high: float) -> float:
    """A number that an agent was given, within its bounds, else an `AgentError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise AgentError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
    return float(value)


def _milliseconds(ms: Any) -> float | None:
    return None if ms is None else checked_number("ms", ms, 0.001, 1e6)


def _playout(name: Any) -> int:
    if name not in KERNEL_AGENTS:
        raise AgentError(f"playout must be one of {', '.join(KERNEL_AGENTS)}, not {name!r}")
    return KERNEL_AGENTS[name]


class Searcher(Policy):
    """What the search agents have in common: a budget in worlds or milliseconds, and compiled batches.

    Attributes:
        ms: milliseconds a decision, None for a fixed number of worlds.
        equity: whether rounds are valued by the chance to win the match.
    """

    ms: float | None
    equity: bool
    together = 32

    def values_are_chances(self, variant: Variant) -> bool:
        """Whether rounds of this game are valued by the chance to win the match."""
        return len(table_for(variant, self.equity)) > 0

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        keys = np.asarray(keys, np.uint64)
        actions = np.empty(len(views), np.int64)
        if len(views):
            scratch = Scratch(table_for(Match.of(views.games[0]).variant, self.equity))
            if self.ms is None:
                self._search(scratch, views.games, keys, actions)
            else:
                for i in range(len(views)):
                    here = slice(i, i + 1)
                    self._think(scratch, views.games[here], keys[here], actions[here])
        return actions

    def _think(self, scratch: Scratch, games: np.ndarray, keys: np.ndarray, actions: np.ndarray) -> None:
        """One decision within the time there is, in steps between which a search can be interrupted."""
        assert self.ms is not None
        legal = Match.of(games[0]).legal_actions()
        if len(legal) == 1:
            actions[0] = legal[0]
            return
        end, chunk = time.perf_counter() + self.ms / 1000, 0
        while self._search(scratch, games, keys, actions, chunk) and time.perf_counter() < end:
            chunk += 1

    def _search(
        self, scratch: Scratch, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        """Choose an action for every game.

        Args:
            scratch: what kernels write to.
            games: views of the seats to act.
            keys: uint64 [N].
            actions: written, int64 [N].
            chunk: None for the whole budget; else N is 1, and a part is done: the first one (0), or one more.

        Returns:
            Whether going on may change anything.
        """
        raise NotImplementedError


class Scratch:
    """What the kernels of one call need, beside what is searched."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = table
        self.beliefs, self.cells, self.inferences = new_beliefs(1), new_cells(), new_inferences(1)
        self.stack, self.frames, self.race = new_stack(), new_frames(), new_race()
        self.bounds = np.zeros((2, 3))
        self.tree = np.empty(0, NODE)

    def through(self, games: np.ndarray, kernel: Callable[[int], int]) -> None:
        """Call a kernel until it has done all games, with more cells each time it asks for them."""
        done = kernel(0)
        while done < len(games):
            self.cells = new_cells(2 * len(self.cells))
            done = kernel(done)


class PIMC(Searcher):
    """Perfect-information Monte Carlo: sampled worlds, every action tried in each of them; see `agents.search.pimc`.

    Args:
        worlds: rollouts for each legal action, on average; actions that are clearly worse leave theirs to the others.
        playout: kernel agent that plays the rest of the round for all seats.
        near: the first so many actions of a playout are those of the policy `heuristic`.
        equity: value a round by the chance to win the match after it; else by the difference of scores.
        endgame: solve instead of playing out once the boneyard is empty and no more tiles than this are held; 0 never.
        inference: draw every world from so many, by how likely the others' choices were in them; 1 takes all deals
            that agree with the events as equally likely.
        prior: what the policy `heuristic` thinks of an action counts as much as so many worlds; 0 nothing.
        ms: think so many milliseconds for each decision instead of a number of worlds. What it then chooses depends on
            the speed of the machine and cannot be reproduced.

    Raises:
        AgentError: if an argument is out of range.
    """

    name = "pimc"

    def __init__(
        self,
        worlds: int = 128,
        playout: str = "greedy",
        near: int = 4,
        equity: bool = True,
        endgame: int = 0,
        inference: int = 4,
        prior: float = 16,
        ms: float | None = None,
    ) -> None:
        self.worlds = checked_count("worlds", worlds, 1, 10**7)
        self.playout = _playout(playout)
        self.near = checked_count("near", near, 0, 1000)
        self.equity = _flag("equity", equity)
        self.endgame = checked_count("endgame", endgame, 0, 28)
        self.inference = checked_count("inference", inference, 1, 1000)
        self.prior = checked_number("prior", prior, 0, 1e6)
        self.ms = _milliseconds(ms)

    def outcomes(self, view: View, key: int, worlds: int) -> tuple[list[int], np.ndarray]:
        """Legal actions, and what each was worth in each of so many worlds, float64 [worlds, actions].

        No action is dropped. The worlds are the same for all actions, so differences are paired.
        """
        games = view.views.games
        legal = view.legal_actions()
        values = np.zeros((worlds, len(legal)))
        scratch = Scratch(table_for(Match.of(games[0]).variant, self.equity))
        self._race(scratch, games, np.array([key], np.uint64), np.empty(1, np.int64), worlds, False, values)
        return legal, values

    def _search(
        self, scratch: Scratch, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        worlds = self.worlds if chunk is None else BLOCK * (chunk + 1)
        self._race(scratch, games, keys, actions, worlds, bool(chunk), np.empty((0, 0)))
        return int(scratch.race["num_running"][0]) > 1

    def _race(
        self,
        scratch: Scratch,
        games: np.ndarray,
        keys: np.ndarray,
        actions: np.ndarray,
        worlds: int,
        resume: bool,
        outcomes: np.ndarray,
    ) -> None:
        s = scratch
        s.through(
            games,
            lambda first: race_many(
                games,
                first,
                keys,
                worlds,
                self.inference,
                self.prior,
                resume,
                s.beliefs,
                s.cells,
                s.inferences,
                s.race,
                s.stack,
                self.playout,
                self.near,
                self.endgame,
                s.table,
                s.frames,
                outcomes,
                actions,
            ),
        )


class ISMCTS(Searcher):
    """Information-set Monte Carlo tree search, single observer; see `agents.search.ismcts`.

    Args:
        iterations: worlds for each decision, each with one playout.
        playout: kernel agent that plays on from the edge of the tree.
        equity: value a round by the chance to win the match after it; else by the difference of scores.
        explore: weight of the exploration term, for values scaled to 0 to 1.
        ms: think so many milliseconds for each decision instead. What it then chooses depends on the speed of the
            machine and cannot be reproduced.

    Raises:
        AgentError: if an argument is out of range.
    """

    name = "ismcts"

    def __init__(
        self,
        iterations: int = 1000,
        playout: str = "greedy",
        equity: bool = True,
        explore: float = 0.3,
        ms: float | None = None,
    ) -> None:
        self.iterations = checked_count("iterations", iterations, 1, 10**7)
        self.playout = _playout(playout)
        self.equity = _flag("equity", equity)
        self.explore = checked_number("explore", explore, 0, 100)
        self.ms = _milliseconds(ms)

    def _search(
        self, scratch: Scratch, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        s, iterations = scratch, self.iterations if chunk is None else ITERATIONS_A_CHUNK
        if not len(s.tree):
            s.tree = new_tree(iterations if chunk is None else MOST_ITERATIONS)
        policies = np.full(MAX_PLAYERS, self.playout)
        s.through(
            games,
            lambda first: search_many(
                games,
                first,
                keys,
                iterations,
                chunk or 0,
                s.beliefs,
                s.cells,
                s.stack,
                s.tree,
                policies,
                self.explore,
                s.table,
                s.bounds,
                actions,
            ),
        )
        return True
