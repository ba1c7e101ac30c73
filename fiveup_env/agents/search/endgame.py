"""Exact solution of rounds with an empty boneyard and known hands (double-dummy analysis).

With all hands known and nothing left to draw there is no chance left. Two sides play a zero-sum game: depth-first
alpha-beta, the action with the most points first. Three sides: max-n (Luckhardt and Irani, 1986), each seat maximises
its own value; ties go to the lowest action id, so the values are well defined.

The caller owns a stack of records and one frame per record. The children of a position are made one record above it,
and its frame holds the state of the search there. (numba cannot load recursive functions from its cache.)

The solver reads every hand. Use it for analysis and for sampled worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import greedy_action
from fiveup_env.agents.search.equity import table_for, worth
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import GAME, PLAYING, Game, record_dtype
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

DEFAULT_MOST_TILES = 14
SOLVED_AT_ONCE = 64  # positions between two calls of `progress`
STACK = 144  # exceeds the number of actions in a round
INFINITE = 1e9

Frame: TypeAlias = Any
"""A record of dtype `FRAME`, or inside kernels a reference to one."""

FRAME = record_dtype(
    [
        ("cursor", "i8"),  # next legal action to try; -1: the one with the most points
        ("count", "i8"),  # legal actions
        ("first", "i8"),  # action tried first
        ("low", "f8"),  # value that side 0 already secures elsewhere
        ("high", "f8"),  # value to which side 1 can already limit side 0 elsewhere
        ("values", "f8", 3),  # best so far, to side 0 or to every side
    ]
)
"""dtype of the state of the search at one position."""


def new_stack() -> np.ndarray:
    """Blank records [STACK]."""
    return np.zeros(STACK, GAME)


def new_frames() -> np.ndarray:
    """Blank frames [STACK]."""
    return np.zeros(STACK, FRAME)


@kernel
def tiles_held(game: Game) -> int:
    """Number of tiles in all hands together."""
    total = 0
    for seat in range(int64(game.num_players)):
        total += int64(game.hand_sizes[seat])
    return total


@kernel
def solvable(game: Game, most_tiles: int) -> bool:
    """Whether the boneyard is empty and at most `most_tiles` tiles are held."""
    return game.boneyard_next == game.boneyard_end and tiles_held(game) <= most_tiles


@kernel
def enter(game: Game, frame: Frame, cursor: int) -> None:
    """Start a position; a `cursor` of -1 tries the action with the most points first, 0 follows the action ids."""
    frame.cursor = cursor
    frame.count = count_legal(game)
    frame.first = greedy_action(game) if cursor < 0 else -1


@kernel
def next_untried(game: Game, frame: Frame) -> int:
    """Next action to try, -1 if none is left."""
    cursor = int64(frame.cursor)
    if cursor < 0:
        frame.cursor = 0
        return int64(frame.first) if frame.count > 0 else -1
    while cursor < int64(frame.count):
        action = nth_legal(game, cursor)
        cursor += 1
        if action != int64(frame.first):
            frame.cursor = cursor
            return action
    frame.cursor = cursor
    return -1


@kernel
def maximises(game: Game) -> bool:
    """Whether side 0 is to act."""
    return side_of(game, int64(game.turn)) == 0


@kernel
def enter_two(game: Game, frame: Frame, low: float, high: float, table: np.ndarray) -> None:
    """Start a position between two sides; a finished one gets its value at once."""
    enter(game, frame, -1)
    frame.low = low
    frame.high = high
    if game.phase != PLAYING:
        frame.values[0] = worth(table, game, 0)
    else:
        frame.values[0] = -INFINITE if maximises(game) else INFINITE


@kernel
def solve_two(stack: np.ndarray, frames: np.ndarray, root: int, table: np.ndarray) -> float:
    """Value of stack[root] to side 0 under perfect play of both sides (alpha-beta)."""
    depth = root
    enter_two(stack[root], frames[root], -INFINITE, INFINITE, table)
    while True:
        game, frame = stack[depth], frames[depth]
        action = next_untried(game, frame) if frame.low < frame.high else -1
        if action >= 0:
            depth += 1
            stack[depth] = game
            play(stack[depth], action)
            enter_two(stack[depth], frames[depth], frame.low, frame.high, table)
        elif depth == root:
            return frame.values[0]
        else:
            value = frame.values[0]
            depth -= 1
            above = frames[depth]
            if maximises(stack[depth]):
                above.values[0] = max(above.values[0], value)
                above.low = max(above.low, value)
            else:
                above.values[0] = min(above.values[0], value)
                above.high = min(above.high, value)


@kernel
def enter_three(game: Game, frame: Frame, table: np.ndarray) -> None:
    """Start a position between three sides."""
    enter(game, frame, 0)
    for side in range(3):
        frame.values[side] = -INFINITE if game.phase == PLAYING else worth(table, game, side)


@kernel
def solve_three(stack: np.ndarray, frames: np.ndarray, root: int, table: np.ndarray) -> None:
    """Write the max-n value of stack[root] to every side into frames[root].values."""
    depth = root
    enter_three(stack[root], frames[root], table)
    while True:
        game, frame = stack[depth], frames[depth]
        action = next_untried(game, frame)
        if action >= 0:
            depth += 1
            stack[depth] = game
            play(stack[depth], action)
            enter_three(stack[depth], frames[depth], table)
        elif depth == root:
            return
        else:
            depth -= 1
            above, mover = frames[depth], int64(stack[depth].turn)
            if frame.values[mover] > above.values[mover]:
                for side in range(3):
                    above.values[side] = frame.values[side]


@kernel
def solve(stack: np.ndarray, frames: np.ndarray, root: int, side: int, table: np.ndarray) -> float:
    """Exact value of stack[root] to one side."""
    if int64(stack[root].num_sides) == 3:
        solve_three(stack, frames, root, table)
        return float(frames[root].values[side])
    value = solve_two(stack, frames, root, table)
    if side == 0:
        return value
    return 1.0 - value if len(table) > 0 else -value


@entry
def _solve_actions(
    games: np.ndarray,
    first: int,
    last: int,
    stack: np.ndarray,
    frames: np.ndarray,
    table: np.ndarray,
    values: np.ndarray,
) -> None:
    """Write the values of the legal actions of games[first:last] to the sides to act, float64 [N, 121]."""
    for i in range(first, last):
        game = games[i]
        side = side_of(game, int64(game.turn))
        for n in range(count_legal(game)):
            action = nth_legal(game, n)
            stack[0] = game
            play(stack[0], action)
            values[i, action] = solve(stack, frames, 0, side, table)


@dataclass(frozen=True)
class Solution:
    """Perfect play from a position.

    Attributes:
        actions: legal actions, ascending.
        values: value of each to the side to act: chance to win the match, or difference of raw scores.
        line: actions of perfect play to the end of the round; ties go to the lowest id.
    """

    actions: tuple[int, ...]
    values: tuple[float, ...]
    line: tuple[int, ...]


def double_dummy(match: Match, *, equity: bool = True, most_tiles: int = DEFAULT_MOST_TILES) -> Solution:
    """Solve a position with an empty boneyard and all hands known.

    Args:
        match: a match with a round in progress.
        equity: value the end of the round by the chance to win the match; otherwise by the difference of raw scores.
        most_tiles: refuse positions with more tiles in the hands; their solution may take very long.

    Raises:
        ValueError: if the match is over, the boneyard is not empty, or more than `most_tiles` tiles are held.
    """
    game = match.game
    if match.winner is not None:
        raise ValueError("the match is over: there is nothing to solve")
    if match.boneyard:
        raise ValueError(
            f"{len(match.boneyard)} tiles are left to draw: only an empty boneyard leaves nothing to chance"
        )
    held = sum(int(size) for size in game.hand_sizes)
    if held > most_tiles:
        raise ValueError(f"{held} tiles are held, more than {most_tiles}")
    actions, later, line = tuple(match.legal_actions()), match.copy(), list[int]()
    values = action_values(match._games, equity=equity)[0]
    while later.game.phase == PLAYING and later.round_number == match.round_number:
        line.append(int(action_values(later._games, equity=equity)[0].argmax()))
        later.play(line[-1])
    return Solution(actions, tuple(float(values[action]) for action in actions), tuple(line))


def action_values(
    games: np.ndarray, *, equity: bool = True, progress: Callable[[int, int], None] | None = None
) -> np.ndarray:
    """Value of every legal action to the side to act, float64 [N, 121], -inf for others; see `double_dummy`.

    Args:
        games: records [N] of one variant, rounds in progress and boneyards empty, with any number of tiles held.
        equity: see `double_dummy`.
        progress: called repeatedly with the number of solved positions and their total.
    """
    values = np.full((len(games), NUM_ACTIONS), -np.inf)
    if len(games):
        table = table_for(Match.of(games[0]).variant, equity)
        stack, frames = new_stack(), new_frames()
        for first in range(0, len(games), SOLVED_AT_ONCE):
            last = min(first + SOLVED_AT_ONCE, len(games))
            _solve_actions(games, first, last, stack, frames, table, values)
            if progress:
                progress(last, len(games))
    return values
