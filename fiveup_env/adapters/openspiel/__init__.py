"""OpenSpiel: the game `fiveup`, its bots as agents here, and agents of this package as its bots and policies.

Importing this package registers the game; see docs/openspiel.md.

>>> from fiveup_env.adapters import openspiel
>>> game = openspiel.load_game(players=2, max_pip=2, hand_size=2, episode="round")
"""

from fiveup_env.adapters.openspiel.openspiel_agents import (
    AgentBot,
    AgentPolicy,
    BotAgent,
    PolicyAgent,
    ismcts_bot,
    make_bot_agent,
)
from fiveup_env.adapters.openspiel.openspiel_game import (
    FiveUpGame,
    FiveUpState,
    load_game,
    parameters_of,
    setup_from,
)
from fiveup_env.adapters.openspiel.openspiel_positions import state_of, world_of

__all__ = [
    "AgentBot",
    "AgentPolicy",
    "BotAgent",
    "FiveUpGame",
    "FiveUpState",
    "PolicyAgent",
    "ismcts_bot",
    "load_game",
    "make_bot_agent",
    "parameters_of",
    "setup_from",
    "state_of",
    "world_of",
]
