"""Opponents of `sb3_ppo`: the mix of `_mix`, played by the vector env itself.

Every match has one opponent, which plays all opposing seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy
from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv

from ._mix import SNAPSHOTS, SnapshotPool, blocks_of, parts_of


class Snapshot(MaskablePPOPolicy):
    """A frozen policy that samples its actions.

    Args:
        policy: SB3 policy of the same architecture.
        number: number of the snapshot.
        weights: `state_dict` of the snapshot, which is copied.
    """

    def __init__(self, policy: Any, number: int, weights: dict[str, Any]) -> None:
        self.network = type(policy)(**policy._get_constructor_parameters())
        self.network.load_state_dict(weights)
        self.network.requires_grad_(False)
        self.network.set_training_mode(False)
        super().__init__(self.network, sample=True)
        self.number, self.name = number, f"snapshot {number}"

    def _probabilities(self, inputs: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return SB3's probabilities up to a factor, without its slow masked distribution."""
        with torch.inference_mode():
            hidden = self.network.mlp_extractor.forward_actor(torch.from_numpy(inputs))
            logits = self.network.action_net(hidden).numpy()
        legal = np.where(masks, logits.astype(np.float64), -np.inf)
        return np.exp(legal - legal.max(1, keepdims=True))


class Opponents:
    """The mix, and the pool of snapshots.

    Args:
        env: environment whose opponents are set.
        config: config of the run.

    Attributes:
        names: name of the opponent of every match.

    Raises:
        AgentError: if an agent does not exist or does not fit.
    """

    def __init__(self, env: FiveUpVectorEnv, config: Any) -> None:
        self._env = env
        self._pool = SnapshotPool(config.snapshots.keep, config.snapshots.at_once, config.seed)
        self._blocks = blocks_of(config.opponents, env.num_envs)
        self.names = [name for name, block in self._blocks.items() for _ in range(block.start, block.stop)]
        for name, block in self._blocks.items():
            if name != SNAPSHOTS:
                self._play(name, block)

    def take_snapshot(self, policy: Any) -> None:
        """Add the current policy to the pool, and let snapshots play, if the mix has snapshots."""
        if SNAPSHOTS in self._blocks:
            self._pool.take(Snapshot(policy, self._pool.taken, policy.state_dict()))
            playing = self._pool.playing
            for part, (_, snapshot) in zip(parts_of(self._blocks[SNAPSHOTS], len(playing)), playing, strict=True):
                self._play(snapshot, part)

    def _play(self, agent: Any, block: slice) -> None:
        rows = np.zeros(self._env.num_envs, np.bool_)
        rows[block] = True
        self._env.set_opponents(agent, rows=rows)

    def state(self) -> dict[str, Any]:
        """Return the pool, and the snapshots that the env still plays with until their episodes end."""
        playing = {i: agent for i, agent in enumerate(self._env.agents) if isinstance(agent, Snapshot)}
        state = self._pool.state(lambda snapshot: snapshot.network.state_dict())
        state["weights"] |= {agent.number: agent.network.state_dict() for agent in playing.values()}
        return state | {"agents": [playing[i].number if i in playing else None for i in range(len(self._env.agents))]}

    def set_state(self, state: dict[str, Any], policy: Any) -> list[Policy | None]:
        """Restore a state, and return the agents for `set_state` of the env.

        Args:
            state: returned by `state`.
            policy: SB3 policy of the same architecture.
        """
        snapshots = self._pool.set_state(state, lambda number, weights: Snapshot(policy, number, weights))
        # Batched agents of the mix keep the places that they got when the env was made.
        own = [*self._env.agents, *[None] * len(state["agents"])]
        return [snapshots.get(number, own[i]) for i, number in enumerate(state["agents"])]
