"""An agent that raises, hangs, or returns nonsense forfeits that match only, and is named."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from fiveup_env.agents.baselines import Random
from fiveup_env.agents.protocol import AgentError, AgentTimeout, Policy
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation.match_plan import MatchPlan
from fiveup_env.evaluation.match_play import PATIENCE, play_matches, time_limit
from fiveup_env.views.view import View, Views
from tests.agents.support import First
from tests.evaluation.test_match_play import silent


class Fails:
    """Plays the first legal action, and fails at every decision with a certain remainder of the hash of its view."""

    def __init__(self, fail, every: int = 7) -> None:
        self.fail, self.every = fail, every

    def reset(self, seed: int) -> None:
        pass

    def act(self, view: View) -> object:
        legal = view.legal_actions()
        return self.fail(view) if (sum(legal) + view.scores[0]) % self.every == 0 else legal[0]


def crash(view: View) -> int:
    raise KeyError("nothing there")


FAILURES = [
    (crash, "agent Fails: raised KeyError: 'nothing there'"),
    (lambda view: 120, r"agent Fails: player_\d may not pass \(action 120\); legal: "),
    (lambda view: "lead", "agent Fails: an action is an integer from 0 to 120, not 'lead'"),
    (lambda view: None, "agent Fails: an action is an integer from 0 to 120, not None"),
    (lambda view: float("nan"), "agent Fails: an action is an integer from 0 to 120, not nan"),
    (lambda view: 10**30, "agent Fails: an action is an integer from 0 to 120, not 1000000000000000000000000000000"),
]


@pytest.mark.parametrize(("fail", "message"), FAILURES, ids=["raises", "illegal", "text", "nothing", "nan", "huge"])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_failures_are_forfeits(num_players, fail, message):
    """The other side gets 61 points; matches without a failure are unchanged."""
    plan = MatchPlan(num_players, 8, 3)
    results = play_matches(Fails(fail), Random(), plan, silent)
    sound = play_matches(Fails(lambda view: view.legal_actions()[0]), Random(), plan, silent)
    lost = {(forfeit.deal, forfeit.seating) for forfeit in results.forfeits}
    assert 0 < len(lost) == len(results.forfeits)
    for forfeit in results.forfeits:
        assert forfeit.by_a and re.match(message, forfeit.reason)
    for deal in range(plan.deals):
        for seating in range(plan.sides):
            at = deal, seating
            if at in lost:
                others = [side for side in range(plan.sides) if side != seating]
                assert results.won[at] == 0 and (results.scores[at][others] == 305).all()
                assert results.rounds[at] <= sound.rounds[at] or num_players > 2
            else:
                assert results.winner[at] == sound.winner[at]
                assert np.array_equal(results.scores[at], sound.scores[at])


def test_b_forfeits_to_a():
    result = evaluate("greedy", Fails(crash, 1), 3, 6)
    assert result.forfeits == (0, 6) and result.win_rate.value == 1
    assert result.reasons == ("agent Fails: raised KeyError: 'nothing there'",)
    assert result.as_dict()["forfeits"] == {"a": 0, "b": 6, "reasons": list(result.reasons)}


class FailsTogether(Policy):
    """A policy that raises if any row is in its second round."""

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        if (views.games["round_number"] == 2).any():
            raise RuntimeError("second rounds\nare too much")
        return First().act_many(views, keys)


def test_in_a_batch_only_the_row_that_fails_is_lost():
    results = play_matches(FailsTogether(), Random(), MatchPlan(4, 10, 1), silent)
    assert len(results.forfeits) == 20 and (results.rounds == 2).all()
    assert {f.reason for f in results.forfeits} == {
        "agent FailsTogether: raised RuntimeError: second rounds are too much"
    }
    assert not play_matches(FailsTogether(), Random(), MatchPlan(4, 10, 1, 1), silent).forfeits


def test_strict_raises():
    with pytest.raises(AgentError, match=r"agent Fails: player_\d may not pass"):
        play_matches(Fails(lambda view: 120), Random(), MatchPlan(4, 8, 3), silent, strict=True)
    with pytest.raises(KeyError):  # other errors are raised unchanged
        play_matches(Fails(crash), Random(), MatchPlan(4, 8, 3), silent, strict=True)
    with pytest.raises(RuntimeError):
        play_matches(FailsTogether(), Random(), MatchPlan(4, 8, 3), silent, strict=True)


def hang(view: View) -> int:
    time.sleep(60)
    return view.legal_actions()[0]


def test_an_agent_that_hangs_forfeits_the_rest():
    began = time.monotonic()
    result = evaluate(Fails(hang, 1), "greedy", 2, 12, timeout=0.05)
    assert time.monotonic() - began < 30
    assert result.forfeits == (12, 0) and result.win_rate.value == 0
    assert sorted(result.reasons) == [
        f"agent Fails: exceeded the time limit {PATIENCE} times before",
        "agent Fails: took more than 0.05 s",
    ]


def test_a_time_limit():
    with pytest.raises(AgentTimeout, match=r"took more than 0\.01 s"), time_limit(0.01):
        time.sleep(5)
    with time_limit(0.05):
        pass
    with time_limit(None):
        time.sleep(0.06)  # the limit before is over
