"""Advantages of AgileRL's example are correct at the end of an episode, unlike AgileRL's own."""

from __future__ import annotations

import numpy as np
import pytest

WHY = "needs AgileRL (pip install 'fiveup-env[agilerl]', in a separate environment)"
pytestmark = [
    pytest.mark.filterwarnings("ignore:MakeEvolvable will be deprecated:DeprecationWarning"),  # raised by AgileRL
    pytest.mark.filterwarnings("ignore:TensorDict.to_module\\(\\) is replacing:FutureWarning"),  # raised by AgileRL
]


class Recorded:
    """Environment wrapper that records rewards and ends."""

    def __init__(self, env) -> None:
        self.env, self.num_envs = env, env.num_envs
        self.rewards: list[np.ndarray] = []
        self.ended: list[np.ndarray] = []

    def reset(self, seed):
        return self.env.reset(seed=seed)

    def step(self, actions):
        result = self.env.step(actions)
        self.rewards.append(result[1].copy())
        self.ended.append(result[2] | result[3])
        return result


def test_advantages_end_with_the_episode() -> None:
    """With lambda 1 and a critic of constant value 0.25, the example agrees with a direct computation."""
    pytest.importorskip("agilerl", reason=WHY)
    from training.examples import agilerl_ppo
    from training.examples._example import Outcome

    env = agilerl_ppo.make_env(16)
    agent = agilerl_ppo.make_agent(env, gae_lambda=1.0)
    last = agent.critic.head_net
    for parameter in last.parameters():
        parameter.data.zero_()
    list(last.parameters())[-1].data.fill_(0.25)
    recorded = Recorded(env)
    agilerl_ppo.Collector(agent, recorded, 3).collect(Outcome("agilerl"))
    found = agent.rollout_buffer.buffer["advantages"].numpy().reshape(agilerl_ppo.STEPS, env.num_envs)
    expected, ahead = np.zeros_like(found), np.full(env.num_envs, 0.25)
    for t in reversed(range(agilerl_ppo.STEPS)):
        ahead = recorded.rewards[t] + np.where(recorded.ended[t], 0.0, ahead)
        expected[t] = ahead - 0.25
    assert sum(ended.sum() for ended in recorded.ended) >= 8, "too few episodes ended"
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_agilerl_still_needs_it() -> None:
    """If this fails, AgileRL's buffer is fixed, and the example can use `collect_rollouts`."""
    pytest.importorskip("agilerl", reason=WHY)
    from agilerl.components.rollout_buffer import RolloutBuffer
    from gymnasium import spaces

    buffer = RolloutBuffer(
        capacity=4,
        observation_space=spaces.Box(0, 1, (1,)),
        action_space=spaces.Discrete(2),
        num_envs=1,
        gae_lambda=1.0,
        gamma=1.0,
    )
    nothing = np.zeros(1, np.float32)
    for reward, done in ((0, 0), (1, 1), (0, 0), (0, 1)):  # two episodes of two steps, as AgileRL adds them
        buffer.add(
            obs=nothing[None],
            action=np.zeros(1, np.int64),
            reward=np.float32([reward]),
            done=np.array([done]),
            value=nothing,
            log_prob=nothing,
            next_obs=nothing[None],
        )
    buffer.compute_returns_and_advantages(last_value=nothing, last_done=np.ones(1))
    assert buffer.buffer["advantages"].flatten().tolist() == [0, 1, 0, 0], "correct: 1, 1, 0, 0"
