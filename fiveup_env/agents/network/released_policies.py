"""The policies that come with the package, by name.

| name             | plays                    |
|------------------|--------------------------|
| `partnership-v1` | four players, two sides  |
| `trio-v1`        | three players            |
| `duel-v1`        | two players              |

Each has a model card beside its weights in `fiveup_env/policies`. With `+search` behind the name it is the prior of a
search (`agents.network.guided_search`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fiveup_env.agents.network.guided_search import GuidedSearch
from fiveup_env.agents.network.network_agent import NetworkPolicy
from fiveup_env.agents.protocol import AgentError
from fiveup_env.system.optional import MissingLibraryError, library

FOLDER = Path(__file__).resolve().parents[2] / "policies"
RELEASED = ("partnership-v1", "trio-v1", "duel-v1")


def weights_file(name: str) -> Path:
    """The file of a released policy.

    Raises:
        AgentError: if there is none of that name.
    """
    if name not in RELEASED:
        raise AgentError(f"there is no released policy {name!r}; there are {', '.join(RELEASED)}")
    return FOLDER / f"{name}.safetensors"


def partnership_v1(sample: bool = False, temperature: float = 1.0) -> NetworkPolicy:
    """The policy for four players; arguments as of `NetworkPolicy`."""
    return NetworkPolicy(weights_file("partnership-v1"), sample=sample, temperature=temperature)


def trio_v1(sample: bool = False, temperature: float = 1.0) -> NetworkPolicy:
    """The policy for three players; arguments as of `NetworkPolicy`."""
    return NetworkPolicy(weights_file("trio-v1"), sample=sample, temperature=temperature)


def duel_v1(sample: bool = False, temperature: float = 1.0) -> NetworkPolicy:
    """The policy for two players; arguments as of `NetworkPolicy`."""
    return NetworkPolicy(weights_file("duel-v1"), sample=sample, temperature=temperature)


def partnership_v1_search(worlds: int = 128, **arguments: Any) -> GuidedSearch:
    """`partnership-v1` as the prior of a search; arguments as of `GuidedSearch`."""
    return GuidedSearch(weights_file("partnership-v1"), worlds, **arguments)


def trio_v1_search(worlds: int = 128, **arguments: Any) -> GuidedSearch:
    """`trio-v1` as the prior of a search; arguments as of `GuidedSearch`."""
    return GuidedSearch(weights_file("trio-v1"), worlds, **arguments)


def duel_v1_search(worlds: int = 128, **arguments: Any) -> GuidedSearch:
    """`duel-v1` as the prior of a search; arguments as of `GuidedSearch`."""
    return GuidedSearch(weights_file("duel-v1"), worlds, **arguments)


def torch_module(name: str) -> Any:
    """Return a released network as a trainable torch module.

    Returns:
        a `torch_network.PolicyNetwork`. It maps observations float32 [N, F], masks [N, 121] and, if its `belief` is
        true (for `partnership-v1`), beliefs float32 [N, n, 28] (`beliefs_of(views, "likely")`) to logits and values.

    Raises:
        AgentError: if there is no such policy, or torch is not installed.
    """
    file = weights_file(name)
    try:
        with library("train"):
            from fiveup_env.agents.network.torch_network import read_network
    except MissingLibraryError as error:
        raise AgentError(f"{name} as a torch module: {error}") from error
    return read_network(file)
