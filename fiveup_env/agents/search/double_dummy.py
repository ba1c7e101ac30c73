"""Double-dummy analysis: what each action is worth when all hands are known and nothing is left to draw.

Both sides of a two-sided match play perfectly; with three sides every seat takes what is worth most to itself (see
`agents.search.endgame`). This looks at every hand, so it is for analysis and for worlds that a search has made up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import int64

from fiveup_env.agents.search.endgame import new_frames, new_stack, solve
from fiveup_env.agents.search.equity import table_for
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

DEFAULT_MOST_TILES = 14
SOLVED_AT_ONCE = 64  # positions between two reports of progress


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
    """Write what the legal actions of games[first:last] are worth to the sides to act, float64 [N, 121]."""
    for i in range(first, last):
        game = games[i]
        side = side_of(game, int64(game.turn))
        for n in range(count_legal(game)):
            action = nth_legal(game, n)
            stack[0] = game
            play(stack[0], action)
            values[i, action] = solve(stack, frames, 0, side, table)


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
    stack = new_stack()
    line = np.empty(len(stack), np.int64)
    actions = match.legal_actions()
    values = action_values(match.copy()._games, equity=equity)[0]
    length = _best_line(match.copy()._games, stack, new_frames(), table_for(match.variant, equity), line)
    return Solution(
        tuple(actions), tuple(float(values[action]) for action in actions), tuple(int(a) for a in line[:length])
    )


def action_values(
    games: np.ndarray, *, equity: bool = True, progress: Callable[[int, int], None] | None = None
) -> np.ndarray:
    """What every legal action is worth to the side to act, float64 [N, 121], -inf for others; see `double_dummy`.

    Args:
        games: records [N] of rounds under way, boneyards empty, of one variant; how many tiles are held is not limited.
        equity: as of `double_dummy`.
        progress: called now and then with the numbers of positions that are solved and that there are.
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
