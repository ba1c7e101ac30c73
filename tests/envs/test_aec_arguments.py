"""What the AEC env is given: seeds, reset options, options, actions; and what it says to wrong ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv

from fiveup_env import IllegalActionError, Match, Variant, fiveup_v0
from fiveup_env.rules.actions import DRAW
from tests.envs.aecs import PLAYERS, everything, legal, same, walk

# seeds


@pytest.mark.parametrize("kind", [{}, {"episode": "round"}], ids=str)
def test_seeds_decide_this_episode_and_those_after_it(kind: dict[str, Any]) -> None:
    one, other = fiveup_v0.raw_env(**kind), fiveup_v0.raw_env(**kind)
    one.reset(seed=11)
    assert one.match == Match(4, 11)
    first = [one.match]
    for _ in range(4):
        one.reset()
        first.append(one.match)
    other.reset(seed=11)
    second = [other.match]
    for episode in range(4):
        np.random.seed(episode)  # noqa: NPY002
        random.seed(episode)
        for _ in walk(other, episode):  # what is played in an episode does not change the next
            pass
        other.reset()
        second.append(other.match)
    assert first == second
    assert len({match.hands for match in first}) == 5
    one.reset(seed=11)
    assert one.match == first[0]


def test_without_any_seed_envs_differ() -> None:
    envs = [fiveup_v0.raw_env() for _ in range(3)]
    for env in envs:
        env.reset()
    assert len({env.match.hands for env in envs}) == 3


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.int32(7), np.uint64(2**63)])
def test_all_seeds_of_a_match_are_seeds(seed: Any) -> None:
    env = fiveup_v0.raw_env(num_players=2)
    env.reset(seed=seed)
    assert env.match == Match(2, seed)


# reset options

HANDS = [[(0, 1)], [(2, 3), (0, 0)], [(4, 4), (1, 1)]]
DEAL = {"hands": HANDS, "boneyard": [(5, 5), (2, 2)], "opener": 2}


def test_reset_to_a_given_deal_and_scores() -> None:
    env = fiveup_v0.raw_env(num_players=3, starting_scores=(5, 5, 5))
    env.reset(seed=3, options={"deal": DEAL, "scores": (10, -20, 300)})
    assert env.match == Match.from_deal(**DEAL, scores=(10, -20, 300), seed=3)
    assert env.agent_selection == "player_2"
    env.reset(seed=3, options={"deal": DEAL})
    assert env.match.scores == (5, 5, 5)
    env.reset(options={"scores": (0, 0, 45)})
    assert env.match.scores == (0, 0, 45) and env.match.hands != tuple(map(tuple, HANDS))
    env.reset()
    assert env.match.scores == (5, 5, 5)


def test_reset_to_a_match_or_to_the_deals_of_a_seed() -> None:
    match = Match(4, 9)
    for _ in range(12):
        match.play(match.legal_actions()[0])
    env = fiveup_v0.raw_env()
    env.reset(options={"deal": match})
    assert env.match == match and env.agent_selection == f"player_{match.turn}"
    env.step(match.legal_actions()[0])
    match_after = match.copy()
    match_after.play(match.legal_actions()[0])
    assert env.match == match_after != match
    env.reset(seed=1, options={"deal": 9})
    assert env.match == Match(4, 9)


def test_a_match_in_which_a_seat_must_draw_goes_on_behind_the_draws() -> None:
    match = Match(4, 0)
    while match.legal_actions() != [DRAW]:
        match.play(match.legal_actions()[0])
    env = fiveup_v0.raw_env(draws="auto")
    env.reset(options={"deal": match})
    forced = env.infos["player_0"]["forced"]
    for agent, action in forced:
        assert agent == f"player_{match.turn}" and match.legal_actions() == [action]
        match.play(action)
    assert forced and env.match.hands == match.hands and legal(env.last()[0]["action_mask"]) == match.legal_actions()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deals": 3}, "'deals'"),
        ({"deal": {"hands": HANDS, "boneyard": []}}, "hands, boneyard, opener"),
        ({"deal": DEAL | {"hands": HANDS[:2]}}, "needs 3 hands, not 2"),
        ({"deal": DEAL | {"opener": 3}}, "opener"),
        ({"deal": DEAL | {"boneyard": [(0, 1)]}}, "twice"),
        ({"deal": "today"}, "seed"),
        ({"deal": Match(4, 0)}, "num_players=4"),
        ({"scores": (1, 0, 0)}, "multiple of 5"),
        ({"scores": (0, 0)}, "scores are 3 integers"),
    ],
)
def test_wrong_reset_options_are_named_and_change_nothing(options: dict[str, Any], message: str) -> None:
    env = fiveup_v0.raw_env(num_players=3)
    env.reset(seed=5)
    before = everything(env)
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)
    assert same(everything(env), before)
    env.reset()
    twin = fiveup_v0.raw_env(num_players=3)
    twin.reset(seed=5)
    twin.reset()
    assert env.match == twin.match  # a refused reset is none in the stream of episodes either


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_wrong_seeds(seed: Any) -> None:
    env = fiveup_v0.raw_env()
    with pytest.raises(ValueError, match="a seed is an integer from 0"):
        env.reset(seed=seed)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(0)


# options


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_players": 5}, ValueError, "num_players"),
        ({"num_players": True}, ValueError, "num_players"),
        ({"episode": "game"}, ValueError, "episode must be one of 'match', 'round', not 'game'"),
        ({"reward": "loss"}, ValueError, "reward must be one of"),
        ({"observation": "image"}, ValueError, "observation must be one of"),
        ({"draws": None}, ValueError, "draws must be one of"),
        ({"max_rounds": 0}, ValueError, "max_rounds must be an integer from 1"),
        ({"history_length": -1}, ValueError, "history_length"),
        ({"starting_scores": (305, 0)}, ValueError, "305"),
        ({"starting_scores": (0, 0, 0)}, ValueError, "scores are 2 integers"),
        ({"hand_size": 8}, ValueError, "do not fit"),
        ({"target": 0}, ValueError, "target"),
        ({"max_pip": 7}, ValueError, "max_pip"),
        ({"render_mode": "video"}, ValueError, "render_mode must be one of"),
        ({"players": 4}, TypeError, "there is no option 'players': the options are num_players"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], error: type[Exception], message: str) -> None:
    for make in (fiveup_v0.env, fiveup_v0.raw_env, fiveup_v0.parallel_env):
        with pytest.raises(error, match=message):
            make(**options)


def test_variants_and_starting_scores() -> None:
    env = fiveup_v0.raw_env(num_players=2, hand_size=3, target=11, max_pip=3, starting_scores=(10, 25))
    env.reset(seed=0)
    assert env.match.variant == Variant(2, 3, 11, 3) and env.match.scores == (10, 25)
    assert [step.agent for step in walk(env, 0)][-2:] in (["player_0", "player_1"], ["player_1", "player_0"])


# errors


def test_illegal_actions_are_named_and_change_nothing() -> None:
    env = fiveup_v0.raw_env(num_players=3)
    env.reset(seed=0)
    for ply, step in enumerate(walk(env, 0)):
        if ply % 7 or step.over:
            continue
        before, state = everything(env), env._state.tobytes()
        allowed = legal(step.observation["action_mask"])
        for action in set(range(121)) - set(allowed):
            with pytest.raises(IllegalActionError) as error:
                env.step(np.int64(action))
            assert env._state.tobytes() == state
        text = str(error.value)
        assert step.agent in text and str(action) in text and all(str(a) in text for a in allowed)
        assert same(everything(env), before)


@pytest.mark.parametrize("action", [1.0, np.float32(3), "3", None, True, np.True_, [3], -1, 121, 2**70])
def test_actions_that_are_none(action: Any) -> None:
    env = fiveup_v0.raw_env()
    env.reset(seed=0)
    before = everything(env)
    with pytest.raises(ValueError, match="an action is an integer from 0 to 120, not "):
        env.step(action)
    assert same(everything(env), before)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8, np.array])
def test_numpy_integers_are_actions(kind: Any) -> None:
    env, twin = fiveup_v0.raw_env(), fiveup_v0.raw_env()
    for e in (env, twin):
        e.reset(seed=0)
    action = legal(env.last()[0]["action_mask"])[0]
    env.step(kind(action))
    twin.step(action)
    assert same(everything(env), everything(twin))


def ended(env: AECEnv) -> AECEnv:
    env.reset(seed=0)
    while not any(env.truncations.values()):
        env.step(legal(env.last()[0]["action_mask"])[0])
    return env


def test_only_none_after_the_end() -> None:
    env = ended(fiveup_v0.raw_env(max_rounds=1))
    before = everything(env)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(3)
    assert same(everything(env), before)
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == [] and env.infos == {} and env.rewards == {}
    assert not env.observe("player_2")["action_mask"].any()
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(None)
    env.reset()
    assert env.agents == env.possible_agents


@pytest.mark.parametrize("agent", ["player_4", "player_2", 0, None])
def test_unknown_agents(agent: Any) -> None:
    env = fiveup_v0.raw_env(num_players=2)
    env.reset(seed=0)
    for call in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="the agents are player_0, player_1"):
            call(agent)


def test_nothing_before_the_first_reset() -> None:
    env = fiveup_v0.raw_env(render_mode="ansi")
    for call in (lambda: env.step(3), lambda: env.observe("player_0"), env.state, lambda: env.match, env.render):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_an_illegal_action_in_the_wrappers_ends_the_episode(num_players: int) -> None:
    env = fiveup_v0.env(num_players=num_players, reward="points")
    env.reset(seed=0)
    for _ in range(9):
        env.step(legal(env.last()[0]["action_mask"])[-1])
    actor, told = env.agent_selection, dict(env.unwrapped._cumulative_rewards)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    for step in walk(env, 0):
        assert step.over and step.action is None
        assert not step.observation["action_mask"].any() and not step.info["action_mask"].any()
        assert step.reward == (-1 if step.agent == actor else told[step.agent])
    env.reset(seed=0)
    assert env.last()[0]["action_mask"].any() and not any(env.terminations.values())


def test_what_is_no_action_raises_in_the_wrappers_too() -> None:
    env = fiveup_v0.env()
    env.reset(seed=0)
    for action in (121, -1, 1.0, "3", None):
        with pytest.raises(AssertionError, match="not in action space"):
            env.step(action)
