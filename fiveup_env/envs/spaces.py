"""The Gymnasium spaces of the environments, all derived from the observation table and the action table."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from fiveup_env.encoding.observation import sections, split, upper_bounds
from fiveup_env.envs.options import EnvOptions
from fiveup_env.rules.actions import NUM_ACTIONS


def action_space() -> spaces.Discrete:
    """The 121 actions."""
    return spaces.Discrete(NUM_ACTIONS)


def mask_space() -> spaces.Box:
    """The mask of legal actions, int8 [121]."""
    return spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)


def vector_space(num_players: int, dtype: type = np.float32) -> spaces.Box:
    """The observation vector [F]: float32, or uint8 for bare codes."""
    return spaces.Box(np.zeros_like(upper_bounds(num_players, dtype == np.uint8)), upper_bounds(num_players, dtype == np.uint8), dtype=dtype)


def observation_space(options: EnvOptions) -> spaces.Dict:
    """What one seat observes.

    Keys: `observation` (vector, or Dict of named sections), `action_mask`, and with a history `history` int16 [L, 3]
    and `history_mask` int8 [L].
    """
    n = options.num_players
    content: dict[str, spaces.Space] = {"observation": vector_space(n)}
    if options.observation == "dict":
        highs = split(upper_bounds(n), n)
        content["observation"] = spaces.Dict(
            {s.name: spaces.Box(np.zeros_like(highs[s.name]), highs[s.name], dtype=np.float32) for s in sections(n)}
        )
    content["action_mask"] = mask_space()
    if length := options.history_length:
        content["history"] = spaces.Box(-1, np.iinfo(np.int16).max, (length, 3), np.int16)
        content["history_mask"] = spaces.Box(0, 1, (length,), np.int8)
    return spaces.Dict(content)
