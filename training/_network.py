"""The network of policies and its file: a plain residual multilayer perceptron, and safetensors with JSON beside.

The observation (float32 [F], see `fiveup_env.encoding.observation`) goes through

    h = relu(input(x))
    h = h + second(relu(first(h)))        for every block
    logits = policy(relu(h)),  value = value(relu(h))

There is no normalisation, so that a forward pass is a few matrix products in any library. Logits are for all 121
actions; illegal ones are for the caller to mask. The value is that of the seat that looks.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import nn

from fiveup_env.encoding.observation import observation_size
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.scripts import ConfigError

from ._checkpoint import write_file

FORMAT = 1
"""Version of the weights file."""
METADATA = "fiveup"
"""Key of the file's metadata under which the JSON stands."""


class ResidualBlock(nn.Module):
    """h + second(relu(first(h))); begins as the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """Float [N, W] to the same."""
        return h + self.second(torch.relu(self.first(h)))


class PolicyNetwork(nn.Module):
    """Logits and a value for observations.

    Args:
        num_players: 2, 3 or 4; decides the length F of the observation.
        width: W, of all hidden layers.
        blocks: number of residual blocks, 0 for none.
    """

    def __init__(self, num_players: int, width: int, blocks: int) -> None:
        super().__init__()
        self.num_players, self.width = num_players, width
        self.input = nn.Linear(observation_size(num_players), width)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        self.policy = nn.Linear(width, NUM_ACTIONS)
        self.value = nn.Linear(width, 1)
        nn.init.kaiming_normal_(self.input.weight, nonlinearity="relu")
        nn.init.zeros_(self.input.bias)
        # A policy that begins close to uniform over the legal actions, and values close to zero.
        for head in (self.policy, self.value):
            nn.init.normal_(head.weight, std=0.01 / width**0.5)
            nn.init.zeros_(head.bias)

    def hidden(self, observation: torch.Tensor) -> torch.Tensor:
        """What both heads read, float [N, W], from observations float [N, F]."""
        h = torch.relu(self.input(observation))
        for block in self.blocks:
            h = block(h)
        return torch.relu(h)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits float [N, 121] and values float [N] for observations float [N, F]."""
        h = self.hidden(observation)
        return self.policy(h), self.value(h)[:, 0]


def save_weights(path: str | os.PathLike[str], network: PolicyNetwork, trained: dict[str, Any]) -> None:
    """Write the network to a `.safetensors` file, whole or not at all.

    Args:
        path: the file; one that is there is replaced.
        network: whose weights are written as float32 under the keys of its `state_dict`.
        trained: free facts about how it came to be (config, decisions, seconds ...), as JSON takes them.
    """
    about = {
        "format": FORMAT,
        "num_players": network.num_players,
        "observation_size": network.input.in_features,
        "width": network.width,
        "blocks": len(network.blocks),
        "trained": trained,
    }
    tensors = {name: tensor.detach().float().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write_file(Path(path), safetensors.torch.save(tensors, {METADATA: json.dumps(about)}))


def load_weights(path: str | os.PathLike[str]) -> PolicyNetwork:
    """The network in a file that `save_weights` wrote; no code of the file is run.

    Raises:
        ConfigError: one line, if there is no such file, it is broken, or it holds another kind of network.
    """
    try:
        with safetensors.safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {})[METADATA])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about["format"] != FORMAT:
            raise ConfigError(f"{path} has format {about['format']}; this version reads {FORMAT}")
        if about["num_players"] not in (2, 3, 4):
            raise ConfigError(f"{path} is for {about['num_players']} players; the game is for 2, 3 or 4")
        network = PolicyNetwork(about["num_players"], about["width"], about["blocks"])
        if about["observation_size"] != network.input.in_features:
            raise ConfigError(
                f"{path} was trained on observations of {about['observation_size']} values; "
                f"this version's have {network.input.in_features}"
            )
        network.load_state_dict(tensors)
    except ConfigError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # a broken file fails in any of safetensors, json and torch
        cause = " ".join(str(error).split())[:200]
        raise ConfigError(f"{path} is broken or no network of ours ({type(error).__name__}: {cause})") from error
    return network
