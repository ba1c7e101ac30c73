"""Q-learning with RLCard's DQN agent, which plays all four seats of one match by self-play.

    python -m training.examples.rlcard_dqn --samples 20000

RLCard has rewards at the end of an episode only, so an episode is a round and its payoff is the result of each side.
With one match and one gradient step per few decisions, the environment is not the bottleneck.
"""

from __future__ import annotations

import contextlib
import os
import random

import numpy as np

from ._example import PLAYERS, Outcome, needs, start

with needs("rlcard"):
    import torch
    from rlcard.agents import DQNAgent
    from rlcard.utils import reorganize

    from fiveup_env.adapters.rlcard import make

from fiveup_env.adapters.policy_function import ScoringPolicy


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - RLCard's agents draw from it
    random.seed(seed)  # its replay memory draws from this one
    env = make({"seed": seed, "game_num_players": PLAYERS, "game_episode": "round", "game_reward": "points"})
    agent = DQNAgent(
        num_actions=env.num_actions,
        state_shape=env.state_shape[0],
        mlp_layers=[128, 128],
        learning_rate=1e-3,
        batch_size=128,
        train_every=2,
        replay_memory_init_size=200,
        epsilon_decay_steps=max(1, samples // 4),
        update_target_estimator_every=200,
        discount_factor=1.0,
        device=torch.device("cpu"),
    )
    env.set_agents([agent] * PLAYERS)
    outcome = Outcome("rlcard")
    estimator, learn = agent.q_estimator, agent.q_estimator.update

    def update(*batch: np.ndarray) -> float:
        """Record the loss, which RLCard only prints."""
        outcome.losses.append(float(learn(*batch)))
        return outcome.losses[-1]

    estimator.update = update
    with outcome.measured(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        # A sample is a decision; the agent learns only after the first of them (`replay_memory_init_size`).
        while outcome.samples < samples or not outcome.losses:
            trajectories, payoffs = env.run(is_training=True)
            for seat, decisions in enumerate(reorganize(trajectories, payoffs)):
                for decision in decisions:
                    agent.feed(decision)
                outcome.samples += len(decisions)
                outcome.note_rewards(np.full(len(decisions), seat), [decision[2] for decision in decisions])

    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return estimator.predict_nograd(observation)

    outcome.policy = ScoringPolicy(scores, PLAYERS, name="rlcard_dqn")
    return outcome


if __name__ == "__main__":
    start(train, 20_000, __doc__)
