"""Environments over the rules, and their registration with Gymnasium and PettingZoo."""

from __future__ import annotations

import gymnasium
import pettingzoo

ENV_ID = "fiveup_env/FiveUp-v0"


def register_envs() -> None:
    """Register `fiveup_env/FiveUp-v0` with Gymnasium (`make`, `make_vec`) and PettingZoo ("aec", "parallel"), once.

    Entry points are strings, so an environment is imported when one is made. PettingZoo before 1.27 has no registry.
    """
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=ENV_ID,
            entry_point="fiveup_env.envs.gymnasium_single:FiveUpEnv",
            vector_entry_point="fiveup_env.envs.gymnasium_vector:FiveUpVectorEnv",
        )
    if not hasattr(pettingzoo, "register"):
        return
    for env_type, maker in (("aec", "env"), ("parallel", "parallel_env")):
        try:
            pettingzoo.spec(env_type, ENV_ID)
        except Exception:  # PettingZoo's error for an unknown id is not public
            pettingzoo.register(env_type, ENV_ID, f"fiveup_env.fiveup_v0:{maker}")
