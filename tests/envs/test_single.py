"""`FiveUpEnv` plays the game of `Match`, with the right agents at the right seats; its episodes, ends and errors."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from fiveup_env.agents.baselines import Greedy
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.envs import ENV_ID, register_envs
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector_kernels import LOG_SIZE
from fiveup_env.envs.transition import TERMINATED
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Event, Match
from fiveup_env.views.view import View
from tests.envs.environments import Asked, Remembering, episode, legal_action, same
from tests.envs.trace import promised

VARIETY: list[dict[str, Any]] = [
    {"num_players": 2, "opponents": "greedy"},
    {"num_players": 3, "opponents": ["random", "greedy"], "draws": "auto", "reward": "points"},
    {"num_players": 4, "partner": "greedy", "episode": "round"},
    {"num_players": 4, "opponents": Remembering(), "reward": "equity", "max_rounds": 3},
    {"num_players": 2, "belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11},
]
GAMES: list[dict[str, Any]] = [
    {"num_players": players, "reward": reward, "draws": draws, "opponents": opponents}
    for players in (2, 3, 4)
    for reward, draws, opponents in (
        ("win", "explicit", "random"),
        ("points", "auto", "greedy"),
        ("equity", "explicit", Remembering()),
    )
]

# Two players; player_1 leads. [1|4] counts 5 (R5.2): from 300 raw that is an exact hit (R6.2).
HIT_AT_ONCE = {"hands": [[(0, 0), (0, 1)], [(1, 4), (6, 6)]], "boneyard": [(2, 3)], "opener": 1}


def replay(match: Match, info: dict[str, Any]) -> tuple[Event, ...]:
    """Play the actions of an info; return the scoring events."""
    events: tuple[Event, ...] = ()
    for seat, action in info["actions"]:
        assert seat == match.turn
        events += match.play(action)
    return events


# the same game


@pytest.mark.parametrize("kwargs", GAMES, ids=lambda kwargs: f"{kwargs['num_players']}-{kwargs['reward']}")
def test_a_match_replays_what_happened(kwargs: dict[str, Any]) -> None:
    """Actions, events (R5.3, R7.4, R8.3), scores, observations, masks and the sum of the rewards, step by step."""
    env = FiveUpEnv(**kwargs)
    chance = np.random.default_rng(0)
    for seed in range(4):
        match = Match(env.options.num_players, seed=seed)
        observation, info = env.reset(seed=seed)
        assert info["events"] == replay(match, info)
        side, total, over = info["side"], 0.0, False
        while not over:
            view = View.of(match)
            assert (info["seat"], info["side"], info["round_number"]) == (match.turn, side, match.round_number)
            assert match.turn % match.num_sides == side
            assert np.array_equal(observation["observation"], view.observation())
            assert np.array_equal(observation["action_mask"], match.action_mask())
            assert env.match == match
            action = legal_action(info, chance)
            observation, reward, over, truncated, info = env.step(action)
            assert isinstance(reward, float) and not truncated
            assert info["actions"][0] == (match.turn, action)
            assert info["events"] == replay(match, info)
            assert info["scores"] == match.scores
            total += reward
            assert total == pytest.approx(promised(match, kwargs["reward"], side), abs=1e-12)
        assert match.winner is not None and info["winner"] == match.winner
        assert info["is_success"] == (match.winner == side)


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_round_can_be_an_episode(reward: str, draws: str) -> None:
    """Winner by R8.5 and D8; points counted from the starting scores."""
    env = FiveUpEnv(3, episode="round", reward=reward, draws=draws, starting_scores=(100, 0, 50), opponents="greedy")
    chance = np.random.default_rng(1)
    for seed in range(40):
        match = Match(3, seed=seed, scores=(100, 0, 50))
        _, info = env.reset(seed=seed)
        replay(match, info)
        steps = episode(env, info, chance)
        for *_, told in steps:
            replay(match, told)
        assert steps[-1][2] and match.last_round is not None
        winner, side = match.last_round["winner"], info["side"]
        assert steps[-1][4]["winner"] == winner and steps[-1][4]["is_success"] == (winner == side)
        if reward == "win":
            expected = 0.0 if winner is None else 1.0 if winner == side else -0.5
        else:
            expected = promised(match, "points", side) - promised(Match(3, scores=(100, 0, 50)), "points", side)
        assert sum(step[1] for step in steps) == pytest.approx(expected, abs=1e-12)


def test_a_tied_round_is_nobodys_win() -> None:
    """R8.5: [0|0] blocks the round at once, 5 pips against 5."""
    deal = {"hands": [[(0, 0), (1, 4)], [(2, 3)]], "boneyard": [], "opener": 0}
    env = FiveUpEnv(2, episode="round", seat=0)
    env.reset(options={"deal": deal})
    _, reward, terminated, _, info = env.step(0)
    assert terminated and reward == 0.0
    assert info["winner"] is None and info["is_success"] is False


def test_compiled_and_asked_agents_play_the_same_game() -> None:
    chance = [np.random.default_rng(3) for _ in range(2)]
    asked = Asked()
    for num_players in (2, 3, 4):
        envs = [FiveUpEnv(num_players, opponents=agent, draws="auto", seat=1) for agent in ("random", asked)]
        told = []
        for env, one_chance in zip(envs, chance, strict=True):
            start = env.reset(seed=num_players)
            told.append([start, *episode(env, start[1], one_chance)])
        assert same(*told)
    assert set(asked.seats) == {0, 2}


def test_greedy_opponents_are_greedy() -> None:
    env, greedy = FiveUpEnv(3, opponents="greedy"), Greedy()
    for seed in range(3):
        match = Match(3, seed=seed)
        _, info = env.reset(seed=seed)
        choices = 0
        for told in (info, *(step[4] for step in episode(env, info, np.random.default_rng(seed)))):
            for seat, action in told["actions"]:
                if seat != info["seat"]:
                    assert action == greedy.act(View.of(match))
                    choices += len(match.legal_actions()) > 1
                match.play(action)
        assert choices > 50


def test_more_happens_than_one_call_can_log() -> None:
    """Without a learner a whole match is played, in several calls, and nothing is lost from the log."""
    env = FiveUpEnv(4)
    env._around = [Greedy()] * 4
    for seed in range(3):
        env._seed, env._episode = seed, 0
        assert env._begin(None, (0, 0), None) == TERMINATED
        match = Match(4, seed=seed)
        assert len(env._actions) > LOG_SIZE
        assert env._events == [event for _, action in env._actions for event in match.play(action)]
        assert match.winner is not None and env.match == match


# the agents around the learner


class Named(Policy):
    """Notes the seats that it was asked for, in a set that all its copies share."""

    def __init__(self, seats: set[int]) -> None:
        self.seats = seats

    def choose(self, view: View, key: int) -> int:
        self.seats.add(view.seat)
        return view.legal_actions()[-1]


@pytest.mark.parametrize(("num_players", "seat"), [(4, 0), (4, 1), (4, 2), (4, 3), (3, 2)])
def test_agents_sit_clockwise_from_the_learner(num_players: int, seat: int) -> None:
    seats: list[set[int]] = [set(), set(), set()]
    first, second, partner = (Named(one) for one in seats)
    env = FiveUpEnv(num_players, opponents=[first, second], partner=partner if num_players == 4 else None, seat=seat)
    _, info = env.reset(seed=4)
    steps = episode(env, info, np.random.default_rng(4))
    assert {step[4]["seat"] for step in steps} == {seat}
    expected = [1, 3, 2] if num_players == 4 else [1, 2]
    assert seats[: len(expected)] == [{(seat + ahead) % num_players} for ahead in expected]


@pytest.mark.parametrize("seat", [0, 3])
def test_a_partnership_learns_from_both_its_seats(seat: int) -> None:
    env = FiveUpEnv(4, seat=seat)
    _, info = env.reset(seed=5)
    steps = episode(env, info, np.random.default_rng(5))
    assert {step[4]["seat"] for step in steps} == {seat, (seat + 2) % 4}
    assert {step[4]["side"] for step in steps} == {seat % 2}


def test_opponents_can_be_changed_between_episodes() -> None:
    env, greedy = FiveUpEnv(2, opponents="random"), FiveUpEnv(2, opponents="greedy")
    _, info = env.reset(seed=7)
    with pytest.raises(ValueError, match="opponents must be one agent or 1"):
        env.set_opponents(["greedy", "greedy"])
    env.set_opponents("greedy")
    _, other = greedy.reset(seed=7)
    random_steps = episode(env, info, np.random.default_rng(7))
    greedy_steps = episode(greedy, other, np.random.default_rng(7))
    assert not same(random_steps, greedy_steps)  # the current episode keeps its opponents
    start = env.reset()
    assert same(start, greedy.reset())
    assert same(episode(env, start[1], np.random.default_rng(8)), episode(greedy, start[1], np.random.default_rng(8)))


class Counted(Remembering):
    """Lists its copies."""

    everyone: ClassVar[list[Remembering]] = []

    def reset(self, seed: int) -> None:
        super().reset(seed)
        self.everyone.append(self)


def test_every_seat_gets_a_copy_of_its_agent() -> None:
    agent = Counted()
    env = FiveUpEnv(3, opponents=agent)
    _, info = env.reset(seed=8)
    episode(env, info, np.random.default_rng(8))
    assert not hasattr(agent, "asked")
    assert len({id(each) for each in Counted.everyone}) == 2 and all(each.asked for each in Counted.everyone)


class Wrong:
    """Gives the answer that it was made with, or raises it."""

    name = "wrong"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def reset(self, seed: int) -> None: ...

    def act(self, view: View) -> int:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (DRAW, AgentError, r"agent wrong at player_\d: player_\d may not draw a tile .*legal: "),
        (500, AgentError, r"agent wrong at player_\d: an action is an integer from 0 to 120, not 500"),
        (None, AgentError, "not None"),
        (ZeroDivisionError("by me"), ZeroDivisionError, "by me"),
    ],
)
def test_an_agent_that_breaks_its_contract_is_named(answer: Any, error: type[Exception], says: str) -> None:
    env = FiveUpEnv(2, opponents=Wrong(answer), seat=0)
    deal = {"hands": [[(0, 5), (1, 1)], [(0, 3), (0, 4), (5, 5)]], "boneyard": [], "opener": 0}
    _, info = env.reset(options={"deal": deal})
    with pytest.raises(error, match=says):
        env.step(int(np.flatnonzero(info["action_mask"])[1]))
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_agents_are_not_asked_for_a_lone_action() -> None:
    """Forced draws and passes (R3.2) among them; `Wrong` would answer with something illegal."""
    env = FiveUpEnv(2, opponents=Wrong(None), seat=0)
    deal = {"hands": [[(0, 5), (1, 1), (0, 2)], [(3, 3), (4, 4)]], "boneyard": [(6, 6), (3, 6)], "opener": 0}
    _, info = env.reset(options={"deal": deal})
    *_, told = env.step(int(np.flatnonzero(info["action_mask"])[-1]))  # [0|5]: player_1 draws twice and passes
    assert [seat for seat, _ in told["actions"]] == [0, 1, 1, 1]


# episodes, ends and errors


def test_the_seat_option() -> None:
    env = FiveUpEnv(3)
    seats = [env.reset(seed=seed)[1]["seat"] for seed in range(40)]
    assert set(seats) == {0, 1, 2}
    assert [env.reset(seed=seed, options={"seat": 1})[1]["seat"] for seed in range(5)] == [1] * 5
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(5)] == seats[:5]
    fixed = FiveUpEnv(3, seat=2)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(10)} == {2}
    assert {fixed.reset(seed=seed, options={"seat": "random"})[1]["seat"] for seed in range(40)} == {0, 1, 2}


def test_episodes_that_end_before_the_learner_decides_are_skipped() -> None:
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


@pytest.mark.parametrize("kind", VARIETY, ids=str)
def test_an_illegal_action_ends_the_episode(kind: dict[str, Any]) -> None:
    env = FiveUpEnv(**kind)
    observation, info = env.reset(seed=3)
    before = env.match
    for wrong in (-1, 121, 1.0, "28", None, True, [3], np.array([3, 4])):
        with pytest.raises(ValueError, match="an action is an integer from 0 to 120, not"):
            env.step(wrong)
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


def test_a_step_needs_an_episode() -> None:
    env = FiveUpEnv(2, episode="round", render_mode="ansi")
    for call in (lambda: env.step(0), env.render, lambda: env.match):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            call()
    assert not env.action_masks().any()
    info = env.reset(seed=6)[1]
    episode(env, info, np.random.default_rng(6))
    with pytest.raises(ResetNeeded):
        env.step(0)


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


# checks of the libraries


def test_gymnasium_check() -> None:
    """With rendering; `check_env` of this package runs it for more kinds."""
    register_envs()
    check_env(gymnasium.make(ENV_ID, render_mode="ansi").unwrapped)


@pytest.mark.filterwarnings("ignore:Your observation belief has an unconventional shape:UserWarning")
@pytest.mark.parametrize("kind", VARIETY, ids=str)
def test_sb3_check(kind: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    for seed in range(3):
        env = FiveUpEnv(**kind)
        env.action_space.seed(seed)
        checker.check_env(env, warn=True)
