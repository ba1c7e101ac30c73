"""Agents that see nothing but the view of their seat.

>>> from fiveup_env.agents import load
>>> agent = load("greedy")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fiveup_env.agents.protocol import Agent
    from fiveup_env.agents.registry import AgentSpec


def load(spec: AgentSpec, num_players: int | None = None) -> Agent:
    """The agent of a name, `partnership-v1` say, or of a checkpoint file; see `agents.registry`.

    Raises:
        AgentError: one line that says what is wrong and what there is.
    """
    from fiveup_env.agents.registry import make_agent

    return make_agent(spec, num_players)
