"""Environments and match-ups write records on request, and these replay to the very match that was played."""

import copy
import pickle

import pytest

from fiveup_env import fiveup_v0
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.records import parse_record
from fiveup_env.rules.match import Match
from tests.rules.support import PLAYERS

DEAL = {"hands": [[(0, 1), (2, 2), (5, 6)], [(3, 3), (1, 6)]], "boneyard": [(0, 0), (1, 2)], "opener": 1}


def state(match):
    """The match without the events of its last step: with draws="auto" a step is several actions."""
    match = match.copy()
    for field in ("num_events", "event_net", "event_kind", "event_side", "event_accepted"):
        match.game[field] = 0
    return match


def stepped(env, steps):
    for _ in range(steps):
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            break
        env.step(int(env.infos[env.agent_selection]["action_mask"].nonzero()[0][-1]))


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_aec(num_players, draws):
    env = fiveup_v0.raw_env(num_players=num_players, draws=draws, record=True, starting_scores=None)
    assert env.recorder is None
    for seed in (3, None, 4):
        env.reset(seed=seed)
        for _ in range(20):
            stepped(env, 10)
            record = parse_record(env.recorder.text())
            assert state(record.final) == state(env.match)
            assert env.recorder.match == record.final
        assert record.moves


@pytest.mark.parametrize(
    "options", [{"deal": DEAL}, {"deal": 77}, {"scores": [300, 295]}, {"deal": DEAL, "scores": [5, 10]}]
)
@pytest.mark.parametrize("make", [fiveup_v0.raw_env, FiveUpEnv])
def test_reset_options(make, options):
    env = make(num_players=2, record=True)
    env.reset(seed=1, options=options)
    if make is FiveUpEnv:
        for _ in range(20):
            if env.step(int(env.action_masks().nonzero()[0][0]))[2]:
                break
    else:
        stepped(env, 20)
    assert state(parse_record(env.recorder.text()).final) == state(env.match)


@pytest.mark.parametrize("make", [fiveup_v0.raw_env, FiveUpEnv])
def test_a_match_under_way_is_refused_and_nothing_changes(make):
    env = make(num_players=2, record=True)
    env.reset(seed=1)
    before, match = env.recorder.text(), Match(2, seed=0)
    match.play(match.legal_actions()[0])
    with pytest.raises(ValueError, match="a record starts where a match does"):
        env.reset(options={"deal": match})
    assert env.recorder.text() == before


def test_round_episodes_end_with_their_round():
    env = fiveup_v0.raw_env(num_players=4, episode="round", record=True)
    env.reset(seed=5)
    stepped(env, 1000)
    record = parse_record(env.recorder.text())
    assert {move.round_number for move in record.moves} == {1} and record.final.scores == env.match.scores


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_gymnasium(num_players, draws):
    env = FiveUpEnv(num_players, opponents="greedy", draws=draws, record=True)
    env.reset(seed=2)
    for _ in range(3):
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(int(env.action_masks().nonzero()[0][0]))
            over = terminated or truncated
        record = parse_record(env.recorder.text())
        assert state(record.final) == state(env.match) and record.final.winner is not None
        learners = {seat for seat, name in enumerate(record.players) if name == "learner"}
        assert learners == ({0, 2}, {1, 3})[env._table.side] if num_players == 4 else learners == {env._table.side}
        env.reset()


def test_without_asking_there_is_none():
    for env in (fiveup_v0.raw_env(num_players=2), FiveUpEnv(2)):
        env.reset(seed=0)
        assert env.recorder is None


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_write_on_by_themselves(twin):
    env = fiveup_v0.raw_env(num_players=3, record=True)
    env.reset(seed=0)
    stepped(env, 9)
    other, before = twin(env), env.recorder.text()
    stepped(other, 9)
    assert env.recorder.text() == before and parse_record(other.recorder.text()).final == other.match
