"""PettingZoo environments: `env()`, `raw_env()` and `parallel_env()`.

>>> from fiveup_env import fiveup_v0
>>> env = fiveup_v0.env(num_players=4)
>>> env.reset(seed=0)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     done = termination or truncation
...     env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from fiveup_env.envs.pettingzoo_aec import FiveUpAEC as raw_env

__all__ = ["env", "parallel_env", "raw_env"]


def env(**options: Any) -> AECEnv:
    """Return the AEC environment in PettingZoo's usual wrappers.

    An illegal action ends the episode with reward -1 for its agent and 0 for the others. An action outside 0 to 120 and
    a call before `reset` raise an error.

    Args:
        options: see `raw_env` (`fiveup_env.envs.pettingzoo_aec.FiveUpAEC`).
    """
    wrapped: AECEnv = raw_env(**options)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def parallel_env(**options: Any) -> ParallelEnv:
    """Return a parallel environment: every step takes actions of all agents and plays one.

    It plays the action of the agent to act, the only agent with a legal action in its mask (after the first step
    `infos[agent]["active_agent"]` names it), and ignores the others.

    Args:
        options: see `raw_env`.
    """
    return turn_based_aec_to_parallel(env(**options))
