"""Environments write records on request, and these replay to the very match that was played."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fiveup_env.records import parse_record
from fiveup_env.records.record_reader import Record
from fiveup_env.rules.match import Match
from tests.envs.environments import PLAYERS, Aec, Driver, Single, any_legal

two_environments = pytest.mark.parametrize("make", [Aec, Single])
DEAL = {"hands": [[(0, 1), (2, 2), (5, 6)], [(3, 3), (1, 6)]], "boneyard": [(0, 0), (1, 2)], "opener": 1}


def position(match: Match) -> Match:
    """The match without the events of its last step: with draws="auto" a step is several actions."""
    match = match.copy()
    for field in ("num_events", "event_net", "event_kind", "event_side", "event_accepted"):
        match.game[field] = 0
    return match


def played(driver: Driver, steps: int) -> Record:
    """The record after some steps, at most to the end of the episode."""
    chance = np.random.default_rng(0)
    for _ in range(steps):
        if driver.masks().any():
            driver.step(any_legal(driver.masks(), chance))
    record = parse_record(driver.env.recorder.text())
    assert driver.env.recorder.match == record.final
    return record


@two_environments
@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_record_is_the_match_at_any_time(make: Callable[..., Driver], num_players: int, draws: str) -> None:
    kind = {"opponents": "greedy"} if make is Single else {}
    driver = make(num_players=num_players, draws=draws, record=True, **kind)
    assert driver.env.recorder is None
    for seed in (3, None, 4):
        driver.reset(seed)
        for _ in range(12):
            record = played(driver, 10)
            assert record.moves and position(record.final) == position(driver.match())
        if make is Single:
            side = driver.last[-1]["side"]
            learners = {seat for seat, name in enumerate(record.players) if name == "learner"}
            assert learners == {seat for seat in range(num_players) if seat % driver.match().num_sides == side}


@two_environments
@pytest.mark.parametrize(
    "options", [{"deal": DEAL}, {"deal": 77}, {"scores": [300, 295]}, {"deal": DEAL, "scores": [5, 10]}]
)
def test_reset_options(make: Callable[..., Driver], options: dict[str, Any]) -> None:
    driver = make(num_players=2, record=True)
    driver.reset(1, **options)
    assert position(played(driver, 20).final) == position(driver.match())


@two_environments
def test_a_match_under_way_is_refused_and_nothing_changes(make: Callable[..., Driver]) -> None:
    driver = make(num_players=2, record=True)
    driver.reset(1)
    before, match = driver.env.recorder.text(), Match(2, seed=0)
    match.play(match.legal_actions()[0])
    with pytest.raises(ValueError, match="a record starts in round 1 before the first move"):
        driver.reset(deal=match)
    assert driver.env.recorder.text() == before


@two_environments
def test_round_episodes_end_with_their_round(make: Callable[..., Driver]) -> None:
    driver = make(num_players=4, episode="round", record=True)
    driver.reset(5)
    record = played(driver, 200)
    assert {move.round_number for move in record.moves} == {1} and record.final.scores == driver.match().scores


@two_environments
def test_without_the_option_there_is_none(make: Callable[..., Driver]) -> None:
    driver = make(num_players=2)
    driver.reset(0)
    assert driver.env.recorder is None


@two_environments
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda driver: pickle.loads(pickle.dumps(driver))])
def test_copies_write_records_apart(make: Callable[..., Driver], twin: Any) -> None:
    driver = make(num_players=3, record=True)
    driver.reset(0)
    played(driver, 9)
    other, before = twin(driver), driver.env.recorder.text()
    assert played(other, 9).final == other.match()
    assert driver.env.recorder.text() == before != other.env.recorder.text()
