"""Nothing leaks: what an agent gets does not depend on what its seat cannot know (R2.2, D6)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env import Match, fiveup_v0
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.record import ROUND_OVER
from fiveup_env.rules.tiles import tile_index, tile_set
from tests.envs.aecs import legal, same, walk, with_hidden_tiles_moved

KINDS: list[dict[str, Any]] = [{}, {"observation": "dict", "history_length": 10}, {"belief": "exact"}]


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=6)
@given(st.sampled_from([2, 3, 4]), st.integers(0, 2**32))
def test_observations_do_not_depend_on_hidden_tiles(kind: dict[str, Any], num_players: int, seed: int) -> None:
    """At every step, for every seat: other hands, boneyard and seed dealt anew change nothing that it observes."""
    chance = random.Random(seed)
    env, twin = (fiveup_v0.raw_env(num_players=num_players, max_rounds=2, **kind) for _ in range(2))
    env.reset(seed=seed)
    for step in walk(env, seed):
        if step.over:
            break
        match = env.match
        for seat, agent in enumerate(env.possible_agents):
            moved = with_hidden_tiles_moved(match, seat, chance)
            twin.reset(options={"deal": moved})
            assert same(twin.observe(agent), env.observe(agent))
            if agent == step.agent:
                assert same(twin.infos[agent]["action_mask"], env.infos[agent]["action_mask"])


@pytest.mark.jit
@settings(max_examples=25)
@given(st.sampled_from([2, 3, 4]), st.integers(0, 2**32))
def test_infos_of_a_step_do_not_depend_on_hidden_tiles(num_players: int, seed: int) -> None:
    """Whoever acts, and whoever watches: the same public step brings the same infos and rewards."""
    chance = random.Random(seed)
    env, one, twin = (fiveup_v0.raw_env(num_players=num_players, max_rounds=2, reward="points") for _ in range(3))
    env.reset(seed=seed)
    compared = 0
    for step in walk(env, seed):
        if step.over:
            break
        match = env.match
        for seat, agent in enumerate(env.possible_agents):
            one.reset(options={"deal": match})
            twin.reset(options={"deal": with_hidden_tiles_moved(match, seat, chance)})
            if step.action not in legal(twin.last()[0]["action_mask"]):
                continue  # an opponent without the tile
            one.step(step.action)
            twin.step(step.action)
            left, right = ((m.round_number, m.turn, m.winner) for m in (one.match, twin.match))
            settled = left[0] > match.round_number or one.match.game.phase == ROUND_OVER
            if left != right or settled:
                continue  # a block or not, and what a settlement shows, is public (R3.3, D5)
            acts = agent == one.agent_selection
            drew = step.action == DRAW and agent == step.agent  # who draws sees its own new tile
            for name in ("events", "forced", *(() if acts and drew else ("action_mask",))):
                assert same(one.infos[agent][name], twin.infos[agent][name])
            assert one.rewards == twin.rewards
            compared += 1
    assert compared


def test_infos_say_the_same_to_all_seats_but_for_the_mask() -> None:
    env = fiveup_v0.raw_env(draws="auto", max_rounds=4)
    env.reset(seed=3)
    for step in walk(env, 3):
        public = [{name: value for name, value in info.items() if name != "action_mask"} for info in env.infos.values()]
        assert all(same(info, public[0]) for info in public)
        assert all(agent in env.possible_agents and action in (119, 120) for agent, action in step.info["forced"])


@settings(max_examples=10)
@given(st.sampled_from([2, 3, 4]), st.integers(0, 2**32))
def test_own_tiles_show(num_players: int, seed: int) -> None:
    """The test above could not fail if nothing ever showed: another own hand does, to its holder alone."""
    chance = random.Random(seed)
    env, twin = (fiveup_v0.raw_env(num_players=num_players, max_rounds=1) for _ in range(2))
    env.reset(seed=seed)
    for step in walk(env, seed):
        match = env.match
        if step.over or not match.boneyard:
            break
        seat = chance.randrange(num_players)
        changed = match.copy()
        own = list(match.hands[seat])
        own[0] = match.boneyard[0]
        changed.game.hands[seat] = tile_set(own)
        changed.game.boneyard[int(changed.game.boneyard_next)] = tile_index(match.hands[seat][0])
        twin.reset(options={"deal": Match.of(changed.game)})
        for agent in env.possible_agents:
            assert same(twin.observe(agent), env.observe(agent)) == (agent != f"player_{seat}")
