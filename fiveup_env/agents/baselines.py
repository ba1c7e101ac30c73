"""The policies `random`, `greedy` and `heuristic`."""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, HEURISTIC, RANDOM, choose_many
from fiveup_env.agents.protocol import Policy
from fiveup_env.views.view import Views


class KernelPolicy(Policy):
    """A policy that is a kernel, so compiled code can play whole matches with it."""

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
    """The placement with the most points now; an overshoot (R6.1) only if nothing else is legal.

    It counts the credit only, without the domino settlement (R7). Ties go to the heavier tile, then to the lowest
    action id, so it is deterministic.
    """

    kernel = GREEDY
    name = "greedy"


class Heuristic(KernelPolicy):
    """The placement with the highest rating, linear in eight features (see `agents.heuristic`).

    Ties go to the lowest action id, so it is deterministic.
    """

    kernel = HEURISTIC
    name = "heuristic"
