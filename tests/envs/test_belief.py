"""belief="exact" in the vector envs: arrays, copies, threads, mixed batches. That it is right: see test_parity."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from fiveup_env import fiveup_v0
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.match import IllegalActionError
from fiveup_env.views.view import Views
from tests.envs.aecs import everything, same, walk
from tests.envs.singles import Asked
from tests.envs.trace import same_bits
from tests.envs.vectors import Player, any_legal, run, same_step, snapshot

TINY: dict[str, Any] = {"num_players": 2, "hand_size": 2, "max_pip": 2, "target": 11}
SHORT: dict[str, Any] = {**TINY, "belief": "exact", "max_rounds": 2}


def of_movers(env: SelfPlayVectorEnv) -> np.ndarray:
    """What `Views` say of all who are to move."""
    return beliefs_of(Views(env.games, env.games["turn"]))


def test_without_it_nothing_is_there_to_pay_for() -> None:
    assert EnvOptions().belief == "none" and EnvOptions().marginals() is None
    for num_players in (2, 3, 4):
        step = SelfPlayVectorEnv(5, num_players=num_players, final_observation=True).reset(0)
        assert step.belief.shape == step.final_belief.shape == (0, num_players, 28)
    assert set(FiveUpVectorEnv(2).reset(seed=0)[0]) == {"observation", "action_mask"}
    with pytest.raises(ValueError, match="belief must be one of 'none', 'exact', 'likely', not 'some'"):
        EnvOptions(belief="some")


def test_spaces_have_a_key_beside_the_others() -> None:
    for num_players in (2, 3, 4):
        given = {"num_players": num_players, "belief": "exact"}
        plain = FiveUpEnv(num_players).observation_space
        space = FiveUpEnv(**given).observation_space
        assert fiveup_v0.raw_env(**given).observation_space("player_0") == space
        assert FiveUpVectorEnv(3, **given).single_observation_space == space
        assert set(space) == {*plain, "belief"} and all(space[name] == plain[name] for name in plain)
        assert space["belief"].shape == (num_players, 28) and space["belief"].dtype == np.float32
        assert (space["belief"].low == 0).all() and (space["belief"].high == 1).all()


def test_self_play_shows_it_beside_what_was_there() -> None:
    env, plain = (SelfPlayVectorEnv(6, final_observation=True, **SHORT | {"belief": b}) for b in ("exact", "none"))
    assert env.arrays().belief.shape == env.arrays().final_belief.shape == (6, 2, 28)
    step, other, player = env.reset(0), plain.reset(0), Player(env)
    ended = 0
    for _ in range(60):
        assert same_bits(step.belief, of_movers(env))
        before, after = snapshot(step), snapshot(other)
        for name in ("belief", "final_belief", "facts"):  # facts have all their fields in the others, and padding
            del before[name], after[name]
        assert all(same_bits(before[name], after[name]) for name in before)
        actions = player()
        step, other = env.step(actions), plain.step(actions)
        ended += step.done.sum()
    assert ended > 6
    assert SelfPlayVectorEnv(6, **SHORT).reset(0).final_belief.shape == (0, 2, 28)


def test_self_play_writes_into_the_callers_arrays() -> None:
    env, own = (SelfPlayVectorEnv(5, **SHORT) for _ in range(2))
    wanted = run(env, 12)
    buffer = np.full((13, 5, 2, 28), 7, np.float32)
    outs = [replace(own.arrays(), belief=buffer[t]) for t in range(13)]
    own.reset(0, out=outs[0])
    player = Player(own)
    for t in range(1, 13):
        own.step(player(), out=outs[t])
    assert same_bits(buffer, np.stack([step["belief"] for step in wanted]))
    for wrong in (buffer[0, :4], buffer[0].astype(np.float64), buffer[::2, 0], np.zeros((0, 2, 28), np.float32)):
        with pytest.raises(
            ValueError, match=r"out.belief must be a writable C-contiguous array \[5, 2, 28\] of float32"
        ):
            own.step(player(), out=replace(own.arrays(), belief=wrong))


def test_an_illegal_action_leaves_beliefs_alone() -> None:
    env = SelfPlayVectorEnv(4, final_observation=True, **SHORT)
    step = env.reset(0)
    before = snapshot(step)
    with pytest.raises(IllegalActionError, match="no match was moved"):
        env.step(np.full(4, 120))
    assert same_step(before, snapshot(step)) and same_step(before, snapshot(env.reset(reset_mask=np.zeros(4, bool))))


@pytest.mark.jit
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core only")
def test_threads_do_not_change_a_bit() -> None:
    for num_players in (2, 3, 4):
        one, two = (
            run(SelfPlayVectorEnv(9, num_players=num_players, belief="exact", threads=threads), 40)
            for threads in (1, 2)
        )
        assert all(map(same_step, one, two))


def test_a_mixed_batch_has_rows_for_the_longest() -> None:
    players = (2, 3, 4, 2)
    small = {"hand_size": 2, "max_pip": 3, "target": 11, "draws": "auto", "belief": "exact"}
    env = SelfPlayVectorEnv(4, num_players=players, **small)
    step, player = env.reset(0), Player(env)
    for _ in range(25):
        for i, n in enumerate(players):
            wanted = beliefs_of(Views(env.games[i : i + 1], env.games["turn"][i : i + 1]))[0]
            assert wanted.shape == (n, 28)
            assert same_bits(step.belief[i, :n], wanted) and not step.belief[i, n:].any()
        step = env.step(player())


def test_self_play_copies_pickles_and_states_go_on_alike() -> None:
    env = SelfPlayVectorEnv(4, final_observation=True, **SHORT)
    run(env, 7)
    fresh = SelfPlayVectorEnv(4, final_observation=True, **SHORT)
    shown = fresh.set_state(env.state())
    assert same_bits(shown.belief, of_movers(env))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), fresh]
    player = Player(env)
    for _ in range(20):
        actions = player().copy()
        step = snapshot(env.step(actions))
        assert all(same_step(step, snapshot(twin.step(actions))) for twin in twins)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponents", ["greedy", Asked()], ids=["kernel", "asked"])
@pytest.mark.parametrize("rounds", [{}, {"episode": "round", "continue_match": True}], ids=["match", "round"])
def test_the_learners_env_shows_it_beside_what_was_there(mode: AutoresetMode, opponents: Any, rounds: dict) -> None:
    """Episodes end and begin in another order of calls then, and nothing else may differ."""
    given = {**SHORT, "reward": "points", "opponents": opponents, "autoreset_mode": mode, **rounds}
    env, plain = FiveUpVectorEnv(6, **given), FiveUpVectorEnv(6, **given | {"belief": "none"})
    seen, told = env.reset(seed=1)
    other, other_told = plain.reset(seed=1)
    chance, ended = np.random.default_rng(0), 0
    for _ in range(40):
        assert seen in env.observation_space
        assert same_bits(seen["belief"], beliefs_of(Views(env.games, told["seat"])))
        assert same({name: seen[name] for name in other}, other) and set(seen) == {*other, "belief"}
        finals = [final.pop("belief") for final in told.get("final_obs", ()) if final is not None]
        assert all(final.shape == (2, 28) for final in finals)
        assert list(map(repr, told.pop("final_obs", ()))) == list(map(repr, other_told.pop("final_obs", ())))
        assert same(told, other_told)
        actions = any_legal(seen["action_mask"], chance)
        step, other_step = env.step(actions), plain.step(actions)
        assert all(map(same_bits, step[1:4], other_step[1:4]))
        seen, told, other, other_told = step[0], step[4], other_step[0], other_step[4]
        done = step[2] | step[3]
        ended += done.sum()
        if mode == AutoresetMode.DISABLED and done.any():
            seen, told = env.reset(options={"reset_mask": done})
            other, other_told = plain.reset(options={"reset_mask": done})
    assert ended > 6


def test_the_learners_env_copies_and_states_go_on_alike() -> None:
    env = FiveUpVectorEnv(4, **SHORT)
    seen, _ = env.reset(seed=0)
    chance = np.random.default_rng(0)
    for _ in range(5):
        seen, *_ = env.step(any_legal(seen["action_mask"], chance))
    fresh = FiveUpVectorEnv(4, **SHORT)
    shown, _ = fresh.set_state(env.state(), env.agents)
    assert same(shown, seen)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), fresh]
    for _ in range(12):
        actions = any_legal(seen["action_mask"], chance)
        seen, *_ = env.step(actions)
        assert all(same(twin.step(actions)[0], seen) for twin in twins)


def test_single_and_aec_envs_copy_and_pickle() -> None:
    env = FiveUpEnv(**SHORT, opponents="random")
    seen, _ = env.reset(seed=0)
    raw = fiveup_v0.raw_env(**SHORT)
    raw.reset(seed=0)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        action = int(seen["action_mask"].argmax())
        assert same(twin.step(action)[0], copy.deepcopy(env).step(action)[0])
    for step in walk(raw, 0):
        assert "belief" in step.observation
        for twin in (copy.deepcopy(raw), copy.copy(raw), pickle.loads(pickle.dumps(raw))):
            assert same(everything(twin), everything(raw))
