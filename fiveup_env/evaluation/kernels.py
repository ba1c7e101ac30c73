"""The one kernel that match-ups add: many matches played on to where somebody has a choice again."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.envs.transition import resolve_forced
from fiveup_env.rules.kernels import entry
from fiveup_env.rules.turn import is_legal, play


@entry
def play_choices(games: np.ndarray, rows: np.ndarray, actions: np.ndarray, max_rounds: int) -> int:
    """Take actions[i] in the match games[rows[i]], then whatever leaves no choice (lone legal actions, next deals).

    Args:
        games: records; a match that is over, or has played `max_rounds` rounds (0: no limit), has left phase PLAYING.
        rows, actions: int64 [K].

    Returns:
        -1, or the first i whose action is illegal; rows from there on are untouched.
    """
    for i in range(len(rows)):
        game = games[rows[i]]
        if not is_legal(game, int64(actions[i])):
            return i
        play(game, int64(actions[i]))
        resolve_forced(game, True, False, max_rounds)
    return -1
