"""The speed of the AEC env, measured beside an empty environment and PettingZoo's hanabi in the same run."""

from __future__ import annotations

import pytest

from fiveup_env import fiveup_v0
from fiveup_env.benchmarks.aec_speed import EmptyAEC, agent_steps_per_second, compare, contestants, in_wrappers
from tests.envs.environments import PLAYERS, same


@pytest.mark.parametrize("num_players", PLAYERS)
def test_all_contestants_run(num_players: int) -> None:
    for make in contestants(num_players).values():
        assert agent_steps_per_second(make(), 300) > 0


def test_the_empty_env_has_the_agents_and_spaces_of_the_game() -> None:
    empty, game = EmptyAEC(3), fiveup_v0.raw_env(num_players=3)
    game.reset(seed=0)
    empty.reset()
    assert empty.possible_agents == game.possible_agents
    assert same(empty.observe("player_1"), game.observe(game.agent_selection))
    for agent in empty.agents:
        assert empty.observation_space(agent) == game.observation_space(agent)
        assert empty.action_space(agent) == game.action_space(agent)


def test_the_wrappers_are_those_of_env() -> None:
    ours, compared = fiveup_v0.env(), in_wrappers(EmptyAEC())
    for _ in range(3):
        assert type(ours) is type(compared)
        ours, compared = ours.env, compared.env


@pytest.mark.slow
def test_fast_beside_others() -> None:
    """Ten times hanabi raw, 80% of an empty env in the same wrappers; the best of five, for a machine in use."""
    results = [compare(steps=2_000, repeats=15) for _ in range(5)]
    assert max(speeds["five up, wrapped"] / speeds["empty, wrapped"] for speeds in results) >= 0.8
    if "hanabi, raw" not in results[0]:
        pytest.skip("PettingZoo's hanabi needs shimmy and open_spiel")
    assert max(speeds["five up, raw"] / speeds["hanabi, raw"] for speeds in results) >= 10
