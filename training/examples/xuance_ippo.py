"""Independent PPO with XuanCe: one network plays all four seats of several matches by self-play.

    python -m training.examples.xuance_ippo --samples 20000

XuanCe's agents act at the same time. A seat that is not to act has one legal action, which is ignored. Its probability
is 1, so it trains only the value. All seats have a value at every step, so advantages over all steps are correct.

One Python object per match and four rows per decision are slow.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from argparse import Namespace
from typing import Any

import numpy as np

from ._example import PLAYERS, Outcome, needs, start

with needs("xuance"):
    import torch
    from xuance.common import MultiAgentBaseCallback
    from xuance.environment import DummyVecMultiAgentEnv, RawMultiAgentEnv, XuanCeMultiAgentEnvWrapper
    from xuance.torch.agents import IPPO_Agents

from fiveup_env import fiveup_v0
from fiveup_env.adapters.policy_function import ScoringPolicy
from fiveup_env.rules.actions import PASS

MATCHES, STEPS = 16, 64
EPOCHS, MINIBATCHES = 4, 4


class FourSeats(RawMultiAgentEnv):
    """One match in which XuanCe sees all seats at every step."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.env = fiveup_v0.raw_env(num_players=PLAYERS, episode="round", reward="points", draws="auto")
        self.env.reset(seed=seed)
        self.agents, self.num_agents = list(self.env.possible_agents), PLAYERS
        self.agent_groups = [self.agents]
        self.observation_space = {name: self.env.observation_space(name)["observation"] for name in self.agents}
        self.action_space = {name: self.env.action_space(name) for name in self.agents}
        self.state_space = self.env.state_space
        self.max_episode_steps = 1_000  # longer than any round

    def reset(self, **kwargs: Any) -> tuple[dict, dict]:
        """Deal the next round."""
        self.env.reset()
        return self._seen(), {}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, bool, dict]:
        """Apply the action of the seat to act, and ignore the others."""
        self.env.step(int(actions[self.env.agent_selection]))
        truncated = any(self.env.truncations.values())
        return self._seen(), dict(self.env.rewards), dict(self.env.terminations), truncated, {}

    def _seen(self) -> dict[str, np.ndarray]:
        return {name: self.env.observe(name)["observation"] for name in self.agents}

    def avail_actions(self) -> dict[str, np.ndarray]:
        """Return the masks: legal actions of the seat to act, and a pass for the others."""
        masks = {name: np.arange(self.action_space[name].n) == PASS for name in self.agents}
        acting = self.env.agent_selection
        legal = self.env.observe(acting)["action_mask"] != 0
        return masks | {acting: legal} if legal.any() else masks

    def state(self) -> np.ndarray:
        """Return the global state, for central critics."""
        return self.env.state()

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """See `FiveUpAEC.render`."""
        return self.env.render()

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


class Noting(MultiAgentBaseCallback):
    """Record losses, decisions and rewards."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome

    def on_train_step(self, *args: Any, **step: Any) -> None:
        """Record one decision per match."""
        self.outcome.samples += len(step["rewards"])
        for rewards in step["rewards"]:
            self.outcome.note_rewards(np.arange(PLAYERS), list(rewards.values()))

    def on_update_end(self, *args: Any, **update: Any) -> dict:
        """Record the loss of a minibatch."""
        self.outcome.losses.append(float(update["info"]["loss"]))
        return {}


def settings(matches: int, samples: int, seed: int, folder: str) -> Namespace:
    """Return XuanCe's config; `folder` is for its logs."""
    return Namespace(
        agent="IPPO",
        env_name="FiveUp",
        env_id="fiveup_v0",
        dl_toolbox="torch",
        learner="IPPO_Learner",
        policy="Categorical_MAAC_Policy",
        representation="Basic_MLP",
        representation_hidden_size=[128],
        actor_hidden_size=[128],
        critic_hidden_size=[128],
        activation="relu",
        use_parameter_sharing=True,
        use_actions_mask=True,
        use_rnn=False,
        use_global_state=False,
        seed=seed,
        parallels=matches,
        buffer_size=matches * STEPS,
        n_epochs=EPOCHS,
        n_minibatch=MINIBATCHES,
        running_steps=samples,
        learning_rate=1e-3,
        weight_decay=0,
        use_linear_lr_decay=False,
        end_factor_lr_decay=1.0,
        gamma=1.0,
        use_gae=True,
        gae_lambda=0.95,
        use_advnorm=True,
        clip_range=0.2,
        ent_coef=0.02,
        vf_coef=0.5,
        use_value_clip=False,
        value_clip_range=0.2,
        use_value_norm=False,
        use_huber_loss=False,
        huber_delta=10.0,
        use_grad_clip=True,
        grad_clip_norm=0.5,
        distributed_training=False,
        device="cpu",
        render=False,
        fps=1,
        logger="tensorboard",
        log_dir=folder,
        model_dir=folder,
    )


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    matches = min(MATCHES, -(-samples // STEPS))
    rollouts = -(-samples // (matches * STEPS))
    outcome = Outcome("xuance")
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        tables = [lambda env_seed: XuanCeMultiAgentEnvWrapper(FourSeats(env_seed))] * matches
        envs = DummyVecMultiAgentEnv(tables, seed * MATCHES)
        config = settings(matches, rollouts * matches * STEPS, seed, folder)
        agents = IPPO_Agents(config, envs, callback=Noting(outcome))
        with outcome.measured(), contextlib.redirect_stderr(nowhere):  # hides a progress bar
            agents.train(rollouts * STEPS)
        agents.finish()

    [key] = agents.model_keys

    @torch.no_grad()
    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        # The seat number is another input. Observations are relative to the seat, so any number works.
        seat = torch.eye(PLAYERS)[:1].expand(len(observation), -1)
        _, found = agents.policy({key: observation}, agent_ids=seat)
        return found[key].logits.numpy()

    outcome.policy = ScoringPolicy(scores, PLAYERS, name="xuance_ippo")
    return outcome


if __name__ == "__main__":
    start(train, 20_000, __doc__)
