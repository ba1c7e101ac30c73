"""The names under which Gymnasium and PettingZoo make the environments."""

from __future__ import annotations

ENV_ID = "fiveup_env/FiveUp-v0"


def register_envs() -> None:
    """Register `fiveup_env/FiveUp-v0` for `gymnasium.make` and `make_vec`, once.

    Nothing of the environments is imported before one is made.
    """
    import gymnasium  # not above: the package calls this while Gymnasium is being imported

    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=ENV_ID,
            entry_point="fiveup_env.envs.gymnasium_single:FiveUpEnv",
            vector_entry_point="fiveup_env.envs.gymnasium_vector:FiveUpVectorEnv",
        )


def register_pettingzoo_envs() -> None:
    """Register `fiveup_env/FiveUp-v0` for `pettingzoo.make("aec", ...)` and `("parallel", ...)`, once.

    PettingZoo has such a registry since 1.27; with an older one this does nothing. Nothing of the environments is
    imported before one is made.
    """
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    for env_type, maker in (("aec", "env"), ("parallel", "parallel_env")):
        try:
            pettingzoo.spec(env_type, ENV_ID)
        except Exception:  # its error for an unknown id is not among its public names
            pettingzoo.register(env_type, ENV_ID, f"fiveup_env.fiveup_v0:{maker}")
