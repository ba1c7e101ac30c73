"""`ScoringPolicy`: any function of observations as an agent."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env import Match, Views
from fiveup_env.adapters.policy_function import ScoringPolicy
from fiveup_env.agents.protocol import AgentError
from fiveup_env.evaluation import evaluate
from fiveup_env.views.observation import sections, split


def credits_of(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Scores from the section `credits` of the observation, the criterion of `greedy`."""
    start = sum(s.size for s in sections(4)[: [s.name for s in sections(4)].index("credits")])
    scores = np.full(mask.shape, 1e9)  # illegal actions would be the best ones
    scores[mask != 0] = 0
    scores[:, 28:119] += np.where(mask[:, 28:119] != 0, observation[:, start : start + 91], 0)
    assert np.array_equal(split(observation[0], 4)["credits"], observation[0, start : start + 91])
    return scores


def test_scores_decide_among_legal_actions() -> None:
    found = evaluate(ScoringPolicy(credits_of, 4), "random", 4, 200, strict=True)
    assert found.forfeits == (0, 0) and found.win_rate.value > 0.8


def views(count: int) -> Views:
    match = Match(num_players=4, seed=1)
    return Views(np.repeat(match.game.reshape(1), count), [match.turn] * count)


def test_sampling_follows_the_softmax() -> None:
    first, second = np.flatnonzero(views(1).observe()[1][0])[:2]

    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        out = np.full(mask.shape, -1e9)
        out[:, first], out[:, second] = np.log(3), 0
        return out

    keys = np.random.default_rng(0).integers(2**64, size=4000, dtype=np.uint64)
    chosen = ScoringPolicy(scores, sample=True).act_many(views(4000), keys)
    assert set(chosen) == {first, second}
    assert 0.72 < (chosen == first).mean() < 0.78


@pytest.mark.parametrize("wrong", [np.zeros((2, 120)), np.full((2, 121), np.nan)])
def test_what_cannot_be_played_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(AgentError, match="policy mine returned"):
        ScoringPolicy(lambda observation, mask: wrong, name="mine").act_many(views(2), np.zeros(2, np.uint64))
