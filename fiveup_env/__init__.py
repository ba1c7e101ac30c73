"""Exact 61 Five Up, a domino game for two to four players, as an environment for learning and search.

Importing this package is cheap: everything below is imported when it is first used, and the ids are registered with
Gymnasium and PettingZoo when these are.

>>> from fiveup_env import fiveup_v0
>>> env = fiveup_v0.env(num_players=4)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fiveup_env._on_import import when_imported

if TYPE_CHECKING:
    from fiveup_env.envs.env_options import EnvOptions
    from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
    from fiveup_env.rules.graph import Layout
    from fiveup_env.rules.match import Event, IllegalActionError, Match
    from fiveup_env.rules.record import Variant
    from fiveup_env.views.view import View, Views

__version__ = "0.1.0"

_HOME = {
    "EnvOptions": "fiveup_env.envs.env_options",
    "Event": "fiveup_env.rules.match",
    "IllegalActionError": "fiveup_env.rules.match",
    "Layout": "fiveup_env.rules.graph",
    "Match": "fiveup_env.rules.match",
    "SelfPlayVectorEnv": "fiveup_env.envs.self_play_vector",
    "Variant": "fiveup_env.rules.record",
    "View": "fiveup_env.views.view",
    "Views": "fiveup_env.views.view",
}

__all__ = [
    "EnvOptions",
    "Event",
    "IllegalActionError",
    "Layout",
    "Match",
    "SelfPlayVectorEnv",
    "Variant",
    "View",
    "Views",
    "__version__",
    "fiveup_v0",
]


def __getattr__(name: str) -> Any:
    if name == "fiveup_v0":
        return import_module("fiveup_env.fiveup_v0")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _register() -> None:
    from fiveup_env.envs.registration import register_envs

    register_envs()


def _register_pettingzoo() -> None:
    from fiveup_env.envs.registration import register_pettingzoo_envs

    register_pettingzoo_envs()


def _add_resample() -> None:
    from fiveup_env.rules.match import Match

    def resample(self: Match, seat: int, rng: Any = None) -> Match:
        """A copy in which all that `seat` cannot know is drawn anew; see `fiveup_env.belief.resample`.

        Its observation, mask, history and view stay the same. `rng` is a NumPy generator, a seed, or None for a seed
        of the system's. Raises ValueError if there is no such seat or `rng` is none of these.
        """
        from fiveup_env.belief.resample import resample as drawn_anew

        return drawn_anew(self, seat, rng)

    Match.resample = resample


when_imported("gymnasium", _register)
when_imported("pettingzoo", _register_pettingzoo)
when_imported("fiveup_env.rules.match", _add_resample)
