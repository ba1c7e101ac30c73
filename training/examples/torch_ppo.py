"""PPO by self-play in one file of plain torch: one network plays all four seats of many matches.

    python -m training.examples.torch_ppo --samples 200000

Every step of `SelfPlayVectorEnv` returns the observation of the seat to act, so the next row of a match belongs to an
opponent. Advantages are therefore computed per side, between two of its decisions (`training/_credit.py`); row-by-row
advantages would use the values and rewards of opponents. Episodes are rounds; matches continue. For runs that can be
resumed, opponent mixes and more, see `training/selfplay_ppo.py`.
"""

from __future__ import annotations

import numpy as np

from ._example import EPOCHS, MINIBATCHES, PLAYERS, SELF_PLAY, STEPS, Outcome, matches_for, needs, start

with needs("train"):
    import torch
    from torch import nn

    from ._torch_parts import agent_of

from fiveup_env import SelfPlayVectorEnv

from .._credit import side_advantages

LEARNING_RATE, CLIP, ENTROPY, VALUE = 1e-3, 0.2, 0.02, 0.5
GAMMA, LAMBDA = 1.0, 0.9


class Agent(nn.Module):
    """Policy and value over the observation of a seat."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.actor, self.critic = nn.Linear(128, actions), nn.Linear(128, 1)
        nn.init.zeros_(self.actor.weight)  # the initial policy is uniform

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities [N, 121] with illegal actions at -1e9 (finite, so that 0 * log 0 is 0), values [N]."""
        hidden = self.body(observation)
        logits = self.actor(hidden).masked_fill(mask == 0, -1e9)
        return logits.log_softmax(1), self.critic(hidden)[:, 0]


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    matches = matches_for(samples + STEPS)  # a few decisions are not used
    env = SelfPlayVectorEnv(matches, **SELF_PLAY)
    now = env.reset(seed)
    agent = Agent(*now.observation.shape[1:], *now.action_mask.shape[1:])
    optimizer = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    outcome = Outcome("torch")

    shape = (STEPS, matches)
    observations, masks = torch.zeros(*shape, *now.observation.shape[1:]), torch.zeros(*shape, 121, dtype=torch.int8)
    actions, log_probs, values = torch.zeros(*shape, dtype=torch.int64), torch.zeros(shape), torch.zeros(shape)
    sides, ended = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    rewards = np.zeros((*shape, env.num_sides), np.float32)
    every_decision = np.ones(shape, np.bool_)

    with outcome.measured():
        while outcome.samples < samples:
            for t in range(STEPS):  # collect
                observations[t], masks[t] = torch.from_numpy(now.observation), torch.from_numpy(now.action_mask)
                sides[t] = now.side
                with torch.no_grad():
                    every, values[t] = agent(observations[t], masks[t])
                    actions[t] = every.exp().multinomial(1)[:, 0]
                    log_probs[t] = every.gather(1, actions[t, :, None])[:, 0]
                now = env.step(actions[t].numpy())
                rewards[t], ended[t] = now.rewards, now.done
                for seat in range(PLAYERS):
                    outcome.note_rewards(np.full(matches, seat), now.rewards[:, seat % env.num_sides])
            # Judge. Decisions whose side does not decide again in this iteration are not used.
            credit = side_advantages(sides, every_decision, values.numpy(), rewards, ended, GAMMA, LAMBDA)
            chosen = torch.from_numpy(credit.judged.reshape(-1).nonzero()[0])
            advantage = torch.from_numpy(credit.advantage).reshape(-1)
            returns = advantage + values.reshape(-1)
            advantage = (advantage - advantage[chosen].mean()) / (advantage[chosen].std() + 1e-8)
            for _ in range(EPOCHS):  # learn
                for rows in chosen[torch.randperm(len(chosen))].tensor_split(MINIBATCHES):
                    every, value = agent(observations.flatten(0, 1)[rows], masks.flatten(0, 1)[rows])
                    now_log_prob = every.gather(1, actions.reshape(-1)[rows, None])[:, 0]
                    ratio = (now_log_prob - log_probs.reshape(-1)[rows]).exp()
                    gain = advantage[rows]
                    surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                    entropy = -(every.exp() * every).sum(1).mean()
                    value_loss = 0.5 * (value - returns[rows]).square().mean()
                    loss = VALUE * value_loss - surrogate - ENTROPY * entropy
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                    optimizer.step()
                    outcome.losses.append(loss.item())
            outcome.samples += len(chosen)

    outcome.policy = agent_of(lambda seen: agent.actor(agent.body(seen)), "torch_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 200_000, __doc__)
