"""What the tests of the AEC env share."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from pettingzoo import AECEnv

from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import tile_index, tile_set

PLAYERS = (2, 3, 4)


class Step(NamedTuple):
    """What `last()` said, and the action that was taken then (None for an agent whose episode is over)."""

    agent: str
    observation: dict[str, Any]
    reward: float
    over: bool
    info: dict[str, Any]
    action: int | None


def legal(mask: np.ndarray) -> list[int]:
    """Ids of the legal actions of a mask."""
    return [int(action) for action in np.flatnonzero(mask)]


def walk(env: AECEnv, seed: int) -> Iterator[Step]:
    """Play an episode that was just dealt to its very end, at random; each step is yielded before it is taken."""
    chance = random.Random(seed)
    while env.agents:
        observation, reward, terminated, truncated, info = env.last()
        over = terminated or truncated
        action = None if over else chance.choice(legal(observation["action_mask"]))
        yield Step(env.agent_selection, observation, reward, over, info, action)
        env.step(action)


def same(left: Any, right: Any) -> bool:
    """Whether two observations, infos or other nested things are equal to the last bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.tobytes() == right.tobytes()
    return type(left) is type(right) and left == right


def everything(env: AECEnv) -> dict[str, Any]:
    """All that can be asked of an environment in the middle of an episode."""
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
        "match": env.match._games.tobytes(),
    }


def with_hidden_tiles_moved(match: Match, seat: int, chance: random.Random) -> Match:
    """The same match with everything that `seat` cannot know dealt anew: other hands, boneyard, seed (R2.2, D6)."""
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
