"""The contract of agents, and the source of their random numbers.

An agent has one of two forms:

`Agent`
    `reset(seed)` before every match, then `act(view)` at its decisions. It may remember what it saw. Every seat gets
    its own copy (`own_copy`), so no memory passes between seats.

`Policy`
    Base class of memoryless agents. `act_many(views, keys)` answers for many matches at once; the action of a row
    depends only on that row's view and key. A key is 64 random bits for one decision, made from the seed of the
    policies, the round and the number of actions so far. All randomness comes from keys, so a match is played the same
    alone, in any batch and in any order. A policy is an `Agent` too: `act` makes the key itself.

With a single legal action, an agent may or may not be asked; evaluation does not ask.
"""

from __future__ import annotations

import copy
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from fiveup_env.agents.baseline_kernels import decision_keys
from fiveup_env.views.view import View, Views


class AgentError(ValueError):
    """An agent cannot be made, does not fit the game, or breaks its contract; the message is one line."""


class AgentTimeout(AgentError):
    """An agent exceeded its time limit; the message gives the limit."""


@runtime_checkable
class Agent(Protocol):
    """Anything with `reset` and `act`.

    Optional attributes: `name` (for tables) and `num_players` (the only supported number of players; None or absent
    for any).
    """

    def reset(self, seed: int) -> None:
        """Clear the memory and derive all later random numbers from `seed` (0 to 2**64 - 1)."""
        ...

    def act(self, view: View) -> int:
        """Return the id of a legal action for the seat of the view, which is to act."""
        ...


class Policy:
    """Base class of memoryless agents; override `act_many` or `choose`.

    Attributes:
        kernel: number of the compiled policy with the same actions (`baseline_kernels`), or None.
        num_players: the only supported number of players, None for any.
        together: number of deals that an evaluation plays at a time: large if batches are efficient, small if decisions
            are slow.
    """

    kernel: int | None = None
    num_players: int | None = None
    together = 256
    _seed = 0

    def __init_subclass__(cls) -> None:
        if cls.act_many is Policy.act_many and cls.choose is Policy.choose:
            raise TypeError(f"{cls.__name__} must override act_many or choose")
        if {"act_many", "choose"} & set(vars(cls)) and "kernel" not in vars(cls):
            cls.kernel = None  # the parent's kernel plays by another rule

    def choose(self, view: View, key: int) -> int:
        """Return a legal action for one view; `key` (0 to 2**64 - 1) is the only source of randomness."""
        return int(self.act_many(view.views, np.array([key], np.uint64))[0])

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N], for N views of seats that are to act; `keys` is uint64 [N]."""
        return np.array([self.choose(views[i], int(keys[i])) for i in range(len(views))], np.int64)

    def reset(self, seed: int) -> None:
        """Set the seed of the keys of `act`."""
        self._seed = seed

    def act(self, view: View) -> int:
        """Return the action of `act_many` with the key of this decision."""
        return self.choose(view, int(keys_of(view.views, np.array([self._seed], np.uint64))[0]))


def is_policy(agent: object) -> TypeGuard[Policy]:
    """Return whether the agent has `act_many`."""
    return callable(getattr(agent, "act_many", None))


def keys_of(views: Views, seeds: np.ndarray) -> np.ndarray:
    """Return the key of the next decision of every view, uint64 [N]; `seeds` is uint64 [N]."""
    keys = np.empty(len(views), np.uint64)
    decision_keys(views.games, seeds, keys)
    return keys


def uniforms(keys: np.ndarray) -> np.ndarray:
    """Return one number in [0, 1) per key, float64 [N], in steps of 2**-32."""
    return (keys >> np.uint64(32)) * 2.0**-32


def drawn(weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Sample one index per row, int64 [N], by non-negative weights float64 [N, A] and keys uint64 [N]."""
    cumulated = weights.cumsum(1)
    indices: np.ndarray = (cumulated <= (uniforms(np.asarray(keys, np.uint64)) * cumulated[:, -1])[:, None]).sum(1)
    return indices


def own_copy(agent: Agent) -> Agent:
    """Copy an agent for one seat of one match: policies shallowly, other agents deeply.

    Raises:
        AgentError: if the agent cannot be copied; it may define `__deepcopy__`.
    """
    if is_policy(agent):
        return copy.copy(agent)
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        raise AgentError(
            f"agent {agent_name(agent)} cannot be copied for every seat ({error}); give it __deepcopy__ or act_many"
        ) from error


def agent_name(agent: object) -> str:
    """Return the name for tables: the attribute `name`, or the class name."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) and name else type(agent).__name__
