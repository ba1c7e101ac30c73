"""Entries over many matches at once."""

from __future__ import annotations

import numpy as np

from fiveup_env.jit.compilation import entry
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import GAME, start_match


@entry
def spread_seeds(seed: int, first: int, seeds: np.ndarray) -> None:
    """Write streams `first`, `first + 1`, ... of a seed (uint64): seeds of their own, uint64 [N]."""
    for i in range(len(seeds)):
        seeds[i] = stream(seed, first + i)


def copy_games(games: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Copies of games[rows], or of all, as an array of records [K].

    As plain bytes: NumPy copies structured records field by field, which takes ten to forty times as long.
    """
    plain = np.ascontiguousarray(games, GAME).view(f"V{GAME.itemsize}")
    return (plain.copy() if rows is None else plain[rows]).view(GAME)


@entry
def begin(games: np.ndarray, rows: np.ndarray, seeds: np.ndarray) -> None:
    """Begin games[rows[i]] at 0 : 0 with the first deal of seeds[i]; `rows` is int64 [K], `seeds` uint64 [K]."""
    for i in range(len(rows)):
        start_match(games[rows[i]], seeds[i])
