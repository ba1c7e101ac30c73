"""Weights files: the sizes and tensors of a policy network, read and written in one place.

A weights file is a `.safetensors` file. It holds float32 or float16 tensors under the keys of the network's
`state_dict`, and a JSON object with the sizes of the network under the metadata key `fiveup`. Reading one runs no code
from the file. `fiveup_env/policies` holds the released weights files, each with a model card. A released file never
changes; an improved network gets a new name.

| name             | matches                 |
|------------------|-------------------------|
| `partnership-v1` | four players, two sides |
| `trio-v1`        | three players           |
| `duel-v1`        | two players             |
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.network.placement_features import num_features
from fiveup_env.agents.protocol import AgentError
from fiveup_env.belief.belief_section import belief_shape
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import observation_size

FORMAT = 1
"""Version of the weights file."""
METADATA = "fiveup"
"""Metadata key of the JSON object."""
RELEASED = ("partnership-v1", "trio-v1", "duel-v1")
RELEASED_FOLDER = Path(__file__).resolve().parents[2] / "policies"


@dataclass(frozen=True)
class NetworkSizes:
    """Sizes that determine the tensors of a network; see `network_agent` for its formula.

    Attributes:
        num_players: 2, 3 or 4.
        width: units of every hidden layer, W.
        blocks: number of residual blocks.
        placements: units of the layers that score placements, D; 0 for one output per action id.
        belief: the network reads the likely places of hidden tiles as well.
    """

    num_players: int
    width: int
    blocks: int
    placements: int = 0
    belief: bool = False

    @property
    def num_inputs(self) -> int:
        """Length of the network's input: an observation, followed by n * 28 likely places with `belief`."""
        return observation_size(self.num_players) + (math.prod(belief_shape(self.num_players)) if self.belief else 0)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the tensors by key."""
        width, depth = self.width, self.placements
        inner = [(f"blocks.{i}.{part}", width, width) for i in range(self.blocks) for part in ("first", "second")]
        layers = [("input", width, self.num_inputs), *inner]
        if depth:
            layers += [("context", depth, width), ("placement", depth, num_features(self.num_players, self.belief))]
            layers += [("mix", depth, depth), ("score", 1, depth), ("value", 1, width)]
        else:
            layers += [("policy", NUM_ACTIONS, width), ("value", 1, width)]
        found: dict[str, tuple[int, ...]] = {}
        for name, rows, columns in layers:
            found |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
        found.pop("placement.bias", None)  # the bias of `context` serves both
        return found


@dataclass(frozen=True)
class Weights:
    """Contents of a weights file.

    Attributes:
        sizes: sizes of the network.
        tensors: float32 arrays by key, of `sizes.shapes`.
        trained: facts about the training run (config, decisions, seconds), as JSON holds them.
    """

    sizes: NetworkSizes
    tensors: Mapping[str, np.ndarray]
    trained: Mapping[str, Any]


def released_file(name: str) -> Path:
    """Return the weights file of a released policy.

    Raises:
        AgentError: if there is no released policy of that name.
    """
    if name not in RELEASED:
        raise AgentError(f"there is no released policy {name!r}; there are {', '.join(RELEASED)}")
    return RELEASED_FOLDER / f"{name}.safetensors"


def weights_bytes(weights: Weights) -> bytes:
    """Return the content of a weights file, with tensors as float32."""
    from safetensors.numpy import save

    sizes = asdict(weights.sizes)
    about = {"format": FORMAT, "num_players": sizes.pop("num_players")}
    about |= {"observation_size": observation_size(weights.sizes.num_players), **sizes, "trained": weights.trained}
    tensors = {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in weights.tensors.items()}
    return bytes(save(tensors, {METADATA: json.dumps(about)}))


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Read and check a weights file.

    Raises:
        AgentError: if the file does not exist, is damaged, or holds another kind of network. The message is one line.
    """
    import safetensors

    try:
        with safetensors.safe_open(path, "np") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # safetensors has its own exception class; NumPy raises others for unknown dtypes
        raise AgentError(f"{path} is broken or not a safetensors file ({_one_line(error)})") from error
    sizes, trained = _parse_metadata(path, metadata)
    wanted, found = sizes.shapes, {name: tensor.shape for name, tensor in tensors.items()}
    if found != wanted:
        name = min(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise AgentError(f"{path} is broken: {name} has shape {found.get(name)}, expected {wanted.get(name)}")
    if any(tensor.dtype.kind != "f" or not np.isfinite(tensor).all() for tensor in tensors.values()):
        raise AgentError(f"{path} is broken: not all weights are finite floating-point numbers")
    return Weights(sizes, {name: tensor.astype(np.float32) for name, tensor in tensors.items()}, trained)


def _parse_metadata(
    path: str | os.PathLike[str], metadata: Mapping[str, str]
) -> tuple[NetworkSizes, Mapping[str, Any]]:
    """Return the checked sizes and the facts about training."""
    if METADATA not in metadata:
        raise AgentError(f"{path} holds no network of this game: its metadata has no key {METADATA!r}")
    try:
        about = dict(json.loads(metadata[METADATA]))
    except (TypeError, ValueError) as error:
        raise AgentError(f"{path} is broken: its metadata is not a JSON object ({_one_line(error)})") from error
    if about.get("format") != FORMAT:
        raise AgentError(f"{path} has format {about.get('format')}; this version reads {FORMAT}")
    players = about.get("num_players")
    if players not in (2, 3, 4):
        raise AgentError(f"{path} is for {players} players; the game is for 2, 3 or 4")
    sizes: dict[str, Any] = {"width": about.get("width"), "blocks": about.get("blocks")}
    sizes["placements"] = about.get("placements", 0)
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or not (name == "width") <= size <= 1 << 16:
            raise AgentError(f"{path} is broken: {name} is {size!r}")
    belief = about.get("belief", False)
    if not isinstance(belief, bool):
        raise AgentError(f"{path} is broken: belief is {belief!r}")
    if about.get("observation_size") != observation_size(players):
        raise AgentError(
            f"{path} was trained on observations of {about.get('observation_size')} values; "
            f"this version's have {observation_size(players)}"
        )
    return NetworkSizes(int(players), belief=belief, **sizes), about.get("trained", {})


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
