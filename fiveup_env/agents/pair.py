"""A partnership of two agents that are not the same: `pair:X with Y`, for four players.

The first has seat 0 or 1 (whichever belongs to the side), the second the seat across the table. They share nothing:
each seat gets an agent of its own, which sees what that seat sees.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, Policy, agent_name, is_policy
from fiveup_env.views.view import View, Views

SEATS = 4
WITH = " with "


def split_pair(text: str) -> tuple[str, str]:
    """The two names in `X with Y`.

    Raises:
        AgentError: if there are not exactly two.
    """
    names = [name.strip() for name in text.split(WITH)]
    if len(names) != 2 or not all(names):
        raise AgentError(f"a pair is written 'pair:X with Y', not {text!r}")
    return names[0], names[1]


def pair(first: Agent, second: Agent) -> Agent:
    """The partnership of two agents.

    Raises:
        AgentError: if one of them plays other numbers of players only.
    """
    for agent in (first, second):
        players = getattr(agent, "num_players", None)
        if players not in (None, SEATS):
            raise AgentError(f"agent {agent_name(agent)} plays matches of {players} players; partners are four")
    if is_policy(first) and is_policy(second):
        return PairPolicy(first, second)
    return Pair(first, second)


class Pair:
    """Two agents of which at least one remembers what it saw."""

    num_players = SEATS

    def __init__(self, first: Agent, second: Agent) -> None:
        self.partners = (first, second)
        self.name = f"{agent_name(first)}{WITH}{agent_name(second)}"

    def reset(self, seed: int) -> None:
        """Both; only the one whose seat this copy has is asked."""
        for agent in self.partners:
            agent.reset(seed)

    def act(self, view: View) -> int:
        """A legal action of the partner that has the seat."""
        return self.partners[view.seat // 2].act(view)


class PairPolicy(Policy):
    """Two policies."""

    num_players = SEATS

    def __init__(self, first: Policy, second: Policy) -> None:
        self.partners = (first, second)
        self.name = f"{agent_name(first)}{WITH}{agent_name(second)}"
        self.together = min(partner.together for partner in self.partners)

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        keys = np.asarray(keys, np.uint64)
        actions = np.empty(len(views), np.int64)
        for which, partner in enumerate(self.partners):
            rows = np.flatnonzero(views.seats // 2 == which)
            if len(rows):
                actions[rows] = partner.act_many(Views(views.games[rows], views.seats[rows]), keys[rows])
        return actions
