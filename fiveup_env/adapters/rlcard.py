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
    """RLCard's game interface over `raw_env`; players are seats 0 to n - 1."""

    def __init__(self, allow_step_back: bool = False, **options: Any) -> None:
        self.allow_step_back = allow_step_back
        self.env = FiveUpAEC(**options)
        self.np_random: np.random.RandomState | None = None  # set by RLCard's Env.seed
        self.payoffs = np.zeros(self.get_num_players())
        self._before: list[tuple[FiveUpAEC, np.ndarray]] = []

    def init_game(self) -> tuple[dict[str, Any], int]:
        """Deal with a seed from RLCard's generator; return the state and number of the seat to act."""
        assert self.np_random is not None
        self.env.reset(seed=int(self.np_random.randint(2**31)))
        self.payoffs, self._before = np.zeros(self.get_num_players()), []
        return self.get_state(self.get_player_id()), self.get_player_id()

    def step(self, action: int) -> tuple[dict[str, Any], int]:
        """Apply an action of the seat to act; return the next state and seat.

        Raises:
            IllegalActionError: if the action is illegal; the state is unchanged.
        """
        before = (copy.deepcopy(self.env), self.payoffs.copy()) if self.allow_step_back else None
        self.env.step(action)
        if before is not None:
            self._before.append(before)
        self.payoffs += [self.env.rewards[agent] for agent in self.env.possible_agents]
        return self.get_state(self.get_player_id()), self.get_player_id()

    def step_back(self) -> bool:
        """Undo one action; return False at the start of a game."""
        if not self._before:
            return False
        self.env, self.payoffs = self._before.pop()
        return True

    def get_state(self, player_id: int) -> dict[str, Any]:
        """Observation of a seat (see `FiveUpAEC.observe`)."""
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
    """RLCard's `Env` for this game.

    States contain `obs` float32 [F], `legal_actions` (ids; empty for other seats and at the end), `raw_obs` (the
    observation of `raw_env`), `raw_legal_actions` (texts) and `action_record`. Payoffs are the episode's total rewards
    of each seat's side; RLCard has no rewards before the end.

    Args:
        config: `seed`, `allow_step_back`, and options of `EnvOptions` with the prefix `game_`, such as
            `game_num_players`. Forced draws and passes are resolved internally unless `game_draws` is "explicit".
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
        """Total reward of each seat's side, float64 [n]."""
        return self.game.payoffs.copy()

    def get_perfect_information(self) -> dict[str, Any]:
        """All hands (tiles as (low, high)), the boneyard, the raw scores and the seat to act."""
        match = self.game.env.match
        return {
            "hands": match.hands,
            "boneyard": match.boneyard,
            "scores": match.scores,
            "current_player": self.game.get_player_id(),
            "legal_actions": self._get_legal_actions(),
        }


def make(config: Mapping[str, Any] | None = None) -> FiveUpRLCardEnv:
    """Register the game and return `rlcard.make("five-up", config)`.

    Raises:
        TypeError: if an option does not exist.
        ValueError: if an option has an invalid value.
    """
    register_rlcard_env()
    env: FiveUpRLCardEnv = rlcard.make(ENV_ID, dict(config or {}))
    return env


def register_rlcard_env() -> None:
    """Register the game with `rlcard.make`; repeated calls have no effect."""
    if ENV_ID not in registry.env_specs:
        registry.register(ENV_ID, f"{__name__}:{FiveUpRLCardEnv.__name__}")
