"""Every environment keeps the same promises: seeds, copies, states, errors, beliefs. `test_parity` tests the game."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numba
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from fiveup_env import IllegalActionError, Match, fiveup_v0
from fiveup_env.envs import ENV_ID, register_envs
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.testing import check_env
from tests.envs.environments import (
    PLAYERS,
    Aec,
    Driver,
    Learner,
    Remembering,
    SelfPlay,
    Single,
    any_legal,
    every_environment,
    same,
)
from tests.envs.trace import sides_of

SHORT: dict[str, Any] = {"max_rounds": 2, "reward": "points"}
TINY_BELIEF: dict[str, Any] = {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11}
vectors = pytest.mark.parametrize("make", [Learner, SelfPlay])
two_single = pytest.mark.parametrize("make", [Aec, Single])

# conformance: masks, spaces, rewards, ends, seeds, hidden tiles, arrays handed out, copies

AEC_KINDS: list[dict[str, Any]] = [
    {"num_players": 2, "draws": "auto", "observation": "dict", "reward": "points", "max_rounds": 2},
    {"num_players": 3, "episode": "round", "reward": "equity", "history_length": 12},
    {"num_players": 4, "max_rounds": 2},
    {"num_players": 3, **TINY_BELIEF},
]
SINGLE_KINDS: list[dict[str, Any]] = [
    {"num_players": 2, "opponents": "greedy", "observation": "dict"},
    {"num_players": 3, "opponents": ["random", "greedy"], "draws": "auto", "reward": "points"},
    {"num_players": 4, "partner": "greedy", "episode": "round"},
    {"num_players": 4, "opponents": Remembering(), "reward": "equity", "history_length": 8, "max_rounds": 3},
    {"num_players": 2, **TINY_BELIEF},
]


@pytest.mark.parametrize("kind", AEC_KINDS, ids=str)
@pytest.mark.parametrize("make", [fiveup_v0.env, fiveup_v0.raw_env])
def test_pettingzoo_environments_conform(make: Callable[..., Any], kind: dict[str, Any]) -> None:
    check_env(lambda: make(**kind), episodes=1)


@pytest.mark.parametrize("kind", SINGLE_KINDS, ids=str)
def test_gymnasium_environments_conform(kind: dict[str, Any]) -> None:
    register_envs()
    check_env(lambda: gymnasium.make(ENV_ID, **kind).unwrapped, episodes=2)


# seeds


@every_environment
def test_the_seed_decides_everything(make: Callable[..., Driver]) -> None:
    def play(driver: Driver, seed: int) -> list[Any]:
        driver.reset(seed)
        return driver.play(60, seed=1)

    one, other = make(**SHORT), make(**SHORT)
    first = play(one, 9)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    assert same(first, play(other, 9)) and same(first, play(one, 9))
    assert not same(first[0], play(one, 10)[0])


@every_environment
@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.int32(7), np.uint64(2**63)])
def test_the_first_deal_of_a_seed_is_that_of_a_match(make: Callable[..., Driver], seed: Any) -> None:
    driver, match = make(num_players=2), Match(2, seed)
    driver.reset(seed if driver.rows == 1 else [seed] * driver.rows)
    for row in range(driver.rows):
        dealt = driver.match(row)
        assert (dealt.seed, dealt.opener, dealt.boneyard) == (match.seed, match.opener, match.boneyard)
        assert dealt == match or isinstance(driver, Single | Learner)  # there an agent may have led


@two_single
@pytest.mark.parametrize("kind", [{}, {"episode": "round"}], ids=str)
def test_how_an_episode_is_played_does_not_change_the_next(make: Callable[..., Driver], kind: dict[str, Any]) -> None:
    one, other = make(**kind), make(**kind)
    for driver in (one, other):
        driver.reset(11)
    hands = {one.match().hands}
    for number in range(3):
        other.play(3 * number, seed=number)
        for driver in (one, other):
            driver.reset()
        assert same(one.shown(), other.shown())
        hands.add(one.match().hands)
    assert len(hands) == 4
    one.reset(deal=5, scores=(10, 20))
    other.reset()
    for driver in (one, other):
        driver.reset()
    assert same(one.shown(), other.shown())


@every_environment
def test_without_a_seed_episodes_differ(make: Callable[..., Driver]) -> None:
    drivers = [make() for _ in range(3)]
    for driver in drivers:
        driver.reset()
    seeds = {driver.match().seed for driver in drivers}
    drivers[0].reset()
    assert len({*seeds, drivers[0].match().seed}) == 4


# copies and states


@every_environment
@pytest.mark.parametrize(
    "twin", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["copy", "pickle"]
)
@pytest.mark.parametrize(
    "kind", [{"num_players": 2}, {"num_players": 3, "draws": "auto"}, {"num_players": 2, **TINY_BELIEF}], ids=str
)
def test_copies_continue_alike_and_apart(make: Callable[..., Driver], twin: Any, kind: dict[str, Any]) -> None:
    """The original and an environment that was never copied show the same as a chain of copies."""
    kind = {**kind, **SHORT}
    if make is Single:
        kind["opponents"] = Remembering()
    driver, untouched = make(**kind), make(**kind)
    for each in (driver, untouched):
        each.reset(13)
    chance = np.random.default_rng(13)
    for _ in range(50):
        original, before = driver, driver.state()
        driver = twin(original)
        actions = any_legal(untouched.masks(), chance)
        driver.step(actions)
        assert same(original.state(), before)
        untouched.step(actions)
        assert same(driver.shown(), untouched.shown())


@vectors
@pytest.mark.parametrize("kind", [{"num_players": 4, "draws": "auto"}, {"num_players": 2, **TINY_BELIEF}], ids=str)
def test_a_state_continues_in_another_environment(make: Callable[..., Driver], kind: dict[str, Any]) -> None:
    driver, other = make(**kind, **SHORT), make(**kind, **SHORT)
    driver.reset(3)
    driver.play(40)
    agents = [driver.env.agents] if make is Learner else []
    state = driver.env.state()
    other.last = other.env.set_state(state, *agents)
    assert same(driver.masks(), other.masks())
    assert same(driver.play(60)[1:], other.play(60)[1:])
    again = make(**kind, **SHORT)
    again.last = again.env.set_state(state, *agents)
    driver.last = driver.env.set_state(state, *agents)
    assert same(again.masks(), driver.masks())  # the state is a copy


@vectors
def test_a_state_of_another_environment_is_refused(make: Callable[..., Driver]) -> None:
    driver = make()
    state = {name: array[:3] for name, array in driver.env.state().items()}
    with pytest.raises(ValueError, match=r"the state of this env has 'games', uint8 \[6, \d+\]"):
        driver.env.set_state(state, *([[]] if make is Learner else []))
    with pytest.raises(ValueError, match=r"call reset\(\) before step"):
        driver.step(np.zeros(driver.rows, np.int64))


@pytest.mark.jit
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core only")
@pytest.mark.parametrize("kind", [{"reward": "equity", "max_rounds": 2}, {"belief": "exact"}], ids=str)
@pytest.mark.parametrize("num_players", [2, 3, 4, [2, 3, 4, 2, 3, 4]])
def test_threads_do_not_change_a_bit(num_players: Any, kind: dict[str, Any]) -> None:
    one, two = (SelfPlay(num_players=num_players, draws="auto", threads=threads, **kind) for threads in (1, 2))
    for driver in (one, two):
        driver.reset(0)
    assert same(one.play(60), two.play(60))


# illegal actions, and values that are not actions


@every_environment
def test_illegal_actions_are_named_and_change_nothing(make: Callable[..., Driver]) -> None:
    driver, undisturbed = make(**SHORT), make(**SHORT)
    for each in (driver, undisturbed):
        each.reset(4)
    chance = np.random.default_rng(4)
    for number in range(40):
        actions, before = any_legal(driver.masks(), chance), driver.state()
        row = number % driver.rows
        if driver.masks()[row].any():
            wrong = actions.copy()
            wrong[row] = chance.choice(np.flatnonzero(driver.masks()[row] == 0))
            with pytest.raises(IllegalActionError) as error:
                driver.step(wrong)
            assert str(int(wrong[row])) in str(error.value)
            if driver.rows == 1:
                assert f"player_{driver.match().turn}" in str(error.value) and str(int(actions[0])) in str(error.value)
            else:
                assert "no match was moved" in str(error.value) and f"match {row} " in str(error.value)
            assert same(driver.state(), before)
        for each in (driver, undisturbed):
            each.step(actions)
        assert same(driver.shown(), undisturbed.shown())


ROWS_OF_ACTIONS = [np.zeros(5, np.int64), np.zeros((6, 1), np.int64), np.zeros(6), np.zeros(6, bool), 0, [0.0] * 6]


@every_environment
def test_values_that_are_not_actions_change_nothing(make: Callable[..., Driver]) -> None:
    driver = make()
    driver.reset(0)
    before = driver.state()
    text = (
        "an action is an integer from 0 to 120, not " if driver.rows == 1 else r"^actions must be integers \[6\], not "
    )
    single = [1.0, np.float32(3), np.True_, [3], -1, 121, 2**70, True]
    for action in [None, "3", *(single if driver.rows == 1 else ROWS_OF_ACTIONS)]:
        with pytest.raises(ValueError, match=text):
            driver.step(action)
        assert same(driver.state(), before)


@every_environment
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint64])
def test_any_integers_are_actions(make: Callable[..., Driver], kind: type) -> None:
    driver, twin = make(), make()
    for each in (driver, twin):
        each.reset(0)
    actions = any_legal(driver.masks(), np.random.default_rng(0))
    frozen = actions.astype(kind)
    frozen.setflags(write=False)
    driver.step(kind(actions[0]) if driver.rows == 1 else frozen)
    twin.step(actions)
    assert same(driver.shown(), twin.shown())


@every_environment
def test_a_step_needs_a_reset(make: Callable[..., Driver]) -> None:
    driver = make()
    errors: tuple[type[Exception], ...] = (RuntimeError, ValueError, ResetNeeded)
    with pytest.raises(errors, match=r"call reset\(\)"):
        driver.env.step(0 if driver.rows == 1 else np.zeros(driver.rows, np.int64))


# belief, spaces, draws


@every_environment
@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_belief_comes_next_to_the_other_arrays(make: Callable[..., Driver], num_players: int) -> None:
    """Nothing else changes, although episodes end and begin in another order of calls then."""
    kind = {"num_players": num_players, "hand_size": 2, "max_pip": 3, "target": 11, **SHORT}
    driver, plain = make(**kind, belief="exact"), make(**kind)
    for each in (driver, plain):
        each.reset(1)
    seen, expected = driver.play(40), plain.play(40)
    assert same(without_belief(seen), without_belief(expected)) and not same(seen, expected)


def without_belief(value: Any) -> Any:
    """The value without any entry for a belief."""
    if isinstance(value, dict):
        return {name: without_belief(part) for name, part in value.items() if "belief" not in str(name)}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return without_belief(value.tolist())
    return [without_belief(part) for part in value] if isinstance(value, list | tuple) else value


@every_environment
@pytest.mark.parametrize("num_players", PLAYERS)
def test_auto_draws_leave_no_forced_action(make: Callable[..., Driver], num_players: int) -> None:
    forced = []
    for draws in ("auto", "explicit"):
        driver = make(num_players=num_players, draws=draws, **SHORT)
        driver.reset(8)
        chance, masks = np.random.default_rng(8), []
        for _ in range(150):
            masks.append(driver.masks().copy())
            driver.step(any_legal(masks[-1], chance))
        forced.append(np.array(masks)[..., [DRAW, PASS]].sum())
    assert forced[0] == 0 and forced[1] > 0


@every_environment
def test_starting_scores_hold_for_later_episodes(make: Callable[..., Driver]) -> None:
    for num_players in PLAYERS:
        scores = (50, 60, 70)[: sides_of(num_players)]
        driver = make(num_players=num_players, starting_scores=scores, episode="round", draws="auto")
        driver.reset(1)
        first = driver.match().seed
        while driver.match().seed == first:
            driver.step(any_legal(driver.masks(), np.random.default_rng(0)))
        match = driver.match()
        assert match.scores == scores or len(match.history)  # an agent may have scored already
        driver.reset(2, scores=[0] * len(scores))
        assert sum(driver.match().scores) < sum(scores)
