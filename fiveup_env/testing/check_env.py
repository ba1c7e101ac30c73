"""`check_env`: whether an environment, wrapped or not, keeps what the environments of this package promise."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from fiveup_env.testing.conformance_report import Report


def check_env(
    make: Callable[[], Any],
    *,
    episodes: int = 3,
    seed: int = 0,
    single: Callable[[], Any] | None = None,
    skip: Collection[str] = (),
) -> Report:
    """Check an environment: PettingZoo AEC, Gymnasium, or Gymnasium vector, with wrappers of yours around it.

    Args:
        make: makes a fresh one at every call, `lambda: MyWrapper(fiveup_v0.env())` say. Random legal actions are taken.
        episodes: to play through in each check (for a vector environment: 20 times as many steps).
        seed: of the deals and of the actions.
        single: for a vector environment, makes the Gymnasium environment whose episodes its rows are; their first ones
            are then compared.
        skip: names of checks to leave out: PettingZoo has api, mask, spaces, rewards, end, seed, hidden, unchanged and
            copy, Gymnasium the same without end, vectors have spaces, rewards, seed, rows and single.

    Returns:
        A report with `steps a second` (wall clock, choosing a random legal action included).

    Raises:
        ConformanceError: at the first check that fails; the text says what broke and where.
        TypeError: if `make` cannot be called or makes something else.
        ValueError: if `skip` names no check or `episodes` is below 1.
    """
    if not callable(make):
        raise TypeError(f"make is a function that makes a fresh environment, not {make!r}: lambda: MyWrapper(...)")
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, not {episodes!r}")
    import gymnasium
    from pettingzoo import AECEnv

    env = make()
    if isinstance(env, gymnasium.vector.VectorEnv):
        from fiveup_env.testing.check_vector import check_vector

        return check_vector(make, episodes=episodes, seed=seed, single=single, skip=skip)
    if single is not None:
        raise TypeError(f"single is for vector environments; make gives {type(env).__name__}")
    if isinstance(env, gymnasium.Env):
        from fiveup_env.testing.check_single import check_single

        return check_single(make, episodes=episodes, seed=seed, skip=skip)
    if isinstance(env, AECEnv):
        from fiveup_env.testing.check_aec import check_aec

        return check_aec(make, episodes=episodes, seed=seed, skip=skip)
    raise TypeError(
        f"make gives {type(env).__name__}; what can be checked is a PettingZoo AECEnv, a gymnasium.Env or a"
        " gymnasium.vector.VectorEnv"
    )
