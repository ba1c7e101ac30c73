"""Custom reward schemes, as functions of what happened, on the PettingZoo environment.

>>> from fiveup_env import fiveup_v0
>>> from fiveup_env.envs.custom_reward import OwnReward, named_scheme
>>> win, points = named_scheme("win"), named_scheme("points")
>>> def mixed(before, after, events):
...     return win(before, after, events) + 0.2 * points(before, after, events)
>>> env = OwnReward(fiveup_v0.env(num_players=4), mixed)

`fiveup_env.testing.check_reward` checks such a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from fiveup_env.envs.transition import GOES_ON, TERMINATED, step_rewards
from fiveup_env.rules.match import Event, Match
from fiveup_env.views.rewards import reward_index

RewardScheme: TypeAlias = Callable[[Match, Match, Sequence[Event]], Any]
"""(match before the step, match after it, its scoring events) -> one reward per side, floats [sides].

`after` may be in the next round already: then `after.last_round` describes the end of the round of `before`. All seats
of a side get its reward, so it should depend only on what each of them knows.
"""


def named_scheme(name: str) -> RewardScheme:
    """Built-in scheme ("win", "points", "equity") as a `RewardScheme`, for whole matches.

    Raises:
        ValueError: if there is no scheme of that name.
    """
    index = reward_index(name)

    def scheme(before: Match, after: Match, events: Sequence[Event]) -> np.ndarray:
        then = tuple((*before.scores, 0)[:3])
        now = TERMINATED if after.winner is not None and before.winner is None else GOES_ON
        return np.array(step_rewards(after._games, then, now, index, False)[: after.num_sides])

    scheme.__name__ = name
    return scheme


class OwnReward(BaseWrapper[str, Any, int]):
    """`fiveup_v0.env()` or `raw_env()` with a function's rewards instead of the option `reward`.

    It must be the outermost wrapper. An illegal action that ends the episode keeps the environment's reward.

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
            ValueError: if the scheme does not return one number per side.
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
