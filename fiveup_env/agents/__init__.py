"""Agents, which see only the view of their seat.

>>> from fiveup_env.agents import load
>>> agent = load("greedy")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fiveup_env.agents.protocol import Agent
    from fiveup_env.agents.registry import AgentSpec


def load(spec: AgentSpec, num_players: int | None = None) -> Agent:
    """Return the agent of a name (such as `partnership-v1`) or of a checkpoint file; see `agents.registry`.

    Raises:
        AgentError: if there is no such agent; the one-line message lists the choices.
    """
    from fiveup_env.agents.registry import make_agent

    return make_agent(spec, num_players)
