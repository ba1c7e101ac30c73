"""The kinds of the observation section `belief`, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fiveup_env.belief.approximation import LikelyHands
from fiveup_env.belief.marginals import BeliefWriter, Marginals, belief_shape
from fiveup_env.views.view import Views

EXACT, LIKELY = "exact", "likely"
BELIEF_WRITERS: dict[str, Callable[[int], BeliefWriter]] = {EXACT: Marginals, LIKELY: LikelyHands}


def belief_writer(kind: str, threads: int = 1) -> BeliefWriter:
    """What writes the section.

    Args:
        kind: "exact" (`marginals`) or "likely" (`likely`).
        threads: cores to use; results do not depend on it.

    Raises:
        ValueError: if there is no such kind.
    """
    if kind not in BELIEF_WRITERS:
        raise ValueError(f"belief must be one of {', '.join(map(repr, BELIEF_WRITERS))}, not {kind!r}")
    return BELIEF_WRITERS[kind](threads)


def beliefs_of(views: Views, kind: str = EXACT) -> np.ndarray:
    """Return where every tile may be, float32 [N, n, 28]: a row per other seat, clockwise, then the boneyard.

    Args:
        views: views of N matches with n players.
        kind: "exact": P(the tile is there | everything the seat has seen this round), every consistent deal equally
            likely; "likely": the same with deals weighed by the choice model, approximated (see `approximation`).

    Raises:
        ValueError: if there is no such kind.
    """
    out = np.zeros((len(views), *belief_shape(views.num_players)), np.float32)
    belief_writer(kind).write(views.games, views.seats, out)
    return out
