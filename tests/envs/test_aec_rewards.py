"""Rewards of the PettingZoo environment: their size, their receiver, and the step that pays them."""

from __future__ import annotations

from typing import Any

import pytest

from fiveup_env import Event, fiveup_v0
from fiveup_env.rules.actions import Lay, Lead, encode
from fiveup_env.testing.episode_walk import walk, walk_on
from tests.envs.environments import PLAYERS
from tests.envs.trace import promised

OPTIONS: list[dict[str, Any]] = [
    {"reward": "win"},
    {"reward": "win", "episode": "round"},
    {"reward": "points", "draws": "auto"},
    {"reward": "points", "max_rounds": 3},
    {"reward": "equity", "draws": "auto", "max_rounds": 4},
    {"reward": "equity"},
]

# Four players, two tiles each, and one to draw that nobody needs.
HAND = {
    "hands": [[(5, 5), (4, 5)], [(0, 5), (2, 3)], [(0, 0), (1, 2)], [(5, 6), (3, 6)]],
    "boneyard": [(6, 6)],
    "opener": 0,
}


def points(raw: int) -> Any:
    """A reward of the scheme "points" for a lead in raw points."""
    return pytest.approx(raw / 305, abs=1e-12)


def lasts(env: Any) -> dict[str, float]:
    """Rewards that `last()` would return to each agent now."""
    return dict(env._cumulative_rewards)


def test_a_whole_hand_move_by_move() -> None:
    """Credits reach all four seats (R1.2); `last` gives the sum since the agent's own last step."""
    env = fiveup_v0.raw_env(episode="round", reward="points")
    env.reset(options={"deal": HAND})

    # player_0 leads [5|5], which counts both halves: 10 raw (R4.4, R5.2) for the side of players 0 and 2.
    assert env.agent_selection == "player_0" and env.last()[1] == 0
    env.step(encode(Lead((5, 5))))
    assert env.infos["player_3"]["events"] == (Event("placement", 0, 10, True),)
    assert list(env.rewards.values()) == [points(10), points(-10), points(10), points(-10)]

    # player_1 lays [0|5] on it: 10 for the double with one line side taken and 0 for the end: 10 raw for players 1, 3.
    assert env.last()[1] == points(-10)
    env.step(encode(Lay((0, 5), 5, "spinner")))
    assert env.infos["player_1"]["events"] == (Event("placement", 1, 10, True),)
    assert lasts(env) == {"player_0": 0, "player_1": points(10), "player_2": 0, "player_3": 0}

    # player_2, the partner of player_0, lays [0|0] on the end: 10 and twice 0, so 10 again.
    assert env.agent_selection == "player_2" and env.last()[1] == 0
    env.step(encode(Lay((0, 0), 0, "end")))
    assert env.infos["player_0"]["events"] == (Event("placement", 0, 10, True),)

    # player_3 lays [5|6] on the other line side: the double no longer counts (R4.5), 0 + 6 is no multiple of 5.
    assert env.last()[1] == points(-10)
    env.step(encode(Lay((5, 6), 5, "spinner")))
    assert env.infos["player_3"]["events"] == () and not any(env.rewards.values())

    # player_0 gets its own 10, the opponents' -10 and the partner's 10. It lays its last tile [4|5] on a side
    # arm (R4.3): 0 + 6 + 4 is 10, the opponents hold 5 + 9 = 14, rounded 15, the partner 3, rounded 5: 20 (R7).
    assert env.agent_selection == "player_0" and env.last()[1] == points(10)
    env.step(encode(Lay((4, 5), 5, "spinner")))
    assert all(info["events"] == (Event("domino", 0, 20, True),) for info in env.infos.values())

    # The round, here the episode, is over for all. Each gets the sum since its own last step.
    assert env.match.scores == (40, 10)
    told = {step.agent: step.reward for step in walk_on(env, 0)}
    assert told == {"player_0": points(20), "player_1": points(-20), "player_2": points(30), "player_3": points(-20)}
    assert env.agents == []


def test_a_reward_is_paid_once() -> None:
    env = fiveup_v0.raw_env(reward="points")
    env.reset(options={"deal": HAND})
    env.step(encode(Lead((5, 5))))
    assert env.last()[1] == env.last()[1] == points(-10)
    env.step(encode(Lay((0, 5), 5, "spinner")))
    env.step(encode(Lay((0, 0), 0, "end")))
    env.step(encode(Lay((5, 6), 5, "spinner")))
    env.step(encode(Lay((4, 5), 5, "spinner")))
    # The next round follows in the same step (R2.5: who went out opens). Rewards are those of that step alone.
    assert env.agent_selection == "player_0" and env.last()[1] == points(20)
    assert list(env.rewards.values()) == [points(20), points(-20), points(20), points(-20)]


def ending(num_players: int) -> dict[str, Any]:
    """A deal and scores such that player_1 reaches exactly 61 (R6.2) by leading [5|5], in mid-round."""
    hands = [[(0, 1), (0, 2)], [(5, 5), (0, 3)], [(0, 4), (0, 6)], [(1, 2), (1, 3)]]
    scores = {2: (100, 295), 3: (100, 295, 55), 4: (100, 295)}
    deal = {"hands": hands[:num_players], "boneyard": [(6, 6)], "opener": 1}
    return {"deal": deal, "scores": scores[num_players]}


@pytest.mark.parametrize("draws", ["explicit", "auto"])
@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("reward", ["win", "points", "equity"])
def test_terminal_rewards_reach_all_seats(reward: str, num_players: int, draws: str) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, reward=reward, draws=draws)
    env.reset(options=ending(num_players))
    env.step(encode(Lead((5, 5))))
    assert env.match.winner == 1 and all(env.terminations.values()) and not any(env.truncations.values())
    loser = -0.5 if num_players == 3 else -1
    expected = {
        "win": (loser, 1, loser),
        # 10 raw points, against the mean of the others
        "points": (loser * 10 / 305, 10 / 305, loser * 10 / 305),
        # From (b - a) / (a + b), with a and b the points to go of the own and the best other side (41, 2, 50), to ±1.
        "equity": (-1 - (2 - 41) / (41 + 2), 1 - (41 - 2) / (2 + 41), -1 - (2 - 50) / (50 + 2)),
    }[reward]
    told = {step.agent: step.reward for step in walk_on(env, 0)}
    sides = 3 if num_players == 3 else 2
    assert told == {f"player_{s}": pytest.approx(expected[s % sides], abs=1e-12) for s in range(num_players)}
    assert next(iter(told)) == f"player_{2 % num_players}"  # first who would have been next


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rewards_of_an_episode_add_up_to_the_promise(options: dict[str, Any], num_players: int) -> None:
    """For every seat the sum of `last` is the sum that the scheme promises its side."""
    env = fiveup_v0.raw_env(num_players=num_players, **options)
    sides = 3 if num_players == 3 else 2
    for seed in range(6):
        told = dict.fromkeys(env.possible_agents, 0.0)
        for step in walk(env, seed):
            told[step.agent] += step.reward
        scheme = options["reward"]
        for seat, agent in enumerate(env.possible_agents):
            assert told[agent] == pytest.approx(promised(env.match, scheme, seat % sides), abs=1e-9)
        if scheme != "equity":
            assert sum(told[f"player_{side}"] for side in range(sides)) == pytest.approx(0, abs=1e-9)
