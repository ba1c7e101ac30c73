"""The game as an RLCard environment."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rlcard", reason="rlcard is not installed: pip install 'fiveup-env[rlcard]'")

import rlcard

from fiveup_env.adapters.rlcard import make, register_rlcard_env
from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
from fiveup_env.rules.match import IllegalActionError


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_rlcards_own_loop(num_players: int) -> None:
    from rlcard.agents import RandomAgent
    from rlcard.utils import reorganize

    env = make({"seed": 1, "game_num_players": num_players, "game_episode": "round", "game_reward": "points"})
    env.set_agents([RandomAgent(env.num_actions)] * num_players)
    paid = np.zeros(num_players)
    for _ in range(10):
        trajectories, payoffs = env.run(is_training=True)
        assert env.is_over() and abs(payoffs.sum()) < 1e-6
        assert num_players < 4 or (payoffs[:2] == payoffs[2:]).all()
        paid += np.abs(payoffs)
        for seat, decisions in enumerate(reorganize(trajectories, payoffs)):
            assert all(decision[1] in decision[0]["legal_actions"] for decision in decisions)
            if decisions:
                assert decisions[-1][2] == payoffs[seat] and decisions[-1][4]
    assert (paid > 0).all()


def test_states_are_what_a_seat_sees() -> None:
    env = make({"seed": 4, "game_num_players": 4})
    state, seat = env.reset()
    for _ in range(30):
        seen = env.game.env.observe(f"player_{seat}")
        assert np.array_equal(state["obs"], seen["observation"]) and state["obs"].shape == tuple(env.state_shape[0])
        assert list(state["legal_actions"]) == np.flatnonzero(seen["action_mask"]).tolist() == env._get_legal_actions()
        assert len(state["raw_legal_actions"]) == len(state["legal_actions"])
        waiting = env.get_state((seat + 1) % 4)
        assert not waiting["legal_actions"]
        state, seat = env.step(next(iter(state["legal_actions"])))


def test_same_seed_same_games() -> None:
    def hands(seed: int) -> list[object]:
        env = make({"seed": seed})
        return [env.reset() and env.get_perfect_information()["hands"] for _ in range(3)]

    assert hands(3) == hands(3) != hands(5)
    assert len({str(deal) for deal in hands(3)}) == 3


def test_steps_back_to_the_same_bits() -> None:
    env = make({"seed": 2, "allow_step_back": True, "game_reward": "points"})
    env.reset()
    assert not env.step_back()
    start = env.game.env.match.game.tobytes()
    states = []
    for _ in range(25):
        state = env.get_state(env.get_player_id())
        states.append((env.game.env.match.game.tobytes(), env.game.payoffs.tolist()))
        env.step(next(iter(state["legal_actions"])))
    for record, payoffs in reversed(states):
        assert env.step_back()
        assert env.game.env.match.game.tobytes() == record and env.game.payoffs.tolist() == payoffs
    assert env.game.env.match.game.tobytes() == start
    with pytest.raises(Exception, match="Step back is off"):
        make({"seed": 2}).step_back()


def test_payoffs_are_the_rewards_of_the_environment() -> None:
    env, plain = make({"seed": 9, "game_reward": "equity"}), FiveUpAEC(reward="equity", draws="auto")
    state, _ = env.reset()
    plain.reset(options={"deal": env.game.env.match})
    got = np.zeros(4)
    while not env.is_over():
        action = next(iter(state["legal_actions"]))
        state, _ = env.step(action)
        plain.step(action)
        got += list(plain.rewards.values())
    assert np.array_equal(env.get_payoffs(), got) and got.any()


def test_bad_input_changes_nothing() -> None:
    env = make({"seed": 1})
    env.reset()
    before = env.game.env.match.game.tobytes()
    with pytest.raises(IllegalActionError):
        env.step(120)
    assert env.game.env.match.game.tobytes() == before
    with pytest.raises(TypeError, match="no option 'nonsense'"):
        make({"game_nonsense": 1})
    with pytest.raises(ValueError, match="game_observation"):
        make({"game_observation": "dict"})
    register_rlcard_env()
    assert rlcard.make("five-up", {"seed": 1}).num_actions == 121
