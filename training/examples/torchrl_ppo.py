"""PPO with TorchRL on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.torchrl_ppo --samples 200000

TorchRL's `GymWrapper` takes `FiveUpVectorEnv` without autoreset; TorchRL resets rows by `reset_mask`. All rows are
decisions of the learner's side, with the sum of its rewards until its next decision, so TorchRL's advantages are
correct.
"""

from __future__ import annotations

import numpy as np

from ._example import AGAINST_GREEDY, PLAYERS, Outcome, needs, start

with needs("torchrl"):
    import torch
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.data import Bounded, LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
    from torchrl.envs import GymWrapper
    from torchrl.envs.gym_like import default_info_dict_reader
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

from fiveup_env.adapters.policy_function import ScoringPolicy
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv

MATCHES, STEPS = 256, 32
EPOCHS, MINIBATCH = 4, 1024


class Logits(nn.Module):
    """Observation, mask -> logits [N, 121], mask as bool."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, actions)
        )

        nn.init.zeros_(self.layers[-1].weight)  # the initial policy is uniform

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and mask; rows without a legal action (end of an episode) get all actions."""
        legal = mask.bool()
        return self.layers(observation), legal | ~legal.any(-1, keepdim=True)


def make_env(matches: int, seed: int) -> GymWrapper:
    """Return the matches, with actions as integers (not one-hot)."""
    env = FiveUpVectorEnv(
        matches,
        **AGAINST_GREEDY,
        autoreset_mode="DISABLED",
    )
    env.reset(seed=seed)
    wrapped = GymWrapper(env, categorical_action_encoding=True)
    seats = Bounded(0, PLAYERS - 1, (matches,), dtype=torch.int8)
    return wrapped.set_info_dict_reader(default_info_dict_reader(["seat"], spec=[seats]))


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    matches = min(MATCHES, -(-samples // STEPS))
    env = make_env(matches, seed)
    inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    logits = Logits(inputs, actions)
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation", "action_mask"], out_keys=["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 1)))
    objective = ClipPPOLoss(actor, critic, entropy_coeff=0.02, critic_coeff=0.5, normalize_advantage=True)
    advantages = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
    optimizer = torch.optim.Adam(objective.parameters(), 1e-3, eps=1e-5)
    frames = matches * STEPS
    iterations = -(-samples // frames)
    buffer = ReplayBuffer(
        storage=LazyTensorStorage(frames), sampler=SamplerWithoutReplacement(), batch_size=min(MINIBATCH, frames)
    )
    outcome = Outcome("torchrl")
    collector = Collector(
        env, actor, frames_per_batch=frames, total_frames=iterations * frames, auto_register_policy_transforms=False
    )
    with outcome.measured():
        for data in collector:
            with torch.no_grad():
                advantages(data)
            buffer.empty()
            buffer.extend(data.reshape(-1))
            for _ in range(EPOCHS):
                for batch in buffer:
                    losses = objective(batch)
                    loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(objective.parameters(), 0.5)
                    optimizer.step()
                    outcome.losses.append(loss.item())
            outcome.note_rewards(data["seat"], data["next", "reward"])
            outcome.samples += data.numel()
    collector.shutdown()

    @torch.no_grad()
    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return logits.layers(torch.from_numpy(observation)).numpy()

    outcome.policy = ScoringPolicy(scores, PLAYERS, name="torchrl_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
