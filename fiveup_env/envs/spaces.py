"""The Gymnasium spaces of the environments, all derived from the observation table and the action table."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from fiveup_env.belief.marginals import belief_shape
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import sections, split, state_size, state_units, upper_bounds


def action_space() -> spaces.Discrete:
    """The 121 actions."""
    return spaces.Discrete(NUM_ACTIONS)


def mask_space() -> spaces.Box:
    """The mask of legal actions, int8 [121]."""
    return spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)


def vector_space(num_players: int, dtype: type = np.float32) -> spaces.Box:
    """The observation vector [F]: float32, or uint8 for bare codes."""
    high = upper_bounds(num_players, dtype == np.uint8)
    return spaces.Box(np.zeros_like(high), high, dtype=dtype)


def observation_space(options: EnvOptions, dtype: type = np.float32) -> spaces.Dict:
    """What one seat observes.

    Keys: `observation` (vector, or Dict of named sections), `action_mask`, with a history `history` int16 [L, 3] and
    `history_mask` int8 [L], and with belief="exact" or "likely" `belief` float32 [n, 28].
    """
    n = options.num_players
    content: dict[str, spaces.Space] = {"observation": vector_space(n, dtype)}
    if options.observation == "dict":
        highs = split(upper_bounds(n), n)
        content["observation"] = spaces.Dict(
            {s.name: spaces.Box(np.zeros_like(highs[s.name]), highs[s.name], dtype=np.float32) for s in sections(n)}
        )
    content["action_mask"] = mask_space()
    if length := options.history_length:
        content["history"] = spaces.Box(-1, np.iinfo(np.int16).max, (length, 3), np.int16)
        content["history_mask"] = spaces.Box(0, 1, (length,), np.int8)
    if options.belief != "none":
        content["belief"] = spaces.Box(0, 1, belief_shape(n), np.float32)
    return spaces.Dict(content)


def state_space(num_players: int) -> spaces.Box:
    """The global state vector with all hands, float32 [28 * (n + 1) + F] (see `write_state`)."""
    high = state_units(num_players)
    high[28 * num_players : 28 * (num_players + 1)] *= 28
    high[28 * (num_players + 1) :] = upper_bounds(num_players)
    return spaces.Box(np.zeros(state_size(num_players), np.float32), high, dtype=np.float32)
