"""One table of environments: each is driven by the same calls, so that one test covers all of them."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import pytest
from pettingzoo import AECEnv

from fiveup_env import fiveup_v0
from fiveup_env.agents.baseline_kernels import RANDOM, choose_many
from fiveup_env.agents.baselines import Random
from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv, StepArrays
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import tile_index, tile_set
from fiveup_env.testing.conformance import difference
from fiveup_env.views.view import View, Views

PLAYERS = (2, 3, 4)
ROWS = 6
NO_ROW = np.zeros(ROWS, np.bool_)
"""A reset of no row shows all rows again."""


class Driver:
    """An environment of `rows` matches. Episodes that are over are reset by the next step.

    Subclasses say how to make, reset and step one, what it shows, and what its state is.
    """

    env: Any
    rows: ClassVar[int] = 1

    def reset(self, seed: int | None = None, **options: Any) -> None:
        """Start new episodes; options are those of the environment's `reset`."""
        raise NotImplementedError

    def masks(self) -> np.ndarray:
        """Legal actions [rows, 121]."""
        raise NotImplementedError

    def step(self, actions: Any) -> None:
        """Take one action per row."""
        raise NotImplementedError

    def shown(self) -> Any:
        """Everything that was handed out last, not copied."""
        raise NotImplementedError

    def match(self, row: int = 0) -> Match:
        """A copy of the match of a row."""
        return Match.of(self.env.games[row])

    def state(self) -> Any:
        """Everything that an error must leave as it was."""
        return {name: array.tobytes() for name, array in self.env.state().items()}, copy.deepcopy(self.shown())

    def play(self, steps: int, seed: int = 0) -> list[Any]:
        """Step with random legal actions; return copies of all that was shown, before the first step included."""
        chance, seen = np.random.default_rng(seed), [copy.deepcopy(self.shown())]
        for _ in range(steps):
            self.step(any_legal(self.masks(), chance))
            seen.append(copy.deepcopy(self.shown()))
        return seen


class Aec(Driver):
    """`raw_env`."""

    def __init__(self, **options: Any) -> None:
        self.env = fiveup_v0.raw_env(**options)

    def reset(self, seed: int | None = None, **options: Any) -> None:
        self.env.reset(seed=seed, options=options or None)

    def masks(self) -> np.ndarray:
        return self.env.infos[self.env.agent_selection]["action_mask"][None]

    def step(self, actions: Any) -> None:
        over = self.env.terminations[self.env.agent_selection] or self.env.truncations[self.env.agent_selection]
        if over:
            self.reset()
        else:
            self.env.step(actions[0] if isinstance(actions, np.ndarray) else actions)

    def shown(self) -> Any:
        return everything(self.env)

    def match(self, row: int = 0) -> Match:
        return self.env.match

    def state(self) -> Any:
        return everything(self.env)


class Single(Driver):
    """`FiveUpEnv`."""

    def __init__(self, **options: Any) -> None:
        self.env, self.last = FiveUpEnv(**{"illegal_action": "raise", **options}), None

    def reset(self, seed: int | None = None, **options: Any) -> None:
        self.last = self.env.reset(seed=seed, options=options or None)

    def masks(self) -> np.ndarray:
        return self.env.action_masks()[None]

    def step(self, actions: Any) -> None:
        if self.last is not None and len(self.last) == 5 and (self.last[2] or self.last[3]):
            self.reset()
        else:
            self.last = self.env.step(actions[0] if isinstance(actions, np.ndarray) else actions)

    def shown(self) -> Any:
        return self.last

    def match(self, row: int = 0) -> Match:
        return self.env.match

    def state(self) -> Any:
        return self.env.match.game.tobytes(), self.env.action_masks().copy(), copy.deepcopy(self.last)


class Learner(Driver):
    """`FiveUpVectorEnv`."""

    rows = ROWS

    def __init__(self, **options: Any) -> None:
        self.env, self.last = FiveUpVectorEnv(ROWS, **options), None

    def reset(self, seed: int | None = None, **options: Any) -> None:
        self.last = self.env.reset(seed=seed, options=options or None)

    def masks(self) -> np.ndarray:
        return self.env.action_masks()

    def step(self, actions: Any) -> None:
        self.last = self.env.step(actions)

    def shown(self) -> Any:
        if self.last is None or "final_info" not in self.last[-1]:
            return self.last
        info = copy.deepcopy(self.last[-1])
        for array in info["final_info"].values():  # undefined where no episode ended
            array[~info["_final_info"]] = 0
        return *self.last[:-1], info


class SelfPlay(Driver):
    """`SelfPlayVectorEnv`."""

    rows = ROWS

    def __init__(self, **options: Any) -> None:
        self.env = SelfPlayVectorEnv(ROWS, **{"final_observation": True, **options})
        self.last: StepArrays | None = None

    def reset(self, seed: int | None = None, **options: Any) -> None:
        self.last = self.env.reset(seed, **options)

    def masks(self) -> np.ndarray:
        assert self.last is not None
        return self.last.action_mask

    def step(self, actions: Any) -> None:
        self.last = self.env.step(actions)

    def shown(self) -> Any:
        return None if self.last is None else meant(self.last)


ENVIRONMENTS: dict[str, Callable[..., Driver]] = {
    "aec": Aec,
    "single": Single,
    "learner": Learner,
    "self-play": SelfPlay,
}
every_environment = pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=ENVIRONMENTS)


def any_legal(masks: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """A random legal action per row of masks [N, 121], 0 where there is none."""
    return (masks * chance.random(masks.shape)).argmax(1)


class Player:
    """Random legal actions for the matches of a vector environment, chosen by compiled code."""

    def __init__(self, env: SelfPlayVectorEnv, seed: int = 0) -> None:
        self.games, self.random = env.games, np.random.default_rng(seed)
        self.actions = np.zeros(len(env.games), np.int64)

    def __call__(self) -> np.ndarray:
        keys = self.random.integers(2**64, size=len(self.actions), dtype=np.uint64)
        choose_many(self.games, RANDOM, keys, self.actions)
        return self.actions


def same(left: Any, right: Any) -> bool:
    """Whether two nested things are equal to the last bit."""
    return difference(left, right) is None


def everything(env: AECEnv) -> dict[str, Any]:
    """All that a PettingZoo environment shows in the middle of an episode."""
    return {
        "agents": list(env.agents),
        "selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative": dict(env.unwrapped._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": {agent: dict(info) for agent, info in env.infos.items()},
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
        "state": env.state(),
        "match": env.match.game.tobytes(),
    }


def snapshot(step: StepArrays) -> dict[str, np.ndarray]:
    """Copies of all arrays of a step; `facts` only holds the others, and padding."""
    return {field.name: getattr(step, field.name).copy() for field in fields(StepArrays) if field.name != "facts"}


def meant(step: StepArrays) -> dict[str, np.ndarray]:
    """Copies of the arrays of a step; what is shown of ended episodes is zero in other rows, where it is undefined."""
    shown = snapshot(step)
    for name, array in shown.items():
        if name.startswith("final_") and len(array):
            array[~step.done] = 0
    return shown


def self_play(env: SelfPlayVectorEnv, steps: int, seed: int = 0, **reset: Any) -> list[dict[str, np.ndarray]]:
    """Everything shown by a reset and by random steps."""
    step, chance = env.reset(seed, **reset), np.random.default_rng(seed)
    seen = [meant(step)]
    for _ in range(steps):
        step = env.step(any_legal(step.action_mask, chance))
        seen.append(meant(step))
    return seen


def episode(env: FiveUpEnv, info: dict[str, Any], chance: np.random.Generator) -> list[tuple[Any, ...]]:
    """Play on at random to the end of the episode; return the results of the steps."""
    steps: list[tuple[Any, ...]] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(legal_action(info, chance)))
        info = steps[-1][4]
    return steps


def legal_action(info: dict[str, Any], chance: np.random.Generator) -> int:
    """A random legal action."""
    return int(chance.choice(np.flatnonzero(info["action_mask"])))


def changed(driver: Driver, change: Callable[[Match, int], Match], seat: int | None = None) -> Driver:
    """An environment that shows the matches `change(match, seat)`; the default seat is the one to act."""
    other = copy.deepcopy(driver)
    if driver.rows == 1:
        match = driver.match()
        learner = {"seat": match.turn} if isinstance(driver, Single) else {}
        other.reset(seed=0, deal=change(match, match.turn if seat is None else seat), **learner)
        return other
    for i in range(driver.rows):
        match = driver.match(i)
        other.env.games[i] = change(match, match.turn).game
    other.reset(reset_mask=NO_ROW)
    return other


def hidden_moved(match: Match, seat: int, chance: random.Random) -> Match:
    """The same match with everything that `seat` cannot know dealt again: other hands, boneyard, seed (R2.2, D6).

    The hands may contradict earlier draws and passes; nobody who keeps to the view can tell.
    """
    others = [s for s in range(match.num_players) if s != seat]
    tiles = [*match.boneyard, *(tile for s in others for tile in match.hands[s])]
    chance.shuffle(tiles)
    moved = match.copy()
    game = moved.game
    first, end = int(game.boneyard_next), int(game.boneyard_end)
    game.boneyard[first:end] = [tile_index(tile) for tile in tiles[: end - first]]
    game.boneyard[:first] = [chance.randrange(28) for _ in range(first)]
    at = end - first
    for s in others:
        game.hands[s] = tile_set(tiles[at : at + int(game.hand_sizes[s])])
        at += int(game.hand_sizes[s])
    game.seed = chance.getrandbits(64)
    return Match.of(game)


class Asked(Policy):
    """Plays like `random`, but compiled code has to ask it; notes the seats for which it was asked."""

    name = "asked"

    def __init__(self) -> None:
        self.seats: list[int] = []

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        self.seats += views.seats.tolist()
        return Random().act_many(views, keys)


class Remembering:
    """An agent with random numbers and a memory."""

    def __repr__(self) -> str:  # without an address: test ids must be the same in every process
        return "Remembering()"

    def reset(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.asked = 0

    def act(self, view: View) -> int:
        self.asked += 1
        assert view.turn == view.seat
        return int(self.random.choice(view.legal_actions()))
