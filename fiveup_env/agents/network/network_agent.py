"""An agent over a network's weights file, by NumPy alone: nothing is unpickled, and torch is not needed.

The file is a `.safetensors` file as `training` writes it: float32 or float16 tensors under the keys of the network's
`state_dict`, and JSON beside them that says what the network is (key `fiveup` of the metadata). The network is a plain
residual perceptron over the observation vector:

    h = relu(input(x))
    h = h + second(relu(first(h)))        for every block
    logits = policy(relu(h)),  value = value(relu(h))

or, with `placements` D > 0, one that scores every legal placement by what it leaves (`placement_features`):

    z = relu(placement(features) + context(relu(h)))
    logits = score(z + relu(mix(z)))

With `belief` x is the observation and behind it what is likely about the hidden tiles, n * 28 values (see
`approximation`); placements have more features, which tell of that and of the chance to win (`outlook_features`).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.network.outlook_features import Outlook
from fiveup_env.agents.network.placement_features import Placements, num_features
from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.belief.belief_section import LIKELY, belief_shape, beliefs_of
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import Views

FORMAT = 1
"""Version of the weights file."""
METADATA = "fiveup"
"""Key of the file's metadata under which the JSON stands."""


@dataclass(frozen=True)
class Weights:
    """What a weights file holds.

    Attributes:
        tensors: by key of the network's `state_dict`, float32, of the shapes that `about` asks for.
        about: `num_players`, `observation_size`, `width`, `blocks`, `placements`, `belief`; under `trained` how it
            came to be.
    """

    tensors: Mapping[str, np.ndarray]
    about: Mapping[str, Any]


def num_inputs(num_players: int, belief: bool) -> int:
    """Length of the network's input: an observation, and with `belief` the likely places of all tiles behind it."""
    return observation_size(num_players) + (math.prod(belief_shape(num_players)) if belief else 0)


def shapes(
    num_players: int, width: int, blocks: int, placements: int, belief: bool = False
) -> dict[str, tuple[int, ...]]:
    """Tensors of a network, by key."""
    inner = [(f"blocks.{i}.{part}", width, width) for i in range(blocks) for part in ("first", "second")]
    layers = [("input", width, num_inputs(num_players, belief)), *inner]
    if placements:
        layers += [("context", placements, width), ("placement", placements, num_features(num_players, belief))]
        layers += [("mix", placements, placements), ("score", 1, placements), ("value", 1, width)]
    else:
        layers += [("policy", NUM_ACTIONS, width), ("value", 1, width)]
    found: dict[str, tuple[int, ...]] = {}
    for name, rows, columns in layers:
        found |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    found.pop("placement.bias", None)  # the context has one
    return found


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """The weights in a file; no code of the file is run.

    Raises:
        AgentError: one line, if there is no such file, it is broken, or it holds another kind of network.
    """
    import safetensors

    try:
        with safetensors.safe_open(path, "np") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # its own exception class, and others for what NumPy does not know
        raise AgentError(f"{path} is broken or no safetensors file ({_one_line(error)})") from error
    about = _about(path, metadata)
    wanted = shapes(*(about[name] for name in ("num_players", "width", "blocks", "placements", "belief")))
    there = {name: tensor.shape for name, tensor in tensors.items()}
    if there != wanted:
        wrong = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        raise AgentError(
            f"{path} is broken: {wrong[0]} has shape {there.get(wrong[0])}, and should have {wanted.get(wrong[0])}"
        )
    if any(tensor.dtype.kind != "f" or not np.isfinite(tensor).all() for tensor in tensors.values()):
        raise AgentError(f"{path} is broken: not all of its weights are finite floating point numbers")
    return Weights({name: tensor.astype(np.float32) for name, tensor in tensors.items()}, about)


def _about(path: str | os.PathLike[str], metadata: Mapping[str, str]) -> dict[str, Any]:
    """The JSON of a file, checked."""
    if METADATA not in metadata:
        raise AgentError(f"{path} holds no network of this game: its metadata has no key {METADATA!r}")
    try:
        about = dict(json.loads(metadata[METADATA]))
    except (TypeError, ValueError) as error:
        raise AgentError(f"{path} is broken: its metadata is no JSON object ({_one_line(error)})") from error
    if about.get("format") != FORMAT:
        raise AgentError(f"{path} has format {about.get('format')}; this version reads {FORMAT}")
    players = about.get("num_players")
    if players not in (2, 3, 4):
        raise AgentError(f"{path} is for {players} players; the game is for 2, 3 or 4")
    about.setdefault("placements", 0)
    about.setdefault("belief", False)
    for name, low in (("width", 1), ("blocks", 0), ("placements", 0)):
        size = about.get(name)
        if isinstance(size, bool) or not isinstance(size, int) or not low <= size <= 1 << 16:
            raise AgentError(f"{path} is broken: {name} is {size!r}")
    if not isinstance(about["belief"], bool):
        raise AgentError(f"{path} is broken: belief is {about['belief']!r}")
    if about.get("observation_size") != observation_size(players):
        raise AgentError(
            f"{path} was trained on observations of {about.get('observation_size')} values; "
            f"this version's have {observation_size(players)}"
        )
    return about


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


class NumpyNetwork:
    """The forward pass in float32.

    Args:
        weights: see `read_weights`.
    """

    def __init__(self, weights: Weights) -> None:
        w = weights.tensors
        self._layers = {
            key.removesuffix(".weight"): np.ascontiguousarray(w[key].T) for key in w if key.endswith(".weight")
        }
        self._biases = {key.removesuffix(".bias"): w[key] for key in w if key.endswith(".bias")}
        self._blocks, self._placements = int(weights.about["blocks"]), int(weights.about["placements"])
        self._num_players = int(weights.about["num_players"])
        self.belief = bool(weights.about["belief"])

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        out: np.ndarray = x @ self._layers[name]
        if name in self._biases:
            out += self._biases[name]
        return out

    def hidden(self, observation: np.ndarray) -> np.ndarray:
        """What the heads read, float32 [N, W], from inputs float32 [N, `num_inputs`]."""
        h = _relu(self._linear("input", observation))
        for i in range(self._blocks):
            h += self._linear(f"blocks.{i}.second", _relu(self._linear(f"blocks.{i}.first", h)))
        return _relu(h)

    def __call__(
        self, observation: np.ndarray, mask: np.ndarray | None = None, belief: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32 [N, 121] and values float32 [N]; illegal actions are for the caller to mask.

        Args:
            observation: float32 [N, F].
            mask: int8 [N, 121] of legal actions; networks with `placements` need it.
            belief: float32 [N, n, 28], see `belief.approximation`; networks with `belief` need it.
        """
        inputs = observation if belief is None else np.concatenate([observation, belief.reshape(len(belief), -1)], 1)
        h = self.hidden(inputs)
        value = self._linear("value", h)[:, 0]
        if not self._placements:
            return self._linear("policy", h), value
        assert mask is not None, "what can be laid is in the mask"
        outlook = None if belief is None else Outlook(belief, shipped_table(self._num_players))
        pairs = Placements(observation, mask, self._num_players, outlook)
        z = self._linear("placement", pairs.features)
        z += self._linear("context", h)[pairs.rows]
        z = _relu(z)
        z += _relu(self._linear("mix", z))
        return pairs.logits(self._linear("score", z)[:, 0], len(observation)), value


def _relu(x: np.ndarray) -> np.ndarray:
    """In place."""
    return np.maximum(x, 0, out=x)


class NetworkPolicy(Policy):
    """A policy network, masked: the most likely legal action, or a sample.

    In a batch of another size the matrix products of NumPy's BLAS may differ in their last bits, so two actions that
    the network finds equally good (to one part in 10**5) may change places; with a batch of its own every time (`act`)
    a decision is always the same.

    Args:
        path: a weights file.
        sample: draw from the policy instead of taking its most likely action.
        temperature: what logits are divided by when sampling.

    Attributes:
        num_players: what the file says.
        about: the file's own description, `trained` included.
        network: the forward pass, see `NumpyNetwork`.

    Raises:
        AgentError: if the file is no whole network of this game, or an argument is out of range.
    """

    num_players: int

    def __init__(self, path: str | os.PathLike[str], *, sample: bool = False, temperature: float = 1.0) -> None:
        if not isinstance(sample, bool):
            raise AgentError(f"sample must be true or false, not {sample!r}")
        given: Any = temperature
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1e6:
            raise AgentError(f"temperature must be a number above 0, not {temperature!r}")
        weights = read_weights(path)
        self.name = Path(path).stem
        self.about = weights.about
        self.num_players = int(weights.about["num_players"])
        self.network = NumpyNetwork(weights)
        self.sample = sample
        self.temperature = float(temperature)

    def logits(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32 [N, 121], -inf where an action is illegal, and values float32 [N].

        Raises:
            AgentError: if the views are of another number of players.
        """
        if len(views) and views.num_players != self.num_players:
            raise AgentError(
                f"policy {self.name} plays matches of {self.num_players} players, not of {views.num_players}"
            )
        observation, masks = views.observe()
        belief = beliefs_of(views, LIKELY) if self.network.belief else None
        logits, values = self.network(observation, masks, belief)
        logits[masks == 0] = -np.inf
        return logits, values

    def opinion(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of all actions at temperature 1, float64 [N, 121], and values float32 [N]."""
        logits, values = self.logits(views)
        weights = np.exp((logits - logits.max(1, keepdims=True)).astype(np.float64))
        return weights / weights.sum(1, keepdims=True), values

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        if not len(views):
            return np.zeros(0, np.int64)
        logits, _ = self.logits(views)
        if not self.sample:
            return logits.argmax(1)
        weights = np.exp((logits - logits.max(1, keepdims=True)).astype(np.float64) / self.temperature)
        return drawn(weights, keys)
