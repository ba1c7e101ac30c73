"""MAPPO with TorchRL on the PettingZoo environment: two teams, and a central critic that sees all hands.

    python -m training.examples.torchrl_mappo --samples 20000

Every step has rows for all four seats. The group's `mask` marks the seat that acts; only these rows train the actor.
The critic's input is the global state (`env.state()`) from the perspective of the seat to act. Points are zero-sum
between two sides, so the other team's value is the negative, and both teams have a value at every step. Advantages over
all steps of a match are therefore correct for both.

One Python object per match and tensors of one row are slow: `torchrl_ppo` is many times faster.
"""

from __future__ import annotations

import numpy as np

from ._example import PLAYERS, Outcome, needs, start

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.envs import PettingZooWrapper
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives.value import GAE

    from ._torch_parts import agent_of
    from .torchrl_ppo import Learning, Logits

from fiveup_env import fiveup_v0
from fiveup_env.adapters.wrappers import MaskInfos

TEAMS = {"even": ["player_0", "player_2"], "odd": ["player_1", "player_3"]}
STEPS, EPOCHS, MINIBATCHES = 1000, 8, 4


class TeamValue(nn.Module):
    """Value of a team [..., 2, 1] (the same for both partners), from the global state and the team's mask [..., 2]."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the network's value of the side to act, negated if `mask` shows that the other team acts."""
        sign = 2.0 * mask.any(-1, keepdim=True) - 1.0
        return (sign * self.network(state)).unsqueeze(-2).expand(*mask.shape, 1)


def make_env(seed: int) -> PettingZooWrapper:
    """Return one match with four agents in two groups and integer actions."""
    env = MaskInfos(fiveup_v0.raw_env(num_players=PLAYERS, draws="auto", reward="points"))
    return PettingZooWrapper(
        env, group_map=TEAMS, return_state=True, use_mask=True, categorical_actions=True, done_on_any=False, seed=seed
    )


def acting_rows(data: TensorDictBase) -> TensorDictBase:
    """Return the rows of the acting seats, [T]: one row per step, one team after the other."""
    parts = []
    for team in TEAMS:
        rows = data.select("state").unsqueeze(-1).expand(*data.shape, len(TEAMS[team]))
        acted = data[team, "mask"]
        own = data[team].select("observation", "action_mask", "action", "action_log_prob", "advantage", "value_target")
        seat = torch.tensor([int(name[-1]) for name in TEAMS[team]]).expand(acted.shape)
        parts.append(TensorDict({**rows, **own, "seat": seat}, batch_size=acted.shape)[acted])
    return torch.cat(parts)


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    torch.manual_seed(seed)
    env = make_env(seed)
    inputs = env.observation_spec["even", "observation", "observation"].shape[-1]
    logits = Logits(inputs, env.full_action_spec["even", "action"].space.n)

    def actor(*path: str) -> ProbabilisticActor:
        """Return the shared policy, which reads and writes under `path`."""

        def key(*name: str) -> tuple[str, ...] | str:
            return (*path, *name) if len(path) + len(name) > 1 else name[0]

        return ProbabilisticActor(
            TensorDictModule(
                logits,
                in_keys=[key("observation", "observation"), key("action_mask")],
                out_keys=[key("logits"), key("legal")],
            ),
            in_keys={"logits": key("logits"), "mask": key("legal")},
            out_keys=[key("action")],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
            log_prob_key=key("action_log_prob"),
        )

    value = nn.Sequential(nn.Linear(*env.observation_spec["state"].shape, 128), nn.ReLU(), nn.Linear(128, 1))
    judges = []
    for team in TEAMS:
        critic = TensorDictModule(TeamValue(value), in_keys=["state", (team, "mask")], out_keys=[(team, "state_value")])
        judge = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
        names = ("reward", "done", "terminated", "advantage", "value_target")
        judge.set_keys(value=(team, "state_value"), **{name: (team, name) for name in names})
        judges.append(judge)
    critic_of_mover = ValueOperator(value, in_keys=["state"])
    outcome = Outcome("torchrl")
    learning = Learning(actor(), critic_of_mover, outcome)
    collector = Collector(
        env,
        TensorDictSequential(*(actor(team) for team in TEAMS)),
        frames_per_batch=STEPS,
        total_frames=-(-samples // STEPS) * STEPS,
        auto_register_policy_transforms=False,
    )
    with outcome.measured():
        for data in collector:
            for team, judge in zip(TEAMS, judges, strict=True):
                for name in ("done", "terminated"):  # of the table; a team's are only set while it is alive
                    flag = data["next", name].unsqueeze(-2).expand_as(data["next", team, "reward"])
                    data["next", team, name] = flag
                with torch.no_grad():
                    judge(data)
                seats = [int(name[-1]) for name in TEAMS[team]]
                outcome.note_rewards(np.tile(seats, len(data)), data["next", team, "reward"])
            rows = acting_rows(data)
            for _ in range(EPOCHS):
                for part in torch.randperm(len(rows)).tensor_split(MINIBATCHES):
                    learning.improve(rows[part])
            outcome.samples += len(rows)
    collector.shutdown()

    outcome.policy = agent_of(logits.layers, "torchrl_mappo")
    return outcome


if __name__ == "__main__":
    start(train, 20_000, __doc__)
