"""Conformance checks: one call checks an agent, an environment or wrapper, or a reward scheme.

>>> from fiveup_env.testing import check_agent
>>> report = check_agent("greedy", num_players=2, matches=1)

Each check has a name, is listed in the report, and can be left out (`skip=["batch"]`). The first failing check raises
`ConformanceError`, whose text gives the fault, the position and the correct behaviour.
"""

from fiveup_env.testing.check_agent import check_agent
from fiveup_env.testing.check_env import check_env
from fiveup_env.testing.check_reward import check_reward
from fiveup_env.testing.conformance import ConformanceError, Report

__all__ = ["ConformanceError", "Report", "check_agent", "check_env", "check_reward"]
