"""Single-observer information-set Monte Carlo tree search (Cowling, Powley and Whitehouse, 2012): the agent `ismcts`.

There is one tree over the actions, as the searching seat sees them. Each iteration samples a world from the exact
belief, walks down the actions that are legal in it, adds one node, and plays the round out. Each seat maximises the
value of its side, so partners share it. The exploration bonus of an action counts how often the action was available,
not how often its parent was visited. Values are scaled to the range seen in this search, because a round decides little
of a match at its beginning and all of it at its end.

Forced draws and passes are edges too, so seats that drew differently are told apart. They cost no iteration.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, pick
from fiveup_env.agents.search.equity import worth
from fiveup_env.agents.search.workspace import (
    SETTINGS,
    Node,
    Scratch,
    Searcher,
    Settings,
    Workspace,
    borrow_scratch,
    checked_count,
    checked_flag,
    checked_milliseconds,
    checked_number,
    checked_playout,
)
from fiveup_env.belief.deal_counts import prepare
from fiveup_env.belief.exact_belief import sample
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.random import GOLDEN, mix, stream
from fiveup_env.rules.record import PLAYING, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, forced_move, nth_legal, play

CHUNK = 64  # iterations between two looks at the clock
MOST_TIMED = 1 << 17  # iterations that may add a node if the budget is a time


@kernel
def find_child(tree: np.ndarray, parent: int, action: int) -> int:
    """Node that an action leads to, 0 if the action has never been taken here."""
    child = int64(tree[parent].child)
    while child != 0 and int64(tree[child].action) != action:
        child = int64(tree[child].sibling)
    return child


@kernel
def add_child(tree: np.ndarray, parent: int, at: int, action: int, side: int) -> None:
    """Write an unvisited node."""
    node = tree[at]
    node.total = 0.0
    node.visits = 0
    node.available = 1
    node.action = action
    node.side = side
    node.child = 0
    node.sibling = tree[parent].child
    tree[parent].child = at


@kernel
def upper_bound(node: Node, explore: float, bounds: np.ndarray) -> float:
    """Upper confidence bound of a visited node, its mean scaled to the range 0 to 1 of the values seen so far."""
    side, visits = int64(node.side), float(int64(node.visits))
    low, high = bounds[0, side], bounds[1, side]
    mean = (node.total / visits - low) / (high - low) if high > low else 0.5
    return mean + explore * np.sqrt(np.log(float(int64(node.available))) / visits)


@kernel
def select(game: Game, tree: np.ndarray, parent: int, key: int, explore: float, bounds: np.ndarray) -> tuple[int, int]:
    """Choose an action and its node: an action never taken here if there is one (node 0), else the highest bound."""
    untried, best, best_action, most = 0, 0, -1, -1e300
    count = count_legal(game)
    for i in range(count):
        action = nth_legal(game, i)
        child = find_child(tree, parent, action)
        if child == 0:
            untried += 1
            continue
        node = tree[child]
        node.available += 1
        value = upper_bound(node, explore, bounds)
        if value > most:
            best, best_action, most = child, action, value
    if untried == 0:
        return best_action, best
    skip = pick(key, untried)
    for i in range(count):
        action = nth_legal(game, i)
        if find_child(tree, parent, action) == 0:
            if skip == 0:
                return action, 0
            skip -= 1
    return -1, 0  # never reached


@kernel
def descend(
    game: Game, tree: np.ndarray, used: int, key: int, explore: float, bounds: np.ndarray, path: np.ndarray
) -> tuple[int, int]:
    """Walk down one world and add a node; return the length of the path and the number of nodes in use."""
    node, length = 0, 0
    while game.phase == PLAYING:
        forced = count_legal(game) == 1
        action, child = select(game, tree, node, key, explore, bounds)
        key = mix(np.uint64(key) + GOLDEN)
        new = child == 0
        if new:
            if used == len(tree):
                break
            child = used
            add_child(tree, node, child, action, side_of(game, int64(game.turn)))
            used += 1
        play(game, action)
        path[length] = child
        length += 1
        node = child
        if new and not forced:
            break
    return length, used


@kernel
def credit_path(length: int, first: bool, scratch: Scratch) -> None:
    """Add the value of the finished round in scratch.stack[1] to every node of the path, by side."""
    game, tree, path, bounds = scratch.stack[1], scratch.tree, scratch.path, scratch.bounds
    for side in range(int64(game.num_sides)):
        value = worth(scratch.table, game, side)
        bounds[0, side] = value if first else min(bounds[0, side], value)
        bounds[1, side] = value if first else max(bounds[1, side], value)
        for i in range(length):
            node = tree[path[i]]
            if node.side == side:
                node.visits += 1
                node.total += value


@kernel
def most_visited(tree: np.ndarray) -> int:
    """Most visited child of the root; ties go to the higher mean."""
    best = int64(tree[0].child)
    child = int64(tree[best].sibling)
    while child != 0:
        more = int64(tree[child].visits) - int64(tree[best].visits)
        if more > 0 or (more == 0 and tree[child].total > tree[best].total):
            best = child
        child = int64(tree[child].sibling)
    return best


@kernel
def grow(chunk: int, key: int, settings: Settings, scratch: Scratch) -> None:
    """Run one chunk of iterations from the seat's view in scratch.stack[0]; its hidden tiles are filled in here."""
    root, stack = scratch.tree[0], scratch.stack
    if chunk == 0:
        root.child = 0
        root.visits = 1  # at the root: nodes in use
    used, playout = int64(root.visits), int64(settings.playout)
    state = stream(key, chunk)
    for i in range(int64(settings.budget)):
        state = sample(scratch.beliefs[0], scratch.cells, stack[0], state)
        stack[1] = stack[0]
        world_key = mix(np.uint64(state))
        length, used = descend(stack[1], scratch.tree, used, world_key, settings.explore, scratch.bounds, scratch.path)
        world = stack[1]
        while world.phase == PLAYING:
            play(world, choose(world, playout, decision_key(world_key, world)))
        credit_path(length, i == 0 and chunk == 0, scratch)
    root.visits = used


@entry
def search_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    chunk: int,
    settings_row: np.ndarray,
    scratch: Scratch,
    actions: np.ndarray,
) -> int:
    """Choose an action for the seat to act in every game from `first` on.

    Args:
        games: views of the seats to act; hidden fields of full records are never read.
        first: index of the first game.
        keys: uint64 [N], the only source of randomness.
        chunk: 0 to start a search; otherwise the search of the game `first` continues with this chunk.
        settings_row: dtype `SETTINGS` [1]; the budget is in iterations.
        scratch: see `Scratch`.
        actions: written, int64 [N].

    Returns:
        N, or the index of a game that needs more cells.
    """
    scratch = borrow_scratch(scratch)
    for i in range(first, len(games)):
        game = games[i]
        forced = forced_move(game, True)
        if forced >= 0:
            actions[i] = forced
            continue
        if chunk == 0 and not prepare(game, int64(game.turn), scratch.beliefs[0], scratch.cells):
            return i
        scratch.stack[0] = game
        grow(chunk, keys[i], settings_row[0], scratch)
        actions[i] = int64(scratch.tree[most_visited(scratch.tree)].action)
    return len(games)


class ISMCTS(Searcher):
    """Information-set Monte Carlo tree search with a single observer.

    Args:
        iterations: worlds per decision, each with one playout.
        playout: kernel policy that plays on from the edge of the tree.
        equity: value a round by the chance to win the match; otherwise by the difference of raw scores.
        explore: weight of the exploration term, for values scaled to the range 0 to 1.
        ms: milliseconds per decision instead of a number of iterations. The choices then depend on the speed of the
            machine and are not reproducible.

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
        self.settings = np.zeros(1, SETTINGS)
        self.settings["budget"] = checked_count("iterations", iterations, 1, 10**7)
        self.settings["playout"] = checked_playout(playout)
        self.equity = checked_flag("equity", equity)
        self.settings["explore"] = checked_number("explore", explore, 0, 100)
        self.ms = checked_milliseconds(ms)

    def _search(
        self, workspace: Workspace, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        settings = self._settings(chunk, CHUNK)
        workspace.plant(int(settings["budget"][0]) if chunk is None else MOST_TIMED)
        workspace.run(
            len(games),
            lambda first, scratch: search_many(games, first, keys, chunk or 0, settings, scratch, actions),
        )
        return True
