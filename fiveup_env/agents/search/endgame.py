"""Rounds whose boneyard is empty, solved exactly for a known deal.

With all hands known and nothing left to draw there is no chance any more. Two sides play a zero-sum game: depth-first
alpha-beta, the move of most points first. Three sides: max-n (Luckhardt and Irani, 1986), every seat takes what is
worth most to itself; of equally good actions the first in order of ids, so the values are well defined.

A position is a record on a stack that the caller owns; its children are made one above it, and a frame beside it says
how far the search has got there. (No recursion: numba cannot load recursive functions from its cache.)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import greedy_action
from fiveup_env.agents.search.equity import worth
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import GAME, PLAYING, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

STACK = 144  # more than the actions a round can have (MAX_HISTORY), so more than it can need
INFINITE = 1e9

Frame: TypeAlias = Any
"""A record of dtype `FRAME`, or inside kernels a reference to one."""

FRAME = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("cursor", "i8"),  # -1: the move of most points comes next; else which legal action does
                ("count", "i8"),  # legal actions
                ("first", "i8"),  # the action that was tried first
                ("low", "f8"),  # what side 0 is sure of elsewhere
                ("high", "f8"),  # what side 1 can hold it to elsewhere
                ("values", "f8", 3),  # best so far: to side 0, or to every side
            ],
            align=True,
        ),
    )
)
"""dtype of the state of the search at one position."""


def new_stack() -> np.ndarray:
    """Records for one search [STACK]."""
    return np.zeros(STACK, GAME)


def new_frames() -> np.ndarray:
    """Frames for one search [STACK]."""
    return np.zeros(STACK, FRAME)


@kernel
def tiles_held(game: Game) -> int:
    """Tiles in all hands together."""
    total = 0
    for seat in range(int64(game.num_players)):
        total += int64(game.hand_sizes[seat])
    return total


@kernel
def solvable(game: Game, most_tiles: int) -> bool:
    """Whether nothing is left to draw and at most so many tiles are held."""
    return game.boneyard_next == game.boneyard_end and tiles_held(game) <= most_tiles


@kernel
def enter(game: Game, frame: Frame, cursor: int) -> None:
    """Begin with a position; `cursor` is -1 to try the move of most points first, 0 to go by ids."""
    frame.cursor = cursor
    frame.count = count_legal(game)
    frame.first = greedy_action(game) if cursor < 0 else -1


@kernel
def next_action(game: Game, frame: Frame) -> int:
    """The next action to try, -1 if there is none (left)."""
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
    """Begin with a position between two sides; one that is over has its value at once."""
    enter(game, frame, -1)
    frame.low = low
    frame.high = high
    if game.phase != PLAYING:
        frame.values[0] = worth(table, game, 0)
    else:
        frame.values[0] = -INFINITE if maximises(game) else INFINITE


@kernel
def solve_two(stack: np.ndarray, frames: np.ndarray, root: int, table: np.ndarray) -> float:
    """Value to side 0 of stack[root] if both sides play perfectly (alpha-beta)."""
    depth = root
    enter_two(stack[root], frames[root], -INFINITE, INFINITE, table)
    while True:
        game, frame = stack[depth], frames[depth]
        action = next_action(game, frame) if frame.low < frame.high else -1
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
    """Begin with a position between three sides."""
    enter(game, frame, 0)
    for side in range(3):
        frame.values[side] = -INFINITE if game.phase == PLAYING else worth(table, game, side)


@kernel
def solve_three(stack: np.ndarray, frames: np.ndarray, root: int, table: np.ndarray) -> None:
    """Max-n: write what stack[root] is worth to every side into frames[root].values."""
    depth = root
    enter_three(stack[root], frames[root], table)
    while True:
        game, frame = stack[depth], frames[depth]
        action = next_action(game, frame)
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
