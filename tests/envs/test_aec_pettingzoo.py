"""PettingZoo's own tests, for 2, 3 and 4 players."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    performance_benchmark,
    render_test,
    seed_test,
)
from pettingzoo.test.seed_test import parallel_seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import BaseWrapper

from fiveup_env import fiveup_v0
from tests.envs.aecs import PLAYERS, legal

KINDS: list[dict[str, Any]] = [
    {},
    {"draws": "auto", "observation": "dict", "reward": "points"},
    {"episode": "round", "reward": "equity", "history_length": 12},
    {"max_rounds": 2},
    {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11},
]

# PettingZoo expects arrays as observations; that of its own card games, with the mask beside the array, it tolerates
# by a list of their names, on which no other package can be. An agent whose episode is over has no legal action.
expected = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros \\(no legal actions\\):UserWarning"),
]


def marked(test: Callable[..., None]) -> Callable[..., None]:
    for mark in expected:
        test = mark(test)
    return test


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("make", [fiveup_v0.env, fiveup_v0.raw_env])
@marked
def test_api(make: Callable[..., AECEnv], kind: dict[str, Any], num_players: int) -> None:
    api_test(make(num_players=num_players, **kind), num_cycles=200)


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_seed(kind: dict[str, Any], num_players: int) -> None:
    seed_test(lambda: fiveup_v0.env(num_players=num_players, **kind), num_cycles=100)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_render(num_players: int) -> None:
    render_test(lambda render_mode: fiveup_v0.env(num_players=num_players, render_mode=render_mode))


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parallel_api(kind: dict[str, Any], num_players: int) -> None:
    parallel_api_test(fiveup_v0.parallel_env(num_players=num_players, **kind), num_cycles=300)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_parallel_seed(num_players: int) -> None:
    parallel_seed_test(lambda: Obedient(fiveup_v0.env(num_players=num_players)).parallel(), num_cycles=100)


class Obedient(BaseWrapper):
    """Takes the first legal action for an illegal one, since some of PettingZoo's tests do not look at masks; and ends
    an episode after a number of turns of each agent, as its environments with `max_cycles` do."""

    def __init__(self, env: AECEnv, turns: int | None = None) -> None:
        super().__init__(env)
        self.turns = turns

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(0 if seed is None else seed, options)
        self.left = None if self.turns is None else self.turns

    def step(self, action: int | None) -> None:
        if action is not None:
            mask = self.observe(self.agent_selection)["action_mask"]
            action = action if mask[action] else legal(mask)[0]
        super().step(action)
        if action is not None and self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.unwrapped.truncations = dict.fromkeys(self.agents, True)

    def parallel(self) -> ParallelEnv:
        return turn_based_aec_to_parallel(self)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_max_cycles(num_players: int) -> None:
    """`max_cycles_test` is made for games in which all act at once, and for unmasked actions. A cycle is a step of the
    parallel env, and a turn of each agent in the AEC env; all tiles are dealt, so that nobody draws."""
    options = {2: {"hand_size": 14}, 3: {"hand_size": 7, "max_pip": 5}, 4: {"hand_size": 7}}[num_players]
    options |= {"num_players": num_players, "target": 6000}

    def env(max_cycles: int) -> AECEnv:
        return Obedient(fiveup_v0.env(**options), max_cycles * num_players)

    def parallel_env(max_cycles: int) -> ParallelEnv:
        return Obedient(fiveup_v0.env(**options), max_cycles).parallel()

    max_cycles_test(SimpleNamespace(env=env, parallel_env=parallel_env))


@pytest.mark.slow
@pytest.mark.parametrize("num_players", PLAYERS)
def test_performance_benchmark(num_players: int, capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(fiveup_v0.env(num_players=num_players))
    assert "turns per second" in capsys.readouterr().out
