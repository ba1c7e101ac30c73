"""The game as an RLCard environment, for RLCard's own agents.

>>> env = make(config={"seed": 1, "game_episode": "round"})
>>> env.set_agents([rlcard.agents.RandomAgent(env.num_actions)] * env.num_players)
>>> trajectories, payoffs = env.run(is_training=True)
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
from fiveup_env.rules.actions import NUM_ACTIONS, describe
from fiveup_env.system.optional import library
from fiveup_env.views.observation import observation_size

with library("rlcard"):
    import rlcard
    from rlcard.envs import Env
    from rlcard.envs.registration import registry

ENV_ID = "five-up"
PREFIX = "game_"


class Game:
    """The environment `raw_env` behind RLCard's interface of a game; players are seats 0 to n - 1."""

    def __init__(self, allow_step_back: bool = False, **options: Any) -> None:
        self.allow_step_back = allow_step_back
        self.env = FiveUpAEC(**options)
        self.np_random: np.random.RandomState | None = None  # set by RLCard's Env.seed
        self.payoffs = np.zeros(self.get_num_players())
        self._before: list[tuple[FiveUpAEC, np.ndarray]] = []

    def init_game(self) -> tuple[dict[str, Any], int]:
        """Deal, seeded from RLCard's generator; the state of the seat to act and its number."""
        assert self.np_random is not None
        self.env.reset(seed=int(self.np_random.randint(2**31)))
        self.payoffs, self._before = np.zeros(self.get_num_players()), []
        return self.get_state(self.get_player_id()), self.get_player_id()

    def step(self, action: int) -> tuple[dict[str, Any], int]:
        """One action of the seat to act; the next state and seat.

        Raises:
            IllegalActionError: if the rules do not allow it; nothing is changed then.
        """
        before = (copy.deepcopy(self.env), self.payoffs.copy()) if self.allow_step_back else None
        self.env.step(action)
        if before is not None:
            self._before.append(before)
        self.payoffs += [self.env.rewards[agent] for agent in self.env.possible_agents]
        return self.get_state(self.get_player_id()), self.get_player_id()

    def step_back(self) -> bool:
        """Undo one action; False at the start of a game."""
        if not self._before:
            return False
        self.env, self.payoffs = self._before.pop()
        return True

    def get_state(self, player_id: int) -> dict[str, Any]:
        """What a seat observes (see `FiveUpAEC.observe`)."""
        return self.env.observe(self.env.possible_agents[player_id])

    def get_player_id(self) -> int:
        """The seat to act."""
        return self.env.possible_agents.index(self.env.agent_selection)

    def is_over(self) -> bool:
        """Whether the episode is over."""
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    def get_num_players(self) -> int:
        """2, 3 or 4."""
        return len(self.env.possible_agents)

    @staticmethod
    def get_num_actions() -> int:
        """121."""
        return NUM_ACTIONS


class FiveUpRLCardEnv(Env):
    """RLCard's `Env` over the game.

    States hold `obs` float32 [F] and `legal_actions` (ids of the seat to act; nobody else and nothing at the end has
    any), `raw_obs` (the observation as `raw_env` gives it), `raw_legal_actions` (texts), and `action_record`. Payoffs
    are what every seat's side got in the episode, by the option `reward`; RLCard knows no rewards before the end.

    Args:
        config: `seed` and `allow_step_back`, and options of the game (see `EnvOptions`) under `game_...`:
            `game_num_players`, `game_episode`. Forced draws and passes are resolved inside unless `game_draws` says
            "explicit".
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.name = ENV_ID
        options = {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}
        if options.get("observation", "flat") != "flat":
            raise ValueError('game_observation must be "flat": RLCard\'s agents take one vector')
        self.game = Game(**{"draws": "auto", **options})
        super().__init__({"allow_step_back": False, "seed": None, **config})
        self.state_shape = [[observation_size(self.num_players)] for _ in range(self.num_players)]
        self.action_shape = [None for _ in range(self.num_players)]

    def _extract_state(self, state: dict[str, Any]) -> dict[str, Any]:
        legal = np.flatnonzero(state["action_mask"]).tolist()
        return {
            "obs": state["observation"],
            "legal_actions": OrderedDict.fromkeys(legal),
            "raw_obs": state,
            "raw_legal_actions": [describe(action) for action in legal],
            "action_record": self.action_recorder,
        }

    def _decode_action(self, action_id: int) -> int:
        return int(action_id)

    def _get_legal_actions(self) -> list[int]:
        return np.flatnonzero(self.game.get_state(self.game.get_player_id())["action_mask"]).tolist()

    def get_payoffs(self) -> np.ndarray:
        """What each seat's side got, float64 [n]."""
        return self.game.payoffs.copy()

    def get_perfect_information(self) -> dict[str, Any]:
        """All hands (ids of tiles as (low, high)), the boneyard, the scores and the seat to act."""
        match = self.game.env.match
        return {
            "hands": match.hands,
            "boneyard": match.boneyard,
            "scores": match.scores,
            "current_player": self.game.get_player_id(),
            "legal_actions": self._get_legal_actions(),
        }


def make(config: Mapping[str, Any] | None = None) -> FiveUpRLCardEnv:
    """The game by RLCard's own `rlcard.make("five-up", config)`, registered before.

    Raises:
        TypeError: if there is no option of such a name.
        ValueError: if an option has a wrong value.
    """
    register()
    env: FiveUpRLCardEnv = rlcard.make(ENV_ID, dict(config or {}))
    return env


def register() -> None:
    """Let `rlcard.make` know the game; once is enough, and more do no harm."""
    if ENV_ID not in registry.env_specs:
        registry.register(ENV_ID, f"{__name__}:{FiveUpRLCardEnv.__name__}")
