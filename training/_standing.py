"""What a step brought every side: the rewards of self-play.

| name           | what                                                                              |
|----------------|-----------------------------------------------------------------------------------|
| `win`, `points`, `equity` | the env's schemes, see `fiveup_env.encoding.rewards`                    |
| `table`        | twice the change of the chance to win the match, by the shipped match-equity table |

`table` knows what `equity` does not: how far from smooth the end of a match is (6.1 wants exactly 61, so some points to
go are much better than their neighbours), and what it is worth to open the next round. Within a round the next opener
is unknown and the mean over the sides stands for it; the table's value of the real one comes with the round's end.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.equity import LONGEST, shipped_table
from fiveup_env.envs.step_arrays import StepArrays
from fiveup_env.envs.vector import SelfPlayVectorEnv
from fiveup_env.rules.game import RAW_PER_POINT

TABLE = "table"


class Standing:
    """Rewards of every step.

    Args:
        env: its matches; asked for after every step. For `table` with episode="round" and continue_match.
        scheme: see above.
    """

    def __init__(self, env: SelfPlayVectorEnv, scheme: str) -> None:
        self._env = env
        self._chances = chances_by_opener(env.options.num_players) if scheme == TABLE else None

    def begin(self) -> None:
        """Look at the matches as they are now, before the next step."""
        if self._chances is not None:
            self._before = self._worth()

    def after(self, step: StepArrays) -> np.ndarray:
        """Rewards float32 [N, S] of the step just made."""
        if self._chances is None:
            return step.rewards
        now = self._worth()
        reached = now.copy()
        over = step.terminated.nonzero()[0]
        won = step.final_scores[over] == self._env.games["target"][over, None]  # R6.2
        next_opener = self._env.games["opener"][over] % now.shape[1]  # of the round that has been dealt since
        scores = step.final_scores[over]
        reached[over] = np.where(won.any(1, keepdims=True), won, self._worth(scores, next_opener))
        rewards: np.ndarray = 2 * (reached - self._before)
        self._before = now
        return rewards

    def _worth(self, scores: np.ndarray | None = None, opener: np.ndarray | int = -1) -> np.ndarray:
        """Chance of every side to win the match, float32 [n, S]; an opening side of -1 is the mean over them."""
        assert self._chances is not None
        games, sides = self._env.games, self._chances.shape[-1]
        scores = games["scores"][:, :sides] if scores is None else scores
        to_go = np.clip((int(games["target"][0]) - scores.astype(np.int64)) // RAW_PER_POINT, 1, LONGEST) - 1
        chances: np.ndarray = self._chances[(opener, *to_go.T)]
        return chances


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
