"""Who the learner plays against: a mix of agents by name and of snapshots of its own past, all at once.

Every match of the vector env has one opponent (in all opposing seats). The shares of the mix are turned into fixed
blocks of matches; the block for snapshots is divided anew whenever a snapshot is taken: one part plays the newest, the
others one drawn at random from the pool each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy
from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv

SNAPSHOTS = "snapshots"
"""Name of the pool in a mix; every other name is the registry's."""


class Snapshot(MaskablePPOPolicy):
    """A frozen policy that samples its actions.

    Args:
        policy: of SB3; gives the architecture.
        name: for tables and checkpoints.
        weights: its own `state_dict`, which is copied.
    """

    def __init__(self, policy: Any, name: str, weights: dict[str, Any]) -> None:
        self.network = type(policy)(**policy._get_constructor_parameters())
        self.network.load_state_dict(weights)
        self.network.requires_grad_(False)
        self.network.set_training_mode(False)
        super().__init__(self.network, sample=True)
        self.name = name

    def _probabilities(self, inputs: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """As by SB3's masked distribution (up to a factor), which takes most of the time of a rollout."""
        with torch.inference_mode():
            hidden = self.network.mlp_extractor.forward_actor(torch.from_numpy(inputs))
            logits = self.network.action_net(hidden).numpy()
        legal = np.where(masks, logits.astype(np.float64), -np.inf)
        return np.exp(legal - legal.max(1, keepdims=True))


class Opponents:
    """The mix, and the pool of snapshots.

    Args:
        env: whose opponents are set.
        shares: agent name (or `snapshots`) -> weight; only their ratios matter.
        keep: snapshots in the pool; the oldest goes first.
        parts: how many snapshots play at the same time.
        seed: of the draws from the pool.

    Attributes:
        names: whom the learner plays against, for every match.

    Raises:
        AgentError: if there is no such agent, or it does not fit.
    """

    def __init__(self, env: FiveUpVectorEnv, shares: Mapping[str, float], keep: int, parts: int, seed: int) -> None:
        self._env, self._keep, self._parts, self._seed = env, keep, parts, seed
        self._pool: list[Snapshot] = []
        self._taken = 0
        bounds = np.rint(np.cumsum([0, *shares.values()]) / sum(shares.values()) * env.num_envs).astype(int).tolist()
        self._blocks = {name: (bounds[i], bounds[i + 1]) for i, name in enumerate(shares)}
        self.names = [name for name, (first, end) in self._blocks.items() for _ in range(first, end)]
        for name, (first, end) in self._blocks.items():
            if name != SNAPSHOTS:
                env.set_opponents(name, rows=self._rows(first, end))

    def take_snapshot(self, policy: Any) -> None:
        """Add the policy as it is now to the pool, and let snapshots play."""
        if SNAPSHOTS not in self._blocks:
            return
        self._pool.append(Snapshot(policy, f"snapshot {self._taken}", policy.state_dict()))
        del self._pool[: -self._keep]
        # Drawn from (seed, number of the snapshot) alone, so there is no state to keep.
        drawn = np.random.default_rng((self._seed, self._taken)).integers(len(self._pool), size=self._parts - 1)
        self._taken += 1
        first, end = self._blocks[SNAPSHOTS]
        bounds = np.linspace(first, end, self._parts + 1).astype(int)
        for i, chosen in enumerate([len(self._pool) - 1, *drawn]):
            self._env.set_opponents(self._pool[chosen], rows=self._rows(bounds[i], bounds[i + 1]))

    def _rows(self, first: int, end: int) -> np.ndarray:
        rows = np.zeros(self._env.num_envs, np.bool_)
        rows[first:end] = True
        return rows

    # checkpoints

    def state(self) -> dict[str, Any]:
        """The pool, and the snapshots that the env still plays with."""
        playing = [agent.name if isinstance(agent, Snapshot) else None for agent in self._env.agents]
        return {
            "taken": self._taken,
            "pool": [agent.name for agent in self._pool],
            "playing": playing,
            "weights": {
                agent.name: agent.network.state_dict()
                for agent in (*self._pool, *self._env.agents)
                if isinstance(agent, Snapshot)
            },
        }

    def set_state(self, state: dict[str, Any], policy: Any) -> list[Policy | None]:
        """Go on from a state; returns the agents for the env's own `set_state`.

        Args:
            state: what `state` gave.
            policy: a policy of the same architecture.
        """
        agents = {}
        for name, weights in state["weights"].items():
            agents[name] = Snapshot(policy, name, weights)
        self._taken = state["taken"]
        self._pool = [agents[name] for name in state["pool"]]
        # Batched agents of the mix itself took their places when it was made, and keep them.
        own = [*self._env.agents, *[None] * len(state["playing"])]
        return [agents.get(name, own[i]) for i, name in enumerate(state["playing"])]
