"""Rewards by the match-equity table, recomputed from the matches."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from fiveup_env.agents.baseline_kernels import GREEDY, choose_many
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.record import Variant
from tests.envs.environments import Player
from training._standing import TABLE, Standing, chances_by_opener


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_the_table_by_side_is_the_shipped_one(num_players):
    """The index is that of `agents.search.equity`: points of the opener's side first, then clockwise."""
    sides, flat = Variant(num_players).num_sides, shipped_table(num_players)
    chances, rng = chances_by_opener(num_players), np.random.default_rng(0)
    for _ in range(200):
        to_go, opener, side = rng.integers(1, 62, sides), int(rng.integers(sides)), int(rng.integers(sides))
        at = 0
        for k in range(sides):
            at = at * 61 + to_go[(opener + k) % sides] - 1
        assert chances[(opener, *(to_go - 1), side)] == flat[at * sides + (side - opener) % sides]
    np.testing.assert_allclose(chances[-1], chances[:-1].mean(0), atol=1e-6)
    np.testing.assert_allclose(chances.sum(-1), 1, atol=1e-4)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_a_round_adds_up_to_the_change_of_the_chance(num_players):
    """From the mean over openers at the first decision to the actual opener at the end, or to 0 or 1 (R6.2)."""
    env = SelfPlayVectorEnv(
        32, num_players=num_players, episode="round", continue_match=True, draws="auto", skip_single=True, reward="win"
    )
    player, standing = Player(env), Standing(env, TABLE)
    chances, sides = chances_by_opener(num_players), env.num_sides
    env.reset(1, scores=np.full(sides, 200))
    standing.begin()

    def chance(scores, opener):
        to_go = np.minimum((305 - scores) // 5, 61)
        return chances[(opener, *(to_go - 1))]

    starts = env.games["scores"][:, :sides].copy()
    total, won, lost_lot = np.zeros((32, sides)), 0, 0
    for _ in range(400):
        step = env.step(player())
        rewards = standing.after(step)
        np.testing.assert_allclose(rewards.sum(1), 0, atol=1e-3)
        total += rewards
        for i in step.terminated.nonzero()[0]:
            scores = step.final_scores[i].astype(int)
            if (scores == 305).any():
                end, won = (scores == 305).astype(float), won + 1
            else:
                end, lost_lot = chance(scores, int(env.games["opener"][i]) % sides), lost_lot + 1
                assert (env.games["scores"][i, :sides] == scores).all()
            np.testing.assert_allclose(total[i], 2 * (end - chance(starts[i].astype(int), -1)), atol=1e-4)
            total[i] = 0
            starts[i] = env.games["scores"][i, :sides]
    assert won > 20 and lost_lot > 50


def test_other_schemes_are_the_envs_own():
    env = SelfPlayVectorEnv(8, num_players=4, episode="round", continue_match=True, draws="auto", reward="equity")
    player, standing = Player(env), Standing(env, "equity")
    env.reset(0)
    standing.begin()
    gained = 0.0
    for _ in range(50):
        step = env.step(player())
        assert (standing.after(step) == step.rewards).all()
        gained += np.abs(step.rewards).sum()
    assert gained > 0


@pytest.mark.parametrize("scheme", ["equity", "points", TABLE])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_the_outlook_is_the_result_of_greedy_play(scheme, num_players):
    """Rounds played out by the greedy agent give the predicted rewards."""
    env = SelfPlayVectorEnv(
        32,
        num_players=num_players,
        episode="round",
        continue_match=True,
        draws="auto",
        skip_single=True,
        reward="win" if scheme == TABLE else scheme,
    )
    standing, player, sides = Standing(env, scheme), Player(env), env.num_sides
    step = env.reset(3, scores=np.full(sides, 150))
    standing.begin()
    for _ in range(5):
        step = env.step(player())
        standing.after(step)
    side = step.side.astype(int)
    predicted = standing.outlook(side)
    gained, going = np.zeros((32, sides)), np.ones(32, bool)
    while going.any():
        actions = np.zeros(32, np.int64)
        choose_many(env.games, GREEDY, np.zeros(32, np.uint64), actions)
        step = env.step(actions)
        gained[going] += standing.after(step)[going]
        going &= ~step.terminated
    for k in range(sides):
        np.testing.assert_allclose(predicted[:, k], gained[np.arange(32), (side + k) % sides], atol=1e-4)
    assert np.abs(predicted).max() > 0.1
