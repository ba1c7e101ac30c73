"""Agents of this package as OpenSpiel bots and policies, and OpenSpiel's search bot set up for this game."""

from __future__ import annotations

from typing import Any

import numpy as np

from fiveup_env.adapters.openspiel.openspiel_game import FiveUpGame, FiveUpState
from fiveup_env.agents.action_distribution import action_probabilities
from fiveup_env.agents.protocol import Agent
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.system.optional import library
from fiveup_env.views.view import View, Views

with library("openspiel"):
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import ismcts, mcts


class AgentBot(pyspiel.Bot):
    """An agent as a bot for one seat; it receives only the view of that seat.

    Args:
        agent: an agent or its name.
        player_id: the seat.
        seed: seed of the agent.

    Raises:
        AgentError: if the agent does not exist.
    """

    def __init__(self, agent: AgentSpec, player_id: int, seed: int = 0) -> None:
        super().__init__()
        self._agent: Agent = make_agent(agent)
        self._player_id, self._seed = player_id, seed
        self.restart()

    def restart(self) -> None:
        """Start a new match with the same seed."""
        self._agent.reset(self._seed)

    def restart_at(self, state: FiveUpState) -> None:
        """Start a new match at a state."""
        self.restart()

    def player_id(self) -> int:
        """The seat."""
        return self._player_id

    def step(self, state: FiveUpState) -> int:
        """Action of the seat, which must be the seat to act."""
        return int(self._agent.act(View.of(state.episode.match, self._player_id)))


class AgentPolicy(policy.Policy):
    """An agent as an OpenSpiel policy: probabilities of all legal actions, for exact methods.

    Args:
        game: a game from `load_game`.
        agent: a memoryless agent (`Policy`) or its name.
        samples: see `agents.action_distribution.action_probabilities`.
    """

    def __init__(self, game: FiveUpGame, agent: AgentSpec, samples: int = 64) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._agent, self._samples = make_agent(agent, game.num_players()), samples

    def action_probabilities(self, state: FiveUpState, player_id: int | None = None) -> dict[int, float]:
        """Action -> probability, for the seat to act."""
        match = state.episode.match
        views = Views(match._games, np.array([match.turn]))
        probabilities = action_probabilities(self._agent, views, self._samples)[0]
        return {action: float(probabilities[action]) for action in state.legal_actions()}


def ismcts_bot(
    game: FiveUpGame,
    seed: int = 0,
    *,
    iterations: int = 100,
    uct_c: float = 1.0,
    rollouts: int = 1,
    worlds: int | None = None,
    **options: Any,
) -> Any:
    """OpenSpiel's ISMCTS in Python over worlds of the exact belief; `seed` is its only source of randomness.

    The C++ bot of the same name crashes the interpreter on games written in Python.

    Args:
        game: a game from `load_game`.
        seed: 0 to 2**32 - 1.
        iterations: simulations per decision.
        uct_c: weight of exploration; utilities are at most 1.
        rollouts: random playouts per new node.
        worlds: maximum number of distinct worlds per decision; None for a new one per simulation.
        options: further arguments of `open_spiel.python.algorithms.ismcts.ISMCTSBot`.
    """
    chance = np.random.RandomState(seed)
    bot = ismcts.ISMCTSBot(
        game,
        mcts.RandomRolloutEvaluator(rollouts, chance),
        uct_c,
        iterations,
        ismcts.UNLIMITED_NUM_WORLD_SAMPLES if worlds is None else worlds,
        random_state=chance,
        **options,
    )
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, chance.uniform))
    return bot
