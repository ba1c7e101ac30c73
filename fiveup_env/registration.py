"""The names under which Gymnasium makes the environments."""

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
            entry_point="fiveup_env.envs.single:FiveUpEnv",
            vector_entry_point="fiveup_env.envs.gym_vector:FiveUpVectorEnv",
        )
