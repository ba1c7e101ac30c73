"""Opponents of a run: a share of the matches for each named agent and for snapshots of the run's own past policies.

Every opponent of the mix has a fixed block of matches. In the block `self` (self-play only) the learner plays all
sides. In every other block it plays one side, and the block's agent plays the others. The block `snapshots` is divided
again whenever a snapshot is taken: one part plays the newest, each other part one drawn at random from the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import torch

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.agents.protocol import AgentError, Policy, drawn, is_policy, keys_of
from fiveup_env.agents.registry import make_agent
from fiveup_env.belief.belief_section import LIKELY, beliefs_of
from fiveup_env.views.view import Views

from ._network import frozen, masked, sample_actions

Seen: TypeAlias = "tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]"
"""Network inputs: observations [N, F], masks [N, 121] and, for networks with `belief`, likely places [N, n, 28]."""

SELF, SNAPSHOTS = "self", "snapshots"
"""Names in a mix that are not agent names."""


def blocks_of(shares: Mapping[str, float], count: int) -> dict[str, slice]:
    """Return the block of matches of every opponent, for `count` matches; only the ratios of the shares matter."""
    bounds = np.rint(np.cumsum([0, *shares.values()]) / sum(shares.values()) * count).astype(int).tolist()
    return {name: slice(bounds[i], bounds[i + 1]) for i, name in enumerate(shares)}


def parts_of(block: slice, count: int) -> list[slice]:
    """Return `count` parts of a block, of almost equal size."""
    bounds = np.linspace(block.start, block.stop, count + 1).astype(int).tolist()
    return [slice(bounds[i], bounds[i + 1]) for i in range(count)]


class SnapshotPool:
    """The latest snapshots of the policy, and those that play now.

    Args:
        keep: size of the pool; the oldest snapshot is removed first.
        at_once: number of snapshots that play at a time.
        seed: seed of the draws from the pool.

    Attributes:
        taken: number of snapshots taken so far.
        kept, playing: (number of the snapshot, snapshot).
    """

    def __init__(self, keep: int, at_once: int, seed: int) -> None:
        self._keep, self._at_once, self._seed = keep, at_once, seed
        self.taken = 0
        self.kept: list[tuple[int, Any]] = []
        self.playing: list[tuple[int, Any]] = []

    def take(self, snapshot: Any) -> None:
        """Add a snapshot, and choose the ones that play."""
        self.kept.append((self.taken, snapshot))
        del self.kept[: -self._keep]
        # The draw depends on (seed, number of the snapshot) alone, so there is no random state to keep.
        chosen = np.random.default_rng((self._seed, self.taken)).integers(len(self.kept), size=self._at_once - 1)
        self.taken += 1
        self.playing = [self.kept[-1], *(self.kept[i] for i in chosen)]

    def state(self, weights_of: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the pool and the playing snapshots, for checkpoints."""
        return {
            "taken": self.taken,
            "pool": [number for number, _ in self.kept],
            "playing": [number for number, _ in self.playing],
            "weights": {number: weights_of(snapshot) for number, snapshot in (*self.kept, *self.playing)},
        }

    def set_state(self, state: dict[str, Any], snapshot_of: Callable[[int, Any], Any]) -> dict[int, Any]:
        """Restore a state, and return all its snapshots; `snapshot_of` maps number and weights to a snapshot."""
        snapshots = {number: snapshot_of(number, weights) for number, weights in state["weights"].items()}
        self.taken = state["taken"]
        self.kept = [(number, snapshots[number]) for number in state["pool"]]
        self.playing = [(number, snapshots[number]) for number in state["playing"]]
        return snapshots


class TorchPolicy(Policy):
    """A torch network as an agent: its most likely legal action, or a sample."""

    name = "learner"

    def __init__(self, network: PolicyNetwork, sample: bool = False) -> None:
        self.network, self.num_players, self.sample = network, network.num_players, sample

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N]; see `Policy.act_many`."""
        observation, mask = views.observe()
        device = self.network.input.weight.device
        belief = torch.from_numpy(beliefs_of(views, LIKELY)).to(device) if self.network.belief else None
        with torch.inference_mode():
            legal_actions = torch.from_numpy(mask).to(device)
            logits, _ = self.network(torch.from_numpy(observation).to(device), legal_actions, belief)
            legal = masked(logits, legal_actions)
            if not self.sample:
                return legal.argmax(1).cpu().numpy()
            return drawn(legal.double().softmax(1).cpu().numpy(), keys)


class Mix:
    """Opponents of self-play.

    Args:
        config: the `SelfPlayConfig` of the run.

    Attributes:
        blocks: slice of matches by opponent name.
        learner_side: int64 [N], the learner's side in every match, -1 where it plays all sides.

    Raises:
        AgentError: if an agent does not exist or cannot play in batches.
    """

    def __init__(self, config: Any) -> None:
        self.blocks = blocks_of(config.opponents, config.matches)
        sides = 3 if config.players == 3 else 2
        self.learner_side = np.arange(config.matches) % sides
        self.learner_side[self.blocks.get(SELF, slice(0))] = -1
        self._agents: dict[str, Policy] = {}
        for name in config.opponents:
            if name in (SELF, SNAPSHOTS):
                continue
            agent = make_agent(name, config.players)
            if not is_policy(agent):
                raise AgentError(f"agent {name!r} has no act_many, which self-play needs (see agents.protocol)")
            self._agents[name] = agent
        self._pool = SnapshotPool(config.snapshots.keep, config.snapshots.at_once, config.seed)

    def learns(self, side: np.ndarray) -> np.ndarray:
        """Return whether decisions of these sides are the learner's, bool of the shape of `side` ([N] or [T, N])."""
        learns: np.ndarray = (self.learner_side < 0) | (self.learner_side == side)
        return learns

    def take_snapshot(self, network: PolicyNetwork) -> None:
        """Add the current network to the pool if the mix has snapshots."""
        if SNAPSHOTS in self.blocks:
            self._pool.take(frozen(network, network.state_dict()))

    def override(
        self, actions: np.ndarray, games: np.ndarray, side: np.ndarray, seen: Seen, generator: torch.Generator
    ) -> None:
        """Replace the actions in which an opponent is to act.

        Args:
            actions: int64 [N], the learner's actions for all matches; changed in place.
            games: records [N].
            side: int8 [N], the side to act.
            seen: network inputs of the seat to act.
            generator: random numbers of the snapshots.
        """
        theirs = ~self.learns(side)
        for name, agent in self._agents.items():
            rows = self._rows(theirs, self.blocks[name])
            if len(rows):
                views = Views(games[rows], games["turn"][rows])
                # Random numbers of agents are independent of the deals even if the seeds are equal.
                actions[rows] = agent.act_many(views, keys_of(views, games["seed"][rows]))
        if not (playing := self._pool.playing):
            return
        for part, (_, network) in zip(parts_of(self.blocks[SNAPSHOTS], len(playing)), playing, strict=True):
            rows = self._rows(theirs, part)
            if len(rows):
                device = network.input.weight.device
                with torch.inference_mode():
                    observation, legal, belief = (None if x is None else x[rows].to(device) for x in seen)
                    logits, _ = network(observation, legal, belief)
                    chosen, _ = sample_actions(logits, legal, generator)
                actions[rows] = chosen.cpu().numpy()

    @staticmethod
    def _rows(theirs: np.ndarray, block: slice) -> np.ndarray:
        rows: np.ndarray = block.start + theirs[block].nonzero()[0]
        return rows

    def state(self) -> dict[str, Any]:
        """Return the state of the pool, for checkpoints."""
        return self._pool.state(PolicyNetwork.state_dict)

    def set_state(self, state: dict[str, Any], network: PolicyNetwork) -> None:
        """Restore a state; `network` has the sizes of the snapshots."""
        self._pool.set_state(state, lambda _, weights: frozen(network, weights))
