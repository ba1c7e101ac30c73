"""The names under which Gymnasium and PettingZoo make the environments."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest

from fiveup_env.envs import ENV_ID, register_envs
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.pettingzoo_aec import FiveUpAEC


def test_registering_twice_is_as_good_as_once() -> None:
    register_envs()
    spec = gymnasium.spec(ENV_ID)
    register_envs()
    assert gymnasium.spec(ENV_ID) is spec
    assert ENV_ID == "fiveup_env/FiveUp-v0"


def test_make_passes_the_options_on() -> None:
    env = gymnasium.make(ENV_ID, num_players=3, opponents="greedy", draws="auto")
    assert isinstance(env.unwrapped, FiveUpEnv)
    assert env.unwrapped.options.num_players == 3 and env.unwrapped.options.draws == "auto"
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space


def test_single_envs_in_gymnasiums_vector_env() -> None:
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, vectorization_mode="sync", num_players=2)
    _, infos = envs.reset(seed=1)
    for _ in range(30):
        actions = np.array([np.flatnonzero(mask)[0] if mask.any() else 0 for mask in infos["action_mask"]])
        _, rewards, *_, infos = envs.step(actions)
        assert rewards.shape == (3,) and infos["action_mask"].shape == (3, 121)
    envs.close()


def test_make_vec_gives_the_native_vector_env() -> None:
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, num_players=2, opponents="greedy")
    assert isinstance(envs.unwrapped, FiveUpVectorEnv) and envs.spec is not None and envs.spec.id == ENV_ID
    observations, _ = envs.reset(seed=[1, 2, 3])
    assert observations["action_mask"].shape == (3, 121)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has no registry before 1.27")
def test_pettingzoo_makes_it() -> None:
    env = pettingzoo.make("aec", ENV_ID, num_players=3, draws="auto")
    assert isinstance(env.unwrapped, FiveUpAEC)
    assert env.unwrapped.options.num_players == 3 and env.unwrapped.options.draws == "auto"
    env.reset(seed=2)
    seen, *_, info = env.last()
    assert np.array_equal(seen["action_mask"], info["action_mask"]) and env.state().shape == env.state_space.shape
    together = pettingzoo.make("parallel", ENV_ID, num_players=2)
    observations, infos = together.reset(seed=2)
    assert set(observations) == set(infos) == {"player_0", "player_1"}


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has no registry before 1.27")
@pytest.mark.parametrize("imports", ["fiveup_env, pettingzoo", "pettingzoo, fiveup_env"])
def test_pettingzoo_knows_the_ids_whatever_is_imported_first(imports: str) -> None:
    code = f"import {imports}; print(pettingzoo.spec('aec', 'fiveup_env/FiveUp-v0').entry_point)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "fiveup_env.fiveup_v0:env"


@pytest.mark.parametrize("wrapped", [True, False])
def test_masks_are_where_libraries_look(wrapped: bool) -> None:
    """In the observation, in the info and by `action_masks()`: of the single env, and of the native vector env."""
    env = gymnasium.make(ENV_ID) if wrapped else FiveUpEnv()
    seen, info = env.reset(seed=3)
    masks = env.get_wrapper_attr("action_masks")()
    assert np.array_equal(seen["action_mask"], info["action_mask"]) and np.array_equal(masks, info["action_mask"] != 0)
    envs = gymnasium.make_vec(ENV_ID, num_envs=2)
    seen, info = envs.reset(seed=3)
    masks = envs.unwrapped.action_masks()
    assert np.array_equal(seen["action_mask"], info["action_mask"]) and np.array_equal(masks, info["action_mask"] != 0)
