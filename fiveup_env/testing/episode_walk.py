"""Random play in environments: one walk for PettingZoo and Gymnasium, and one for Gymnasium's vector environments."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from pettingzoo import AECEnv

from fiveup_env.rules.match import Match
from fiveup_env.testing.conformance import Broken

MOST_STEPS = 20_000
"""Most steps of an episode. A match of random play takes some hundreds."""


@dataclass(frozen=True)
class Step:
    """The result of `last()`, and the action that is taken next (None if the episode is over for the agent)."""

    agent: str
    observation: Any
    reward: float
    over: bool
    info: dict[str, Any]
    action: int | None

    @property
    def seen(self) -> tuple[Any, ...]:
        """All fields, for comparisons."""
        return self.agent, self.observation, self.reward, self.over, self.info, self.action


class OneLearner:
    """A Gymnasium environment behind the part of PettingZoo's AEC interface that the checks use."""

    possible_agents = ("the learner",)

    def __init__(self, env: gymnasium.Env) -> None:
        self.env, self.agents = env, list[str]()
        self.agent_selection = self.possible_agents[0]

    @property
    def unwrapped(self) -> gymnasium.Env:
        """The environment without its wrappers."""
        return self.env.unwrapped

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        self._show(observation, 0.0, False, False, info)

    def step(self, action: int | None) -> None:
        """Take an action; None after the end, as in PettingZoo."""
        if action is None:
            self.agents = []
        else:
            observation, reward, *flags, info = self.env.step(action)
            self._show(observation, float(reward), bool(flags[0]), bool(flags[1]), info)

    def _show(self, *last: Any) -> None:
        self._last, self._observation = last, copy.deepcopy(last[0])
        self.rewards, self.infos = {self.agent_selection: last[1]}, {self.agent_selection: last[4]}

    def last(self) -> tuple[Any, ...]:
        """Return observation, reward, terminated, truncated and info of the last call, not copied."""
        return self._last

    def observe(self, agent: str) -> Any:
        """Return a copy of the observation, made when it was handed out."""
        return copy.deepcopy(self._observation)

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Return the space of observations."""
        return self.env.observation_space

    def action_space(self, agent: str) -> gymnasium.Space:
        """Return the space of actions."""
        return self.env.action_space


AnyEnv: TypeAlias = "AECEnv | OneLearner"


def walk(env: AnyEnv, seed: int) -> Iterator[Step]:
    """Reset with a seed and play at random to the end of the episode; yield each step before its action is taken."""
    env.reset(seed=seed)
    yield from walk_on(env, seed)


def walk_on(env: AnyEnv, seed: int) -> Iterator[Step]:
    """Play the current episode at random to its end, with choices that depend on `seed`."""
    chance = random.Random(seed)
    for number in range(MOST_STEPS):
        if not env.agents:
            return
        agent, where = env.agent_selection, f"for {env.agent_selection} at step {number}"
        observation, reward, terminated, truncated, info = env.last()
        over = bool(terminated or truncated)
        action = None if over else random_legal_action(mask_of(observation, info, where), chance, where)
        yield Step(agent, observation, float(reward), over, info, action)
        env.step(action)
    raise Broken(f"the episode has not ended after {MOST_STEPS} steps")


def trace(env: AnyEnv, seed: int) -> list[Any]:
    """Return copies of everything seen in an episode."""
    return [copy.deepcopy(step.seen) for step in walk(env, seed)]


def trace_rows(env: VectorEnv, seeds: Sequence[int], steps: int) -> list[tuple[Any, ...]]:
    """Return copies of observation, reward, both flags and actions of each step.

    The action of a row depends on its seed and the step number.
    """
    observation, info = env.reset(seed=list(seeds))  # type: ignore[arg-type]  # Gymnasium takes lists too
    reward, terminated, truncated = np.zeros(env.num_envs), np.zeros(env.num_envs, bool), np.zeros(env.num_envs, bool)
    disabled = env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED
    seen = list[tuple[Any, ...]]()
    for number in range(steps):
        over = np.asarray(terminated | truncated)
        if disabled and over.any():
            observation, info = env.reset(options={"reset_mask": over})
        masks = mask_of(observation, info, f"at step {number}")
        masks = np.where(masks.any(1, keepdims=True) | ~over[:, None], masks, 1)  # NEXT_STEP ignores these actions
        actions = np.zeros(len(masks), np.int64)
        for row, mask in enumerate(masks):
            legal = np.flatnonzero(mask)
            if not len(legal):
                raise Broken(f"no legal action in row {row} at step {number}")
            actions[row] = legal[np.random.default_rng([seeds[row], number]).integers(len(legal))]
        seen.append(copy.deepcopy((observation, reward, terminated, truncated, actions)))
        observation, reward, terminated, truncated, info = env.step(actions)
    return seen


def match_of(env: AnyEnv) -> Match | None:
    """Return the match behind the wrappers; None if the base is another environment."""
    match = getattr(env.unwrapped, "match", None)
    return match if isinstance(match, Match) else None


def mask_of(observation: Any, info: Any, where: str) -> np.ndarray:
    """Return the mask [A] of the observation or info; both must agree if both have one."""
    shown = observation.get("action_mask") if isinstance(observation, Mapping) else None
    other = info.get("action_mask") if isinstance(info, Mapping) else None
    if shown is None and other is None:
        raise Broken(f"no mask of legal actions {where}: neither observation['action_mask'] nor info['action_mask']")
    if shown is not None and other is not None and not np.array_equal(np.asarray(shown), np.asarray(other)):
        raise Broken(f"two masks {where}: observation['action_mask'] and info['action_mask'] do not agree")
    return np.asarray(other if shown is None else shown)


def random_legal_action(mask: np.ndarray, chance: random.Random, where: str = "here") -> int:
    """Return a random legal action."""
    legal = np.flatnonzero(mask)
    if not len(legal):
        raise Broken(f"no legal action {where}, and the episode is not over")
    return int(legal[chance.randrange(len(legal))])
