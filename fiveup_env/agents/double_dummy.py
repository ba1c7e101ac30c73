"""Double-dummy analysis: what each action is worth when all hands are known and nothing is left to draw.

Both sides of a two-sided match play perfectly; with three sides every seat takes what is worth most to itself (see
`agents.endgame`). This looks at every hand, so it is for analysis and for worlds that a search has made up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy import int64

from fiveup_env.agents.endgame import new_frames, new_stack, solve
from fiveup_env.agents.equity import table_for
from fiveup_env.rules.game import PLAYING
from fiveup_env.rules.kernels import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

DEFAULT_MOST_TILES = 14


@entry
def _solve_actions(
    games: np.ndarray,
    stack: np.ndarray,
    frames: np.ndarray,
    table: np.ndarray,
    actions: np.ndarray,
    values: np.ndarray,
) -> int:
    """Write the legal actions and what they are worth to the side to act; returns how many there are."""
    game = games[0]
    side, count = side_of(game, int64(game.turn)), count_legal(game)
    for i in range(count):
        actions[i] = nth_legal(game, i)
        stack[0] = game
        play(stack[0], actions[i])
        values[i] = solve(stack, frames, 0, side, table)
    return count


@entry
def _best_line(
    games: np.ndarray,
    stack: np.ndarray,
    frames: np.ndarray,
    table: np.ndarray,
    line: np.ndarray,
) -> int:
    """Write the actions of perfect play to the end of the round, the first in order of ids of equal ones."""
    game, length = games[0], 0
    while game.phase == PLAYING:
        side, best, most = side_of(game, int64(game.turn)), -1, -1e300
        for i in range(count_legal(game)):
            action = nth_legal(game, i)
            stack[0] = game
            play(stack[0], action)
            value = solve(stack, frames, 0, side, table)
            if value > most:
                best, most = action, value
        play(game, best)
        line[length] = best
        length += 1
    return length


@dataclass(frozen=True)
class Solution:
    """Perfect play from a position.

    Attributes:
        actions: legal actions, ascending.
        values: what each is worth to the side to act: chance to win the match, or raw points of difference.
        line: one line of perfect play to the end of the round.
    """

    actions: tuple[int, ...]
    values: tuple[float, ...]
    line: tuple[int, ...]


def double_dummy(match: Match, *, equity: bool = True, most_tiles: int = DEFAULT_MOST_TILES) -> Solution:
    """Solve a position with an empty boneyard, all hands known.

    Args:
        match: a round under way.
        equity: value the end of the round by the chance to win the match, else by the difference of raw scores.
        most_tiles: refuse positions with more tiles in the hands, which may take very long.

    Raises:
        ValueError: if the match is over, tiles are left to draw, or more than `most_tiles` are held.
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
    table = table_for(match.variant, equity)
    stack, frames = new_stack(), new_frames()
    actions, values, line = np.empty(121, np.int64), np.empty(121), np.empty(len(stack), np.int64)
    count = _solve_actions(match.copy()._games, stack, frames, table, actions, values)
    length = _best_line(match.copy()._games, stack, frames, table, line)
    return Solution(
        tuple(int(a) for a in actions[:count]),
        tuple(float(v) for v in values[:count]),
        tuple(int(a) for a in line[:length]),
    )
