"""Single-observer information-set Monte Carlo tree search (Cowling, Powley and Whitehouse, 2012).

One tree over the actions as the searching seat sees them. Every iteration samples a world that agrees with all it has
seen (`belief.exact_belief`), walks down the actions that are legal there, adds one node, and plays the round out.
Every seat maximises what its side gets, so partners share the value; an action's bonus counts how often it was
available, not how often its parent was visited. Values are scaled to what has been seen in this search, because a
round is worth little of a match at its beginning and all of it at its end.

Forced draws and passes are edges too, so seats that drew differently are told apart; they cost no iteration.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import pick, play_out_round
from fiveup_env.agents.search.equity import worth
from fiveup_env.belief.deal_counts import BeliefRecord, prepare
from fiveup_env.belief.exact_belief import sample
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.random import GOLDEN, mix, stream
from fiveup_env.rules.record import PLAYING, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

Node: TypeAlias = Any
"""A record of dtype `NODE`, or inside kernels a reference to one."""

NODE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("total", "f8"),  # value to the side that took the action, summed over visits
                ("visits", "i8"),
                ("available", "i8"),  # iterations in which the action could have been taken here
                ("action", "i4"),  # that led here
                ("side", "i4"),  # that took it
                ("child", "i4"),  # first child, 0 if none (the root is nobody's child)
                ("sibling", "i4"),  # next child of the same parent, 0 if none
            ],
            align=True,
        ),
    )
)
"""dtype of a node: an action at a place in the tree."""

DEEPEST = 144  # more than the actions a round can have


def new_tree(iterations: int) -> np.ndarray:
    """Nodes for a search: one for each iteration, and as many for forced actions."""
    return np.zeros(2 * iterations + DEEPEST, NODE)


@kernel
def find_child(tree: np.ndarray, parent: int, action: int) -> int:
    """The child that an action leads to, 0 if it has never been taken."""
    child = int64(tree[parent].child)
    while child != 0 and int64(tree[child].action) != action:
        child = int64(tree[child].sibling)
    return child


@kernel
def add_child(tree: np.ndarray, parent: int, at: int, action: int, side: int) -> None:
    """Write a node that has not been visited."""
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
def promise(node: Node, explore: float, bounds: np.ndarray) -> float:
    """Upper confidence bound of a visited node, with its mean scaled to 0 to 1 by the values seen so far."""
    side, visits = int64(node.side), float(int64(node.visits))
    low, high = bounds[0, side], bounds[1, side]
    mean = (node.total / visits - low) / (high - low) if high > low else 0.5
    return mean + explore * np.sqrt(np.log(float(int64(node.available))) / visits)


@kernel
def select(game: Game, tree: np.ndarray, parent: int, key: int, explore: float, bounds: np.ndarray) -> tuple[int, int]:
    """An action and the node it leads to: one never taken here if there is any (node 0), else the most promising."""
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
        value = promise(node, explore, bounds)
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
    """Walk down one world and add a node; returns the length of the path and the number of nodes used."""
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
def note(
    game: Game, tree: np.ndarray, path: np.ndarray, length: int, table: np.ndarray, bounds: np.ndarray, first: bool
) -> None:
    """Credit everybody on the path with what the finished round is worth to their side."""
    for side in range(int64(game.num_sides)):
        value = worth(table, game, side)
        bounds[0, side] = value if first else min(bounds[0, side], value)
        bounds[1, side] = value if first else max(bounds[1, side], value)
        for i in range(length):
            node = tree[path[i]]
            if node.side == side:
                node.visits += 1
                node.total += value


@kernel
def most_visited(tree: np.ndarray) -> int:
    """The root's most visited child; of equal ones that of higher mean."""
    best = int64(tree[0].child)
    child = int64(tree[best].sibling)
    while child != 0:
        more = int64(tree[child].visits) - int64(tree[best].visits)
        if more > 0 or (more == 0 and tree[child].total > tree[best].total):
            best = child
        child = int64(tree[child].sibling)
    return best


@kernel
def grow(
    tree: np.ndarray,
    iterations: int,
    chunk: int,
    key: int,
    belief: BeliefRecord,
    cells: np.ndarray,
    stack: np.ndarray,
    policies: np.ndarray,
    explore: float,
    table: np.ndarray,
    bounds: np.ndarray,
    path: np.ndarray,
) -> None:
    """Search from the seat's view in stack[0], whose hidden tiles are filled in here; stack[1] is scratch."""
    root = tree[0]
    if chunk == 0:
        root.child = 0
        root.visits = 1  # of the root: nodes in use
    used = int64(root.visits)
    state = stream(key, chunk)
    for i in range(iterations):
        state = sample(belief, cells, stack[0], state)
        stack[1] = stack[0]
        world_key = mix(np.uint64(state))
        length, used = descend(stack[1], tree, used, world_key, explore, bounds, path)
        play_out_round(stack[1], policies, world_key)
        note(stack[1], tree, path, length, table, bounds, i == 0 and chunk == 0)
    root.visits = used


@entry
def search_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    iterations: int,
    chunk: int,
    beliefs: np.ndarray,
    cells: np.ndarray,
    stack: np.ndarray,
    tree: np.ndarray,
    policies: np.ndarray,
    explore: float,
    table: np.ndarray,
    bounds: np.ndarray,
    actions: np.ndarray,
) -> int:
    """Choose an action for the seat to act in every game from `first` on.

    Args:
        games: views of the seats to act (or full records: what is hidden is never read).
        first: where to begin.
        keys: uint64 [N], all the chance there is.
        iterations: worlds for each decision.
        chunk: 0 to begin; else the search for the game `first` goes on, for the chunk-th time.
        beliefs, cells, stack, tree: scratch.
        bounds: scratch, float64 [2, 3]: least and greatest value of a round to each side.
        policies: kernel policy per seat in playouts, int64 [4].
        explore: weight of the exploration term.
        table: see `equity`.
        actions: written, int64 [N].

    Returns:
        N, or where to go on with more `cells`.
    """
    path = np.zeros(DEEPEST, np.int64)
    for i in range(first, len(games)):
        game = games[i]
        if count_legal(game) == 1:
            actions[i] = nth_legal(game, 0)
            continue
        if chunk == 0 and not prepare(game, int64(game.turn), beliefs[0], cells):
            return i
        stack[0] = game
        grow(tree, iterations, chunk, keys[i], beliefs[0], cells, stack, policies, explore, table, bounds, path)
        actions[i] = int64(tree[most_visited(tree)].action)
    return len(games)
