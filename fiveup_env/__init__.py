"""Exact 61 Five Up, a domino game for two to four players, as an environment for learning and search.

`import fiveup_env` registers `fiveup_env/FiveUp-v0` with Gymnasium and PettingZoo. Names are imported on first use.

>>> from fiveup_env import fiveup_v0
>>> env = fiveup_v0.env(num_players=4)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fiveup_env.envs.registration import register_envs

if TYPE_CHECKING:
    from fiveup_env.belief.resample import resample
    from fiveup_env.envs.env_options import EnvOptions
    from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
    from fiveup_env.rules.layout import Layout
    from fiveup_env.rules.match import Event, IllegalActionError, Match
    from fiveup_env.rules.record import Variant
    from fiveup_env.views.view import View, Views

__version__ = "0.1.0"

_HOME = {
    "EnvOptions": "fiveup_env.envs.env_options",
    "Event": "fiveup_env.rules.match",
    "IllegalActionError": "fiveup_env.rules.match",
    "Layout": "fiveup_env.rules.layout",
    "Match": "fiveup_env.rules.match",
    "SelfPlayVectorEnv": "fiveup_env.envs.self_play_vector",
    "Variant": "fiveup_env.rules.record",
    "View": "fiveup_env.views.view",
    "Views": "fiveup_env.views.view",
    "resample": "fiveup_env.belief.resample",
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
    "resample",
]


def __getattr__(name: str) -> Any:
    if name == "fiveup_v0":
        return import_module("fiveup_env.fiveup_v0")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_envs()
