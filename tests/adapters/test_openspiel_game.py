"""The registered game: OpenSpiel's own tests, parity with `Match`, saving, copying, resampling."""

from __future__ import annotations

import pickle
import random
from collections import Counter

import numpy as np
import pytest

from fiveup_env import Match, View
from tests.adapters.openspiel_support import TINY, decide, pyspiel, random_state
from tests.extensive.support import chance_of, deal_of

from fiveup_env.adapters import openspiel  # isort: skip  (after the check that pyspiel is there)

VARIANTS = [
    "fiveup(players=2,max_rounds=2)",
    "fiveup(players=3,max_rounds=2)",
    "fiveup(players=4,max_rounds=2)",
    "fiveup(players=2,max_pip=2,hand_size=2,episode=round)",
    "fiveup(players=2,max_pip=2,hand_size=3,episode=round,reward=points,opener=1)",
    "fiveup(players=4,max_pip=3,hand_size=2,tiles=8,episode=round)",
    "fiveup(players=2,scores=270/295,max_rounds=5,reward=equity)",
    "fiveup(players=3,max_pip=3,hand_size=2,target=9,reward=points,max_rounds=20)",
]


@pytest.mark.parametrize("name", VARIANTS)
def test_openspiels_random_simulations_pass(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=3, serialize=True, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_openspiels_random_simulations_pass_for_whole_matches(players: int) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(f"fiveup(players={players})"), num_sims=3, serialize=True, verbose=False)


def play_alongside(players: int, seed: int, looks: float) -> None:
    """Play one random match in `Match` and in the registered game; compare after every action."""
    rng = random.Random(seed)
    match, state = Match(players, seed), openspiel.load_game(players=players).new_initial_state()
    while match.winner is None:
        if match.game.num_history == 0:
            for outcome in [*([match.opener] if len(state.chance_outcomes()) == players else []), *deal_of(match)]:
                assert state.is_chance_node()
                state.apply_action(outcome)
        assert state.current_player() == match.turn
        assert state.legal_actions() == match.legal_actions()
        assert not state.is_terminal()
        assert state.returns() == state.rewards() == [0.0] * players
        for seat in range(players):
            if rng.random() < looks:
                assert np.array_equal(state.observation_tensor(seat), View.of(match, seat).observation())
        action = rng.choice(match.legal_actions())
        outcomes = chance_of(match, action)
        state.apply_action(action)
        for outcome in outcomes:
            assert outcome in [tile for tile, _ in state.chance_outcomes()]
            state.apply_action(outcome)
        match.play(action)
    assert state.is_terminal() and state.legal_actions() == []
    sides = match.num_sides
    expected = [1.0 if seat % sides == match.winner else -1 / (sides - 1) for seat in range(players)]
    assert state.returns() == state.rewards() == expected
    assert state.episode.match.scores == match.scores


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_is_the_same_game_as_match(players: int) -> None:
    for seed in range(4):
        play_alongside(players, seed, looks=0.2)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_thousand_random_matches_are_the_same(players: int) -> None:
    for seed in range(1000, 1000 + (334 if players == 2 else 333)):
        play_alongside(players, seed, looks=0.3)


def test_states_are_saved_as_their_history_and_come_back() -> None:
    game = openspiel.load_game(players=3, max_rounds=3)
    for moves in range(0, 90, 7):
        state = random_state(game, moves, moves)
        saved = pyspiel.serialize_game_and_state(game, state)
        _, again = pyspiel.deserialize_game_and_state(saved)
        assert str(again) == str(state) and again.history() == state.history()
        assert again.episode.match == state.episode.match
        assert again.information_state_tensor(1) == state.information_state_tensor(1)
        assert str(pickle.loads(pickle.dumps(state))) == str(state)


def test_a_clone_is_equal_and_independent() -> None:
    state = random_state(openspiel.load_game(players=4, max_rounds=2), 3, 60)
    before, clone = str(state), state.clone()
    assert str(clone) == before and clone.history() == state.history()
    rng = random.Random(0)
    while not clone.is_terminal():
        clone.apply_action(decide(clone, rng))
    assert str(state) == before and not state.is_terminal()


def test_partners_share_and_utilities_sum_to_zero() -> None:
    for reward in ("win", "points", "equity"):
        game = openspiel.load_game(players=4, reward=reward, max_rounds=3)
        state = random_state(game, 1, 10**6)
        returns = state.returns()
        assert returns[:2] == returns[2:]
        assert sum(returns) == pytest.approx(0)
        assert all(game.min_utility() <= value <= game.max_utility() for value in returns)


def test_named_pieces_of_the_tensors() -> None:
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

    game = openspiel.load_game(players=2, max_rounds=2)
    state = random_state(game, 5, 40)
    seen = make_observation(game)
    seen.set_from(state, 1)
    view = View.of(state.episode.match, 1)
    assert all(np.array_equal(seen.dict[name], value) for name, value in view.sections().items())
    known = make_observation(game, INFO_STATE_OBS_TYPE)
    known.set_from(state, 1)
    assert known.dict["dealt"].sum(1).tolist() == [5] * len(state.episode.past) + [5] + [0] * (
        1 - len(state.episode.past)
    )
    with pytest.raises(ValueError, match="single-player private information"):
        make_observation(
            game, pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
        )


# resampling


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_resampled_state_looks_the_same_to_the_seat(players: int) -> None:
    game = openspiel.load_game(players=players, max_rounds=3)
    different = 0
    for moves in range(0, 150, 6):
        rng, state = random.Random(moves), random_state(game, moves, moves)
        for seat in range(players):
            other = state.resample_from_infostate(seat, rng.random)
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.observation_tensor(seat) == state.observation_tensor(seat)
            assert other.current_player() == state.current_player()
            assert len(other.history()) == len(state.history())
            different += str(other) != str(state)
            again = other.get_game().new_initial_state()
            for action in other.history():
                again.apply_action(action)
            assert str(again) == str(other)
    assert different > 20


def test_deals_that_agree_with_what_was_seen_come_up_alike() -> None:
    game, rng = openspiel.load_game(**TINY), random.Random(1)
    state = game.new_initial_state()
    for action in (0, 3, 1, 2, 0):  # player_0 holds [0|0][0|2], leads [0|0]
        state.apply_action(action)
    state.apply_action(state.legal_actions()[0])
    counts = Counter(str(state.resample_from_infostate(0, rng.random)) for _ in range(3000))
    # Seen: the other laid [0|1] and holds one of the three tiles that are left.
    assert len(counts) == 3
    assert max(counts.values()) < 1.2 * min(counts.values())


def test_at_a_chance_node_the_resampled_state_is_there_too() -> None:
    game, rng = openspiel.load_game(players=2, max_rounds=3), random.Random(0)
    state, tried = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            other = state.resample_from_infostate(0, rng.random)
            assert other.is_chance_node() and len(other.history()) == len(state.history())
            assert other.information_state_string(0) == state.information_state_string(0)
            tried += 1
        state.apply_action(decide(state, rng))
    assert tried > 20
    assert state.resample_from_infostate(1, rng.random).is_terminal()
    with pytest.raises(ValueError, match="player_id must be from 0 to 1"):
        state.resample_from_infostate(2, rng.random)


# what is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"players": 5}, "num_players must be"),
        ({"scores": "0,0"}, "separated by '/'"),
        ({"scores": "0/0/0", "players": 2}, "scores are 2 integers"),
        ({"colour": 3}, "no parameter 'colour'"),
        ({"players": 3, "reward": "equity"}, "does not sum to zero"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        openspiel.load_game(**wrong)


def test_parameters_round_trip() -> None:
    given = {
        "players": 2,
        "max_pip": 3,
        "hand_size": 2,
        "tiles": 9,
        "scores": "-5/270",
        "opener": 1,
        "reward": "points",
    }
    assert openspiel.parameters_of(openspiel.setup_from(given)) == given
    assert openspiel.parameters_of(openspiel.setup_from({})) == {}
