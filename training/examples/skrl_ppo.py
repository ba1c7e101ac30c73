"""PPO with skrl on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.skrl_ppo --samples 200000

skrl's `wrap_env` takes `FiveUpVectorEnv` unchanged. It flattens observation and mask into one vector; the policy splits
them and masks its logits. All rows are decisions of the learner's side, with the sum of its rewards until its next
decision, so skrl's advantages are correct.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._example import AGAINST_GREEDY, EPOCHS, MINIBATCHES, STEPS, Outcome, matches_for, needs, start

with needs("skrl"):
    import torch
    from skrl.agents.torch.ppo import PPO
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
    from skrl.trainers.torch import SequentialTrainer
    from skrl.utils.spaces.torch import unflatten_tensorized_space

    from ._torch_parts import agent_of, perceptron

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv


class Policy(CategoricalMixin, Model):
    """Logits, with illegal actions at -1e9."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.layers = perceptron(self.observation_space["observation"].shape[0], self.num_actions, flat=True)

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the output of the model."""
        seen = unflatten_tensorized_space(self.observation_space, inputs["observations"])
        return self.layers(seen["observation"]).masked_fill(seen["action_mask"] == 0, -1e9), {}


class Value(DeterministicMixin, Model):
    """Value of a decision."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.layers = perceptron(self.observation_space["observation"].shape[0], 1)

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the output of the model."""
        seen = unflatten_tensorized_space(self.observation_space, inputs["observations"])
        return self.layers(seen["observation"]), {}


class CountingPPO(PPO):
    """PPO that records losses and rewards in an outcome."""

    outcome: Outcome
    seat: np.ndarray

    def track_data(self, tag: str, value: float) -> None:
        """Also record the losses."""
        if tag.startswith("Loss"):
            self.outcome.losses.append(float(value))
        super().track_data(tag, value)

    def record_transition(self, *, rewards: torch.Tensor, infos: Any, **kwargs: Any) -> None:
        """Also record the rewards for the seat that acted, not for the seat to act next."""
        self.outcome.note_rewards(self.seat, rewards.numpy())
        self.seat = infos["seat"].copy()
        super().record_transition(rewards=rewards, infos=infos, **kwargs)


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    matches = matches_for(samples)
    native = FiveUpVectorEnv(matches, **AGAINST_GREEDY)
    env = wrap_env(native, wrapper="gymnasium", verbose=False)
    env._seed = seed  # seed of the first reset; skrl has no other way to set it
    spaces = {"observation_space": env.observation_space, "state_space": None, "action_space": env.action_space}
    policy = Policy(**spaces, device="cpu")
    agent = CountingPPO(
        models={"policy": policy, "value": Value(**spaces, device="cpu")},
        memory=RandomMemory(memory_size=STEPS, num_envs=matches, device="cpu"),
        **spaces,
        device="cpu",
        cfg={
            "rollouts": STEPS,
            "learning_epochs": EPOCHS,
            "mini_batches": MINIBATCHES,
            "discount_factor": 1.0,
            "gae_lambda": 0.9,
            "learning_rate": 1e-3,
            "entropy_loss_scale": 0.02,
            "value_loss_scale": 0.5,
            "experiment": {"write_interval": 0, "checkpoint_interval": 0},
        },
    )
    agent.outcome = outcome = Outcome("skrl")
    env.reset()
    agent.seat = env.reset()[1]["seat"].copy()
    steps = -(-samples // (matches * STEPS)) * STEPS
    settings = {"headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    trainer = SequentialTrainer(env=env, agents=agent, cfg={"timesteps": steps, **settings})
    with outcome.measured():
        trainer.train()
    outcome.samples = steps * matches

    outcome.policy = agent_of(policy.layers, "skrl_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
