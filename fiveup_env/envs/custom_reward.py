"""A reward scheme of your own, as a function of what happened, on the PettingZoo environment.

>>> from fiveup_env import fiveup_v0
>>> from fiveup_env.envs.custom_reward import OwnReward, named_scheme
>>> win, points = named_scheme("win"), named_scheme("points")
>>> def mixed(before, after, events):
...     return win(before, after, events) + 0.2 * points(before, after, events)
>>> env = OwnReward(fiveup_v0.env(num_players=4), mixed)

`fiveup_env.testing.check_reward` says whether such a function keeps its promises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Event, Match
from fiveup_env.views.rewards import WIN, changes, reward_index, win_rewards


@entry
def _changes(
    before: tuple[int, int, int], now: tuple[int, int, int], target: int, sides: int, scheme: int
) -> tuple[float, float, float]:
    return changes(before, now, target, sides, scheme)


@entry
def _win_rewards(winner: int, sides: int) -> tuple[float, float, float]:
    return win_rewards(winner, sides)


RewardScheme: TypeAlias = Callable[[Match, Match, Sequence[Event]], Any]
"""(match before the step, match after it, its scoring events) -> one reward per side, floats [sides].

`after` may be in the next round already: then `after.last_round` says how the one of `before` ended. A side's reward
reaches all seats of that side, so it should depend on nothing that one of them cannot know.
"""


def named_scheme(name: str) -> RewardScheme:
    """One of the built-in schemes ("win", "points", "equity") as such a function, for whole matches.

    Raises:
        ValueError: if there is no scheme of that name.
    """
    index = reward_index(name)

    def scheme(before: Match, after: Match, events: Sequence[Event]) -> np.ndarray:
        sides = after.num_sides
        if index != WIN:
            then, now = ((*match.scores, 0)[:3] for match in (before, after))
            rewards = _changes(then, now, int(after.game.target), sides, index)
        else:
            won = after.winner is not None and before.winner is None
            rewards = _win_rewards(after.winner if won else -1, sides)
        return np.array(rewards[:sides])

    scheme.__name__ = name
    return scheme


class OwnReward(BaseWrapper[str, Any, int]):
    """`fiveup_v0.env()` or `raw_env()` with the rewards of a function instead of the option `reward`.

    Put it outermost. An illegal action that ends the episode keeps the reward that the environment gives for it.

    Args:
        env: a PettingZoo AEC environment over `FiveUpAEC`.
        scheme: see `RewardScheme`.
    """

    def __init__(self, env: AECEnv, scheme: RewardScheme) -> None:
        super().__init__(env)
        self._scheme = scheme
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """See `FiveUpAEC.reset`."""
        super().reset(seed=seed, options=options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)

    def step(self, action: Any) -> None:
        """See `FiveUpAEC.step`.

        Raises:
            ValueError: if the scheme does not give one number per side.
        """
        agent = self.agent_selection
        over = self.terminations.get(agent, False) or self.truncations.get(agent, False)
        before: Match = self.unwrapped.match
        super().step(action)
        if over:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards.pop(agent, None)
            return
        after: Match = self.unwrapped.match
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(self.env.rewards) if after == before else self._paid(before, after)
        for other, paid in self.rewards.items():
            self._cumulative_rewards[other] += paid

    def _paid(self, before: Match, after: Match) -> dict[str, float]:
        paid = np.asarray(self._scheme(before, after, self.infos[self.agents[0]]["events"]), np.float64)
        if paid.shape != (after.num_sides,):
            raise ValueError(f"a reward scheme gives one number per side [{after.num_sides}], not {paid!r}")
        return {name: float(paid[seat % after.num_sides]) for seat, name in enumerate(self.possible_agents)}
