"""Who sits at the matches of self-play beside the learner: nobody, snapshots of its past, or agents by name.

Every match belongs to a block of the mix. In the block `self` all sides are the learner's and all their decisions are
learned from. In every other block the learner has one side (sides take turns from match to match) and the block's agent
plays all others, whose decisions are not learned from. The block `snapshots` is divided anew whenever a snapshot is
taken: one part plays the newest, the others one drawn at random from the pool each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch

from fiveup_env.agents.protocol import AgentError, Policy, drawn, is_policy, keys_of
from fiveup_env.agents.registry import make_agent
from fiveup_env.belief.belief_section import LIKELY, beliefs_of
from fiveup_env.views.view import Views

from ._network import PolicyNetwork, masked, sample_actions

Seen: TypeAlias = "tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]"
"""What a network takes: observations [N, F], masks [N, 121], and with `belief` where tiles are likely [N, n, 28]."""

SELF, SNAPSHOTS = "self", "snapshots"
"""Names in a mix that are not the registry's."""


class NetworkPolicy(Policy):
    """A network as an agent: its most likely legal action, or a sample."""

    name = "learner"

    def __init__(self, network: PolicyNetwork, sample: bool = False) -> None:
        self.network, self.num_players, self.sample = network, network.num_players, sample

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
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
    """The blocks, and the pool of snapshots.

    Args:
        shares: agent name, `self` or `snapshots` -> weight; only their ratios matter.
        count: number of matches N.
        num_players: 2, 3 or 4.
        keep: snapshots in the pool; the oldest goes first.
        parts: how many snapshots play at the same time.
        seed: of the draws from the pool.

    Attributes:
        blocks: name -> slice of matches.
        learner_side: int64 [N]: the learner's side, -1 where all are.

    Raises:
        AgentError: if there is no such agent, or it does not fit.
    """

    def __init__(
        self, shares: Mapping[str, float], count: int, num_players: int, keep: int, parts: int, seed: int
    ) -> None:
        self._keep, self._parts, self._seed = keep, parts, seed
        bounds = np.rint(np.cumsum([0, *shares.values()]) / sum(shares.values()) * count).astype(int).tolist()
        self.blocks = {name: slice(bounds[i], bounds[i + 1]) for i, name in enumerate(shares)}
        sides = 3 if num_players == 3 else 2
        self.learner_side = np.arange(count) % sides
        self.learner_side[self.blocks.get(SELF, slice(0))] = -1
        self._agents: dict[str, Policy] = {}
        for name in shares:
            if name not in (SELF, SNAPSHOTS):
                agent = make_agent(name, num_players)
                if not is_policy(agent):
                    raise AgentError(f"agent {name!r} has no act_many, which self-play needs (see agents.protocol)")
                self._agents[name] = agent
        self._pool: list[tuple[int, PolicyNetwork]] = []
        self._playing: list[tuple[int, PolicyNetwork]] = []
        self._taken = 0

    def learns(self, side: np.ndarray) -> np.ndarray:
        """Bool, [N] or [T, N]: whether a decision of these sides is the learner's."""
        learns: np.ndarray = (self.learner_side < 0) | (self.learner_side == side)
        return learns

    def take_snapshot(self, network: PolicyNetwork) -> None:
        """Add the network as it is now to the pool, and let snapshots play."""
        if SNAPSHOTS not in self.blocks:
            return
        self._pool.append((self._taken, frozen(network, network.state_dict())))
        del self._pool[: -self._keep]
        # Drawn from (seed, number of the snapshot) alone, so there is no state to keep.
        drawn = np.random.default_rng((self._seed, self._taken)).integers(len(self._pool), size=self._parts - 1)
        self._taken += 1
        self._playing = [self._pool[-1], *(self._pool[chosen] for chosen in drawn)]

    def override(
        self,
        actions: np.ndarray,
        games: np.ndarray,
        side: np.ndarray,
        seen: Seen,
        generator: torch.Generator,
    ) -> None:
        """Write what the opponents do into `actions` int64 [N], where one of them is to act.

        Args:
            actions: the learner's, for all matches.
            games: records [N].
            side: int8 [N]: the side to act.
            seen: by whoever is to act.
            generator: snapshots draw from it.
        """
        theirs = ~self.learns(side)
        for name, agent in self._agents.items():
            rows = self._rows(theirs, self.blocks[name])
            if len(rows):
                views = Views(games[rows], games["turn"][rows])
                # Agents' random numbers are independent of the deal's even where the seeds are equal.
                actions[rows] = agent.act_many(views, keys_of(views, games["seed"][rows]))
        if self._playing:
            block = self.blocks[SNAPSHOTS]
            bounds = np.linspace(block.start, block.stop, len(self._playing) + 1).astype(int)
            for i, (_, network) in enumerate(self._playing):
                rows = self._rows(theirs, slice(bounds[i], bounds[i + 1]))
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

    # checkpoints

    def state(self) -> dict[str, Any]:
        """The pool, and the snapshots that play."""
        return {
            "taken": self._taken,
            "pool": [number for number, _ in self._pool],
            "playing": [number for number, _ in self._playing],
            "weights": {number: network.state_dict() for number, network in (*self._pool, *self._playing)},
        }

    def set_state(self, state: dict[str, Any], network: PolicyNetwork) -> None:
        """Go on from what `state` gave; `network` is one of the same sizes."""
        networks = {number: frozen(network, weights) for number, weights in state["weights"].items()}
        self._taken = state["taken"]
        self._pool = [(number, networks[number]) for number in state["pool"]]
        self._playing = [(number, networks[number]) for number in state["playing"]]


def frozen(network: PolicyNetwork, weights: dict[str, torch.Tensor]) -> PolicyNetwork:
    """A network of the same sizes on the same device with these weights, which are copied."""
    with torch.random.fork_rng(devices=[]):  # making a network draws random numbers
        copy = network.like()
    copy.load_state_dict(weights)
    return copy.requires_grad_(False).to(network.input.weight.device)
