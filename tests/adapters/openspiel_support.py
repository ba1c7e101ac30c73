"""Walks through states of the registered game."""

from __future__ import annotations

import random
from typing import Any

import pytest

WHY = "needs open-spiel (pip install 'fiveup-env[openspiel]', Python 3.11 or later)"
pyspiel = pytest.importorskip("pyspiel", reason=WHY)

TINY = {"players": 2, "hand_size": 2, "max_pip": 2, "episode": "round", "opener": 0}


def decide(state: Any, rng: random.Random) -> int:
    """A random action, or a chance outcome by its probability."""
    if state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        return rng.choices(outcomes, weights)[0]
    return rng.choice(state.legal_actions())


def random_state(game: Any, seed: int, moves: int) -> Any:
    """First state after `moves` random moves in which a seat is to act, or the end."""
    rng, state = random.Random(seed), game.new_initial_state()
    while not state.is_terminal() and (moves > 0 or state.is_chance_node()):
        state.apply_action(decide(state, rng))
        moves -= 1
    return state
