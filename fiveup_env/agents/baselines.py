"""The policies that need no search and nothing learned at run time: `random`, `greedy` and `heuristic`."""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, HEURISTIC, RANDOM, choose_many
from fiveup_env.agents.protocol import Policy
from fiveup_env.views.view import Views


class KernelPolicy(Policy):
    """A policy whose rule is a kernel, so that whole matches of it can be played inside compiled code."""

    kernel: int

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        actions = np.empty(len(views), np.int64)
        choose_many(views.games, self.kernel, np.asarray(keys, np.uint64), actions)
        return actions


class Random(KernelPolicy):
    """A uniformly random legal action."""

    kernel = RANDOM
    name = "random"


class Greedy(KernelPolicy):
    """Most points now; never a placement that overshoots where another is legal (R6.1); ties by the heavier tile.

    It weighs the placement's own credit alone: what a last tile adds by the domino settlement (R7) is hidden from it.
    Equal tiles go by the lowest action id, so it has no chance in it.
    """

    kernel = GREEDY
    name = "greedy"


class Heuristic(KernelPolicy):
    """The placement of greatest worth, linear in a few things that anybody at the table can count.

    Points now, the own tiles that then fit, what the next player may score, and some more: see `agents.heuristic`.
    Equal placements go by the lowest action id, so it has no chance in it.
    """

    kernel = HEURISTIC
    name = "heuristic"
