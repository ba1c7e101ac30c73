"""Policy over a weights file, with the forward pass in NumPy; torch is not needed.

The network is a plain residual perceptron over the observation x:

    h = relu(input(x))
    h = h + second(relu(first(h)))        for every block
    logits = policy(relu(h)),  value = value(relu(h))

With `placements` D > 0 it scores every legal placement by its features (`placement_features`), so what it learns from
one tile holds for all:

    z = relu(placement(features) + context(relu(h)))
    logits = score(z + relu(mix(z)))

With `belief`, x is the observation followed by n * 28 likely places of hidden tiles (`belief.approximation`), and
placements have the features of `outlook_features` as well. `torch_network` holds the same network for training.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.network.outlook_features import Outlook
from fiveup_env.agents.network.placement_features import Placements
from fiveup_env.agents.network.weights_file import Weights, read_weights
from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.belief.belief_section import LIKELY, beliefs_of
from fiveup_env.views.view import Views


class NumpyNetwork:
    """Forward pass in float32.

    Args:
        weights: contents of a weights file.
    """

    def __init__(self, weights: Weights) -> None:
        w = weights.tensors
        self.sizes = weights.sizes
        self._layers = {
            key.removesuffix(".weight"): np.ascontiguousarray(w[key].T) for key in w if key.endswith(".weight")
        }
        self._biases = {key.removesuffix(".bias"): w[key] for key in w if key.endswith(".bias")}

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        out: np.ndarray = x @ self._layers[name]
        if name in self._biases:
            out += self._biases[name]
        return out

    def hidden(self, inputs: np.ndarray) -> np.ndarray:
        """Map inputs float32 [N, `num_inputs`] to the last hidden layer, float32 [N, W]."""
        h = _relu(self._linear("input", inputs))
        for i in range(self.sizes.blocks):
            h += self._linear(f"blocks.{i}.second", _relu(self._linear(f"blocks.{i}.first", h)))
        return _relu(h)

    def __call__(
        self, observation: np.ndarray, mask: np.ndarray | None = None, belief: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return logits float32 [N, 121], illegal actions not masked, and values float32 [N].

        Args:
            observation: float32 [N, F].
            mask: int8 [N, 121] of legal actions; required by networks with `placements`.
            belief: float32 [N, n, 28], see `belief.approximation`; required by networks with `belief`.
        """
        inputs = observation if belief is None else np.concatenate([observation, belief.reshape(len(belief), -1)], 1)
        h = self.hidden(inputs)
        value = self._linear("value", h)[:, 0]
        if not self.sizes.placements:
            return self._linear("policy", h), value
        assert mask is not None, "networks with placements need the mask"
        outlook = None if belief is None else Outlook(belief, shipped_table(self.sizes.num_players))
        pairs = Placements(observation, mask, self.sizes.num_players, outlook)
        z = self._linear("placement", pairs.features)
        z += self._linear("context", h)[pairs.rows]
        z = _relu(z)
        z += _relu(self._linear("mix", z))
        return pairs.logits(self._linear("score", z)[:, 0], len(observation)), value


def _relu(x: np.ndarray) -> np.ndarray:
    """In place."""
    return np.maximum(x, 0, out=x)


class NetworkPolicy(Policy):
    """Masked policy network: the most likely legal action, or a sample.

    Matrix products over batches of different sizes may differ in their last bits. Two actions with equal logits (to
    one part in 10**5) may then swap. `act` always uses a batch of one and is deterministic.

    Args:
        path: a weights file.
        sample: sample from the policy instead of taking its most likely action.
        temperature: divisor of the logits when sampling.

    Attributes:
        num_players: players of the matches that the network was trained for.
        sizes: sizes of the network.
        trained: facts about the training run, as stored in the file.
        network: the forward pass.

    Raises:
        AgentError: if the file does not hold a network of this game, or an argument is out of range.
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
        self.sizes, self.trained = weights.sizes, weights.trained
        self.num_players = weights.sizes.num_players
        self.network = NumpyNetwork(weights)
        self.sample = sample
        self.temperature = float(temperature)

    def logits(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Return logits float32 [N, 121], -inf where an action is illegal, and values float32 [N].

        Raises:
            AgentError: if the views are of another number of players.
        """
        if len(views) and views.num_players != self.num_players:
            raise AgentError(
                f"policy {self.name} plays matches of {self.num_players} players, not of {views.num_players}"
            )
        observation, masks = views.observe()
        belief = beliefs_of(views, LIKELY) if self.sizes.belief else None
        logits, values = self.network(observation, masks, belief)
        logits[masks == 0] = -np.inf
        return logits, values

    def opinion(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities of all actions at temperature 1, float64 [N, 121], and values float32 [N]."""
        logits, values = self.logits(views)
        weights = _softmax_weights(logits, 1.0)
        return weights / weights.sum(1, keepdims=True), values

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N]; see `Policy.act_many`."""
        if not len(views):
            return np.zeros(0, np.int64)
        logits, _ = self.logits(views)
        return drawn(_softmax_weights(logits, self.temperature), keys) if self.sample else logits.argmax(1)


def _softmax_weights(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return softmax probabilities times a factor per row, float64 [N, 121]."""
    return np.exp((logits - logits.max(1, keepdims=True)).astype(np.float64) / temperature)
