"""Stable-Baselines3: masks where sb3-contrib looks for them, and MaskablePPO on `FiveUpSB3VecEnv` and `FiveUpEnv`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from sb3_contrib.common.maskable.evaluation import evaluate_policy  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv, VecMonitor  # noqa: E402

from fiveup_env.envs.gymnasium_single import FiveUpEnv  # noqa: E402
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv  # noqa: E402
from fiveup_env.envs.sb3 import FiveUpSB3VecEnv  # noqa: E402
from fiveup_env.rules.match import IllegalActionError  # noqa: E402
from tests.envs.environments import any_legal, same  # noqa: E402
from tests.envs.trace import same_bits  # noqa: E402

COUNT = 6
SHORT: dict[str, Any] = {"max_rounds": 2, "reward": "points", "opponents": "greedy", "draws": "auto"}
TINY_BELIEF: dict[str, Any] = {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11}


@pytest.fixture
def env() -> FiveUpSB3VecEnv:
    return FiveUpSB3VecEnv(COUNT, seed=0, **SHORT)


def test_it_is_a_vecenv_with_masks(env: FiveUpSB3VecEnv) -> None:
    assert isinstance(env, VecEnv) and env.num_envs == COUNT
    assert env.observation_space.shape == (453,) and env.observation_space.dtype == np.float32
    assert env.action_space.n == 121
    env.reset()
    assert env.has_attr("action_masks") and not env.has_attr("no_such_thing")
    assert is_masking_supported(env)
    masks = env.env_method("action_masks")
    assert len(masks) == COUNT and masks[0].shape == (121,) and masks[0].dtype == np.bool_
    assert same_bits(np.stack(masks), env.action_masks()) and same_bits(get_action_masks(env), env.action_masks())
    two = env.env_method("action_masks", indices=[1, 4])
    assert len(two) == 2 and same_bits(two[1], masks[4])
    assert len(env.env_method("action_masks", indices=3)) == 1


@pytest.mark.parametrize("kind", [{}, TINY_BELIEF], ids=str)
def test_steps_are_those_of_the_vector_env(kind: dict[str, Any]) -> None:
    """With a belief, observations are dicts."""
    env, native = FiveUpSB3VecEnv(COUNT, seed=0, **SHORT, **kind), FiveUpVectorEnv(COUNT, **SHORT, **kind)
    assert isinstance(env.observation_space, spaces.Dict) == bool(kind)

    def seen_by_sb3(shown: dict[str, np.ndarray]) -> Any:
        return {name: shown[name] for name in ("observation", "belief")} if kind else shown["observation"]

    seen, (shown, _) = env.reset(), native.reset(seed=0)
    chance, ended, steps = np.random.default_rng(0), 0, 0
    returns, lengths = np.zeros(COUNT), np.zeros(COUNT, int)
    while ended < 15:
        assert same(seen, seen_by_sb3(shown))
        assert ({name: part[0] for name, part in seen.items()} if kind else seen[0]) in env.observation_space
        actions = any_legal(env.action_masks(), chance)
        seen, rewards, dones, infos = env.step(actions)
        shown, wanted, terminated, truncated, info = native.step(actions)
        steps += 1
        assert rewards.dtype == np.float32 and same_bits(rewards, wanted.astype(np.float32))
        assert same_bits(dones, terminated | truncated)
        returns += wanted
        lengths += 1
        for i in range(COUNT):
            if not dones[i]:
                assert infos[i] == {}
                continue
            ended += 1
            assert same(infos[i]["terminal_observation"], seen_by_sb3(info["final_obs"][i]))
            assert infos[i]["TimeLimit.truncated"] == bool(truncated[i])
            assert infos[i]["is_success"] == bool(info["final_info"]["is_success"][i])
            assert infos[i]["episode"]["r"] == pytest.approx(returns[i], abs=1e-9)
            assert infos[i]["episode"]["l"] == lengths[i] and infos[i]["episode"]["t"] == steps
            returns[i] = lengths[i] = 0


def test_observations_stay_when_the_next_step_is_made(env: FiveUpSB3VecEnv) -> None:
    """SB3 keeps the last ones while it steps on."""
    chance = np.random.default_rng(0)
    first = env.reset()
    kept = first.copy()
    for _ in range(3):
        env.step(any_legal(env.action_masks(), chance))
    assert same_bits(first, kept)


def test_seeds_repeat() -> None:
    def run(env: FiveUpSB3VecEnv) -> list[np.ndarray]:
        chance = np.random.default_rng(0)
        return [env.reset(), *(env.step(any_legal(env.action_masks(), chance))[0] for _ in range(20)), env.reset()]

    one = FiveUpSB3VecEnv(COUNT, seed=3, **SHORT)
    first, second = run(one), run(FiveUpSB3VecEnv(COUNT, seed=3, **SHORT))
    assert all(map(same_bits, first, second))
    assert not np.array_equal(first[0], first[-1]), "a second reset continues the streams"
    assert one.seed(3) == [3] * COUNT
    assert all(map(same_bits, first, run(one)))


def test_attributes_and_wrappers(env: FiveUpSB3VecEnv) -> None:
    assert env.get_attr("num_envs", indices=[0, 1]) == [COUNT] * 2 and env.get_attr("render_mode") == [None] * COUNT
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        env.set_attr("colour", "red")
    with pytest.raises(AttributeError, match="colour"):
        env.get_attr("colour")
    env.env_method("set_opponents", "random")
    with pytest.warns(UserWarning, match="already wrapped"):  # so SB3 adds no Monitor by itself
        monitored = VecMonitor(env)
    monitored.reset()
    chance, ended = np.random.default_rng(0), 0
    while not ended:
        _, _, dones, infos = monitored.step(any_legal(env.action_masks(), chance))
        ended += dones.sum()
    assert {"r", "l", "t"} <= set(infos[int(dones.argmax())]["episode"])
    with pytest.raises(IllegalActionError, match="no match was moved"):
        env.step(np.full(COUNT, 120))
    env.close()


def learns(model: MaskablePPO, steps: int) -> None:
    """Train, and check that the parameters have changed and that SB3 got `is_success`."""
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(steps)
    assert model.num_timesteps == steps and model.ep_info_buffer and model.ep_success_buffer
    after = list(model.policy.parameters())
    assert all(bool(parameter.isfinite().all()) for parameter in after)
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize(("policy", "given"), [("MlpPolicy", {}), ("MultiInputPolicy", TINY_BELIEF)])
def test_maskable_ppo_learns_and_never_plays_an_illegal_action(policy: str, given: dict[str, Any]) -> None:
    env = FiveUpSB3VecEnv(16, seed=0, **SHORT, **given)
    model = MaskablePPO(policy, env, n_steps=16, batch_size=128, n_epochs=1, seed=0, device="cpu")
    learns(model, 16 * 16 * 3)
    observation = env.reset()
    for _ in range(50):
        actions, _ = model.predict(observation, action_masks=get_action_masks(env))
        observation, *_ = env.step(actions)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_players": 2, "episode": "round", "draws": "auto"},
        {"num_players": 4, "max_rounds": 1, "reward": "points", "opponents": "greedy", "history_length": 6},
    ],
    ids=["terminated", "truncated"],
)
def test_maskable_ppo_learns_on_single_environments(kwargs: dict[str, Any]) -> None:
    envs = make_vec_env(FiveUpEnv, n_envs=2, seed=0, env_kwargs={**kwargs, "illegal_action": "raise"})
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
    learns(model, 256)
    returns, lengths = evaluate_policy(model, envs, n_eval_episodes=4, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 4 and np.isfinite(returns).all()


def test_an_end_shows_the_mask_of_the_new_episode() -> None:
    """With SB3's vector env a policy never meets the all-zero mask of an end; it is in `terminal_observation`."""
    envs = make_vec_env(FiveUpEnv, n_envs=1, seed=1, env_kwargs={"num_players": 2, "episode": "round"})
    envs.reset()
    ends = 0
    for _ in range(200):
        masks = np.stack(envs.env_method("action_masks"))
        assert masks.any()
        observations, _, dones, infos = envs.step(masks.argmax(1))
        assert isinstance(observations, dict) and observations["action_mask"].any()
        if dones[0]:
            ends += 1
            assert not infos[0]["terminal_observation"]["action_mask"].any()
    assert ends > 5
