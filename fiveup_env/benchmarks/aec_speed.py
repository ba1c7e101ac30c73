"""Agent-steps per second of the AEC environment, beside an empty environment and PettingZoo's hanabi."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from fiveup_env.fiveup_v0 import raw_env


class EmptyAEC(AECEnv[str, dict[str, Any], int]):
    """An environment with the agents and spaces of the game that does nothing: a step only turns to the next agent.

    What it hands out is made once: `observe` returns the same arrays again and again. So it is faster than any
    environment that has something to say can be.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "empty_v0", "render_modes": [], "is_parallelizable": True}

    def __init__(self, num_players: int = 4) -> None:
        super().__init__()
        game = raw_env(num_players=num_players)
        game.reset(seed=0)
        self.possible_agents = game.possible_agents
        self.observation_spaces = game.observation_spaces
        self.action_spaces = game.action_spaces
        self.render_mode = None
        self._seen = game.observe(game.agent_selection)
        self._next = dict(zip(self.possible_agents, self.possible_agents[1:] + self.possible_agents[:1], strict=True))

    def observation_space(self, agent: str) -> Any:
        """As in the game."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """As in the game."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin with the first agent."""
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}

    def observe(self, agent: str) -> dict[str, Any]:
        """Always the same."""
        return self._seen

    def step(self, action: int) -> None:
        """Turn to the next agent."""
        self.agent_selection = self._next[self.agent_selection]


def in_wrappers(env: AECEnv) -> AECEnv:
    """PettingZoo's usual wrappers, as in `fiveup_v0.env`."""
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


def agent_steps_per_second(env: AECEnv, steps: int, seed: int = 0) -> float:
    """Speed of the plain loop: `last()`, a uniformly random legal action, `step`.

    Dead steps are steps, resets between episodes take their time.
    """
    random = Random(seed).random
    env.reset(seed=seed)
    begun = perf_counter()
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            if not env.agents:
                env.reset()
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(random() * len(legal))]))
    return steps / (perf_counter() - begun)


def contestants(num_players: int = 4) -> dict[str, Callable[[], AECEnv]]:
    """Name -> maker of what is compared; hanabi only where its package is installed."""
    found: dict[str, Callable[[], AECEnv]] = {
        "five up, raw": lambda: raw_env(num_players=num_players),
        "empty, raw": lambda: EmptyAEC(num_players),
        "five up, wrapped": lambda: in_wrappers(raw_env(num_players=num_players)),
        "empty, wrapped": lambda: in_wrappers(EmptyAEC(num_players)),
    }
    if find_spec("shimmy") is not None and find_spec("pyspiel") is not None:
        from pettingzoo.classic.hanabi import hanabi

        found["hanabi, raw"] = hanabi.raw_env
        found["hanabi, wrapped"] = hanabi.env
    return found


def compare(steps: int = 20_000, repeats: int = 5, num_players: int = 4) -> dict[str, float]:
    """Median agent-steps per second by contestant.

    The contestants take turns, so that what else the machine does hits all of them alike.

    Args:
        steps: agent-steps a turn; hanabi takes a tenth of them.
        repeats: turns of each.
    """
    envs = {name: make() for name, make in contestants(num_players).items()}
    speeds: dict[str, list[float]] = {name: [] for name in envs}
    for env in envs.values():
        agent_steps_per_second(env, 200)  # compiles
    for repeat in range(repeats):
        for name, env in envs.items():
            count = steps // 10 if name.startswith("hanabi") else steps
            speeds[name].append(agent_steps_per_second(env, count, repeat))
    return {name: median(values) for name, values in speeds.items()}
