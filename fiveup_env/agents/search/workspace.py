"""Settings and scratch memory of the search kernels, and the base class of search agents."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fiveup_env.agents.baseline_kernels import KERNEL_AGENTS
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.agents.search.endgame import new_frames, new_stack
from fiveup_env.agents.search.equity import table_for
from fiveup_env.belief.choice_model import new_inferences
from fiveup_env.belief.deal_counts import new_beliefs, new_cells
from fiveup_env.jit.compilation import borrowed, kernel
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import Variant, record_dtype
from fiveup_env.views.view import Views

Settings: TypeAlias = Any
"""A record of dtype `SETTINGS`, or inside kernels a reference to one."""

SETTINGS = record_dtype(
    [
        ("budget", "i8"),  # pimc: rollouts per legal action; ismcts: iterations
        ("playout", "i8"),  # kernel policy of all seats in playouts
        ("near", "i8"),  # first actions of a playout, taken by the policy `heuristic`
        ("endgame", "i8"),  # solve exactly once the boneyard is empty and at most this many tiles are held
        ("inference", "i8"),  # candidate worlds per sampled world, see `choice_model.sample_likely`
        ("prior", "f8"),  # weight of the heuristic's opinion, in worlds
        ("explore", "f8"),  # weight of the exploration term of ismcts
    ]
)
"""dtype of the settings of a search."""

Race: TypeAlias = Any
"""A record of dtype `RACE`, or inside kernels a reference to one."""

RACE = record_dtype(
    [
        ("state", "u8"),  # random state
        ("num_actions", "i8"),
        ("num_running", "i8"),
        ("worlds", "i8"),  # seen by the actions still in the race
        ("rollouts", "i8"),
        ("actions", "i8", NUM_ACTIONS),  # candidates
        ("running", "i8", NUM_ACTIONS),  # those still in the race, as indices into `actions`
        ("seen", "i8", NUM_ACTIONS),  # worlds per action
        ("sums", "f8", NUM_ACTIONS),  # sums of values
        ("values", "f8", NUM_ACTIONS),  # values in the current world
        ("opinions", "f8", NUM_ACTIONS),  # of the heuristic, in display points
        ("products", "f8", (NUM_ACTIONS, NUM_ACTIONS)),  # sums of products of the values of two actions
    ]
)
"""dtype of the race of `pimc`."""

Node: TypeAlias = Any
"""A record of dtype `NODE`, or inside kernels a reference to one."""

NODE = record_dtype(
    [
        ("total", "f8"),  # value to the side that took the action, summed over visits
        ("visits", "i8"),
        ("available", "i8"),  # iterations in which the action was legal here
        ("action", "i4"),  # that leads here
        ("side", "i4"),  # that took it
        ("child", "i4"),  # first child, 0 if none (the root is never a child)
        ("sibling", "i4"),  # next child of the same parent, 0 if none
    ]
)
"""dtype of a node of the tree of `ismcts`."""

LONGEST_PATH = 144  # exceeds the number of actions in a round


class Scratch(NamedTuple):
    """Memory that the search kernels write to, and the value table that they read.

    Attributes:
        table: match equity (see `equity`); empty if values are differences of raw scores.
        beliefs, cells, inferences: exact belief and choice model of the seat to act, one record each.
        stack: records; stack[0] is the seat's view with hidden tiles filled in, stack[1] the world being played.
        frames: scratch of the endgame solver.
        race: dtype `RACE` [1].
        tree: dtype `NODE`; node 0 is the root.
        path: int64, nodes of one walk down the tree.
        bounds: float64 [2, 3], least and greatest value of the round to each side in this search.
    """

    table: np.ndarray
    beliefs: np.ndarray
    cells: np.ndarray
    inferences: np.ndarray
    stack: np.ndarray
    frames: np.ndarray
    race: np.ndarray
    tree: np.ndarray
    path: np.ndarray
    bounds: np.ndarray


@kernel(inline=True)
def borrow_scratch(scratch: Scratch) -> Scratch:
    """The same scratch, whose arrays are not reference-counted in compiled code; see `borrowed`."""
    return Scratch(
        borrowed(scratch.table),
        borrowed(scratch.beliefs),
        borrowed(scratch.cells),
        borrowed(scratch.inferences),
        borrowed(scratch.stack),
        borrowed(scratch.frames),
        borrowed(scratch.race),
        borrowed(scratch.tree),
        borrowed(scratch.path),
        borrowed(scratch.bounds),
    )


class Workspace:
    """One caller's scratch memory; it grows when a kernel asks for more cells.

    Args:
        table: match equity, see `equity.table_for`.
    """

    def __init__(self, table: np.ndarray) -> None:
        self.scratch = Scratch(
            table,
            new_beliefs(1),
            new_cells(),
            new_inferences(1),
            new_stack(),
            new_frames(),
            np.zeros(1, RACE),
            np.empty(0, NODE),
            np.zeros(LONGEST_PATH, np.int64),
            np.zeros((2, 3)),
        )

    def plant(self, iterations: int) -> None:
        """Make room for a tree of this many iterations, unless there is a tree already.

        Each iteration adds one node, and forced actions add up to as many again.
        """
        if not len(self.scratch.tree):
            self.scratch = self.scratch._replace(tree=np.zeros(2 * iterations + LONGEST_PATH, NODE))

    def run(self, count: int, kernel: Callable[[int, Scratch], int]) -> None:
        """Call `kernel(first, scratch)` until it returns `count`; double the cells each time it returns less."""
        done = kernel(0, self.scratch)
        while done < count:
            self.scratch = self.scratch._replace(cells=new_cells(2 * len(self.scratch.cells)))
            done = kernel(done, self.scratch)


class Searcher(Policy):
    """Base class of the search agents: a budget in worlds or milliseconds, and compiled batches.

    Attributes:
        settings: dtype `SETTINGS` [1].
        ms: milliseconds per decision; None for a fixed budget.
        equity: whether rounds are valued by the chance to win the match.
    """

    settings: np.ndarray
    ms: float | None
    equity: bool
    together = 32

    def values_are_chances(self, variant: Variant) -> bool:
        """Whether values are chances to win the match, for matches of this variant."""
        return len(table_for(variant, self.equity)) > 0

    def workspace(self, views: Views) -> Workspace:
        """New scratch memory for the game of these views."""
        return Workspace(table_for(Match.of(views.games[0]).variant, self.equity))

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        keys = np.asarray(keys, np.uint64)
        actions = np.empty(len(views), np.int64)
        if len(views):
            workspace = self.workspace(views)
            if self.ms is None:
                self._search(workspace, views.games, keys, actions)
            else:
                for i in range(len(views)):
                    here = slice(i, i + 1)
                    self._search_within_time(workspace, views.games[here], keys[here], actions[here])
        return actions

    def _search_within_time(
        self, workspace: Workspace, games: np.ndarray, keys: np.ndarray, actions: np.ndarray
    ) -> None:
        """Make one decision in chunks until the time is up; a search can be interrupted between chunks."""
        assert self.ms is not None
        legal = Match.of(games[0]).legal_actions()
        if len(legal) == 1:
            actions[0] = legal[0]
            return
        end, chunk = time.perf_counter() + self.ms / 1000, 0
        while self._search(workspace, games, keys, actions, chunk) and time.perf_counter() < end:
            chunk += 1

    def _search(
        self, workspace: Workspace, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        """Choose an action for every game.

        Args:
            workspace: scratch memory; between chunks it holds the state of the search.
            games: views of the seats to act.
            keys: uint64 [N].
            actions: written, int64 [N].
            chunk: None for the whole budget. Otherwise N is 1 and this is the number of the chunk, 0 for the first.

        Returns:
            Whether another chunk may change the choice.
        """
        raise NotImplementedError

    def _settings(self, chunk: int | None, chunk_budget: int) -> np.ndarray:
        """The settings, with the budget of a chunk if there are chunks."""
        if chunk is None:
            return self.settings
        settings = self.settings.copy()
        settings["budget"] = chunk_budget
        return settings


def checked_count(name: str, value: Any, low: int, high: int) -> int:
    """Return an agent's integer argument; raise AgentError if it is out of bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise AgentError(f"{name} must be an integer from {low} to {high}, not {value!r}")
    return value


def checked_number(name: str, value: Any, low: float, high: float) -> float:
    """Return an agent's number as a float; raise AgentError if it is out of bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise AgentError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
    return float(value)


def checked_flag(name: str, value: Any) -> bool:
    """Return an agent's boolean argument; raise AgentError if it is none."""
    if not isinstance(value, bool):
        raise AgentError(f"{name} must be true or false, not {value!r}")
    return value


def checked_playout(name: Any) -> int:
    """Return the number of the kernel policy of this name; raise AgentError if there is none."""
    if name not in KERNEL_AGENTS:
        raise AgentError(f"playout must be one of {', '.join(KERNEL_AGENTS)}, not {name!r}")
    return KERNEL_AGENTS[name]


def checked_milliseconds(ms: Any) -> float | None:
    """Return a time budget in milliseconds, or None; raise AgentError if it is out of bounds."""
    return None if ms is None else checked_number("ms", ms, 0.001, 1e6)
