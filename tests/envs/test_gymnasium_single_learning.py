"""sb3-contrib's MaskablePPO learns on `FiveUpEnv`, through episode ends, truncations and evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fiveup_env.envs.gymnasium_single import FiveUpEnv

sb3_contrib = pytest.importorskip("sb3_contrib")


@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_players": 2, "episode": "round", "draws": "auto"},
        {"num_players": 4, "max_rounds": 1, "reward": "points", "opponents": "greedy", "history_length": 6},
    ],
    ids=["terminated", "truncated"],
)
def test_maskable_ppo_trains(kwargs: dict[str, Any]) -> None:
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(FiveUpEnv, n_envs=2, seed=0, env_kwargs={**kwargs, "illegal_action": "raise"})
    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu"
    )
    before = [value.clone() for value in model.policy.parameters()]
    model.learn(256)
    after = list(model.policy.parameters())
    assert all(bool(value.isfinite().all()) for value in after)
    assert any(bool((one != two).any()) for one, two in zip(before, after, strict=True))
    assert model.ep_success_buffer  # `is_success` reached SB3
    returns, lengths = evaluate_policy(model, envs, n_eval_episodes=4, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 4 and np.isfinite(returns).all()


def test_an_end_shows_the_mask_of_the_new_episode() -> None:
    """With SB3's vector env a policy never meets the all-zero mask of an end; it is in `terminal_observation`."""
    from stable_baselines3.common.env_util import make_vec_env

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
