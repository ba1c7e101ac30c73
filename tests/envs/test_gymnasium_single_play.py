"""`FiveUpEnv` plays the same game as `Match`, the right agents play, rewards are right, and nothing hidden is shown."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from fiveup_env.agents.baselines import Greedy
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.opponents import GO_ON, LOG
from fiveup_env.envs.table import Table
from fiveup_env.envs.transition import TERMINATED
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Event, Match
from fiveup_env.views.view import View
from tests.agents.support import reshuffled
from tests.envs.singles import Asked, Remembering, episode, legal_action, same

GAMES: list[dict[str, Any]] = [
    {"num_players": players, "reward": reward, "draws": draws, "opponents": opponents}
    for players in (2, 3, 4)
    for reward, draws, opponents in (
        ("win", "explicit", "random"),
        ("points", "auto", "greedy"),
        ("equity", "explicit", Remembering()),
    )
]


def to_go(match: Match, side: int) -> int:
    """Raw points a side misses."""
    return 305 - match.scores[side]


def standing(match: Match, reward: str, side: int) -> float:
    """What the rewards of a side should have added up to in a match from 0 : 0, straight from the table of schemes."""
    others = [other for other in range(match.num_sides) if other != side]
    if reward == "points":
        return (match.scores[side] - np.mean([match.scores[other] for other in others])) / 305
    if reward == "equity":
        own, best = to_go(match, side), min(to_go(match, other) for other in others)
        return (best - own) / (best + own)
    return 0.0 if match.winner is None else 1.0 if match.winner == side else -1.0 / len(others)


def replay(match: Match, info: dict[str, Any]) -> tuple[Event, ...]:
    """Play what an info tells; returns the scoring events."""
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
            assert total == pytest.approx(standing(match, kwargs["reward"], side), abs=1e-12)
        assert match.winner is not None and info["winner"] == match.winner
        assert info["is_success"] == (match.winner == side)


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_round_is_an_episode_of_its_own(reward: str, draws: str) -> None:
    """Its winner by R8.5 and D8, its points from the starting scores on."""
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
            expected = standing(match, "points", side) - standing(Match(3, scores=(100, 0, 50)), "points", side)
        assert sum(step[1] for step in steps) == pytest.approx(expected, abs=1e-12)


def test_a_tied_round_is_nobodys_win() -> None:
    """R8.5: [0|0] blocks the round at once, 5 pips against 5."""
    deal = {"hands": [[(0, 0), (1, 4)], [(2, 3)]], "boneyard": [], "opener": 0}
    env = FiveUpEnv(2, episode="round", seat=0)
    env.reset(options={"deal": deal})
    _, reward, terminated, _, info = env.step(0)
    assert terminated and reward == 0.0
    assert info["winner"] is None and info["is_success"] is False


def test_it_is_the_game_of_the_vector_env() -> None:
    """Same seeds, same actions: the same observations, masks, rewards and ends over many episodes."""
    options: dict[str, Any] = {"num_players": 4, "opponents": ["random", "greedy"], "draws": "auto", "max_rounds": 3}
    seeds = [5, 6, 2**64 - 1]
    vector = FiveUpVectorEnv(len(seeds), reward="points", **options)
    singles = [FiveUpEnv(reward="points", **options) for _ in seeds]
    observations, infos = vector.reset(seed=seeds)
    steps: list[Any] = [env.reset(seed=seed) for env, seed in zip(singles, seeds, strict=True)]
    chance, episodes = np.random.default_rng(2), 0
    for _ in range(400):
        for i, step in enumerate(steps):
            assert np.array_equal(step[0]["observation"], observations["observation"][i])
            assert np.array_equal(step[0]["action_mask"], observations["action_mask"][i])
            assert step[-1]["seat"] == infos["seat"][i] and step[-1]["side"] == infos["side"][i]
        actions = np.array([legal_action(step[-1], chance) for step in steps])
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        for i, env in enumerate(singles):
            steps[i] = env.step(int(actions[i]))
            assert steps[i][1:4] == (rewards[i], terminated[i], truncated[i])
            if terminated[i] or truncated[i]:
                assert np.array_equal(steps[i][0]["observation"], infos["final_obs"][i]["observation"])
                steps[i] = env.reset()
                episodes += 1
    assert episodes > 20


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


# who plays where


class Named(Policy):
    """Notes for which seats it was asked, in a list that all its copies share."""

    def __init__(self, seats: set[int]) -> None:
        self.seats = seats

    def choose(self, view: View, key: int) -> int:
        self.seats.add(view.seat)
        return view.legal_actions()[-1]


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_agents_sit_clockwise_from_the_learner(seat: int) -> None:
    seats: list[set[int]] = [set(), set(), set()]
    first, second, partner = (Named(one) for one in seats)
    env = FiveUpEnv(4, opponents=[first, second], partner=partner, seat=seat)
    _, info = env.reset(seed=4)
    steps = episode(env, info, np.random.default_rng(4))
    assert seats == [{(seat + 1) % 4}, {(seat + 3) % 4}, {(seat + 2) % 4}]
    assert {step[4]["seat"] for step in steps} == {seat}


@pytest.mark.parametrize("seat", [0, 3])
def test_a_partnership_learns_from_both_its_seats(seat: int) -> None:
    env = FiveUpEnv(4, seat=seat)
    _, info = env.reset(seed=5)
    steps = episode(env, info, np.random.default_rng(5))
    assert {step[4]["seat"] for step in steps} == {seat, (seat + 2) % 4}
    assert {step[4]["side"] for step in steps} == {seat % 2}


def test_three_players_sit_clockwise_too() -> None:
    seats: list[set[int]] = [set(), set()]
    env = FiveUpEnv(3, opponents=[Named(one) for one in seats], seat=2)
    episode(env, env.reset(seed=6)[1], np.random.default_rng(6))
    assert seats == [{0}, {1}]


def test_opponents_can_be_changed_between_episodes() -> None:
    env, greedy = FiveUpEnv(2, opponents="random"), FiveUpEnv(2, opponents="greedy")
    _, info = env.reset(seed=7)
    with pytest.raises(ValueError, match="opponents must be one agent or 1"):
        env.set_opponents(["greedy", "greedy"])
    env.set_opponents("greedy")
    _, other = greedy.reset(seed=7)
    random_steps = episode(env, info, np.random.default_rng(7))
    greedy_steps = episode(greedy, other, np.random.default_rng(7))
    assert not same(random_steps, greedy_steps)  # what is under way goes on as it began
    start = env.reset()
    assert same(start, greedy.reset())
    assert same(episode(env, start[1], np.random.default_rng(8)), episode(greedy, start[1], np.random.default_rng(8)))


def test_agents_are_copies_of_their_own() -> None:
    agent = Remembering()
    env = FiveUpEnv(3, opponents=agent)
    _, info = env.reset(seed=8)
    episode(env, info, np.random.default_rng(8))
    assert not hasattr(agent, "asked")
    asked = [other.asked for other in env._agents if isinstance(other, Remembering)]
    assert len(asked) == 2 and all(asked)


class Wrong:
    """Answers with whatever it was made with."""

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


# a full log


def test_more_happens_than_one_call_can_log() -> None:
    """A table without a learner plays a whole match, in several calls, and loses nothing of it."""
    table = Table(EnvOptions(4))
    for seed in range(3):
        assert table.begin([Greedy()] * 4, seed, 0) == TERMINATED
        match = Match(4, seed=seed)
        assert len(table.actions) > LOG
        assert table.events == [event for seat, action in table.actions for event in match.play(action)]
        assert table.winner == match.winner is not None


# nothing hidden


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_nothing_hidden_is_shown(num_players: int) -> None:
    """Whatever the seat cannot know (R2.2, D6) changes places: observation, mask, infos and text stay as they are."""
    env = FiveUpEnv(num_players, history_length=12, opponents="greedy", render_mode="ansi")
    chance, shuffle = np.random.default_rng(9), random.Random(9)
    changed = 0
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            other = copy.deepcopy(env)
            other._table._table["game"][0] = reshuffled(env.match, shuffle).game
            changed += other.match.hands != env.match.hands
            other._table.play(GO_ON)  # writes what is seen anew; nobody moves while the learner is to act
            assert same(other._table.observation(), observation)
            kept = {"actions": info["actions"], "events": info["events"]}  # of before
            assert same(other._info() | kept, info)
            assert other.render() == env.render()
            observation, _, over, _, info = env.step(legal_action(info, chance))
    assert changed > 100


def test_the_seat_sees_its_own_hand() -> None:
    """The leak test would notice: a tile of the own hand that changes places shows."""
    env = FiveUpEnv(2, seat=0)
    hands = [[(0, 0), (1, 1)], [(2, 2), (3, 3)]]
    seen = []
    for first, second in ((hands[0], hands[1]), (hands[1], hands[0])):
        deal = {"hands": [first, second], "boneyard": [(4, 4)], "opener": 0}
        seen.append(env.reset(seed=0, options={"deal": deal})[0])
    assert not same(*seen)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_actions_of_agents_do_not_depend_on_what_is_hidden_from_them(num_players: int) -> None:
    """Compiled agents get the whole record: they must choose the same whatever they cannot see."""
    shuffle = random.Random(10)
    for opponents in ("random", "greedy"):
        env = FiveUpEnv(num_players, opponents=opponents, illegal_action="raise")
        for seed in range(40):
            match = Match(num_players, seed=seed)
            seat = (match.turn + 1) % num_players
            firsts = set()
            for _ in range(5):
                # The agent leads. What it cannot see, the learner's hand included, is different every time.
                other = reshuffled(match, shuffle)
                _, info = env.reset(seed=seed, options={"deal": other, "seat": seat})
                firsts.add(info["actions"][0])
            assert len(firsts) == 1
