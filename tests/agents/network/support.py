"""Random policy networks in weights files and MaskablePPO models."""

from __future__ import annotations

import json

import gymnasium
import numpy as np
import pytest
from safetensors.numpy import save_file

from fiveup_env.agents.network.weights_file import METADATA, NetworkSizes
from fiveup_env.agents.protocol import keys_of
from fiveup_env.rules.layout import Join, Layout, Port, half_with, is_double
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import Views


def about(num_players: int = 4, width: int = 16, blocks: int = 2, **changes: object) -> dict[str, object]:
    size = observation_size(num_players)
    plain = {"format": 1, "num_players": num_players, "observation_size": size, "width": width, "blocks": blocks}
    return plain | {"trained": {}} | changes


def random_tensors(
    num_players: int = 4, width: int = 16, blocks: int = 2, seed: int = 0, *, belief: bool = False
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    wanted = NetworkSizes(num_players, width, blocks, belief=belief).shapes
    return {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in wanted.items()}


def write(path, tensors=None, **facts):
    save_file(random_tensors() if tensors is None else tensors, path, {METADATA: json.dumps(about(**facts))})
    return path


def batch(games: np.ndarray, seed: int = 0) -> tuple[Views, np.ndarray]:
    views = Views(games, games["turn"])
    return views, keys_of(views, np.full(len(games), seed, np.uint64))


class Spaces(gymnasium.Env):
    """Environment with spaces only, which is all that a model reads."""

    def __init__(self, observation: gymnasium.Space, actions: int = 121) -> None:
        self.observation_space = observation
        self.action_space = gymnasium.spaces.Discrete(actions)


def vector(size: int, dtype: type = np.float32) -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(0, 255, (size,), dtype)


def with_mask(num_players: int) -> gymnasium.spaces.Dict:
    mask = gymnasium.spaces.Box(0, 1, (121,), np.int8)
    return gymnasium.spaces.Dict({"observation": vector(observation_size(num_players)), "action_mask": mask})


def model(space: gymnasium.Space, actions: int = 121):
    sb3_contrib = pytest.importorskip("sb3_contrib")
    policy = "MultiInputPolicy" if isinstance(space, gymnasium.spaces.Dict) else "MlpPolicy"
    network = {"net_arch": [16]}
    return sb3_contrib.MaskablePPO(
        policy, Spaces(space, actions), n_steps=8, batch_size=8, seed=0, device="cpu", policy_kwargs=network
    )


def points_of(layout: Layout, tile: tuple[int, int], to_go: int) -> list[int]:
    """Display points of laying the tile at each place where it fits (R3.1, R5.2), 0 for an overshoot (R6.1)."""
    found = []
    for place in layout.free_places:
        if place.pip in tile:
            child = Port(tile, "line_a" if is_double(tile) else half_with(tile, place.pip))
            join = Join(Port(place.tile, place.port), child)
            total = Layout((*layout.tiles, tile), (*layout.joins, join)).end_sum
            found.append(total // 5 if total % 5 == 0 and total // 5 <= to_go else 0)
    return found
