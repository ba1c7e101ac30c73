"""OpenSpiel's bots as agents of this package (`openspiel:NAME`), and agents of this package as its bots and policies.

A bot receives a state sampled from the exact belief of its seat, with the decision's key as seed, so it cannot know
more than its seat. A new bot is created for every decision, and its state starts with the current round.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fiveup_env.adapters.openspiel.openspiel_game import FiveUpGame, FiveUpState
from fiveup_env.adapters.openspiel.openspiel_positions import state_of, world_of
from fiveup_env.agents.action_distribution import action_probabilities
from fiveup_env.agents.protocol import Agent, AgentError, Policy, drawn
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.system.optional import library
from fiveup_env.views.view import View, Views

with library("openspiel"):
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import ismcts, mcts

MakeBot: TypeAlias = Callable[..., Any]
"""Called as `make(game, seat, seed, **arguments)` with a seed below 2**31; returns a bot, an object with `step`."""


def _ismcts(
    game: FiveUpGame,
    seat: int,
    seed: int,
    *,
    iterations: int = 100,
    uct_c: float = 0.3,
    rollouts: int = 1,
    worlds: int | None = None,
) -> Any:
    return ismcts_bot(game, seed, iterations=iterations, uct_c=uct_c, rollouts=rollouts, worlds=worlds)


def _uniform_random(game: FiveUpGame, seat: int, seed: int) -> Any:
    return pyspiel.make_uniform_random_bot(seat, seed)


BOTS: Mapping[str, tuple[MakeBot, str]] = MappingProxyType(
    {
        "ismcts": (_ismcts, "ISMCTS of OpenSpiel in Python: iterations, uct_c, rollouts, worlds"),
        "uniform_random": (_uniform_random, "a random legal action"),
    }
)
"""Name -> (factory of the bot, description)."""


class BotAgent(Policy):
    """An OpenSpiel bot as an agent.

    Args:
        make: see `MakeBot`.
        arguments: keyword arguments of `make`.
        name: name shown in tables.
        episode, reward: options of the bot's game. The default is the current round with reward "equity" ("points" for
            three players), because playouts to the end of a match are twenty times as long.
    """

    together = 16

    def __init__(
        self,
        make: MakeBot,
        arguments: Mapping[str, Any] | None = None,
        *,
        name: str = "openspiel",
        episode: str = "round",
        reward: str | None = None,
    ) -> None:
        self.make, self.arguments, self.name = make, dict(arguments or {}), name
        self.episode, self.reward = episode, reward

    def choose(self, view: View, key: int) -> int:
        """Let a new bot choose in a world sampled for the view.

        Raises:
            AgentError: if the bot would crash the interpreter, or its answer is not an action id.
        """
        reward = self.reward or ("points" if view.num_players == 3 else "equity")
        state = state_of(world_of(view, key), episode=self.episode, reward=reward)
        bot = self.make(state.get_game(), view.seat, key >> 33, **self.arguments)
        if isinstance(bot, pyspiel.ISMCTSBot | pyspiel.MCTSBot):
            raise AgentError(
                f"{type(bot).__name__} of pyspiel crashes the interpreter on Python games; use the Python version"
            )
        answer = bot.step(state)
        if not hasattr(answer, "__index__"):
            raise AgentError(f"bot {self.name} answered {answer!r}; expected an action id")
        return int(answer)


class PolicyAgent(Policy):
    """An OpenSpiel policy as an agent, such as a CFR solution; it receives states like those of `BotAgent`.

    Args:
        policy: an object with `action_probabilities(state)`, from `open_spiel.python.policy` or pyspiel.
        name: name shown in tables.
        episode, reward: options of the policy's game.
        seed: 0 to 2**64 - 1, of details that a view leaves open (the order of the seat's own draws).
    """

    together = 64

    def __init__(
        self, policy: Any, *, name: str = "openspiel policy", episode: str = "round", reward: str = "win", seed: int = 0
    ) -> None:
        self.policy, self.name = policy, name
        self.episode, self.reward, self.seed = episode, reward, seed

    def action_probabilities(self, views: Views) -> np.ndarray:
        """Action probabilities, float64 [N, 121]."""
        out = np.zeros((len(views), NUM_ACTIONS))
        for i in range(len(views)):
            state = state_of(world_of(views[i], self.seed), episode=self.episode, reward=self.reward)
            for action, probability in dict(self.policy.action_probabilities(state)).items():
                out[i, action] = probability
        return out

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Actions sampled from the policy, int64 [N]."""
        return drawn(self.action_probabilities(views), keys)


def make_bot_agent(name: str, **arguments: Any) -> BotAgent:
    """Make the agent of `openspiel:NAME:key=value,...`.

    Args:
        name: one of `BOTS`, or the Python path of a factory `package.module.function`; see `MakeBot`.
        arguments: keyword arguments of the factory.

    Raises:
        AgentError: if there is no such bot, or it does not accept these arguments.
    """
    make = BOTS[name][0] if name in BOTS else _from_path(name)
    given = ",".join(f"{key}={value}" for key, value in arguments.items())
    spec = f"openspiel:{name}:{given}" if given else f"openspiel:{name}"
    try:
        signature = inspect.signature(make)
        signature.bind(None, 0, 0, **arguments)
    except TypeError as error:
        takes = ", ".join(list(signature.parameters)[3:]) or "no arguments"
        raise AgentError(f"agent {spec!r}: {error}; it takes {takes}") from None
    except ValueError:
        pass  # no signature: the call itself checks the arguments
    return BotAgent(make, arguments, name=spec)


def _from_path(name: str) -> MakeBot:
    module, _, attribute = name.rpartition(".")
    if not module:
        raise AgentError(f"there is no bot {name!r}; bots: {', '.join(BOTS)}, or openspiel:package.module.function")
    try:
        make: Any = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # importing a module can raise anything
        raise AgentError(f"agent 'openspiel:{name}': {type(error).__name__}: {error}") from error
    if not callable(make):
        raise AgentError(f"agent 'openspiel:{name}': {make!r} cannot be called to make a bot")
    found: MakeBot = make
    return found


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
