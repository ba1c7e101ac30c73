"""The network of policies and its file: a plain residual multilayer perceptron, and safetensors with JSON beside.

The observation (float32 [F], see `fiveup_env.views.observation`) goes through

    h = relu(input(x))
    h = h + second(relu(first(h)))        for every block
    logits = policy(relu(h)),  value = value(relu(h))

Logits are for all 121 actions; illegal ones are for the caller to mask. The value is that of the seat that looks.
A network with `placements` D > 0 has no output for each action id, but scores every legal placement by what it would
leave (features float32 [M, K], see `placement_features`), so what it learns from one tile holds for all:

    z = relu(placement(features) + context(relu(h)))
    logits = score(z + relu(mix(z)))

With `belief` the input is the observation and behind it what is likely about the hidden tiles (`belief.approximation`).
There is no normalisation, so that a forward pass is a few matrix products in any library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import nn

from fiveup_env.agents.network.network_agent import FORMAT, METADATA, num_inputs
from fiveup_env.agents.network.outlook_features import Outlook
from fiveup_env.agents.network.placement_features import Placements, num_features
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.system.training_scripts import ConfigError
from fiveup_env.views.observation import observation_size, offsets, sections, state_size

from ._checkpoint import write_file


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


class Trunk(nn.Module):
    """Hidden layers over `inputs` values: what the heads read."""

    def __init__(self, inputs: int, width: int, blocks: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        nn.init.kaiming_normal_(self.input.weight, nonlinearity="relu")
        nn.init.zeros_(self.input.bias)

    def hidden(self, inputs: torch.Tensor) -> torch.Tensor:
        """Float [N, inputs] to float [N, W]."""
        h = torch.relu(self.input(inputs))
        for block in self.blocks:
            h = block(h)
        return torch.relu(h)


def head(width: int, outputs: int) -> nn.Linear:
    """A last layer whose outputs begin close to zero."""
    linear = nn.Linear(width, outputs)
    nn.init.normal_(linear.weight, std=0.01 / width**0.5)
    nn.init.zeros_(linear.bias)
    return linear


class PolicyNetwork(Trunk):
    """Logits and a value for observations.

    Args:
        num_players: 2, 3 or 4; decides the length F of the observation.
        width: W, of all hidden layers.
        blocks: number of residual blocks, 0 for none.
        placements: D, width of the layers that score placements; 0: an output for each action id instead.
        belief: whether it sees what is likely about the hidden tiles.
    """

    def __init__(self, num_players: int, width: int, blocks: int, placements: int = 0, belief: bool = False) -> None:
        super().__init__(num_inputs(num_players, belief), width, blocks)
        self.num_players, self.placements, self.belief = num_players, placements, belief
        # The policy begins close to uniform over the legal actions.
        if placements:
            self.context = nn.Linear(width, placements)
            self.placement = nn.Linear(num_features(num_players, belief), placements, bias=False)
            self.mix = nn.Linear(placements, placements)
            self.score = head(placements, 1)
        else:
            self.policy = head(width, NUM_ACTIONS)
        self.value = head(width, 1)

    def inputs(self, observation: torch.Tensor, belief: torch.Tensor | None) -> torch.Tensor:
        """What the first layer reads, float [N, `num_inputs`]; arguments as of `forward`."""
        if not self.belief:
            return observation
        if belief is None:
            raise ValueError("this network sees where tiles are likely to be: give it beliefs_of(views, 'likely') too")
        return torch.cat([observation, belief.flatten(1)], 1)

    def forward(
        self, observation: torch.Tensor, mask: torch.Tensor | None = None, belief: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits float [N, 121] and values float [N].

        Args:
            observation: float [N, F].
            mask: int8 or bool [N, 121] of legal actions; networks with `placements` need it.
            belief: float [N, n, 28], where tiles are likely to be; networks with `belief` need it.
        """
        h = self.hidden(self.inputs(observation, belief))
        value = self.value(h)[:, 0]
        if not self.placements:
            return self.policy(h), value
        assert mask is not None, "what can be laid is in the mask"
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

    def like(self) -> PolicyNetwork:
        """A new network of the same sizes."""
        return PolicyNetwork(self.num_players, self.width, len(self.blocks), self.placements, self.belief)

    def ignore(self, names: Collection[str]) -> None:
        """Take these sections of the observation away: their weights are zero, and stay so in training."""
        if not names:
            return
        start, kept = offsets(self.num_players), torch.ones(self.input.in_features)
        for i, section in enumerate(sections(self.num_players)):
            if section.name in names:
                kept[start[i] : start[i + 1]] = 0
        with torch.no_grad():
            self.input.weight *= kept.to(self.input.weight.device)
        self.input.weight.register_hook(lambda gradient: gradient * kept.to(gradient.device))


class Critic(Trunk):
    """A value from the global state, all hands seen (`fiveup_env.views.history.write_state`); for training alone.

    Args:
        num_players, width, blocks: as of `PolicyNetwork`.
        playouts: behind the global state stand as many values as there are sides, which say what every side may get
            (see `_standing`), the own one first; that goes straight into the value as well, by half at the start.
    """

    def __init__(self, num_players: int, width: int, blocks: int, playouts: bool) -> None:
        outlook = (3 if num_players == 3 else 2) if playouts else 0
        super().__init__(state_size(num_players) + outlook, width, blocks)
        self.value = head(width, 1)
        self.straight = nn.Parameter(torch.tensor([0.5] + [0.0] * (outlook - 1))) if playouts else None

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        """Values float [N] for global states float [N, G]."""
        value: torch.Tensor = self.value(self.hidden(state))[:, 0]
        if self.straight is not None:
            value = value + state[:, -len(self.straight) :] @ self.straight
        return value


ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0, and 0 times it is no NaN."""


def masked(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Logits float [N, 121] with those of illegal actions (`mask` int8 or bool [N, 121] of 0) out of reach."""
    return torch.where(mask.view(torch.bool), logits.float(), ILLEGAL)


def sample_actions(
    logits: torch.Tensor, mask: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw legal actions.

    Args:
        logits: float [N, 121].
        mask: int8 or bool [N, 121], at least one legal action in every row.
        generator: gives one random number a row.

    Returns:
        actions int64 [N] and their log-probabilities float32 [N].
    """
    # By softmax and not exp: on CPUs torch's exp takes ten times as long for numbers that underflow.
    probs = masked(logits, mask).softmax(1)
    cumulated = probs.cumsum(1)
    drawn = torch.rand((len(logits), 1), generator=generator, device=logits.device)
    # The factor keeps rounding from reaching the total, so what is found has a positive probability.
    actions = (cumulated <= drawn * (1 - 2**-22) * cumulated[:, -1:]).sum(1, keepdim=True)
    log_prob = probs.gather(1, actions).log()
    return actions[:, 0], log_prob[:, 0]


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
        "observation_size": observation_size(network.num_players),
        "width": network.width,
        "blocks": len(network.blocks),
        "placements": network.placements,
        "belief": network.belief,
        "trained": trained,
    }
    tensors = {name: tensor.detach().float().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write_file(Path(path), safetensors.torch.save(tensors, {METADATA: json.dumps(about)}))


def load_weights(path: str | os.PathLike[str], num_players: int | None = None) -> PolicyNetwork:
    """The network in a file that `save_weights` wrote; no code of the file is run.

    Args:
        path: the file.
        num_players: if given, a network for another number of players is refused.

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
        if num_players is not None and about["num_players"] != num_players:
            raise ConfigError(f"{path} is for {about['num_players']} players, this run for {num_players}")
        sizes = about["width"], about["blocks"], about.get("placements", 0), about.get("belief", False)
        network = PolicyNetwork(about["num_players"], *sizes)
        if about["observation_size"] != observation_size(about["num_players"]):
            raise ConfigError(
                f"{path} was trained on observations of {about['observation_size']} values; "
                f"this version's have {observation_size(about['num_players'])}"
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
