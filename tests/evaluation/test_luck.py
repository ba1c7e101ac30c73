"""The control variate: luck has mean zero for all agents, per draw and in total."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fiveup_env.agents.registry import make_agent
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation.luck import (
    DRAW_POINTS,
    DRAW_WINS,
    SLOPE,
    ValueFunction,
    new_luck,
    note_draw,
    value_function,
)
from fiveup_env.evaluation.match_plan import MatchPlan
from fiveup_env.evaluation.match_play import play_matches
from fiveup_env.evaluation.matchup import evaluate
from fiveup_env.evaluation.statistics import less_luck, mean_value, ratio_of_sums
from fiveup_env.jit.compilation import entry
from fiveup_env.reports.study_reports import variance_grid
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.record import copy_games
from fiveup_env.studies.variance import measure_variance
from tests.agents.support import undecided
from tests.rules.support import PLAYERS, scaled


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize(("a", "b"), [("greedy", "random"), ("random", "random")])
def test_luck_has_mean_zero(num_players, a, b):
    """Also for unequal agents and for agents that the value function was not fitted on."""
    plan = MatchPlan(num_players, scaled(6000, 0.01), 5, 0, (0, 60))
    results = play_matches(make_agent(a), make_agent(b), plan, lambda done, total: None)
    for source in range(4):
        luck = results.luck[..., source]
        assert luck.std() > 0
        for part in (*luck.T, luck.sum(1)):  # each seating by itself, and together
            assert abs(part.mean()) < 4.5 * part.std() / math.sqrt(len(part)) + 1e-12


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_luck_of_a_draw_is_zero_over_all_that_could_be_drawn(num_players):
    """R3.2: over every remaining tile as the next, the changes sum to zero for every side."""
    value = value_function(num_players)
    seen = 0
    for match in undecided(num_players, 3, scaled(6, 0.4)):
        game = match.game
        first, end = int(game.boneyard_next), int(game.boneyard_end)
        if match.legal_actions() != [DRAW] or end - first < 2:
            continue
        games = copy_games(match._games, np.zeros(end - first, np.int64))
        for i in range(end - first):
            order = games["boneyard"][i]
            order[first], order[first + i] = order[first + i], order[first]
        luck = new_luck(len(games))
        luck[:, SLOPE] = 0.01
        _note_draws(games, value, luck)
        assert np.allclose(luck[:, [DRAW_POINTS, DRAW_WINS]].sum(0), 0, atol=1e-9)
        assert np.allclose(luck[:, DRAW_WINS], 0.01 * luck[:, DRAW_POINTS])
        seen += np.abs(luck[:, DRAW_POINTS]).max() > 0.01
    assert seen


@entry
def _note_draws(games: np.ndarray, value: ValueFunction, luck: np.ndarray) -> None:
    for i in range(len(games)):
        note_draw(games[i], value, luck[i])


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_worth_of_tiles_has_mean_zero(num_players):
    """R2.1: every place gets five of 28 tiles, each as likely; so the mean over deals is that over tiles."""
    value = value_function(num_players)
    sides = value.deal.shape[0]
    assert value.deal.shape == (sides, num_players, 28)
    assert np.allclose(value.deal.mean(2), 0, atol=1e-12)
    assert np.abs(value.deal).max() > 0.2
    # Sides gain what others lose; some symmetry is lost to float32.
    assert np.allclose(value.deal.sum(0), 0, atol=1e-4)


def test_less_luck_takes_away_what_luck_explains():
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 1, (4000, 2))
    rounds = rng.integers(5, 12, 4000).astype(float)
    lead = 0.5 * rounds + luck @ [3.0, -1.0] + rng.normal(0, 1, 4000)
    plain, without = ratio_of_sums(lead, rounds), ratio_of_sums(less_luck(lead, rounds, luck), rounds)
    assert without.low <= 0.5 <= without.high
    assert without.high - without.low < 0.4 * (plain.high - plain.low)
    assert np.array_equal(less_luck(lead[:7], rounds[:7], luck[:7]), lead[:7])  # too few to fit anything


def test_less_luck_is_unbiased_for_few_deals():
    """Over many small samples the mean is right, though the coefficients are fitted in each."""
    rng = np.random.default_rng(1)
    means = []
    for _ in range(3000):
        luck = rng.normal(0, 1, (10, 2))
        won = 0.4 + 0.2 * luck[:, 0] + rng.normal(0, 0.1, 10) + 0.1 * (luck[:, 0] ** 2 - 1)
        means.append(mean_value(less_luck(won, np.ones(10), luck)).value)
    assert abs(np.mean(means) - 0.4) < 4 * np.std(means) / math.sqrt(len(means))


def test_estimates_without_luck_agree_with_the_plain_ones():
    result = evaluate("greedy", "random", 4, scaled(2000, 0.05))
    for plain, without in (
        (result.points_per_round, result.points_without_luck),
        (result.win_rate, result.wins_without_luck),
    ):
        assert plain.low < without.value < plain.high
        assert plain.value != without.value


def test_the_variance_table():
    """All rows estimate the same; equal agents in duplicate leave nothing to measure."""
    found = measure_variance("greedy", "random", 4, scaled(1000, 0.05), 1)
    assert len(found) == 5 and len(variance_grid(found, "title").rows) == 5
    assert max(r.points for r in found) - min(r.points for r in found) < 1
    even = measure_variance("random", "random", 2, scaled(200, 0.1), 1)
    plain, duplicate, common = even[0], even[2], even[3]
    assert common.deals_for_points == pytest.approx(0, abs=1e-9) and common.deals_for_wins == pytest.approx(0, abs=1e-9)
    assert duplicate.deals_for_points > 0.2 * plain.deals_for_points  # each seating with its own random numbers


def test_the_variance_command(capsys):
    assert run(["variance", "greedy", "random", "--matches", "20", "--players", "2"]) == 0
    shown = capsys.readouterr().out
    assert "variate" in shown and "duplicate" in shown
    assert run(["variance", "greedy", "nobody"]) == 2
    assert "there is no agent 'nobody'" in capsys.readouterr().err
