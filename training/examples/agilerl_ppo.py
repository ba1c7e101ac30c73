"""PPO with AgileRL on the native vector env: one side learns, the others are `greedy` inside compiled code.

    python -m training.examples.agilerl_ppo --samples 200000

AgileRL takes the observation vector, and the mask from the infos of `FiveUpVectorEnv`. All rows are decisions of the
learner's side, with the sum of its rewards until its next decision, so AgileRL's advantages are correct, except at the
end of episodes (see `Collector`).
"""

from __future__ import annotations

import numpy as np

from ._example import AGAINST_GREEDY, EPOCHS, MINIBATCH, STEPS, Outcome, matches_for, needs, start

with needs("agilerl"):
    import torch
    from agilerl.algorithms import PPO

    from ._torch_parts import agent_of

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv


class Collector:
    """Collector of `STEPS` decisions per match, with advantages computed by the agent's buffer.

    It replaces `agilerl.rollouts.collect_rollouts` (2.58.0), which marks the rows that end an episode. The buffer cuts
    advantages where the *next* row is marked, so it needs marks on the rows that begin an episode. Otherwise the reward
    of the last decision reaches no earlier decision.
    """

    def __init__(self, agent: PPO, env: FiveUpVectorEnv, seed: int) -> None:
        self.agent, self.env = agent, env
        self.seen, self.info = env.reset(seed=seed)
        self.begins = np.ones(env.num_envs, np.bool_)

    def collect(self, outcome: Outcome) -> None:
        """Fill the buffer."""
        agent, buffer = self.agent, self.agent.rollout_buffer
        buffer.reset()
        for _ in range(STEPS):
            seen, mask = self.seen["observation"].copy(), self.info["action_mask"].copy()
            seat = self.info["seat"].copy()
            action, log_prob, _, value = agent.get_action(seen, action_mask=mask)
            self.seen, reward, terminated, truncated, self.info = self.env.step(action)
            outcome.note_rewards(seat, reward)
            buffer.add(
                obs=seen,
                action=action,
                reward=reward,
                done=self.begins,
                value=value,
                log_prob=log_prob,
                next_obs=self.seen["observation"],
                action_mask=mask,
            )
            self.begins = terminated | truncated
        value = agent.get_action(self.seen["observation"], action_mask=self.info["action_mask"])[3]
        buffer.compute_returns_and_advantages(last_value=value, last_done=self.begins)


def make_env(matches: int) -> FiveUpVectorEnv:
    """Return the matches, in SAME_STEP mode so that every row has a decision."""
    return FiveUpVectorEnv(matches, **AGAINST_GREEDY)


def make_agent(env: FiveUpVectorEnv, gae_lambda: float = 0.9) -> PPO:
    """Return an agent with two hidden layers; actor and critic share the first."""
    layers = {"hidden_size": [128], "layer_norm": False}
    return PPO(
        env.single_observation_space["observation"],
        env.single_action_space,
        net_config={"latent_dim": 128, "encoder_config": layers, "head_config": layers},
        num_envs=env.num_envs,
        learn_step=env.num_envs * STEPS,
        batch_size=MINIBATCH,
        update_epochs=EPOCHS,
        lr=1e-3,
        gamma=1.0,
        gae_lambda=gae_lambda,
        ent_coef=0.02,
    )


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - AgileRL shuffles by it
    env = make_env(matches_for(samples))
    agent = make_agent(env)
    outcome = Outcome("agilerl")
    collector = Collector(agent, env, seed)
    with outcome.measured():
        while outcome.samples < samples:
            collector.collect(outcome)
            outcome.losses.append(agent.learn())
            outcome.samples += env.num_envs * STEPS

    actor = agent.actor
    outcome.policy = agent_of(lambda seen: actor.head_net.wrapped(actor.extract_features(seen)), "agilerl_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
