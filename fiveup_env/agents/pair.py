"""Partnership of two different agents for four players: `pair:X with Y`.

The first agent plays seat 0 or 1 of the side, the second the seat opposite. They share no information: each seat has
its own agent, which sees that seat's view.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, Policy, agent_name, is_policy
from fiveup_env.views.view import View, Views

SEATS = 4
WITH = " with "


def split_pair(text: str) -> tuple[str, str]:
    """Return the two names in `X with Y`.

    Raises:
        AgentError: if there are not exactly two names.
    """
    names = [name.strip() for name in text.split(WITH)]
    if len(names) != 2 or not all(names):
        raise AgentError(f"a pair is written 'pair:X with Y', not {text!r}")
    return names[0], names[1]


def pair(first: Agent, second: Agent) -> Agent:
    """Return the partnership of two agents.

    Raises:
        AgentError: if one of them does not play matches of four players.
    """
    for agent in (first, second):
        players = getattr(agent, "num_players", None)
        if players not in (None, SEATS):
            raise AgentError(f"agent {agent_name(agent)} plays matches of {players} players; partners are four")
    if is_policy(first) and is_policy(second):
        return PairPolicy(first, second)
    return Pair(first, second)


class Pair:
    """Partnership in which at least one agent has memory."""

    num_players = SEATS

    def __init__(self, first: Agent, second: Agent) -> None:
        self.partners = (first, second)
        self.name = f"{agent_name(first)}{WITH}{agent_name(second)}"

    def reset(self, seed: int) -> None:
        """Reset both agents; only the one of this copy's seat is asked later."""
        for agent in self.partners:
            agent.reset(seed)

    def act(self, view: View) -> int:
        """Return a legal action of the agent of the seat."""
        return self.partners[view.seat // 2].act(view)


class PairPolicy(Policy):
    """Partnership of two policies."""

    num_players = SEATS

    def __init__(self, first: Policy, second: Policy) -> None:
        self.partners = (first, second)
        self.name = f"{agent_name(first)}{WITH}{agent_name(second)}"
        self.together = min(partner.together for partner in self.partners)

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N]; see `Policy.act_many`."""
        keys = np.asarray(keys, np.uint64)
        actions = np.empty(len(views), np.int64)
        for which, partner in enumerate(self.partners):
            rows = np.flatnonzero(views.seats // 2 == which)
            if len(rows):
                actions[rows] = partner.act_many(Views(views.games[rows], views.seats[rows]), keys[rows])
        return actions
