"""Additions to the policy network (`fiveup_env.agents.network.torch_network`) for training: critic, sampling, files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fiveup_env.agents.network.torch_network import PolicyNetwork, Trunk, output_layer, read_network
from fiveup_env.agents.network.weights_file import weights_bytes
from fiveup_env.agents.protocol import AgentError
from fiveup_env.system.training_scripts import ConfigError
from fiveup_env.views.observation import state_size

from ._checkpoint import write_file


class Critic(Trunk):
    """Value of the global state (`fiveup_env.views.observation_kernels.write_state`), which shows all hands.

    Args:
        num_players, width, blocks: as for `PolicyNetwork`.
        playouts: whether one value per side follows the global state (see `Standing.outlook`), the own side first.
            They are also added to the output, with initial weights of 0.5 for the own side and 0 for the others.
    """

    def __init__(self, num_players: int, width: int, blocks: int, playouts: bool) -> None:
        outlook = (3 if num_players == 3 else 2) if playouts else 0
        super().__init__(state_size(num_players) + outlook, width, blocks)
        self.value = output_layer(width, 1)
        self.straight = nn.Parameter(torch.tensor([0.5] + [0.0] * (outlook - 1))) if playouts else None

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        """Return values float [N] for global states float [N, G]."""
        value: torch.Tensor = self.value(self.hidden(state))[:, 0]
        if self.straight is not None:
            value = value + state[:, -len(self.straight) :] @ self.straight
        return value


ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0, and 0 times its logit is finite."""


def masked(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return logits float [N, 121] with `ILLEGAL` where `mask` (int8 or bool [N, 121]) is 0."""
    return torch.where(mask.view(torch.bool), logits.float(), ILLEGAL)


def sample_actions(
    logits: torch.Tensor, mask: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw legal actions; returns actions int64 [N] and their log-probabilities float32 [N].

    Args:
        logits: float [N, 121].
        mask: int8 or bool [N, 121], at least one legal action per row.
        generator: source of one random number per row.
    """
    # Softmax, not exp: on CPUs torch's exp is ten times slower for numbers that underflow.
    probs = masked(logits, mask).softmax(1)
    cumulated = probs.cumsum(1)
    drawn = torch.rand((len(logits), 1), generator=generator, device=logits.device)
    # The factor keeps the drawn number below the total after rounding, so the action has positive probability.
    actions = (cumulated <= drawn * (1 - 2**-22) * cumulated[:, -1:]).sum(1, keepdim=True)
    log_prob = probs.gather(1, actions).log()
    return actions[:, 0], log_prob[:, 0]


def frozen(network: PolicyNetwork, weights: dict[str, torch.Tensor]) -> PolicyNetwork:
    """Return a network of the same sizes on the same device with a copy of these weights."""
    with torch.random.fork_rng(devices=[]):  # creating a network draws random numbers
        copy = network.like()
    copy.load_state_dict(weights)
    return copy.requires_grad_(False).to(network.input.weight.device)


def save_weights(path: str | os.PathLike[str], network: PolicyNetwork, trained: dict[str, Any]) -> None:
    """Write the network to a `.safetensors` file atomically.

    Args:
        path: file to write or replace.
        network: its weights are written as float32 under the keys of its `state_dict`.
        trained: facts about the training run (config, decisions, seconds …), as JSON values.
    """
    write_file(Path(path), weights_bytes(network.weights(trained)))


def load_weights(path: str | os.PathLike[str], num_players: int | None = None) -> PolicyNetwork:
    """Return the network in a weights file, for a run with `num_players` seats (None: any number).

    Raises:
        ConfigError: in one line, if the file cannot be used.
    """
    try:
        network = read_network(path)
    except AgentError as error:
        raise ConfigError(str(error)) from error
    if num_players is not None and network.num_players != num_players:
        raise ConfigError(f"{path} is for {network.num_players} players, this run for {num_players}")
    return network
