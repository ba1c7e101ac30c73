"""What a step brought every side: the rewards of self-play.

| name           | what                                                                              |
|----------------|-----------------------------------------------------------------------------------|
| `win`, `points`, `equity` | the env's schemes, see `fiveup_env.views.rewards`                    |
| `table`        | twice the change of the chance to win the match, by the shipped match-equity table |

`table` knows what `equity` does not: how far from smooth the end of a match is (6.1 wants exactly 61, so some points to
go are much better than their neighbours), and what it is worth to open the next round. Within a round the next opener
is unknown and the mean over the sides stands for it; the table's value of the real one comes with the round's end.
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
        env: its matches; asked for after every step. For `table` with episode="round" and continue_match.
        scheme: see above.
    """

    def __init__(self, env: SelfPlayVectorEnv, scheme: str) -> None:
        self._env, self._scheme, self._sides = env, scheme, env.num_sides
        self._chances = chances_by_opener(env.options.num_players) if scheme == TABLE else None

    def begin(self) -> None:
        """Look at the matches as they are now, before the next step."""
        if self._chances is not None:
            self._before = self._worth(self._env.games["scores"][:, : self._sides], -1)

    def after(self, step: StepArrays) -> np.ndarray:
        """Rewards float32 [N, S] of the step just made."""
        if self._chances is None:
            return step.rewards
        games, over = self._env.games, step.terminated.nonzero()[0]
        now = self._worth(games["scores"][:, : self._sides], -1)
        reached = now.copy()
        # The opener is that of the round which has been dealt since.
        reached[over] = self._worth(step.final_scores[over], games["opener"][over] % self._sides)
        rewards: np.ndarray = reached - self._before
        self._before = now
        return rewards

    def outlook(self, side: np.ndarray) -> np.ndarray:
        """What every side would get from here to the end of the round if `greedy` played it out, all tiles as they lie.

        Args:
            side: int [N]: the side that looks.

        Returns:
            float32 [N, S] in units of the rewards, the looking side first, the others clockwise from it.
        """
        games = copy_games(self._env.games)
        before = self._worth(games["scores"][:, : self._sides], -1)
        rollout(games, np.full(4, GREEDY), np.zeros(len(games), np.uint64), 1)
        opener = np.where(games["next_opener"] < 0, -1, games["next_opener"] % self._sides)
        gained = self._worth(games["scores"][:, : self._sides], opener) - before
        relative = (side[:, None] + np.arange(self._sides)) % self._sides
        return np.take_along_axis(gained, relative, 1)

    def _worth(self, scores: np.ndarray, opener: np.ndarray | int) -> np.ndarray:
        """Standing of every side at these raw scores, float32 [n, S]; an opening side of -1 is the mean over them."""
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
    """The match-equity table by absolute side, float32 [S + 1, 61, ..., 61, S].

    The first index is the opening side of the next round, the last of it the mean over all; then the display points to
    go of every side, less one; then whose chance it is.
    """
    sides = 3 if num_players == 3 else 2
    relative = shipped_table(num_players).reshape(*[LONGEST] * sides, sides)
    tables = []
    for opener in range(sides):
        # Axis k of `relative` belongs to side (opener + k) % sides: put every axis in its side's place.
        order = [(side - opener) % sides for side in range(sides)]
        tables.append(relative.transpose(*order, sides)[..., order])
    return np.stack([*tables, np.mean(tables, 0)]).astype(np.float32)
