"""`SelfPlayVectorEnv`: its arrays, scores, resets and options. `test_parity` tests the game."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from fiveup_env.envs.env_options import MAX_MATCHES
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.match import Match
from fiveup_env.views.observation import observation_size
from tests.envs.environments import any_legal, meant, same, self_play, snapshot
from tests.envs.trace import episodes, same_bits


def make(count: int = 16, **options: object) -> SelfPlayVectorEnv:
    """An env with short episodes."""
    return SelfPlayVectorEnv(count, **{"draws": "auto", "max_rounds": 2, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_arrays_have_the_shapes_and_types_that_are_promised(num_players: int) -> None:
    env = make(5, num_players=num_players, final_observation=True)
    size, sides = observation_size(num_players), 3 if num_players == 3 else 2
    wanted = {
        "observation": ((5, size), np.float32),
        "action_mask": ((5, 121), np.int8),
        "seat": ((5,), np.int8),
        "side": ((5,), np.int8),
        "rewards": ((5, sides), np.float32),
        "terminated": ((5,), np.bool_),
        "truncated": ((5,), np.bool_),
        "final_scores": ((5, sides), np.int16),
        "final_winner": ((5,), np.int8),
        "final_rounds": ((5,), np.int32),
        "final_length": ((5,), np.int32),
        "final_observation": ((5, size), np.float32),
    }
    for step in (env.arrays(), env.reset(0), env.step(env.reset(0).action_mask.argmax(1))):
        assert {name: (getattr(step, name).shape, getattr(step, name).dtype) for name in wanted} == wanted
    assert (env.num_matches, env.num_sides, env.observation_size) == (5, sides, size)
    assert make(5, num_players=num_players).arrays().final_observation.shape == (0, size)


def test_two_sets_of_arrays_take_turns() -> None:
    env, chance = make(), np.random.default_rng(0)
    first = env.reset(0)
    before = snapshot(first)
    second = env.step(any_legal(first.action_mask, chance))
    assert second is not first and same(before, snapshot(first))
    held = snapshot(second)
    third = env.step(any_legal(second.action_mask, chance))
    assert third is first and same(held, snapshot(second)) and not same(before, snapshot(first))
    found = set()
    for _ in range(6):  # no array is made again
        third = env.step(any_legal(third.action_mask, chance))
        found.add(tuple(getattr(third, name).ctypes.data for name in held))
    assert len(found) == 2


def test_steps_write_into_the_callers_arrays() -> None:
    env, own = make(dtype=np.uint8), make(dtype=np.uint8)
    wanted = self_play(env, 20)
    buffer = np.full((21, 16, env.observation_size), 77, np.uint8)
    masks = np.full((21, 16, 121), 77, np.int8)
    outs = [replace(own.arrays(), observation=buffer[t], action_mask=masks[t]) for t in range(21)]
    assert own.reset(0, out=outs[0]) is outs[0]
    chance = np.random.default_rng(0)
    for t in range(1, 21):
        assert own.step(any_legal(masks[t - 1], chance), out=outs[t]) is outs[t]
    for t in range(21):
        assert same(meant(outs[t]), wanted[t])
        assert np.array_equal(buffer[t], wanted[t]["observation"])
        assert np.array_equal(masks[t], wanted[t]["action_mask"])


def test_what_a_mixed_batch_does_not_use_is_zero_in_the_callers_arrays_too() -> None:
    env = make(6, num_players=[2, 3, 4, 2, 3, 4], dtype=np.uint8)
    out = replace(env.arrays(), observation=np.full((6, env.observation_size), 9, np.uint8))
    env.reset(0, out=out)
    for i, n in enumerate(env.num_players):
        assert not out.observation[i, observation_size(int(n)) :].any()


def test_a_match_is_the_same_in_a_batch_of_any_size() -> None:
    env, other = make(3), make(17)
    step, more = env.reset(5), other.reset(5)
    for _ in range(100):
        actions = more.action_mask.argmax(1)
        step, more = env.step(actions[:3]), other.step(actions)
        assert same(meant(step), {name: array[:3] for name, array in meant(more).items()})


def test_starting_scores_are_kept_over_autoresets() -> None:
    env = make(8, max_rounds=1)
    table = np.array([[5 * i, 100 - 5 * i] for i in range(8)], np.int16)
    step, ended = env.reset(0, scores=table), np.zeros(8, np.int64)
    assert np.array_equal(env.games["scores"][:, :2], table)
    while ended.min() < 3:
        step = env.step(step.action_mask.argmax(1))
        ended += step.done
        assert np.array_equal(env.games["scores"][step.done, :2], table[step.done])
    env.reset(0, scores=(50, 60))
    assert (env.games["scores"][:, :2] == (50, 60)).all()
    env.reset(0)
    assert not env.games["scores"].any()


def test_reset_mask_deals_some_matches_and_leaves_the_others() -> None:
    env = make(6)
    self_play(env, 30)
    before, games = snapshot(env.reset(reset_mask=np.zeros(6, bool))), env.games.copy()
    mask = np.array([True, False, False, True, False, True])
    step = env.reset(np.arange(6), reset_mask=mask)
    assert np.array_equal(env.games[~mask], games[~mask])
    assert np.array_equal(step.observation[~mask], before["observation"][~mask])
    assert np.array_equal(step.action_mask[~mask], before["action_mask"][~mask])
    assert not step.rewards.any() and not step.done.any()
    for i in np.flatnonzero(mask):
        assert env.match(int(i)) == Match(4, seed=int(i))


def test_skip_single_leaves_only_real_choices() -> None:
    traces = list(islice(episodes(4, 4, draws="auto", max_rounds=3, skip_single=True), 2))
    env = make(1, max_rounds=3, skip_single=True, reward="points", final_observation=True)
    step = env.reset([4])
    for trace in traces:
        for ply in trace.plies:
            assert same_bits(step.observation[0], ply.observation) and same_bits(step.action_mask[0], ply.mask)
            assert step.seat[0] == ply.seat and ply.mask.sum() > 1
            step = env.step(np.array([ply.action]))
            assert same_bits(step.rewards[0].copy(), np.array(ply.gains["points"], np.float32))
            assert (step.terminated[0], step.truncated[0]) == (ply.terminated, ply.truncated)
        assert tuple(step.final_scores[0]) == trace.scores and step.final_length[0] == len(trace.plies)


def test_arrays_of_an_unpickled_env_are_fields_of_its_facts() -> None:
    step = pickle.loads(pickle.dumps(make())).reset(9)
    assert np.shares_memory(step.seat, step.facts)


def test_match_is_a_copy() -> None:
    env = make(2)
    env.reset(0)
    match = env.match(1)
    match.play(match.legal_actions()[0])
    assert env.match(1) != match


@pytest.mark.slow
def test_the_largest_batch() -> None:
    env = SelfPlayVectorEnv(MAX_MATCHES, dtype=np.uint8, draws="auto")
    step = env.reset(0)
    step = env.step(step.action_mask.argmax(1))
    few = SelfPlayVectorEnv(10, dtype=np.uint8, draws="auto")
    other = few.reset(0)
    other = few.step(other.action_mask.argmax(1))
    assert np.array_equal(step.observation[:10], other.observation)
