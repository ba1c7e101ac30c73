"""PPO with TorchRL on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.torchrl_ppo --samples 200000

TorchRL's `GymWrapper` takes `FiveUpVectorEnv` without autoreset; TorchRL resets rows by `reset_mask`. All rows are
decisions of the learner's side, with the sum of its rewards until its next decision, so TorchRL's advantages are
correct.
"""

from __future__ import annotations

from ._example import AGAINST_GREEDY, EPOCHS, MINIBATCH, PLAYERS, STEPS, Outcome, matches_for, needs, start

with needs("torchrl"):
    import torch
    from tensordict import TensorDictBase
    from tensordict.nn import TensorDictModule
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.data import Bounded, LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
    from torchrl.envs import GymWrapper
    from torchrl.envs.gym_like import default_info_dict_reader
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    from ._torch_parts import agent_of, perceptron

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv


class Logits(nn.Module):
    """Observation, mask -> logits [N, 121], mask as bool."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.layers = perceptron(inputs, actions, flat=True)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and mask; rows without a legal action (end of an episode) get all actions."""
        legal = mask.bool()
        return self.layers(observation), legal | ~legal.any(-1, keepdim=True)


def make_env(matches: int, seed: int) -> GymWrapper:
    """Return the matches, with actions as integers (not one-hot)."""
    env = FiveUpVectorEnv(matches, **AGAINST_GREEDY, autoreset_mode="DISABLED")
    env.reset(seed=seed)
    wrapped = GymWrapper(env, categorical_action_encoding=True)
    seats = Bounded(0, PLAYERS - 1, (matches,), dtype=torch.int8)
    return wrapped.set_info_dict_reader(default_info_dict_reader(["seat"], spec=[seats]))


class Learning:
    """PPO's update of an actor and a critic; losses are added to the outcome."""

    def __init__(self, actor: nn.Module, critic: nn.Module, outcome: Outcome) -> None:
        self.objective = ClipPPOLoss(actor, critic, entropy_coeff=0.02, critic_coeff=0.5, normalize_advantage=True)
        self.optimizer = torch.optim.Adam(self.objective.parameters(), 1e-3, eps=1e-5)
        self.losses = outcome.losses

    def improve(self, batch: TensorDictBase) -> None:
        """Take a gradient step."""
        losses = self.objective(batch)
        loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.objective.parameters(), 0.5)
        self.optimizer.step()
        self.losses.append(loss.item())


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    matches = matches_for(samples)
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
    outcome = Outcome("torchrl")
    learning = Learning(actor, critic, outcome)
    advantages = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
    frames = matches * STEPS
    iterations = -(-samples // frames)
    buffer = ReplayBuffer(
        storage=LazyTensorStorage(frames), sampler=SamplerWithoutReplacement(), batch_size=min(MINIBATCH, frames)
    )
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
                    learning.improve(batch)
            outcome.note_rewards(data["seat"], data["next", "reward"])
            outcome.samples += data.numel()
    collector.shutdown()

    outcome.policy = agent_of(logits.layers, "torchrl_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
