"""The policy network as a torch module, for training; the formulas are those of `network_agent`.

There is no normalisation layer, so a forward pass is a few matrix products in any library.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import astuple
from typing import Any

from fiveup_env.agents.network.outlook_features import Outlook
from fiveup_env.agents.network.placement_features import Placements, num_features
from fiveup_env.agents.network.weights_file import NetworkSizes, Weights, read_weights, released_file
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.system.optional import library
from fiveup_env.views.observation import offsets, sections

with library("train"):
    import torch
    from torch import nn


class ResidualBlock(nn.Module):
    """h + second(relu(first(h))); initially the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """Map float [N, W] to float [N, W]."""
        output: torch.Tensor = h + self.second(torch.relu(self.first(h)))
        return output


class Trunk(nn.Module):
    """Hidden layers below the heads, over `inputs` values."""

    def __init__(self, inputs: int, width: int, blocks: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        nn.init.kaiming_normal_(self.input.weight, nonlinearity="relu")
        nn.init.zeros_(self.input.bias)

    def hidden(self, inputs: torch.Tensor) -> torch.Tensor:
        """Map float [N, inputs] to float [N, W]."""
        h = torch.relu(self.input(inputs))
        for block in self.blocks:
            h = block(h)
        return torch.relu(h)


def output_layer(width: int, outputs: int) -> nn.Linear:
    """Return a last layer whose outputs are initially close to zero."""
    linear = nn.Linear(width, outputs)
    nn.init.normal_(linear.weight, std=0.01 / width**0.5)
    nn.init.zeros_(linear.bias)
    return linear


class PolicyNetwork(Trunk):
    """Logits of all 121 actions and the value of the observing seat; the caller masks illegal actions.

    Args:
        num_players: 2, 3 or 4; sets the length F of the observation.
        width: width W of all hidden layers.
        blocks: number of residual blocks, at least 0.
        placements: width D of the layers that score placements; 0 for one output per action id.
        belief: whether the likely places of the hidden tiles are an input.
    """

    def __init__(self, num_players: int, width: int, blocks: int, placements: int = 0, belief: bool = False) -> None:
        super().__init__(NetworkSizes(num_players, width, blocks, placements, belief).num_inputs, width, blocks)
        self.num_players, self.placements, self.belief = num_players, placements, belief
        # The initial policy is close to uniform over the legal actions.
        if placements:
            self.context = nn.Linear(width, placements)
            self.placement = nn.Linear(num_features(num_players, belief), placements, bias=False)
            self.mix = nn.Linear(placements, placements)
            self.score = output_layer(placements, 1)
        else:
            self.policy = output_layer(width, NUM_ACTIONS)
        self.value = output_layer(width, 1)

    def inputs(self, observation: torch.Tensor, belief: torch.Tensor | None) -> torch.Tensor:
        """Return the input of the first layer, float [N, `num_inputs`]; arguments as for `forward`."""
        if not self.belief:
            return observation
        if belief is None:
            raise ValueError("this network takes a belief as input: give it beliefs_of(views, 'likely') too")
        return torch.cat([observation, belief.flatten(1)], 1)

    def forward(
        self, observation: torch.Tensor, mask: torch.Tensor | None = None, belief: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float [N, 121] and values float [N].

        Args:
            observation: float [N, F].
            mask: int8 or bool [N, 121] of legal actions; required by networks with `placements`.
            belief: float [N, n, 28], likely places of the tiles; required by networks with `belief`.
        """
        h = self.hidden(self.inputs(observation, belief))
        value = self.value(h)[:, 0]
        if not self.placements:
            return self.policy(h), value
        assert mask is not None, "the mask lists the legal placements"
        device = observation.device
        outlook = None
        if self.belief and belief is not None:
            outlook = Outlook(belief.float().cpu().numpy(), shipped_table(self.num_players))
        pairs = Placements(observation.float().cpu().numpy(), mask.cpu().numpy(), self.num_players, outlook)
        rows, actions = torch.from_numpy(pairs.rows).to(device), torch.from_numpy(pairs.actions).to(device)
        z = torch.relu(self.placement(torch.from_numpy(pairs.features).to(device)) + self.context(h)[rows])
        scores = self.score(z + torch.relu(self.mix(z)))[:, 0]
        logits = torch.zeros(len(observation), NUM_ACTIONS, dtype=scores.dtype, device=device)
        return logits.index_put((rows, actions), scores), value

    @property
    def sizes(self) -> NetworkSizes:
        """Sizes of the network."""
        return NetworkSizes(self.num_players, self.width, len(self.blocks), self.placements, self.belief)

    def weights(self, trained: dict[str, Any]) -> Weights:
        """Return the contents of a weights file; `trained` holds facts about the training run, as JSON values."""
        tensors = {name: tensor.detach().float().cpu().numpy() for name, tensor in self.state_dict().items()}
        return Weights(self.sizes, tensors, trained)

    def like(self) -> PolicyNetwork:
        """Return a new network of the same sizes."""
        return PolicyNetwork(*astuple(self.sizes))

    def ignore(self, names: Collection[str]) -> None:
        """Remove sections of the observation from the input: their weights become zero and stay zero in training."""
        if not names:
            return
        start, kept = offsets(self.num_players), torch.ones(self.input.in_features)
        for i, section in enumerate(sections(self.num_players)):
            if section.name in names:
                kept[start[i] : start[i + 1]] = 0
        with torch.no_grad():
            self.input.weight *= kept.to(self.input.weight.device)
        self.input.weight.register_hook(lambda gradient: gradient * kept.to(gradient.device))


def read_network(path: str | os.PathLike[str]) -> PolicyNetwork:
    """Return the network in a weights file; see `read_weights` for the errors."""
    weights = read_weights(path)
    network = PolicyNetwork(*astuple(weights.sizes))
    network.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in weights.tensors.items()})
    return network


def torch_module(name: str) -> PolicyNetwork:
    """Return a released network to train on: `torch_module("partnership-v1")`.

    Raises:
        AgentError: if there is no released policy of that name.
    """
    return read_network(released_file(name))
