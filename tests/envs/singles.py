"""What the tests of the single-learner env share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fiveup_env.agents.baselines import Random
from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.views.view import View, Views

Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


class Asked(Policy):
    """Plays like `random`, but compiled code has to ask it; notes the seats for which it was asked."""

    name = "asked"

    def __init__(self) -> None:
        self.seats: list[int] = []

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        self.seats += views.seats.tolist()
        return Random().act_many(views, keys)


class Remembering:
    """An agent with random numbers and a memory of its own."""

    def reset(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.asked = 0

    def act(self, view: View) -> int:
        self.asked += 1
        assert view.turn == view.seat
        return int(self.random.choice(view.legal_actions()))


def legal_action(info: dict[str, Any], chance: np.random.Generator) -> int:
    """A random legal action."""
    return int(chance.choice(np.flatnonzero(info["action_mask"])))


def episode(env: FiveUpEnv, info: dict[str, Any], chance: np.random.Generator) -> list[Step]:
    """Play on at random to the end of the episode."""
    steps: list[Step] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(legal_action(info, chance)))
        info = steps[-1][4]
    return steps


def same(left: Any, right: Any) -> bool:
    """Whether two observations, infos or steps are equal to the last bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return type(left) is type(right) and left == right
