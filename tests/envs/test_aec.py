"""The PettingZoo environment is the game of `Match` for every agent at any time; PettingZoo's own tests pass."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.test import max_cycles_test, parallel_api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.seed_test import parallel_seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import BaseWrapper

from fiveup_env import Match, View, fiveup_v0
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.text_board import unicode_board
from fiveup_env.rules.actions import DRAW, PASS, Lead, encode
from fiveup_env.rules.tiles import TILES
from fiveup_env.testing.episode_walk import walk, walk_on
from tests.envs.environments import PLAYERS, everything, same
from tests.envs.trace import exact


def legal(mask: np.ndarray) -> list[int]:
    """Ids of the legal actions of a mask."""
    return [int(action) for action in np.flatnonzero(mask)]


# the same game as Match


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
def test_same_seed_and_actions_as_match(num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players)
    for seed in range(15):
        match, events = Match(num_players, seed), ()
        for step in walk(env, seed):
            assert env.match == match
            assert all(info["events"] == events for info in env.infos.values())
            if step.over:
                assert match.winner is not None and match.legal_actions() == []
            else:
                assert step.agent == f"player_{match.turn}"
                assert legal(step.observation["action_mask"]) == match.legal_actions()
                events = match.play(step.action)


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"draws": "auto"},
        {"observation": "dict", "history_length": 9},
        {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11},
    ],
    ids=str,
)
def test_every_agent_observes_at_any_time(kind: dict[str, Any], num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, max_rounds=2, **kind)
    for step in walk(env, 4):
        for seat, agent in enumerate(env.possible_agents):
            seen, view = env.observe(agent), View(env.match.game, seat)
            assert seen in env.observation_space(agent)
            acts = agent == step.agent and not step.over
            assert seen["action_mask"].any() == acts
            assert same(seen["action_mask"], view.action_mask() if acts else np.zeros(121, np.int8))
            vector = view.observation() if kind.get("observation") != "dict" else view.sections()
            assert same(seen["observation"], vector)
            if "history" in seen:
                history, mask = view.views.history(9)
                assert same((seen["history"], seen["history_mask"]), (history[0], mask[0]))
            assert ("belief" in seen) == ("belief" in kind)
            if "belief" in seen:
                assert same(seen["belief"], exact(view))
        for agent, info in env.infos.items():
            acts = agent == step.agent and not step.over
            assert set(info) == {"action_mask", "events", "forced"}
            assert same(info["action_mask"], env.observe(agent)["action_mask"]) and info["action_mask"].any() == acts


@pytest.mark.parametrize("num_players", PLAYERS)
def test_state_is_the_whole_truth(num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, max_rounds=1)
    for step in walk(env, 8):
        state, match = env.state(), env.match
        assert state in env.state_space
        for relative in range(num_players):
            held = match.hands[(match.turn + relative) % num_players]
            part = state[28 * relative : 28 * relative + 28]
            assert [TILES[t] for t in np.flatnonzero(part)] == list(held)
        order = state[28 * num_players : 28 * num_players + 28]
        drawn_next = sorted(np.flatnonzero(order), key=lambda t: order[t])
        assert [TILES[t] for t in drawn_next] == list(match.boneyard)
        if not step.over:
            assert same(state[28 * num_players + 28 :], step.observation["observation"])


# copies


@pytest.mark.parametrize("kind", [{}, {"draws": "auto", "reward": "points", "history_length": 4}], ids=str)
def test_shallow_copies_continue_apart(kind: dict[str, Any]) -> None:
    """In each step the game continues in a copy; an environment that was never copied shows the same."""
    env, untouched = (fiveup_v0.raw_env(num_players=3, max_rounds=3, **kind) for _ in range(2))
    env.reset(seed=2)
    for step in walk(untouched, 2):
        assert same(everything(env), everything(untouched))
        original, before = env, everything(env)
        env = copy.copy(original)
        env.step(step.action)
        assert same(everything(original), before)
    assert env.agents == []


def test_copies_have_their_own_spaces_and_sample_alike() -> None:
    env = fiveup_v0.raw_env()
    env.reset(seed=0)
    env.action_space("player_1").seed(5)
    twin = copy.deepcopy(env)
    assert twin.action_space("player_1") is not env.action_space("player_1")
    assert [twin.action_space("player_1").sample() for _ in range(9)] == [
        env.action_space("player_1").sample() for _ in range(9)
    ]


def test_a_pickle_of_another_version_is_refused() -> None:
    env = fiveup_v0.raw_env()
    kept = env.__getstate__()
    with pytest.raises(ValueError, match="this version needs"):
        fiveup_v0.raw_env().__setstate__(kept | {"_state": kept["_state"][:-1]})


def test_render_without_a_mode_warns() -> None:
    env = fiveup_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# ends and errors


def test_a_match_won_in_the_last_round_is_not_truncated() -> None:
    env = fiveup_v0.raw_env(num_players=2, max_rounds=1)
    env.reset(
        options={"deal": {"hands": [[(5, 5), (0, 1)], [(1, 2)]], "boneyard": [], "opener": 0}, "scores": (295, 0)}
    )
    env.step(encode(Lead((5, 5))))
    assert all(env.terminations.values()) and not any(env.truncations.values())


def test_only_none_after_the_end() -> None:
    env = fiveup_v0.raw_env(max_rounds=1)
    env.reset(seed=0)
    while not any(env.truncations.values()):
        env.step(legal(env.last()[0]["action_mask"])[0])
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
    for step in walk_on(env, 0):
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


# draws="auto"


@pytest.mark.jit
@pytest.mark.parametrize("variant", [{}, {"hand_size": 2, "target": 11, "max_pip": 3}], ids=str)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_auto_draws_are_the_forced_moves_of_explicit_ones(num_players: int, variant: dict[str, int]) -> None:
    """The same choices give the same game; `forced` says what was taken in between, the end of rounds included."""
    kinds = {"reward": "points", "num_players": num_players, **variant}
    auto, explicit = fiveup_v0.raw_env(draws="auto", **kinds), fiveup_v0.raw_env(**kinds)
    for seed in range(60 if variant else 12):
        explicit.reset(seed=seed)
        told = dict.fromkeys(auto.possible_agents, 0.0)
        told_explicit = dict(told)
        chosen: tuple[str, int] | None = None
        for step in walk(auto, seed):
            told[step.agent] += step.reward
            if chosen:  # what followed of it
                taken = (chosen, *step.info["forced"])
                round_number, events = explicit.match.round_number, ()
                for agent, action in taken:
                    assert explicit.match.round_number == round_number  # a deal comes last
                    assert agent == explicit.agent_selection
                    told_explicit[agent] += explicit.last()[1]
                    assert action in legal(explicit.last()[0]["action_mask"])
                    assert (action in (DRAW, PASS)) == ((agent, action) != chosen)
                    explicit.step(action)
                    events += explicit.infos[agent]["events"]
                assert step.info["events"] == events
            chosen = None if step.over else (step.agent, step.action)
            if chosen:
                assert step.agent == explicit.agent_selection
                assert same(step.observation["action_mask"], explicit.observe(step.agent)["action_mask"])
        for step in walk_on(explicit, seed):
            assert step.over
            told_explicit[step.agent] += step.reward
        assert auto.match.scores == explicit.match.scores
        assert told == pytest.approx(told_explicit, abs=1e-9)


@pytest.mark.parametrize("episode", ["match", "round"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_forced_draws_that_end_the_round_are_reported(num_players: int, episode: str) -> None:
    """The last tile drawn blocks the round (D1) and the next is dealt: what was forced is told all the same."""
    hands = [[(0, 0), (1, 1)], [(1, 3), (2, 2)], [(4, 5)], [(5, 6), (6, 6)]][:num_players]
    env = fiveup_v0.raw_env(num_players=num_players, draws="auto", episode=episode)
    env.reset(options={"deal": {"hands": hands, "boneyard": [(1, 2), (3, 4)], "opener": 0}})
    env.step(encode(Lead((0, 0))))
    assert env.match.round_number == (2 if episode == "match" else 1)
    assert any(env.terminations.values()) == (episode == "round")
    for info in env.infos.values():
        assert info["forced"] == (("player_1", DRAW), ("player_1", DRAW))
        assert info["events"] and all(event.kind == "blocked" for event in info["events"])


def test_forced_passes_go_from_seat_to_seat() -> None:
    env = fiveup_v0.raw_env(draws="auto")
    hands = [[(0, 0), (0, 1), (0, 2)], [(1, 3), (2, 2)], [(4, 5), (4, 4)], [(5, 6), (6, 6)]]
    env.reset(options={"deal": {"hands": hands, "boneyard": [(1, 2)], "opener": 0}})
    env.step(encode(Lead((0, 0))))
    assert env.agent_selection == "player_0"
    expected = (("player_1", DRAW), ("player_1", PASS), ("player_2", PASS), ("player_3", PASS))
    assert env.infos["player_0"]["forced"] == expected


# render


@pytest.mark.parametrize("num_players", PLAYERS)
def test_render_shows_the_table_and_the_hand_of_the_seat_to_act_alone(num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, render_mode="ansi", episode="round")
    for step in walk(env, 3):
        text, match = env.render(), env.match
        hands = {row.split()[0].rstrip("*"): row for row in text.splitlines() if row.startswith("  player_")}
        for seat, hand in enumerate(match.hands):
            row = hands[f"player_{seat}"]
            if step.over or f"player_{seat}" == step.agent:
                assert all(f"[{low}|{high}]" in row for low, high in hand)
            else:
                assert f"{len(hand)} tile" in row and "|" not in row
        assert ("over" if step.over else f"{step.agent} to act") in text.splitlines()[0]
        assert all(row in text for row in unicode_board(Scene.of_match(match)))
        assert f"ends sum to {match.layout.end_sum}, boneyard {len(match.boneyard)}" in text


# PettingZoo's own tests


KINDS: list[dict[str, Any]] = [
    {},
    {"draws": "auto", "observation": "dict", "reward": "points"},
    {"episode": "round", "reward": "equity", "history_length": 12},
    {"max_rounds": 2},
    {"belief": "exact", "hand_size": 2, "max_pip": 3, "target": 11},
]


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_seeds_and_parallel_api(kind: dict[str, Any], num_players: int) -> None:
    seed_test(lambda: fiveup_v0.env(num_players=num_players, **kind), num_cycles=100)
    parallel_api_test(fiveup_v0.parallel_env(num_players=num_players, **kind), num_cycles=300)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_render(num_players: int) -> None:
    render_test(lambda render_mode: fiveup_v0.env(num_players=num_players, render_mode=render_mode))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_parallel_seed(num_players: int) -> None:
    parallel_seed_test(lambda: Obedient(fiveup_v0.env(num_players=num_players)).parallel(), num_cycles=100)


class Obedient(BaseWrapper):
    """Takes the first legal action for an illegal one, since some of PettingZoo's tests do not look at masks; and ends
    an episode after a number of turns of each agent, as its environments with `max_cycles` do."""

    def __init__(self, env: AECEnv, turns: int | None = None) -> None:
        super().__init__(env)
        self.turns = turns

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(0 if seed is None else seed, options)
        self.left = None if self.turns is None else self.turns

    def step(self, action: int | None) -> None:
        if action is not None:
            mask = self.observe(self.agent_selection)["action_mask"]
            action = action if mask[action] else legal(mask)[0]
        super().step(action)
        if action is not None and self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.unwrapped.truncations = dict.fromkeys(self.agents, True)

    def parallel(self) -> ParallelEnv:
        return turn_based_aec_to_parallel(self)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_max_cycles(num_players: int) -> None:
    """`max_cycles_test` is made for games in which all act at once, and for unmasked actions. A cycle is a step of the
    parallel env, and a turn of each agent in the AEC env; all tiles are dealt, so that nobody draws."""
    options = {2: {"hand_size": 14}, 3: {"hand_size": 7, "max_pip": 5}, 4: {"hand_size": 7}}[num_players]
    options |= {"num_players": num_players, "target": 6000}

    def env(max_cycles: int) -> AECEnv:
        return Obedient(fiveup_v0.env(**options), max_cycles * num_players)

    def parallel_env(max_cycles: int) -> ParallelEnv:
        return Obedient(fiveup_v0.env(**options), max_cycles).parallel()

    max_cycles_test(SimpleNamespace(env=env, parallel_env=parallel_env))


@pytest.mark.slow
@pytest.mark.parametrize("num_players", PLAYERS)
def test_performance_benchmark(num_players: int, capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(fiveup_v0.env(num_players=num_players))
    assert "turns per second" in capsys.readouterr().out
