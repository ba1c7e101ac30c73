"""What the tests of the vector envs share."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from fiveup_env.agents.baseline_kernels import RANDOM, choose_many
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.envs.step_arrays import StepArrays
from tests.envs.trace import same_bits

NAMES = tuple(field.name for field in fields(StepArrays))


def snapshot(step: StepArrays) -> dict[str, np.ndarray]:
    """Copies of all arrays of a step."""
    return {name: getattr(step, name).copy() for name in NAMES}


def same_step(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Whether two snapshots are equal to the last bit where they mean something."""
    done = left["terminated"] | left["truncated"]

    def meant(step: dict[str, np.ndarray], name: str) -> np.ndarray:
        return step[name][done] if name.startswith("final_") and len(step[name]) else step[name]

    return all(same_bits(meant(left, name), meant(right, name)) for name in NAMES if name != "facts")


class Player:
    """Random legal actions for a vector env, the same for the same seed."""

    def __init__(self, env: SelfPlayVectorEnv, seed: int = 0) -> None:
        self.games = env.games
        self.random = np.random.default_rng(seed)
        self.actions = np.zeros(len(env.games), np.int64)

    def __call__(self) -> np.ndarray:
        keys = self.random.integers(2**64, size=len(self.actions), dtype=np.uint64)
        choose_many(self.games, RANDOM, keys, self.actions)
        return self.actions


def run(env: SelfPlayVectorEnv, steps: int, seed: int = 0, **reset: Any) -> list[dict[str, np.ndarray]]:
    """Snapshots of a reset and of `steps` random steps."""
    seen = [snapshot(env.reset(seed, **reset))]
    player = Player(env, seed)
    for _ in range(steps):
        seen.append(snapshot(env.step(player())))
    return seen


def any_legal(masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A random legal action per row of masks [N, 121], 0 where there is none."""
    return (masks * random.random(masks.shape)).argmax(1)
