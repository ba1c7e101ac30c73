"""`FiveUpEnv` as an environment: Gymnasium's and SB3's checks, seeds, reset options, bad input, copies."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from fiveup_env.agents.protocol import AgentError
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.registration import ENV_ID, register_envs
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import IllegalActionError, Match
from fiveup_env.views.view import View
from tests.envs.singles import Remembering, episode, legal_action, same

TINY_BELIEF: dict[str, Any] = {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11}
VARIETY: list[dict[str, Any]] = [
    {"num_players": 2, "opponents": "greedy"},
    {"num_players": 3, "opponents": ["random", "greedy"], "draws": "auto", "reward": "points"},
    {"num_players": 4, "partner": "greedy", "episode": "round"},
    {"num_players": 4, "opponents": Remembering(), "reward": "equity", "history_length": 8, "max_rounds": 3},
]
IDS = ["two", "three", "partner", "asked"]
# Two players; player_1 leads. [1|4] counts 5 (R5.2): from 300 raw that is an exact hit (R6.2).
HIT_AT_ONCE = {"hands": [[(0, 0), (0, 1)], [(1, 4), (6, 6)]], "boneyard": [(2, 3)], "opener": 1}


@pytest.fixture(params=VARIETY, ids=IDS)
def env(request: pytest.FixtureRequest) -> FiveUpEnv:
    return FiveUpEnv(**request.param)


# checks of the libraries


@pytest.mark.parametrize("kwargs", [*VARIETY, {"observation": "dict"}, TINY_BELIEF], ids=[*IDS, "dict", "belief"])
def test_gymnasium_check(kwargs: dict[str, Any]) -> None:
    register_envs()
    check_env(gymnasium.make(ENV_ID, render_mode="ansi", **kwargs).unwrapped)


@pytest.mark.parametrize("kwargs", VARIETY, ids=IDS)
def test_sb3_check(kwargs: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    for seed in range(5):
        env = FiveUpEnv(**kwargs | {"history_length": 0})  # SB3 warns of every two-dimensional observation
        env.action_space.seed(seed)
        checker.check_env(env, warn=True)


@pytest.mark.filterwarnings("ignore:Your observation belief has an unconventional shape:UserWarning")
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_sb3_check_with_beliefs(num_players: int) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(FiveUpEnv(num_players, **TINY_BELIEF), warn=True)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_the_documented_lengths_are_the_real_ones(num_players: int) -> None:
    documented = re.search(r"F = (\d+), (\d+), (\d+) for 2, 3, 4 players", FiveUpEnv.__doc__ or "")
    assert documented is not None
    space = FiveUpEnv(num_players).observation_space["observation"]
    assert space.shape == (int(documented[num_players - 1]),)


def test_every_observation_is_in_its_space(env: FiveUpEnv) -> None:
    chance = np.random.default_rng(0)
    observation, info = env.reset(seed=0)
    seen = [observation, *(step[0] for step in episode(env, info, chance))]
    assert all(one in env.observation_space for one in seen)


# mask, ends, illegal actions


def test_the_mask_stands_in_three_places(env: FiveUpEnv) -> None:
    chance = np.random.default_rng(1)
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        masks = env.action_masks()
        assert masks.dtype == np.bool_ and masks.shape == (121,) and masks.any()
        assert np.array_equal(masks, info["action_mask"] == 1)
        assert np.array_equal(masks, observation["action_mask"] == 1)
        assert np.array_equal(np.flatnonzero(masks), env.match.legal_actions())
        observation, _, terminated, truncated, info = env.step(legal_action(info, chance))
        over = terminated or truncated
    assert not env.action_masks().any()
    assert not info["action_mask"].any() and not observation["action_mask"].any()


def test_what_a_step_returned_is_not_written_to_again(env: FiveUpEnv) -> None:
    chance = np.random.default_rng(2)
    kept = [env.reset(seed=2)]
    before = copy.deepcopy(kept)
    for observation, *_, info in episode(env, kept[0][1], chance):
        kept.append((observation, info))
        before.append(copy.deepcopy((observation, info)))
    assert same(kept, before)
    kept[-1][0]["action_mask"][:] = 1
    assert not env.action_masks().any()


def test_an_illegal_action_ends_the_episode(env: FiveUpEnv) -> None:
    observation, info = env.reset(seed=3)
    before = env.match
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    last, reward, terminated, truncated, at_end = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert at_end["illegal_action"] == action and at_end["winner"] is None and at_end["is_success"] is False
    assert at_end["events"] == at_end["actions"] == ()
    assert np.array_equal(last["observation"], observation["observation"])
    assert not last["action_mask"].any() and not at_end["action_mask"].any() and not env.action_masks().any()
    assert env.match == before
    with pytest.raises(ResetNeeded):
        env.step(action)
    assert env.reset()[1]["action_mask"].any()


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env, undisturbed = (FiveUpEnv(illegal_action="raise", history_length=4) for _ in range(2))
    chance = np.random.default_rng(4)
    info = env.reset(seed=4)[1]
    undisturbed.reset(seed=4)
    over = False
    while not over:
        action = legal_action(info, chance)
        wrong = int(chance.choice(np.flatnonzero(info["action_mask"] == 0)))
        with pytest.raises(IllegalActionError, match=f"player_{info['seat']} may not .*action {wrong}.*legal: "):
            env.step(wrong)
        step = env.step(action)
        assert same(step, undisturbed.step(action))
        over, info = step[2] or step[3], step[4]


@pytest.mark.parametrize("illegal_action", ["terminate", "raise"])
@pytest.mark.parametrize("action", [-1, 121, 1.0, "28", None, True, [3], np.array([3, 4])])
def test_what_is_no_action_raises(illegal_action: str, action: Any) -> None:
    env = FiveUpEnv(illegal_action=illegal_action)
    info = env.reset(seed=5)[1]
    with pytest.raises(ValueError, match="an action is an integer from 0 to 120, not"):
        env.step(action)
    assert not env.step(np.int32(np.flatnonzero(info["action_mask"])[0]))[2]


def test_step_wants_an_episode() -> None:
    env = FiveUpEnv(2, episode="round", render_mode="ansi")
    for call in (lambda: env.step(0), env.render, lambda: env.match):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            call()
    assert not env.action_masks().any()
    info = env.reset(seed=6)[1]
    episode(env, info, np.random.default_rng(6))
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_max_rounds_truncates() -> None:
    env = FiveUpEnv(max_rounds=2)
    *_, last = episode(env, env.reset(seed=7)[1], np.random.default_rng(7))
    assert last[2:4] == (False, True)
    assert last[4]["round_number"] == 2 and last[4]["winner"] is None and last[4]["is_success"] is False


def test_draws_by_themselves_or_as_actions() -> None:
    chance = np.random.default_rng(8)
    for draws in ("auto", "explicit"):
        env = FiveUpEnv(2, opponents="greedy", draws=draws)
        info = env.reset(seed=8)[1]
        offered = int(info["action_mask"][DRAW])
        mine = 0
        for *_, told in episode(env, info, chance):
            offered += int(told["action_mask"][DRAW] + told["action_mask"][PASS])
            mine += sum(action >= DRAW for seat, action in told["actions"][1:] if seat % 2 == told["side"])
        assert (offered > 0, mine > 0) == ((False, True) if draws == "auto" else (True, False))


# seeds and resets


def test_the_seed_decides_everything(env: FiveUpEnv) -> None:
    def play(env: FiveUpEnv, seed: int) -> list[Any]:
        chance = np.random.default_rng(9)
        told: list[Any] = [env.reset(seed=seed)]
        for _ in range(3):
            told.append(episode(env, told[-1][1], chance))
            told.append(env.reset())
        return told

    first = play(env, 9)
    assert same(first, play(env, 9))
    assert same(first, play(copy.deepcopy(env), 9))
    assert not same(first, play(env, 10))


def test_later_episodes_do_not_depend_on_how_earlier_ones_were_played() -> None:
    one, two = FiveUpEnv(), FiveUpEnv()
    info = one.reset(seed=11)[1]
    episode(one, info, np.random.default_rng(0))
    two.reset(seed=11)
    assert same(one.reset(), two.reset())
    one.reset(options={"deal": 5, "scores": (10, 20), "seat": 2})
    two.reset()
    assert same(one.reset(), two.reset())


def test_the_first_deal_of_a_seed_is_that_of_a_match() -> None:
    for seed in range(10):
        env = FiveUpEnv(seat=0)
        env.reset(seed=seed)
        dealt, match = env.match, Match(4, seed=seed)
        assert (dealt.seed, dealt.opener, dealt.boneyard) == (match.seed, match.opener, match.boneyard)


def test_without_a_seed_episodes_differ() -> None:
    deals = set()
    for _ in range(2):
        env = FiveUpEnv()
        for _ in range(3):
            env.reset()
            deals.add(env.match.seed)
    assert len(deals) == 6


def test_start_from_a_deal_a_seed_or_a_match() -> None:
    env = FiveUpEnv(2, seat=0, starting_scores=(50, 60))
    deal = {"hands": [[(0, 0), (0, 1)], [(1, 4), (6, 6)]], "boneyard": [(2, 3)], "opener": 0}
    env.reset(options={"deal": deal})
    assert env.match.hands == (((0, 0), (0, 1)), ((1, 4), (6, 6))) and env.match.scores == (50, 60)
    env.reset(options={"deal": 77, "scores": (5, 10), "seat": Match(2, seed=77).opener})
    assert env.match.scores == (5, 10)
    assert env.match == Match(2, seed=77, scores=(5, 10))
    start = Match(2, seed=78, scores=(100, 0))
    while start.turn != 0 or start.round_number < 3:
        start.play(start.legal_actions()[0])
    kept = start.copy()
    observation, info = env.reset(options={"deal": start})
    assert env.match == start
    assert np.array_equal(observation["observation"], View.of(start, 0).observation())
    assert info["round_number"] == start.round_number and info["scores"] == start.scores
    env.step(legal_action(info, np.random.default_rng(0)))
    assert start == kept
    env.reset(options={"deal": start, "scores": (0, 0)})
    assert env.match.scores == (0, 0)
    env.reset(options={"seat": Match(2, seed=77).opener, "deal": 77})
    assert env.match.scores == (50, 60) and env.match.round_number == 1


def test_the_seat_option() -> None:
    env = FiveUpEnv(3)
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(40)]
    assert set(seats) == {0, 1, 2}
    assert [env.reset(seed=seed, options={"seat": 1})[1]["seat"] for seed in range(5)] == [1] * 5
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(5)] == seats[:5]
    fixed = FiveUpEnv(3, seat=2)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(10)} == {2}
    assert {fixed.reset(seed=seed, options={"seat": "random"})[1]["seat"] for seed in range(40)} == {0, 1, 2}


def test_an_episode_that_ends_before_the_learner_decides_is_none() -> None:
    env = FiveUpEnv(2, opponents="greedy", seat=0, starting_scores=(300, 300))
    with pytest.raises(ValueError, match="ends before the learner is to act"):
        env.reset(options={"deal": HIT_AT_ONCE})
    with pytest.raises(ResetNeeded):
        env.step(0)
    skipped = 0
    for seed in range(60):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].any() and env.match.winner is None
        skipped += env.match.seed != seed
        again = env.match
        env.reset(seed=seed)
        assert env.match == again
    assert 0 < skipped < 60


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        ({"seed": -1}, ValueError, "a seed is an integer from 0"),
        ({"seed": 2**64}, ValueError, "a seed is an integer from 0"),
        ({"seed": "a"}, ValueError, "a seed is an integer from 0"),
        ({"options": {"dael": 3}}, ValueError, "there is no reset option 'dael': 'deal', 'scores', 'seat'"),
        ({"options": {"deal": "x"}}, ValueError, "a seed is an integer"),
        ({"options": {"deal": Match(3, seed=0)}}, ValueError, "num_players=3"),
        ({"options": {"deal": {"hands": []}}}, ValueError, "a deal has the keys hands, boneyard, opener"),
        ({"options": {"deal": HIT_AT_ONCE}}, ValueError, "a deal needs 4 hands, not 2"),
        ({"options": {"scores": (5,)}}, ValueError, "scores are 2 integers"),
        ({"options": {"scores": (305, 0)}}, ValueError, "below 305"),
        ({"options": {"seat": 4}}, ValueError, 'seat must be "random" or from 0 to 3, not 4'),
    ],
)
def test_a_wrong_reset_changes_nothing(call: dict[str, Any], error: type[Exception], says: str) -> None:
    env, undisturbed = FiveUpEnv(), FiveUpEnv()
    info = env.reset(seed=12)[1]
    undisturbed.reset(seed=12)
    with pytest.raises(error, match=says):
        env.reset(**call)
    action = legal_action(info, np.random.default_rng(0))
    assert same(env.step(action), undisturbed.step(action))
    assert same(env.reset(), undisturbed.reset())


def test_a_finished_match_is_no_start() -> None:
    match = Match(2, seed=0, scores=(295, 300))
    chance = np.random.default_rng(0)
    while match.winner is None:
        match.play(int(chance.choice(match.legal_actions())))
    with pytest.raises(ValueError, match="a match that is over"):
        FiveUpEnv(2).reset(options={"deal": match})


# options, copies, rendering


@pytest.mark.parametrize(
    ("kwargs", "error", "says"),
    [
        ({"num_players": 5}, ValueError, "num_players must be an integer from 2 to 4, not 5"),
        ({"rewards": "win"}, TypeError, "there is no option 'rewards': the options are num_players, episode"),
        ({"draws": "never"}, ValueError, "draws must be one of 'explicit', 'auto', not 'never'"),
        ({"illegal_action": "ignore"}, ValueError, "illegal_action must be one of 'terminate', 'raise', not 'ignore'"),
        (
            {"render_mode": "video"},
            ValueError,
            "render_mode must be one of 'human', 'ansi', 'svg', 'rgb_array' or None",
        ),
        ({"seat": 4}, ValueError, 'seat must be "random" or from 0 to 3, not 4'),
        ({"seat": True}, ValueError, "not True"),
        ({"seat": "first"}, ValueError, "not 'first'"),
        ({"opponents": "gredy"}, AgentError, "there is no agent 'gredy', did you mean 'greedy'"),
        ({"opponents": ["random"]}, ValueError, "opponents must be one agent or 2, one per opposing seat, not 1"),
        ({"opponents": 7}, AgentError, "7 is not an agent"),
        ({"num_players": 2, "partner": "random"}, ValueError, "only four players have partners"),
        ({"partner": "nobody"}, AgentError, "there is no agent 'nobody'"),
    ],
)
def test_wrong_options(kwargs: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        FiveUpEnv(**kwargs)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_go_on_alike_and_apart(env: FiveUpEnv, twin: Any) -> None:
    chance = np.random.default_rng(13)
    info = env.reset(seed=13)[1]
    for _ in range(12):
        other = twin(env)
        action = legal_action(info, chance)
        before = env.match
        step = other.step(action)
        assert env.match == before
        assert same(env.step(action), step)
        assert other.match == env.match
        over, info = step[2] or step[3], step[4]
        if over:
            reset = env.reset()
            assert same(other.reset(), reset)
            info = reset[1]


def test_a_pickle_of_another_size_is_refused() -> None:
    env = FiveUpEnv()
    state = env._table.__getstate__()
    with pytest.raises(ValueError, match="this pickle of an environment holds 3 bytes"):
        env._table.__setstate__(state | {"_table": b"abc"})


def test_render_shows_no_hidden_hand() -> None:
    env = FiveUpEnv(render_mode="ansi")
    _, info = env.reset(seed=14)
    text = env.render()
    assert text is not None
    for seat, hand in enumerate(env.match.hands):
        shown = f"player_{seat}* {' '.join(f'[{low}|{high}]' for low, high in hand)}" in text
        assert shown == (seat == info["seat"])
    with pytest.warns(UserWarning, match='render_mode="ansi"'):
        assert FiveUpEnv().render() is None


def test_wrappers_reach_the_masks() -> None:
    register_envs()
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(ENV_ID, num_players=2))
    _, info = env.reset(seed=15)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"] == 1)
