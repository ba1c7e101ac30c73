"""Entries that let the tests call the building blocks of the exact belief as a search agent would."""

from __future__ import annotations

import numpy as np

from fiveup_env.encoding.deal_counts import prepare
from fiveup_env.encoding.exact_belief import deal_way
from fiveup_env.rules.kernels import entry


@entry
def prepare_in(games: np.ndarray, seat: int, beliefs: np.ndarray, cells: np.ndarray) -> bool:
    """`prepare` for games[0] with the caller's scratch."""
    return prepare(games[0], seat, beliefs[0], cells)


@entry
def deal_all_ways(beliefs: np.ndarray, cells: np.ndarray, worlds: np.ndarray) -> None:
    """Way number i into worlds[i]."""
    for i in range(len(worlds)):
        deal_way(beliefs[0], cells, i, worlds[i])
