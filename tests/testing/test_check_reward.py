"""Reward schemes of one's own: `check_reward`, and `OwnReward` that puts them on the PettingZoo environment."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fiveup_env import fiveup_v0
from fiveup_env.envs.custom_reward import OwnReward, named_scheme
from fiveup_env.rules.match import Match
from fiveup_env.testing import ConformanceError, check_env, check_reward
from fiveup_env.testing.conformance import difference
from fiveup_env.testing.episode_walk import walk
from fiveup_env.views.rewards import REWARDS


def leads(before: Match, after: Match, events: Any) -> list[float]:
    """Sound: what a side gains in display points."""
    return [(now - then) / 5 for then, now in zip(before.scores, after.scores, strict=True)]


def one_number(before: Match, after: Match, events: Any) -> Any:
    return 1.0


def texts(before: Match, after: Match, events: Any) -> Any:
    return ["much"] * after.num_sides


def infinite(before: Match, after: Match, events: Any) -> Any:
    return [np.inf] * after.num_sides


def writes(before: Match, after: Match, events: Any) -> Any:
    after.game.scores[0] = 0 if after.game.scores[0] else 5
    return leads(before, after, events)


def draws(before: Match, after: Match, events: Any) -> Any:
    return [random.random() for _ in after.scores]


def sees_hands(before: Match, after: Match, events: Any) -> Any:
    return [lead - 0.01 * sum(map(sum, after.hands[0])) for lead in leads(before, after, events)]


def backwards(before: Match, after: Match, events: Any) -> Any:
    return [-lead for lead in leads(before, after, events)]


@pytest.mark.parametrize("scheme", [*REWARDS, leads], ids=[*REWARDS, "leads"])
def test_sound_schemes_pass(scheme: Any) -> None:
    report = check_reward(scheme, matches=2)
    assert set(report.passed) == {"form", "unchanged", "seed", "hidden", "winner"}
    assert report.figures["mean return of the winner"] > 0
    if scheme in ("win", "points"):
        assert report.figures["largest sum over the sides of a match"] < 1e-9


@pytest.mark.parametrize(
    ("scheme", "check", "says"),
    [
        (one_number, "form", r"the shape \[\], right is one per side \[2\]"),
        (texts, "form", "right is one number per side"),
        (infinite, "form", "not finite"),
        (writes, "unchanged", "changes the match 'after'"),
        (draws, "seed", "asked twice"),
        (sees_hands, "hidden", "of that side cannot tell apart"),
        (backwards, "winner", "won the match and got"),
    ],
)
def test_what_is_broken_is_named(scheme: Any, check: str, says: str) -> None:
    with pytest.raises(ConformanceError, match=says) as caught:
        check_reward(scheme, 2, matches=2)
    assert caught.value.check == check


def test_a_privileged_signal_can_be_meant() -> None:
    assert check_reward(sees_hands, 2, matches=1, skip=["hidden", "winner"]).skipped == ("hidden", "winner")


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_named_schemes_are_those_of_the_environment(name: str, num_players: int) -> None:
    plain = fiveup_v0.env(num_players=num_players, reward=name)
    own = OwnReward(fiveup_v0.env(num_players=num_players, reward="win"), named_scheme(name))
    for left, right in zip(walk(plain, 5), walk(own, 5), strict=True):
        assert difference(left.observation, right.observation) is None and left.agent == right.agent
        assert left.reward == pytest.approx(right.reward, abs=1e-12)
        assert plain.rewards == pytest.approx(own.rewards, abs=1e-12)


def test_it_keeps_the_contract_of_an_environment() -> None:
    check_env(lambda: OwnReward(fiveup_v0.env(num_players=2), leads), episodes=1)


def test_an_illegal_action_keeps_its_reward() -> None:
    env = OwnReward(fiveup_v0.env(num_players=2), leads)
    env.reset(seed=0)
    actor = env.agent_selection
    env.step(120)
    assert env.rewards[actor] == -1 and env.terminations[actor]


def test_a_scheme_of_another_shape_is_refused() -> None:
    env = OwnReward(fiveup_v0.env(num_players=2), one_number)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="one number per side"):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))


def test_no_such_scheme() -> None:
    with pytest.raises(ValueError, match="reward must be one of"):
        check_reward("won")
