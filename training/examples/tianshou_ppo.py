"""PPO with Tianshou on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.tianshou_ppo --samples 200000

`FiveUpTianshouEnv` gives Tianshou's collectors the rows of the learner's side only, so its advantages are correct.
Tianshou applies masks to Q-functions only, so this actor applies the mask itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._example import AGAINST_GREEDY, EPOCHS, MINIBATCH, STEPS, Outcome, matches_for, needs, start

with needs("tianshou"):
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Batch, Collector, VectorReplayBuffer
    from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode
    from torch import nn

    from fiveup_env.adapters.tianshou import FiveUpTianshouEnv

    from ._torch_parts import agent_of, perceptron


class MaskedActor(nn.Module):
    """Batch of `obs` and `mask` -> logits [N, 121], with illegal actions at -1e9, and no state."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, seen: Batch, state: Any = None, info: Any = None) -> tuple[torch.Tensor, None]:
        """Return masked logits for a batch of observations."""
        logits = self.layers(torch.as_tensor(seen.obs))
        return logits.masked_fill(~torch.as_tensor(seen.mask), -1e9), None


class Critic(nn.Module):
    """Batch of `obs` -> values [N, 1]."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, seen: Batch, **kwargs: Any) -> torch.Tensor:
        """Return values for a batch of observations."""
        return self.layers(torch.as_tensor(seen.obs))


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - Tianshou shuffles by it
    matches = matches_for(samples)
    envs = FiveUpTianshouEnv(matches, seed=seed, **AGAINST_GREEDY)
    space = envs.action_space[0]
    inputs = envs.observation_space[0]["observation"].shape[0]
    layers = perceptron(inputs, int(space.n), flat=True)
    policy = ProbabilisticActorPolicy(
        actor=MaskedActor(layers),
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=space,
        action_scaling=False,
        action_bound_method=None,
    )
    algorithm = PPO(
        policy=policy,
        critic=Critic(perceptron(inputs, 1)),
        optim=AdamOptimizerFactory(lr=1e-3, eps=1e-5),
        gamma=1.0,
        gae_lambda=0.9,
        ent_coef=0.02,
        max_grad_norm=0.5,
        max_batchsize=4096,
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(matches * STEPS, matches))
    outcome = Outcome("tianshou")
    collector.reset()
    with outcome.measured():
        while outcome.samples < samples:
            with policy_within_training_step(policy):
                collected = collector.collect(n_step=matches * STEPS)
                with torch_train_mode(algorithm):
                    stats = algorithm.update(collector.buffer, batch_size=MINIBATCH, repeat=EPOCHS)
            played = collector.buffer[:]
            outcome.note_rewards(played.info.seat, played.rew)
            outcome.samples += collected.n_collected_steps
            outcome.losses.extend(stats.get_loss_stats_dict().values())
            collector.reset_buffer(keep_statistics=True)

    outcome.policy = agent_of(layers, "tianshou_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
