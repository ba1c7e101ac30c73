"""Conformance for others: one call checks an agent, an environment or wrapper, or a reward scheme of your own.

>>> from fiveup_env.testing import check_agent
>>> report = check_agent("greedy", num_players=2, matches=1)

Every check has a name, is listed in the report, and can be left out by it (`skip=["batch"]`). The first one that fails
raises `ConformanceError`, whose text says what broke, where, and what would be right.
"""

from fiveup_env.testing.check_agent import check_agent
from fiveup_env.testing.check_env import check_env
from fiveup_env.testing.check_reward import check_reward
from fiveup_env.testing.conformance_report import ConformanceError, Report

__all__ = ["ConformanceError", "Report", "check_agent", "check_env", "check_reward"]
