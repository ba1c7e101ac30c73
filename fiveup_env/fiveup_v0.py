"""The PettingZoo entrance: `env()`, `raw_env()` and `parallel_env()`.

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
    """The AEC environment in PettingZoo's usual wrappers.

    An action outside the 121 raises, an illegal one ends the episode with -1 for who took it and 0 for the others, and
    what is called before `reset` raises.

    Args:
        options: see `raw_env` (`fiveup_env.envs.pettingzoo_aec.FiveUpAEC`).
    """
    wrapped: AECEnv = raw_env(**options)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def parallel_env(**options: Any) -> ParallelEnv:
    """The same as a parallel environment: every step takes actions of all agents and carries out one.

    That is the one of the agent to act, the agent with a legal action in its mask (after the first step
    `infos[agent]["active_agent"]` names it); those of the others are ignored.

    Args:
        options: see `raw_env`.
    """
    return turn_based_aec_to_parallel(env(**options))
