"""Options, reset options and seeds of all environments: their effect, and one clear error for wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fiveup_env import Match, Variant, fiveup_v0
from fiveup_env.agents.protocol import AgentError
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.actions import DRAW
from tests.envs.environments import (
    ENVIRONMENTS,
    ROWS,
    Aec,
    Driver,
    Learner,
    SelfPlay,
    Single,
    any_legal,
    every_environment,
    same,
)

LEARNING = (Single, Learner)
VECTORS = (Learner, SelfPlay)
EVERY = tuple(ENVIRONMENTS.values())

# wrong options

WRONG_OPTIONS: list[tuple[tuple[Callable[..., Driver], ...], dict[str, Any], type[Exception], str]] = [
    (EVERY, {"num_players": 5}, ValueError, "num_players must be"),
    (EVERY, {"draws": "never"}, ValueError, "draws must be one of 'explicit', 'auto', not 'never'"),
    (EVERY, {"episode": "game"}, ValueError, "episode must be one of 'match', 'round', not 'game'"),
    (EVERY, {"reward": "loss"}, ValueError, "reward must be one of"),
    (EVERY, {"belief": "some"}, ValueError, "belief must be one of 'none', 'exact', 'likely', not 'some'"),
    (EVERY, {"max_rounds": 0}, ValueError, "max_rounds must be an integer from 1"),
    (EVERY, {"starting_scores": (305, 0)}, ValueError, "305"),
    (EVERY, {"starting_scores": (0, 0, 0)}, ValueError, "scores are 2 integers"),
    (EVERY, {"hand_size": 8}, ValueError, "do not fit"),
    (EVERY, {"target": 0}, ValueError, "target"),
    (EVERY, {"max_pip": 7}, ValueError, "max_pip"),
    (EVERY, {"players": 4}, TypeError, "there is no option 'players': the options are num_players"),
    ((Aec, Single, Learner), {"num_players": True}, ValueError, "num_players must be an integer from 2 to 4, not True"),
    ((Aec, Single, Learner), {"num_players": "4"}, ValueError, "num_players must be an integer from 2 to 4, not '4'"),
    ((Aec, Single), {"observation": "image"}, ValueError, "observation must be one of"),
    ((Aec, Single), {"history_length": -1}, ValueError, "history_length"),
    ((Aec, Single), {"render_mode": "video"}, ValueError, "render_mode must be one of 'human', 'ansi', 'svg', 'rgb_a"),
    (VECTORS, {"observation": "dict"}, ValueError, "observation|flat"),
    (VECTORS, {"history_length": 3}, ValueError, "history"),
    (VECTORS, {"dtype": np.float16}, ValueError, "dtype must be float32 or uint8"),
    (VECTORS, {"dtype": "tiny"}, ValueError, "dtype must be float32 or uint8, not 'tiny'"),
    (VECTORS, {"skip_single": True}, ValueError, 'skip_single needs draws="auto"'),
    (VECTORS, {"continue_match": True}, ValueError, 'continue_match needs episode="round"'),
    (LEARNING, {"seat": 4}, ValueError, 'seat must be "random" or from 0 to 3, not 4'),
    (LEARNING, {"seat": True}, ValueError, "not True"),
    (LEARNING, {"seat": "first"}, ValueError, "seat must be \"random\" or from 0 to 3, not 'first'"),
    (LEARNING, {"opponents": "gredy"}, AgentError, "there is no agent 'gredy', did you mean 'greedy'"),
    (LEARNING, {"opponents": ["random"]}, ValueError, "opponents must be one agent or 2, one per opposing seat, not 1"),
    (LEARNING, {"opponents": 7}, AgentError, "7 is not an agent"),
    (LEARNING, {"num_players": 2, "partner": "random"}, ValueError, "only four players have partners"),
    (LEARNING, {"partner": "nobody"}, AgentError, "there is no agent 'nobody'"),
    (
        (Single,),
        {"illegal_action": "ignore"},
        ValueError,
        "illegal_action must be one of 'terminate', 'raise', not",
    ),
    ((Learner,), {"autoreset_mode": "never"}, ValueError, "autoreset_mode must be NEXT_STEP, SAME_STEP, DISABLED, not"),
    ((SelfPlay,), {"num_players": [2, 3]}, ValueError, "num_players must be 2, 3 or 4, or 6 of them"),
    ((SelfPlay,), {"num_players": [2, 3, 1] * 2}, ValueError, "num_players must be 2, 3 or 4, or 6 of them"),
    ((SelfPlay,), {"threads": 0}, ValueError, "threads must be an integer from 1 to"),
    ((SelfPlay,), {"threads": 10_000}, ValueError, "threads must be an integer from 1 to"),
    (
        (SelfPlay,),
        {"num_players": [2, 3, 4] * 2, "starting_scores": (5, 5)},
        ValueError,
        "starting_scores cannot be given for a mix of two and three",
    ),
]


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [(make, *rest) for makes, *rest in WRONG_OPTIONS for make in makes],
)
def test_wrong_options_are_named(
    make: Callable[..., Driver], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    makes = [make] if make is not Aec else [fiveup_v0.raw_env, fiveup_v0.env, fiveup_v0.parallel_env]
    for one in makes:
        with pytest.raises(error, match=message):
            one(**options)


@pytest.mark.parametrize("make", [SelfPlayVectorEnv, FiveUpVectorEnv])
@pytest.mark.parametrize("count", [0, 262_145, 2.0])
def test_wrong_numbers_of_matches_are_named(make: Any, count: Any) -> None:
    with pytest.raises(ValueError, match=f"must be an integer from 1 to 262144, not {count}"):
        make(count)


@every_environment
def test_variants(make: Callable[..., Driver]) -> None:
    driver = make(num_players=2, hand_size=3, target=11, max_pip=3, starting_scores=(10, 25))
    driver.reset(0)
    assert driver.match().variant == Variant(2, 3, 11, 3)


# wrong resets

HANDS = [[(0, 1)], [(2, 3), (0, 0)], [(4, 4), (1, 1)]]
DEAL = {"hands": HANDS, "boneyard": [(5, 5), (2, 2)], "opener": 2}
WRONG_RESETS: list[tuple[tuple[Callable[..., Driver], ...], dict[str, Any], str]] = [
    (EVERY, {"seed": -1}, "a seed is an integer from 0 to"),
    (EVERY, {"seed": 2**64}, "a seed is an integer from 0 to"),
    (EVERY, {"seed": 1.5}, "a seed is an integer from 0 to"),
    (EVERY, {"seed": "one"}, "a seed is an integer from 0 to"),
    ((Aec, Single), {"seed": True}, "a seed is an integer from 0 to"),
    ((Aec, Single), {"deal": "today"}, "a seed is an integer"),
    ((Aec, Single), {"deal": Match(4, 0)}, "num_players=4"),
    ((Aec, Single), {"deal": {"hands": HANDS, "boneyard": []}}, "a deal has the keys hands, boneyard, opener"),
    ((Aec, Single), {"deal": DEAL | {"hands": HANDS[:2]}}, "a deal needs 3 hands, not 2"),
    ((Aec, Single), {"deal": DEAL | {"opener": 3}}, "opener"),
    ((Aec, Single), {"deal": DEAL | {"boneyard": [(0, 1)]}}, "twice"),
    ((Aec, Single), {"scores": (1, 0, 0)}, "multiple of 5"),
    ((Aec, Single), {"scores": (0, 0)}, "scores are 3 integers"),
    ((Aec, Single), {"scores": (305, 0, 0)}, "below 305"),
    ((Aec, Single, Learner), {"score": (0, 0, 0)}, "there is no reset option 'score'"),
    ((Single,), {"seat": 3}, 'seat must be "random" or from 0 to 2, not 3'),
    (VECTORS, {"seed": [1, 2]}, r"seed must be one integer or 6, one per match, not \[2\] of them"),
    (VECTORS, {"seed": [1.5] * 6}, "a seed is an integer from 0 to"),
    (VECTORS, {"seed": np.zeros((6, 1), int)}, r"seed must be one integer or 6, one per match, not \[6, 1\] of them"),
    (VECTORS, {"scores": (5, 5)}, r"scores are raw points per side, \[3\] or \[6, 3\]"),
    (VECTORS, {"scores": (5, 7, 0)}, "a score is a multiple of 5 below 305"),
    (VECTORS, {"scores": (0, 305, 0)}, "a score is a multiple of 5 below 305"),
    (VECTORS, {"scores": 5}, r"scores are raw points per side, \[3\] or \[6, 3\]"),
    (VECTORS, {"scores": [(0, 0, 0)] * 5 + [(0, 1, 0)]}, "a score is a multiple of 5 below 305"),
    (VECTORS, {"reset_mask": [1] * 6}, r"reset_mask must be a bool array \[6\]"),
    (VECTORS, {"reset_mask": np.ones(5, bool)}, r"reset_mask must be a bool array \[6\]"),
]


@pytest.mark.parametrize(
    ("make", "given", "message"), [(make, *rest) for makes, *rest in WRONG_RESETS for make in makes]
)
def test_a_wrong_reset_is_named_and_changes_nothing(
    make: Callable[..., Driver], given: dict[str, Any], message: str
) -> None:
    driver, undisturbed = make(num_players=3), make(num_players=3)
    with pytest.raises(ValueError, match=message):
        driver.reset(**given)
    for each in (driver, undisturbed):
        each.reset(5)
    before = driver.state()
    with pytest.raises(ValueError, match=message):
        driver.reset(**given)
    assert same(driver.state(), before)
    actions = any_legal(driver.masks(), np.random.default_rng(0))
    for each in (driver, undisturbed):
        each.step(actions)
    assert same(driver.shown(), undisturbed.shown())
    if driver.rows == 1:
        for each in (driver, undisturbed):
            each.reset()  # a refused reset does not count in the stream of episodes either
        assert same(driver.shown(), undisturbed.shown())


@pytest.mark.parametrize("make", VECTORS)
def test_the_first_reset_deals_all_matches(make: Callable[..., Driver]) -> None:
    with pytest.raises(ValueError, match="the first reset must deal all matches"):
        make().reset(0, reset_mask=np.arange(ROWS) < 2)


@pytest.mark.parametrize("make", [Aec, Single])
def test_a_finished_match_is_no_start(make: Callable[..., Driver]) -> None:
    match, chance = Match(2, seed=0, scores=(295, 300)), np.random.default_rng(0)
    while match.winner is None:
        match.play(int(chance.choice(match.legal_actions())))
    with pytest.raises(ValueError, match="a match that is over"):
        make(num_players=2).reset(deal=match)


def test_scores_are_refused_where_sides_differ() -> None:
    mixed = SelfPlayVectorEnv(3, num_players=[2, 3, 4])
    with pytest.raises(ValueError, match="scores cannot be given for a mix of two and three sides"):
        mixed.reset(0, scores=(5, 5))
    even = SelfPlayVectorEnv(2, num_players=[2, 4])
    even.reset(0, scores=(5, 10))
    assert (even.games["scores"][:, :2] == (5, 10)).all()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda out: replace(out, observation=out.observation[:5].copy()), r"out\.observation"),
        (lambda out: replace(out, observation=out.observation.astype(np.float64)), r"out\.observation"),
        (lambda out: replace(out, observation=np.asfortranarray(out.observation)), r"out\.observation"),
        (lambda out: replace(out, action_mask=out.action_mask[:, :120].copy()), r"out\.action_mask"),
        (lambda out: replace(out, action_mask=out.action_mask.astype(bool)), r"out\.action_mask"),
        (lambda out: replace(out, facts=out.facts[:1]), r"out\.facts"),
        (lambda out: replace(out, final_observation=out.final_observation[:0]), r"out\.final_observation"),
        (lambda out: replace(out, belief=out.belief[:4]), r"out\.belief"),
        (lambda out: replace(out, belief=out.belief.astype(np.float64)), r"out\.belief"),
        (lambda out: replace(out, belief=np.zeros((0, 2, 28), np.float32)), r"out\.belief"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: Any, named: str) -> None:
    driver = SelfPlay(num_players=2, hand_size=2, max_pip=2, belief="exact")
    driver.reset(0)
    before, out, actions = driver.state(), change(driver.env.arrays()), driver.masks().argmax(1)
    for use in (lambda: driver.env.step(actions, out=out), lambda: driver.env.reset(1, out=out)):
        with pytest.raises(ValueError, match=f"^{named} must be a writable C-contiguous array"):
            use()
    assert same(driver.state(), before)


# deals, matches and scores to start from


@pytest.mark.parametrize("make", [Aec, Single])
def test_reset_to_a_deal_a_seed_or_a_match_with_scores(make: Callable[..., Driver]) -> None:
    seat = {"seat": 2} if make is Single else {}
    driver = make(num_players=3, starting_scores=(5, 5, 5))
    driver.reset(3, deal=DEAL, scores=(10, -20, 300), **seat)
    assert driver.match() == Match.from_deal(**DEAL, scores=(10, -20, 300), seed=3)
    driver.reset(3, deal=DEAL, **seat)
    assert driver.match().scores == (5, 5, 5)
    driver.reset(scores=(0, 0, 45), **seat)
    assert driver.match().seed not in (3, 9)
    driver.reset(seed=1, deal=9, **({"seat": Match(3, 9).turn} if seat else {}))
    assert driver.match() == Match(3, 9, scores=(5, 5, 5))
    start = Match(3, seed=78, scores=(100, 0, 0))
    while start.turn != 2 or start.round_number < 3:
        start.play(start.legal_actions()[0])
    kept = start.copy()
    driver.reset(deal=start, **seat)
    assert driver.match() == start
    driver.step(any_legal(driver.masks(), np.random.default_rng(0)))
    assert start == kept != driver.match()  # a copy is played
    driver.reset(deal=start, scores=(0, 0, 5), **seat)
    assert driver.match().scores == (0, 0, 5)


def test_forced_moves_of_a_given_match_are_played_at_once() -> None:
    match = Match(4, 0)
    while match.legal_actions() != [DRAW]:
        match.play(match.legal_actions()[0])
    env = fiveup_v0.raw_env(draws="auto")
    env.reset(options={"deal": match})
    forced = env.infos["player_0"]["forced"]
    for agent, action in forced:
        assert agent == f"player_{match.turn}" and match.legal_actions() == [action]
        match.play(action)
    assert forced and env.match.hands == match.hands
    assert np.flatnonzero(env.last()[0]["action_mask"]).tolist() == match.legal_actions()
