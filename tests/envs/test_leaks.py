"""Nothing that a seat cannot know is in what any environment shows (R2.2, D6), to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env import Match, fiveup_v0
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.record import ROUND_OVER
from fiveup_env.rules.tiles import tile_index, tile_set
from fiveup_env.testing.episode_walk import walk
from tests.envs.environments import (
    PLAYERS,
    Aec,
    Driver,
    Learner,
    SelfPlay,
    Single,
    any_legal,
    changed,
    every_environment,
    hidden_moved,
    same,
)
from tests.envs.trace import CLOSE, same_bits, sides_of

BELIEFS = pytest.mark.parametrize(
    "belief", ["none", *(pytest.param(kind, marks=pytest.mark.jit) for kind in ("exact", "likely"))]
)
RICH: dict[Callable[..., Driver], dict[str, Any]] = {
    Aec: {"observation": "dict", "history_length": 10, "render_mode": "ansi"},
    Single: {"history_length": 12, "opponents": "greedy", "render_mode": "ansi"},
    Learner: {"opponents": "greedy"},
    SelfPlay: {"reward": "equity", "dtype": np.uint8},
}
"""Options of an environment that show as much as it can show."""


def visible(driver: Driver, seat: int | None) -> Any:
    """Everything that an environment shows of its position to a seat (None: to the seats to act)."""
    env = driver.env
    if isinstance(driver, Aec):
        agent = env.possible_agents[env.match.turn if seat is None else seat]
        own = (env.infos[agent]["action_mask"], env.render()) if agent == env.agent_selection else ()
        return env.observe(agent), own
    if isinstance(driver, Single):
        *_, info = driver.last
        told = {name: value for name, value in info.items() if name not in ("actions", "events")}  # of the last step
        return driver.last[0], told, env.render()
    if isinstance(driver, Learner):
        return driver.last[0], {name: driver.last[-1][name] for name in ("seat", "side", "action_mask")}
    assert isinstance(driver, SelfPlay)
    return [getattr(driver.last, name) for name in ("observation", "action_mask", "seat", "side", "belief")]


def play_until_all_decide(driver: Driver, steps: int, chance: np.random.Generator) -> None:
    """Take steps, and more until nothing is over."""
    for _ in range(steps):
        driver.step(any_legal(driver.masks(), chance))
    while not driver.masks().any(1).all():
        driver.step(any_legal(driver.masks(), chance))


@every_environment
@BELIEFS
@pytest.mark.parametrize("num_players", PLAYERS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
def test_nothing_hidden_is_shown(make: Callable[..., Driver], belief: str, num_players: int, seed: int) -> None:
    """Observation, mask, infos, belief and text stay as they are in every seat, whatever the others hold."""
    driver = make(num_players=num_players, belief=belief, **RICH[make])
    driver.reset(seed)
    chance, shuffle, moved = np.random.default_rng(seed), random.Random(seed), 0
    for _ in range(12):
        play_until_all_decide(driver, 3, chance)
        for seat in range(num_players) if make is Aec else [None]:
            other = changed(driver, partial(hidden_moved, chance=shuffle), seat)
            moved += sum(other.match(i).hands != driver.match(i).hands for i in range(driver.rows))
            assert same(visible(other, seat), visible(driver, seat))
    assert moved > 5  # late in a round little is left to permute


def other_own_tile(match: Match, seat: int) -> Match:
    """The match with a tile of the seat's hand exchanged for one of the boneyard or of the next hand."""
    other = match.copy()
    own, giver = list(match.hands[seat]), (seat + 1) % match.num_players
    if match.boneyard:
        given = match.boneyard[0]
        other.game.boneyard[int(other.game.boneyard_next)] = tile_index(own[0])
    else:
        given = match.hands[giver][0]
        other.game.hands[giver] = tile_set([own[0], *match.hands[giver][1:]])
    other.game.hands[seat] = tile_set([given, *own[1:]])
    return Match.of(other.game)


@every_environment
@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_own_hand_shows_to_its_holder_alone(make: Callable[..., Driver], num_players: int) -> None:
    """The test above could not fail if nothing ever showed."""
    driver = make(num_players=num_players, **RICH[make])
    driver.reset(num_players)
    chance = np.random.default_rng(0)
    for _ in range(10):
        play_until_all_decide(driver, 2, chance)
        other = changed(driver, other_own_tile)
        assert not same(visible(other, None), visible(driver, None))
        if make is Aec:
            turn = driver.match().turn
            assert all(same(visible(other, s), visible(driver, s)) for s in range(num_players) if s != turn)


@pytest.mark.jit
@settings(max_examples=25)
@given(st.sampled_from(PLAYERS), st.integers(0, 2**32))
def test_infos_of_a_step_do_not_depend_on_hidden_tiles(num_players: int, seed: int) -> None:
    """The same public step brings the same infos and rewards to the player who acts and to the others."""
    chance = random.Random(seed)
    env, one, twin = (fiveup_v0.raw_env(num_players=num_players, max_rounds=2, reward="points") for _ in range(3))
    compared = 0
    for step in walk(env, seed):
        if step.over:
            break
        match = env.match
        for seat, agent in enumerate(env.possible_agents):
            one.reset(options={"deal": match})
            twin.reset(options={"deal": hidden_moved(match, seat, chance)})
            if not twin.last()[0]["action_mask"][step.action]:
                continue  # an opponent without the tile
            one.step(step.action)
            twin.step(step.action)
            left, right = ((m.round_number, m.turn, m.winner) for m in (one.match, twin.match))
            settled = left[0] > match.round_number or one.match.game.phase == ROUND_OVER
            if left != right or settled:
                continue  # a block or not, and what a settlement shows, is public (R3.3, D5)
            acts = agent == one.agent_selection
            drew = step.action == DRAW and agent == step.agent  # the player who draws sees its new tile
            for name in ("events", "forced", *(() if acts and drew else ("action_mask",))):
                assert same(one.infos[agent][name], twin.infos[agent][name])
            assert one.rewards == twin.rewards
            compared += 1
    assert compared


def test_infos_say_the_same_to_all_seats_but_for_the_mask() -> None:
    env = fiveup_v0.raw_env(draws="auto", max_rounds=4)
    for step in walk(env, 3):
        public = [{name: value for name, value in info.items() if name != "action_mask"} for info in env.infos.values()]
        assert all(same(info, public[0]) for info in public)
        assert all(agent in env.possible_agents and action in (119, 120) for agent, action in step.info["forced"])


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("opponents", ["random", "greedy"])
def test_agents_do_not_use_what_is_hidden_from_them(opponents: str, num_players: int) -> None:
    """Compiled agents get the whole record: they must choose the same whatever they cannot see."""
    shuffle, env = random.Random(10), FiveUpEnv(num_players, opponents=opponents)
    for seed in range(40):
        match, firsts = Match(num_players, seed=seed), set()
        seat = (match.turn + 1) % num_players
        for _ in range(5):
            # The agent leads. All that it cannot see, the learner's hand included, is different every time.
            other = hidden_moved(match, match.turn, shuffle)
            _, info = env.reset(seed=seed, options={"deal": other, "seat": seat})
            firsts.add(info["actions"][0])
        assert len(firsts) == 1


@BELIEFS
@pytest.mark.parametrize("num_players", [3, 4])
def test_an_exact_hit_in_mid_round_shows_no_hands(num_players: int, belief: str) -> None:
    """Hands stay hidden then (D5), so what is seen at the end does not depend on them."""
    scores = [score + 30 for score in CLOSE[: sides_of(num_players)]]
    driver = SelfPlay(num_players=num_players, starting_scores=scores, belief=belief, dtype=np.uint8)
    driver.reset(num_players)
    chance, shuffle, hits = np.random.default_rng(0), random.Random(0), 0
    for _ in range(400):
        other = changed(driver, partial(hidden_moved, chance=shuffle))
        before, actions = [driver.match(i) for i in range(driver.rows)], any_legal(driver.masks(), chance)
        driver.step(actions)
        other.step(actions)
        step, twin = driver.last, other.last
        for i in np.flatnonzero(step.terminated):
            before[i].play(int(actions[i]))
            last = before[i].last_round
            if last is not None and last["end"] == "exact":
                hits += 1
                assert twin.terminated[i] and same_bits(twin.final_observation[i], step.final_observation[i])
                assert belief == "none" or same_bits(twin.final_belief[i], step.final_belief[i])
    assert hits > 10
