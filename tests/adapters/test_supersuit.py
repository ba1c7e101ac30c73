"""SuperSuit's wrappers that apply, and Shimmy's conversion of the OpenSpiel game."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("supersuit", reason="supersuit is not installed: pip install 'fiveup-env[supersuit]'")

import supersuit
from pettingzoo import AECEnv

from fiveup_env import fiveup_v0


def vector(env: AECEnv) -> AECEnv:
    """Observations without the mask, which stays in the infos; most SuperSuit wrappers require this."""
    return supersuit.observation_lambda_v0(env, lambda seen, _: seen["observation"], lambda space: space["observation"])


DICT: dict[str, Callable[[AECEnv], AECEnv]] = {
    "pad_action_space_v0": supersuit.pad_action_space_v0,
    "clip_reward_v0": supersuit.clip_reward_v0,
    "sticky_actions_v0": lambda env: supersuit.sticky_actions_v0(env, 0.0),
    "reward_lambda_v0": lambda env: supersuit.reward_lambda_v0(env, lambda reward: 2 * reward),
}
VECTOR: dict[str, tuple[Callable[[AECEnv], AECEnv], int]] = {
    "flatten_v0": (supersuit.flatten_v0, 453),
    "frame_stack_v1": (lambda env: supersuit.frame_stack_v1(env, 3), 3 * 453),
    "dtype_v0": (lambda env: supersuit.dtype_v0(env, np.float16), 453),
    "normalize_obs_v0": (supersuit.normalize_obs_v0, 453),
    "delay_observations_v0": (lambda env: supersuit.delay_observations_v0(env, 1), 453),
    "agent_indicator_v0": (supersuit.agent_indicator_v0, 453 + 4),
    "max_observation_v0": (lambda env: supersuit.max_observation_v0(env, 2), 453),
}


def played(env: AECEnv) -> tuple[list[int], dict[str, float]]:
    """Play a round of first legal actions; return observation lengths and total rewards."""
    lengths, got = [], dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=1)
    for agent in env.agent_iter():
        seen, reward, termination, truncation, info = env.last()
        got[agent] += reward
        over = termination or truncation
        assert over or info["action_mask"].any()
        lengths.append(len(seen["observation"] if isinstance(seen, dict) else seen))
        env.step(None if over else int(np.flatnonzero(info["action_mask"])[0]))
    return lengths, got


def make() -> AECEnv:
    return fiveup_v0.raw_env(num_players=4, episode="round", reward="points")


@pytest.mark.parametrize("name", DICT)
def test_on_the_environment_as_it_is(name: str) -> None:
    _, plain = played(make())
    _, got = played(DICT[name](make()))
    factor = 2 if name == "reward_lambda_v0" else 1
    assert all(abs(got[agent] - factor * plain[agent]) < 1e-6 for agent in plain) and any(plain.values())


@pytest.mark.parametrize("name", VECTOR)
def test_on_observations_with_the_mask_beside(name: str) -> None:
    wrapper, length = VECTOR[name]
    lengths, got = played(wrapper(vector(make())))
    assert set(lengths) == {length}
    assert got == played(make())[1]


def test_openspiels_game_by_shimmy() -> None:
    pytest.importorskip("shimmy", reason="shimmy is not installed: pip install 'fiveup-env[supersuit]'")
    pyspiel = pytest.importorskip("pyspiel", reason="pyspiel is not installed: pip install 'fiveup-env[openspiel]'")
    from shimmy import OpenSpielCompatibilityV0

    import fiveup_env.adapters.openspiel  # noqa: F401 - registers the game

    env = OpenSpielCompatibilityV0(env=pyspiel.load_game("fiveup(episode=round,reward=points)"))
    lengths, got = played(env)
    assert set(lengths) == {453}
    # Shimmy adds the last rewards again whenever an agent is stepped with None, so only signs are the game's.
    assert [np.sign(got[agent]) for agent in env.possible_agents] in ([1, -1, 1, -1], [-1, 1, -1, 1])
