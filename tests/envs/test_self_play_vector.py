"""`SelfPlayVectorEnv`: its arrays, seeds, scores, resets and options. That it is the game: see test_parity."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from itertools import islice

import numba
import numpy as np
import pytest

from fiveup_env.envs.batch_arguments import MAX_MATCHES
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.match import Match
from fiveup_env.views.observation import observation_size, units
from fiveup_env.views.view import View
from tests.envs.trace import episodes, same_bits
from tests.envs.vectors import NAMES, Player, run, same_step, snapshot


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
    for step in (env.arrays(), env.reset(0), env.step(Player(env)())):
        assert {name: (getattr(step, name).shape, getattr(step, name).dtype) for name in wanted} == wanted
    assert (env.num_matches, env.num_sides, env.observation_size) == (5, sides, size)
    assert make(5, num_players=num_players).arrays().final_observation.shape == (0, size)


def test_two_sets_of_arrays_take_turns() -> None:
    env = make()
    first = env.reset(0)
    player = Player(env)
    before = snapshot(first)
    second = env.step(player())
    assert second is not first and same_step(before, snapshot(first))
    held = snapshot(second)
    third = env.step(player())
    assert third is first and same_step(held, snapshot(second)) and not same_step(before, snapshot(first))


def test_no_array_is_made_anew() -> None:
    env = make()
    env.reset(0)
    player = Player(env)
    found = {tuple(getattr(env.step(player()), name).ctypes.data for name in NAMES) for _ in range(6)}
    assert len(found) == 2


def test_steps_write_into_the_callers_arrays() -> None:
    env, own = make(dtype=np.uint8), make(dtype=np.uint8)
    wanted = run(env, 20)
    buffer = np.full((21, 16, env.observation_size), 77, np.uint8)
    masks = np.full((21, 16, 121), 77, np.int8)
    outs = [replace(own.arrays(), observation=buffer[t], action_mask=masks[t]) for t in range(21)]
    assert own.reset(0, out=outs[0]) is outs[0]
    player = Player(own)
    for t in range(1, 21):
        assert own.step(player(), out=outs[t]) is outs[t]
    for t in range(21):
        assert same_step(snapshot(outs[t]), wanted[t])
        assert np.array_equal(buffer[t], wanted[t]["observation"]) and np.array_equal(
            masks[t], wanted[t]["action_mask"]
        )


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
        assert same_step(snapshot(step), {name: array[:3] for name, array in snapshot(more).items()})


def test_one_seed_per_match_is_that_of_its_first_deal() -> None:
    seeds = np.array([0, 7, 2**64 - 1], np.uint64)
    env = make(3)
    for given in (seeds, seeds.tolist(), tuple(seeds.tolist())):
        step = env.reset(given)
        for i, seed in enumerate(seeds):
            match = Match(4, seed=int(seed))
            assert env.match(i) == match and step.seat[i] == match.turn
            assert same_bits(step.observation[i], View.of(match).observation())


def test_the_same_seed_gives_the_same_bits_and_another_one_others() -> None:
    env = make()
    first = run(env, 40)
    assert all(map(same_step, first, run(env, 40)))
    assert not same_step(first[0], run(env, 0, 1)[0])
    assert not np.array_equal(env.reset().observation, env.reset().observation)


def test_starting_scores_are_kept_over_autoresets() -> None:
    env = make(8, max_rounds=1)
    table = np.array([[5 * i, 100 - 5 * i] for i in range(8)], np.int16)
    step = env.reset(0, scores=table)
    player, ended = Player(env), np.zeros(8, np.int64)
    assert np.array_equal(env.games["scores"][:, :2], table)
    while ended.min() < 3:
        step = env.step(player())
        ended += step.done
        assert np.array_equal(env.games["scores"][step.done, :2], table[step.done])
    env.reset(0, scores=(50, 60))
    assert (env.games["scores"][:, :2] == (50, 60)).all()
    env.reset(0)
    assert not env.games["scores"].any()
    close = make(8, starting_scores=(250, 245))
    close.reset(0)
    assert (close.games["scores"][:, :2] == (250, 245)).all()


def test_reset_mask_deals_some_matches_and_leaves_the_others() -> None:
    env = make(6)
    env.reset(0)
    player = Player(env)
    for _ in range(30):
        step = env.step(player())
    before, games = snapshot(step), env.games.copy()
    mask = np.array([True, False, False, True, False, True])
    step = env.reset(np.arange(6), reset_mask=mask)
    assert np.array_equal(env.games[~mask], games[~mask])
    assert np.array_equal(step.observation[~mask], before["observation"][~mask])
    assert np.array_equal(step.action_mask[~mask], before["action_mask"][~mask])
    assert not step.rewards.any() and not step.done.any()
    for i in np.flatnonzero(mask):
        assert env.match(int(i)) == Match(4, seed=int(i))


def test_an_ended_match_is_dealt_anew_from_the_streams_of_its_seed() -> None:
    env = make(1)
    step = env.reset([11])
    of_seed = list(islice(episodes(4, 11, draws="auto", max_rounds=2), 3))
    for trace in of_seed:
        for ply in trace.plies:
            assert same_bits(step.observation[0], ply.observation)
            step = env.step(np.array([ply.action]))
        assert step.done[0]


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


def test_auto_draws_leave_no_forced_action() -> None:
    env = make(64, num_players=2)
    player, step = Player(env), env.reset(0)
    forced = 0
    for _ in range(100):
        assert not step.action_mask[:, 119:].any() and step.action_mask.any(1).all()
        step = env.step(player())
    explicit = make(64, num_players=2, draws="explicit")
    step = explicit.reset(0)
    player = Player(explicit)
    for _ in range(100):
        forced += int(step.action_mask[:, 119:].sum())
        step = explicit.step(player())
    assert forced > 500


def test_codes_times_units_are_the_float_observation() -> None:
    floats, codes = run(make(32, num_players=3), 80), run(make(32, num_players=3, dtype=np.uint8), 80)
    for left, right in zip(floats, codes, strict=True):
        assert right["observation"].dtype == np.uint8
        assert same_bits(right["observation"] * units(3), left["observation"])
        right["observation"] = left["observation"]
        right["final_observation"] = left["final_observation"]
        assert same_step(left, right)


@pytest.mark.jit
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core only")
def test_threads_do_not_change_a_bit() -> None:
    def all_of(threads: int) -> list[dict[str, np.ndarray]]:
        env = make(67, num_players=[2, 3, 4] * 22 + [4], threads=threads, final_observation=True, reward="equity")
        return run(env, 300)

    one, two = all_of(1), all_of(2)
    assert any(step["truncated"].any() for step in one)
    assert all(map(same_step, one, two))


def test_copies_and_pickles_go_on_alike_and_apart() -> None:
    env = make()
    player, step = Player(env), env.reset(3)
    for _ in range(25):
        step = env.step(player())
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(60):
        actions = step.action_mask.argmax(1)
        step = env.step(actions)
        for twin in twins:
            assert same_step(snapshot(twin.step(actions)), snapshot(step))
    before = snapshot(step)
    for twin in twins:
        other = twin.reset(9)
        assert np.shares_memory(other.seat, other.facts) and same_step(before, snapshot(step))


def test_a_state_goes_on_in_another_env() -> None:
    env = make()
    player, step = Player(env), env.reset(3)
    for _ in range(40):
        step = env.step(player())
    other, state = make(), env.state()
    seen = other.set_state(state)
    assert np.array_equal(seen.observation, step.observation) and np.array_equal(seen.action_mask, step.action_mask)
    assert not seen.rewards.any() and not seen.done.any()
    first = seen.observation.copy()
    for _ in range(60):
        actions = step.action_mask.argmax(1)
        step = env.step(actions)
        assert same_step(snapshot(other.step(actions)), snapshot(step))
    assert np.array_equal(make().set_state(state).observation, first)  # the state is a copy


def test_a_state_of_another_env_is_refused() -> None:
    env = make()
    with pytest.raises(ValueError, match=r"the state of this env has 'games', uint8 \[16, \d+\]"):
        env.set_state(make(8).state())
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        env.step(np.zeros(16, np.int64))


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
