"""The names under which Gymnasium makes the environments."""

from __future__ import annotations

import gymnasium

ENV_ID = "fiveup_env/FiveUp-v0"


def register_envs() -> None:
    """Register `fiveup_env/FiveUp-v0`, once; nothing of it is imported before it is made."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(id=ENV_ID, entry_point="fiveup_env.envs.single:FiveUpEnv")
