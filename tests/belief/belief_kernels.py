"""Entries that let the tests call the building blocks of the exact belief as a search agent would."""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.deal_counts import prepare
from fiveup_env.belief.exact_belief import deal_way, sample
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.random import below, stream
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.turn import count_legal, nth_legal, play


@entry
def prepare_in(games: np.ndarray, seat: int, beliefs: np.ndarray, cells: np.ndarray) -> bool:
    """`prepare` for games[0] with the caller's scratch."""
    return prepare(games[0], seat, beliefs[0], cells)


@entry
def deal_all_ways(beliefs: np.ndarray, cells: np.ndarray, worlds: np.ndarray) -> None:
    """Way number i into worlds[i]."""
    for i in range(len(worlds)):
        deal_way(beliefs[0], cells, i, worlds[i])


@entry
def look_ahead(
    games: np.ndarray, seat: int, beliefs: np.ndarray, cells: np.ndarray, worlds: np.ndarray, seed: int
) -> bool:
    """As a search does: one belief, then each world is a copy of games[0] with a sample in it, played out at random."""
    if not prepare(games[0], seat, beliefs[0], cells):
        return False
    state = stream(seed, 0)
    for i in range(len(worlds)):
        worlds[i] = games[0]
        state = sample(beliefs[0], cells, worlds[i], state)
        while worlds[i].phase == PLAYING:
            choice, state = below(state, count_legal(worlds[i]))
            play(worlds[i], nth_legal(worlds[i], choice))
    return True
