"""Rewards of self-play for every side and step.

| scheme                    | reward                                                                      |
|---------------------------|-----------------------------------------------------------------------------|
| `win`, `points`, `equity` | schemes of the env, see `fiveup_env.views.rewards`                          |
| `table`                   | twice the change of the win probability in the shipped match-equity table   |

In contrast to `equity`, `table` includes the effect of the exact target (R6.1: some scores are much better than their
neighbours) and the value of opening the next round. During a round the next opener is unknown, so the mean over the
sides is used; the value for the actual opener is added at the end of the round.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, rollout
from fiveup_env.agents.search.equity import LONGEST, shipped_table
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv, StepArrays
from fiveup_env.rules.record import RAW_PER_POINT, copy_games

TABLE = "table"


class Standing:
    """Rewards of every step.

    Args:
        env: matches; `table` requires episode="round" and continue_match=True.
        scheme: see above.
    """

    def __init__(self, env: SelfPlayVectorEnv, scheme: str) -> None:
        self._env, self._scheme, self._sides = env, scheme, env.num_sides
        self._chances = chances_by_opener(env.options.num_players) if scheme == TABLE else None

    def begin(self) -> None:
        """Store the current scores; call it once before the first step."""
        if self._chances is not None:
            self._before = self._standing(self._env.games["scores"][:, : self._sides], -1)

    def after(self, step: StepArrays) -> np.ndarray:
        """Return the rewards float32 [N, S] of the latest step."""
        if self._chances is None:
            return step.rewards
        games, over = self._env.games, step.terminated.nonzero()[0]
        now = self._standing(games["scores"][:, : self._sides], -1)
        reached = now.copy()
        # The opener is the one of the round dealt after the step.
        reached[over] = self._standing(step.final_scores[over], games["opener"][over] % self._sides)
        rewards: np.ndarray = reached - self._before
        self._before = now
        return rewards

    def outlook(self, side: np.ndarray) -> np.ndarray:
        """Return the rewards of every side if `greedy` plays the round to its end with the actual hidden tiles.

        Args:
            side: int [N], first side of the result.

        Returns:
            float32 [N, S] in units of the rewards; the sides follow clockwise from `side`.
        """
        games = copy_games(self._env.games)
        before = self._standing(games["scores"][:, : self._sides], -1)
        rollout(games, np.full(4, GREEDY), np.zeros(len(games), np.uint64), 1)
        opener = np.where(games["next_opener"] < 0, -1, games["next_opener"] % self._sides)
        gained = self._standing(games["scores"][:, : self._sides], opener) - before
        relative = (side[:, None] + np.arange(self._sides)) % self._sides
        return np.take_along_axis(gained, relative, 1)

    def _standing(self, scores: np.ndarray, opener: np.ndarray | int) -> np.ndarray:
        """Return the potential of every side at these raw scores, float32 [n, S]; opener -1 is the mean over all."""
        target, scores = int(self._env.games["target"][0]), scores.astype(np.int64)
        if self._scheme == "points":
            others = (scores.sum(1, keepdims=True) - scores) / (self._sides - 1)
            return ((scores - others) / (61 * RAW_PER_POINT)).astype(np.float32)
        if self._chances is None:
            best = np.stack([np.delete(scores, side, 1).max(1) for side in range(self._sides)], 1)
            return ((scores - best) / (2 * target - scores - best)).astype(np.float32)
        won = scores == target  # R6.2
        to_go = np.clip((target - scores) // RAW_PER_POINT, 1, LONGEST) - 1
        chances = np.where(won.any(1, keepdims=True), won, self._chances[(opener, *to_go.T)])
        return (2 * chances).astype(np.float32)


def chances_by_opener(num_players: int) -> np.ndarray:
    """Return the match-equity table by absolute side, float32 [S + 1, 61, ..., 61, S].

    Indices: opening side of the next round (S for the mean over all sides); display points to go minus one, for every
    side; side whose win probability it is.
    """
    sides = 3 if num_players == 3 else 2
    relative = shipped_table(num_players).reshape(*[LONGEST] * sides, sides)
    tables = []
    for opener in range(sides):
        # Axis k of `relative` belongs to side (opener + k) % sides; sort the axes by side.
        order = [(side - opener) % sides for side in range(sides)]
        tables.append(relative.transpose(*order, sides)[..., order])
    return np.stack([*tables, np.mean(tables, 0)]).astype(np.float32)
