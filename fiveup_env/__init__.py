"""Exact 61 Five Up, a domino game for two to four players, as an environment for learning and search.

`import fiveup_env` registers `fiveup_env/FiveUp-v0` with Gymnasium and PettingZoo. All other names are imported on
first use.

>>> from fiveup_env import fiveup_v0
>>> env = fiveup_v0.env(num_players=4)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fiveup_env.envs import register_envs

if TYPE_CHECKING:
    from fiveup_env import fiveup_v0 as fiveup_v0
    from fiveup_env.agents import load as load
    from fiveup_env.agents.protocol import Agent as Agent
    from fiveup_env.agents.protocol import AgentError as AgentError
    from fiveup_env.agents.protocol import Policy as Policy
    from fiveup_env.belief.belief_section import beliefs_of as beliefs_of
    from fiveup_env.belief.exact_belief import Belief as Belief
    from fiveup_env.belief.resample import resample as resample
    from fiveup_env.envs.custom_reward import OwnReward as OwnReward
    from fiveup_env.envs.env_options import EnvOptions as EnvOptions
    from fiveup_env.envs.gymnasium_single import FiveUpEnv as FiveUpEnv
    from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv as FiveUpVectorEnv
    from fiveup_env.envs.sb3 import FiveUpSB3VecEnv as FiveUpSB3VecEnv
    from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv as SelfPlayVectorEnv
    from fiveup_env.evaluation import Estimate as Estimate
    from fiveup_env.evaluation import MatchUp as MatchUp
    from fiveup_env.evaluation import evaluate as evaluate
    from fiveup_env.records import Record as Record
    from fiveup_env.records import Recorder as Recorder
    from fiveup_env.records import parse_record as parse_record
    from fiveup_env.records import read_record as read_record
    from fiveup_env.rendering.replays import replay_page as replay_page
    from fiveup_env.rendering.scene_svg import board_svg as board_svg
    from fiveup_env.rules.actions import decode as decode
    from fiveup_env.rules.actions import describe as describe
    from fiveup_env.rules.actions import encode as encode
    from fiveup_env.rules.layout import Layout as Layout
    from fiveup_env.rules.match import Event as Event
    from fiveup_env.rules.match import IllegalActionError as IllegalActionError
    from fiveup_env.rules.match import Match as Match
    from fiveup_env.rules.record import Variant as Variant
    from fiveup_env.testing import check_agent as check_agent
    from fiveup_env.testing import check_env as check_env
    from fiveup_env.testing import check_reward as check_reward
    from fiveup_env.views.view import View as View
    from fiveup_env.views.view import Views as Views

__version__ = "0.1.0"

_CONTENTS = {
    # environments: PettingZoo, Gymnasium, Gymnasium vector, all seats at once, Stable-Baselines3 (extra `train`)
    "fiveup_v0": (),
    "envs.gymnasium_single": ("FiveUpEnv",),
    "envs.gymnasium_vector": ("FiveUpVectorEnv",),
    "envs.self_play_vector": ("SelfPlayVectorEnv",),
    "envs.sb3": ("FiveUpSB3VecEnv",),
    "envs.env_options": ("EnvOptions",),
    "envs.custom_reward": ("OwnReward",),
    # the game without an environment
    "rules.match": ("Match", "Event", "IllegalActionError"),
    "rules.record": ("Variant",),
    "rules.layout": ("Layout",),
    "rules.actions": ("decode", "describe", "encode"),
    # the knowledge of a seat, and sampling of hidden tiles
    "views.view": ("View", "Views"),
    "belief.belief_section": ("beliefs_of",),
    "belief.exact_belief": ("Belief",),
    "belief.resample": ("resample",),
    # agents: load one, or write one
    "agents": ("load",),
    "agents.protocol": ("Agent", "Policy", "AgentError"),
    # agents against each other
    "evaluation": ("evaluate", "MatchUp", "Estimate"),
    # records and pictures
    "records": ("Recorder", "Record", "read_record", "parse_record"),
    "rendering.replays": ("replay_page",),
    "rendering.scene_svg": ("board_svg",),
    # checks of user code
    "testing": ("check_agent", "check_env", "check_reward"),
}
_HOME = {name: f"fiveup_env.{module}" for module, names in _CONTENTS.items() for name in names}

__all__ = ["__version__", "fiveup_v0", *_HOME]


def __getattr__(name: str) -> Any:
    if name == "fiveup_v0":
        return import_module("fiveup_env.fiveup_v0")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_envs()
