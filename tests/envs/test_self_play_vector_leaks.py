"""Nothing that a seat cannot know is in what the vector envs show (R2.2, D6), to the last bit."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.match import Match
from tests.agents.support import reshuffled
from tests.envs.trace import CLOSE, same_bits, sides_of
from tests.envs.vectors import Player, any_legal, same_step, snapshot

COUNT = 12
BELIEFS = pytest.mark.parametrize(
    "belief", ["none", *(pytest.param(kind, marks=pytest.mark.jit) for kind in ("exact", "likely"))]
)
NOBODY = np.zeros(COUNT, np.bool_)
"""A reset of no match shows all of them again."""


def hidden_moved(env: Any, seed: int) -> Any:
    """A copy of the env in which all that the seats to act cannot see has changed places, and the seeds are others."""
    other, chance = copy.deepcopy(env), random.Random(seed)
    for i in range(COUNT):
        other.games[i] = reshuffled(Match.of(env.games[i]), chance).game
    return other


@BELIEFS
@pytest.mark.parametrize("num_players", [2, 3, 4])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_self_play_shows_the_same_whatever_is_hidden(num_players: int, belief: str, seed: int) -> None:
    env = SelfPlayVectorEnv(COUNT, num_players=num_players, reward="equity", dtype=np.uint8, belief=belief)
    step, player = env.reset(seed), Player(env, seed)
    differ = 0
    for _ in range(12):
        for _ in range(5):
            step = env.step(player())
        other = hidden_moved(env, seed)
        differ += (other.games["hands"] != env.games["hands"]).any(1).sum()
        shown = other.reset(reset_mask=NOBODY)
        for name in ("observation", "action_mask", "seat", "side", "belief"):
            assert same_bits(getattr(shown, name), getattr(step, name)), name
    assert differ > 100  # of 144: late in a round little is left to permute


@BELIEFS
@pytest.mark.parametrize("num_players", [2, 4])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
def test_the_learner_sees_the_same_whatever_is_hidden(num_players: int, belief: str, seed: int) -> None:
    env = FiveUpVectorEnv(COUNT, num_players, opponents="greedy", belief=belief)
    seen, _ = env.reset(seed=seed)
    chance = np.random.default_rng(seed)
    for _ in range(12):
        for _ in range(3):
            seen, *_, info = env.step(any_legal(seen["action_mask"], chance))
        other = hidden_moved(env, seed)
        shown, told = other.reset(options={"reset_mask": NOBODY})
        assert all(same_bits(shown[name], seen[name]) for name in seen)
        assert all(same_bits(told[name], info[name]) for name in ("seat", "side", "action_mask"))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_the_own_hand_shows(seed: int) -> None:
    env = SelfPlayVectorEnv(COUNT)
    step = snapshot(env.reset(seed))
    for game in env.games:
        seat = int(game.turn)
        game.hands[seat], game.hands[1 - seat % 2] = game.hands[1 - seat % 2], game.hands[seat]
    changed = env.reset(reset_mask=NOBODY)
    assert (changed.observation != step["observation"]).any(1).all() and not same_step(snapshot(changed), step)


@BELIEFS
@pytest.mark.parametrize("num_players", [3, 4])
def test_an_exact_hit_in_mid_round_shows_no_hands(num_players: int, belief: str) -> None:
    """Hands stay hidden then (D5), so what is seen at the end does not depend on them."""
    scores = [score + 30 for score in CLOSE[: sides_of(num_players)]]
    given = {"num_players": num_players, "starting_scores": scores, "belief": belief}
    env = SelfPlayVectorEnv(COUNT, final_observation=True, dtype=np.uint8, **given)
    env.reset(num_players)
    player, hits = Player(env), 0
    for turn in range(200):
        other = hidden_moved(env, turn)
        before, actions = [env.match(i) for i in range(COUNT)], player().copy()
        step, twin = env.step(actions), other.step(actions)
        for i in np.flatnonzero(step.terminated):
            before[i].play(int(actions[i]))
            last = before[i].last_round
            if last is not None and last["end"] == "exact":
                hits += 1
                assert twin.terminated[i] and same_bits(twin.final_observation[i], step.final_observation[i])
                assert belief == "none" or same_bits(twin.final_belief[i], step.final_belief[i])
    assert hits > 10
