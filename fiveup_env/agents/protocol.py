"""What an agent is, and where its random numbers come from.

There are two forms, and one of them is enough:

`Agent`
    `reset(seed)` at the start of every match, then `act(view)` at its turns. It may remember what it saw. Whoever plays
    it gives every seat a copy of its own (`own_copy`), so what it remembers of one hand never reaches another seat.

`Policy`
    A base class for agents that remember nothing. `act_many(views, keys)` answers for many matches at once; the action
    for a row depends on that row's view and key alone. A key is 64 random bits for one decision, made from (seed of the
    match's policies, round, number of actions so far), so whatever chance an agent needs comes from there and a match
    goes the same way alone, in any batch, in any order. A policy is an `Agent` too: its `act` makes the key itself.

Where an agent has but one legal action it may be asked or not; evaluation does not ask.
"""

from __future__ import annotations

import copy
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from fiveup_env.agents.baseline_kernels import decision_keys
from fiveup_env.views.view import View, Views


class AgentError(ValueError):
    """An agent that cannot be made, does not fit the game, or breaks its contract; the message is one line."""


class AgentTimeout(AgentError):
    """An agent that took too long; the message says how long it had."""


@runtime_checkable
class Agent(Protocol):
    """Anything with `reset` and `act`.

    An agent may also have the attributes `name` (for tables) and `num_players` (the only number of players it can
    play, None or absent if any).
    """

    def reset(self, seed: int) -> None:
        """Forget everything, and draw all later random numbers from `seed` (0 to 2**64 - 1)."""
        ...

    def act(self, view: View) -> int:
        """The id of a legal action for the seat of the view, which is to act."""
        ...


class Policy:
    """Base class of agents that remember nothing between decisions. Override `act_many`, or `choose`.

    Attributes:
        kernel: number of the kernel policy that does the same inside compiled code (`baseline_kernels`), None if none.
        num_players: the only number of players it can play, None for any.
        together: deals that an evaluation plays at a time: many where being asked in batches helps, few where a
            decision takes long.
    """

    kernel: int | None = None
    num_players: int | None = None
    together = 256
    _seed = 0

    def __init_subclass__(cls) -> None:
        if cls.act_many is Policy.act_many and cls.choose is Policy.choose:
            raise TypeError(f"{cls.__name__} must override act_many or choose")
        if {"act_many", "choose"} & set(vars(cls)) and "kernel" not in vars(cls):
            cls.kernel = None  # another rule than the parent's, so not the parent's kernel

    def choose(self, view: View, key: int) -> int:
        """A legal action for one view; `key` (0 to 2**64 - 1) is all the chance there is."""
        return int(self.act_many(view.views, np.array([key], np.uint64))[0])

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N], for N views of seats that are to act; `keys` is uint64 [N]."""
        return np.array([self.choose(views[i], int(keys[i])) for i in range(len(views))], np.int64)

    def reset(self, seed: int) -> None:
        """Make the keys of `act` from this seed."""
        self._seed = seed

    def act(self, view: View) -> int:
        """A legal action, the same as `act_many` gives with the key of this decision."""
        return self.choose(view, int(keys_of(view.views, np.array([self._seed], np.uint64))[0]))


def is_policy(agent: object) -> TypeGuard[Policy]:
    """Whether the agent answers for many views at once."""
    return callable(getattr(agent, "act_many", None))


def keys_of(views: Views, seeds: np.ndarray) -> np.ndarray:
    """The key of the decision that is due in every view, uint64 [N]; `seeds` of the policies is uint64 [N]."""
    keys = np.empty(len(views), np.uint64)
    decision_keys(views.games, seeds, keys)
    return keys


def uniforms(keys: np.ndarray) -> np.ndarray:
    """One number in [0, 1) per key, float64 [N], in steps of 2**-32; for policies that sample."""
    return (keys >> np.uint64(32)) * 2.0**-32


def drawn(weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """One index per row, int64 [N], drawn in proportion to weights float64 [N, A] (not negative) by keys uint64 [N]."""
    cumulated = weights.cumsum(1)
    indices: np.ndarray = (cumulated <= (uniforms(np.asarray(keys, np.uint64)) * cumulated[:, -1])[:, None]).sum(1)
    return indices


def own_copy(agent: Agent) -> Agent:
    """A copy for one seat of one match. Policies share what they have learned, others are copied whole.

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
    """What tables call it."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) and name else type(agent).__name__
