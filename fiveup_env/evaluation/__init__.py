"""Agents against each other: match-ups on duplicate deals."""

from fiveup_env.evaluation.matchup import MatchUp, evaluate
from fiveup_env.evaluation.statistics import Estimate

__all__ = ["Estimate", "MatchUp", "evaluate"]
