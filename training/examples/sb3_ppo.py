"""MaskablePPO of sb3-contrib on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.sb3_ppo --samples 200000

`FiveUpSB3VecEnv` is a `VecEnv` of Stable-Baselines3 over native matches; MaskablePPO reads the masks from it. All rows
are decisions of the learner's side, with the sum of its rewards until its next decision, so SB3's advantages are
correct. For runs that can be resumed, opponent mixes and more, see `training/sb3_ppo.py`.
"""

from __future__ import annotations

from ._example import AGAINST_GREEDY, EPOCHS, MINIBATCH, STEPS, Outcome, matches_for, needs, start

with needs("train"):
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from torch import nn

    from fiveup_env.envs.sb3 import FiveUpSB3VecEnv

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy


class Noting(BaseCallback):
    """Record losses, and rewards for the seat that acted, not for the seat to act next."""

    def __init__(self, outcome: Outcome, env: FiveUpSB3VecEnv) -> None:
        super().__init__()
        self.outcome, self.env = outcome, env

    def _on_rollout_start(self) -> None:
        self.acting = self.env.seats
        self._note_loss()

    def _on_step(self) -> bool:
        self.outcome.note_rewards(self.acting, self.locals["rewards"])
        self.acting = self.env.seats
        return True

    def _on_training_end(self) -> None:
        self._note_loss()

    def _note_loss(self) -> None:
        """Record the loss of the previous iteration."""
        if (loss := self.logger.name_to_value.get("train/loss")) is not None:
            self.outcome.losses.append(float(loss))


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    matches = matches_for(samples)
    env = FiveUpSB3VecEnv(matches, **AGAINST_GREEDY)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=min(MINIBATCH, matches * STEPS),
        n_epochs=EPOCHS,
        learning_rate=1e-3,
        gamma=1.0,
        gae_lambda=0.9,
        ent_coef=0.02,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": nn.ReLU},
        seed=seed,
        device="cpu",
    )
    outcome = Outcome("sb3-contrib")
    with outcome.measured():
        model.learn(samples, Noting(outcome, env), log_interval=None)
    outcome.samples = model.num_timesteps
    outcome.policy = MaskablePPOPolicy(model)
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
