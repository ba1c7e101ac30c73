"""The AEC env plays the game of `Match` and shows it: observations at any time, copies, draws, truncation, render."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from fiveup_env import Match, View, fiveup_v0
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.unicode_board import unicode_board
from fiveup_env.rules.actions import DRAW, PASS, Lead, encode
from fiveup_env.rules.tiles import TILES
from tests.envs.aecs import PLAYERS, everything, legal, same, walk
from tests.envs.trace import exact

# the same game as Match


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
def test_same_seed_and_actions_as_match(num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players)
    for seed in range(15):
        env.reset(seed=seed)
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
    env.reset(seed=4)
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


def test_what_was_handed_out_stays_as_it_was() -> None:
    env = fiveup_v0.raw_env(max_rounds=2)
    env.reset(seed=1)
    kept = []
    for step in walk(env, 1):
        infos = dict(env.infos)
        kept.append((step, infos, copy.deepcopy((step, infos))))
        step.observation["observation"][:] = -1  # a user may do as it likes with its arrays
        assert (env.observe(step.agent)["observation"] >= 0).all()
        kept[-1] = (step, infos, copy.deepcopy((step, infos)))
    assert all(same(list(step), list(before[0])) and same(infos, before[1]) for step, infos, before in kept)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_state_is_the_whole_truth(num_players: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, max_rounds=1)
    env.reset(seed=8)
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


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("kind", [{}, {"draws": "auto", "reward": "points", "history_length": 4}], ids=str)
@pytest.mark.parametrize("make", [fiveup_v0.env, fiveup_v0.raw_env])
def test_copies_at_every_ply_go_on_identically(make: Any, kind: dict[str, Any], num_players: int) -> None:
    """Each ply the game goes on in a copy of the copy; an env that was never copied is played beside it."""
    copies = [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy]
    if make is fiveup_v0.raw_env:  # copy.copy of a wrapper is PettingZoo's
        copies.append(copy.copy)
    env, untouched = (make(num_players=num_players, max_rounds=3, **kind) for _ in range(2))
    env.reset(seed=2)
    untouched.reset(seed=2)
    for ply, step in enumerate(walk(untouched, 2)):
        assert same(everything(env), everything(untouched))
        original, before = env, everything(env)
        env = copies[ply % len(copies)](original)
        env.step(step.action)
        assert same(everything(original), before)
    assert env.agents == []
    env.reset()
    untouched.reset()
    assert same(everything(env), everything(untouched))


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


# truncation


@pytest.mark.parametrize("max_rounds", [1, 3])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_max_rounds_truncates_for_all(num_players: int, max_rounds: int) -> None:
    env = fiveup_v0.raw_env(num_players=num_players, max_rounds=max_rounds)
    env.reset(seed=6)
    ended = [step for step in walk(env, 6) if step.over]
    assert env.match.round_number == max_rounds and env.match.winner is None
    assert sorted(step.agent for step in ended) == env.possible_agents
    env.reset(seed=6)
    while not any(env.truncations.values()):
        env.step(legal(env.last()[0]["action_mask"])[0])
    assert all(env.truncations.values()) and not any(env.terminations.values())


def test_a_match_won_in_the_last_round_is_not_truncated() -> None:
    env = fiveup_v0.raw_env(num_players=2, max_rounds=1)
    env.reset(
        options={"deal": {"hands": [[(5, 5), (0, 1)], [(1, 2)]], "boneyard": [], "opener": 0}, "scores": (295, 0)}
    )
    env.step(encode(Lead((5, 5))))
    assert all(env.terminations.values()) and not any(env.truncations.values())


# draws="auto"


@pytest.mark.jit
@pytest.mark.parametrize("variant", [{}, {"hand_size": 2, "target": 11, "max_pip": 3}], ids=str)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_auto_draws_are_the_forced_moves_of_explicit_ones(num_players: int, variant: dict[str, int]) -> None:
    """The same choices give the same game; `forced` says what was taken in between, the end of rounds included."""
    kinds = {"reward": "points", "num_players": num_players, **variant}
    auto, explicit = fiveup_v0.raw_env(draws="auto", **kinds), fiveup_v0.raw_env(**kinds)
    for seed in range(60 if variant else 12):
        auto.reset(seed=seed)
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
        for step in walk(explicit, seed):
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
    env.reset(seed=3)
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


def test_render_without_a_mode_warns() -> None:
    env = fiveup_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
