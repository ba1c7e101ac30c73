"""The kinds of the observation section `belief`, by name."""

from __future__ import annotations

from collections.abc import Callable

from fiveup_env.belief.approximation import LikelyHands
from fiveup_env.belief.marginals import BeliefWriter, Marginals

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
