"""Conformance for others: one call checks an agent, an environment or wrapper, or a reward scheme of your own.

>>> from fiveup_env.testing import check_agent
>>> report = check_agent("greedy", num_players=2, matches=1)

Every check has a name, is listed in the report, and can be left out by it (`skip=["batch"]`). The first one that fails
raises `ConformanceError`, whose text says what broke, where, and what would be right.
"""

from fiveup_env.testing.agents import check_agent
from fiveup_env.testing.environments import check_env
from fiveup_env.testing.report import ConformanceError, Report
from fiveup_env.testing.rewards import check_reward

__all__ = ["ConformanceError", "Report", "check_agent", "check_env", "check_reward"]
