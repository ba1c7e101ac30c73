"""OpenSpiel's bots as agents of this package: `openspiel:NAME` wherever an agent is named.

A bot is shown a state that agrees with what its seat sees: a world of the exact belief, drawn by the decision's key. So
it cannot know more than its seat, whatever it looks at. It is made anew for every decision, and a state begins with the
present round.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from fiveup_env.adapters.openspiel.openspiel_bots import ismcts_bot
from fiveup_env.adapters.openspiel.openspiel_game import FiveUpGame
from fiveup_env.adapters.openspiel.openspiel_positions import state_of, world_of
from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.system.optional import library
from fiveup_env.views.view import View, Views

with library("openspiel"):
    import pyspiel

MakeBot: TypeAlias = Callable[..., Any]
"""Called as `make(game, seat, seed, **arguments)` with a seed below 2**31; returns a bot, that is, what has `step`."""


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
        "ismcts": (_ismcts, "its ISMCTS in Python: iterations, uct_c, rollouts, worlds"),
        "uniform_random": (_uniform_random, "a random legal action"),
    }
)
"""Name -> (what makes the bot, a line for people)."""


class BotAgent(Policy):
    """A bot of OpenSpiel's as an agent.

    Args:
        make: see `MakeBot`.
        arguments: passed on to it.
        name: what tables call it.
        episode, reward: of the game that the bot is shown. The default is the present round, worth what it changes in
            the race to the target ("equity", for three players "points"): playouts to the end of a match are twenty
            times as long, and tell little of the action at hand.
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
        """Ask a new bot about a world that agrees with the view.

        Raises:
            AgentError: if the bot is one that would end the interpreter, or answers with no action.
        """
        reward = self.reward or ("points" if view.num_players == 3 else "equity")
        state = state_of(world_of(view, key), episode=self.episode, reward=reward)
        bot = self.make(state.get_game(), view.seat, key >> 33, **self.arguments)
        if isinstance(bot, pyspiel.ISMCTSBot | pyspiel.MCTSBot):
            raise AgentError(
                f"{type(bot).__name__} of pyspiel ends the interpreter on a Python game; take the one in Python"
            )
        answer = bot.step(state)
        if not hasattr(answer, "__index__"):
            raise AgentError(f"bot {self.name} answered {answer!r}, not the id of an action")
        return int(answer)


class PolicyAgent(Policy):
    """A policy of OpenSpiel's as an agent, for example what CFR found; see `BotAgent` for the state it is shown.

    Where a view leaves open which of its own tiles the seat drew when, that is drawn once and for all by `seed`.

    Args:
        policy: what has `action_probabilities(state)`, of `open_spiel.python.policy` or of pyspiel.
        name: what tables call it.
        episode, reward: of the game that the policy is shown.
        seed: 0 to 2**64 - 1.
    """

    together = 64

    def __init__(
        self, policy: Any, *, name: str = "openspiel policy", episode: str = "round", reward: str = "win", seed: int = 0
    ) -> None:
        self.policy, self.name = policy, name
        self.episode, self.reward, self.seed = episode, reward, seed

    def action_probabilities(self, views: Views) -> np.ndarray:
        """Probabilities of the actions, float64 [N, 121]."""
        out = np.zeros((len(views), NUM_ACTIONS))
        for i in range(len(views)):
            state = state_of(world_of(views[i], self.seed), episode=self.episode, reward=self.reward)
            for action, probability in dict(self.policy.action_probabilities(state)).items():
                out[i, action] = probability
        return out

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Actions drawn by the policy's probabilities, int64 [N]."""
        return drawn(self.action_probabilities(views), keys)


def make_bot_agent(name: str, **arguments: Any) -> BotAgent:
    """The agent for `openspiel:NAME:key=value,...`.

    Args:
        name: one of `BOTS`, or the Python path of what makes a bot, `package.module.function`; see `MakeBot`.
        arguments: passed on.

    Raises:
        AgentError: if there is no such bot, or it does not take these arguments.
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
        pass  # no signature to look at: the call itself will tell
    return BotAgent(make, arguments, name=spec)


def _from_path(name: str) -> MakeBot:
    module, _, attribute = name.rpartition(".")
    if not module:
        raise AgentError(f"there is no bot {name!r}; bots: {', '.join(BOTS)}, or openspiel:package.module.function")
    try:
        make: Any = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever that module does when it is imported
        raise AgentError(f"agent 'openspiel:{name}': {type(error).__name__}: {error}") from error
    if not callable(make):
        raise AgentError(f"agent 'openspiel:{name}': {make!r} cannot be called to make a bot")
    found: MakeBot = make
    return found
