"""`evaluate`: symmetric, determined by its seed, with clear errors."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from fiveup_env.agents.protocol import AgentError
from fiveup_env.evaluation import MatchUp, evaluate
from fiveup_env.reports.matchup_report import matchup_grid, matchup_notes, matchup_report
from tests.agents.support import First, Rng
from tests.rules.support import PLAYERS, scaled


def named(agent) -> str:
    """Test id that is the same in every process, for pytest-xdist."""
    return agent if isinstance(agent, str) else type(agent).__name__


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("agent", ["random", "greedy", Rng()], ids=named)
def test_an_agent_against_itself_is_exactly_even(num_players, agent):
    """All seatings of a deal are then the same match, of which every side wins its share."""
    result = evaluate(agent, agent, num_players, scaled(30, 0.2))
    assert result.win_rate.value == pytest.approx(result.chance, abs=1e-12)
    assert result.win_rate.high - result.win_rate.low < 1e-9
    assert result.points_per_round.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("num_players", [2, 4])
@pytest.mark.parametrize(("a", "b"), [("greedy", "random"), (First(), "random"), (Rng(), First())], ids=named)
def test_two_sides_are_antisymmetric(num_players, a, b):
    matches = scaled(40, 0.1)
    one, other = (evaluate(*pair, num_players, matches, seed=3) for pair in ((a, b), (b, a)))
    assert one.win_rate.value == pytest.approx(1 - other.win_rate.value)
    assert one.win_rate.low == pytest.approx(1 - other.win_rate.high)
    assert one.points_per_round.value == pytest.approx(-other.points_per_round.value)
    assert one.rounds_per_match == other.rounds_per_match


@pytest.mark.parametrize("num_players", PLAYERS)
def test_greedy_beats_random(num_players):
    result = evaluate("greedy", "random", num_players, scaled(600, 0.05))
    assert result.win_rate.low > result.chance
    assert result.points_per_round.low > 0
    assert result.chance == {2: 1 / 2, 3: 1 / 3, 4: 1 / 2}[num_players]


def test_what_is_counted():
    matches = scaled(100, 0.1)
    result = evaluate("greedy", "random", 3, matches, seed=5)
    assert (result.deals, result.matches) == (matches // 3 + 1, matches + 2)  # rounded up to whole deals
    won = result.results.winner == np.arange(3)
    assert result.win_rate.value == pytest.approx(won.mean())
    assert result.rounds_per_match == pytest.approx(result.results.rounds.mean())
    assert result.points_per_round.value == pytest.approx(result.results.lead.sum() / result.results.rounds.sum())
    assert result.unfinished == 0


def test_unfinished_matches_count_as_chance():
    result = evaluate("greedy", "random", 2, 10, max_rounds=1)
    assert result.unfinished == 10 and result.max_rounds == 1
    assert result.win_rate.value == 0.5
    assert result.rounds_per_match == 1
    assert result.points_per_round.value != 0


def test_the_seed_decides_everything():
    assert evaluate("greedy", "random", 4, 4, seed=1) == evaluate("greedy", "random", 4, 4, seed=1)
    assert evaluate("greedy", "random", 4, 4, seed=1) != evaluate("greedy", "random", 4, 4, seed=2)
    assert evaluate("random", Rng(), 4, 4, seed=1) == evaluate("random", Rng(), 4, 4, seed=1)


def test_names():
    result = evaluate("greedy", First(), 4, 2)
    assert (result.a, result.b) == ("greedy", "First")


def test_as_dict_is_json():
    plain = json.loads(json.dumps(evaluate("greedy", "random", 4, 2).as_dict(), allow_nan=False))
    assert plain["win_rate"]["interval"] == [0, 1]  # a single deal
    assert plain["points_per_round"]["interval"] == plain["wins_without_luck"]["interval"] == [None, None]
    assert (plain["a"], plain["b"], plain["matches"], plain["chance"]) == ("greedy", "random", 2, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matches": 0}, "matches must be an integer from 1 to 1000000000, not 0"),
        ({"matches": 2.5}, "matches must be an integer"),
        ({"num_players": 5}, "num_players must be an integer from 2 to 4, not 5"),
        ({"seed": -1}, "a seed is an integer from 0"),
        ({"max_rounds": 0}, "max_rounds must be an integer from 1"),
        ({"start": (-1, 5)}, r"start\[0\] must be an integer from 0 to 60, not -1"),
        ({"start": (30, 20)}, r"start\[1\] must be an integer from 30 to 60, not 20"),
        ({"start": (0, 61)}, r"start\[1\] must be an integer from 0 to 60, not 61"),
        ({"processes": 0}, "processes must be an integer from 1 to 1024, not 0"),
        ({"timeout": 0.0}, "timeout must be a positive number of seconds, not 0.0"),
        ({"precision": "tight"}, r"a precision is written 0.1 \(points per deal\) or 1% \(win rate"),
        ({"precision": "0"}, "a precision is written"),
        ({"precision": "50%"}, "a precision is written"),
        ({"b": "nobody"}, "there is no agent 'nobody'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(**({"a": "greedy", "b": "random", "matches": 2} | arguments))


def test_an_agent_error_is_a_value_error():
    assert issubclass(AgentError, ValueError)


def shown(result: MatchUp, width: int = 100) -> str:
    text = io.StringIO()
    Console(width=width, file=text).print(matchup_grid(result).rich())
    return text.getvalue()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_table_shows_the_figures(num_players):
    result = evaluate("greedy", "random", num_players, 6)
    text = shown(result)
    for piece in ("greedy against random", f"{100 * result.win_rate.value:.1f}%", f"{100 * result.chance:.1f}%"):
        assert piece in text
    assert f"{result.points_per_round.value:+.2f}" in text
    assert "95% interval" in text and "Wilson" in text and "6 matches" in text
    assert len(matchup_grid(result).rows) == 2 and "without luck" not in text


@pytest.mark.parametrize(("starts", "rows"), [(99, 2), (100, 4)])
def test_results_without_luck_require_enough_starts(starts, rows):
    """With ten starts the interval would exceed 100%: the fit of the control variate needs more."""
    result = evaluate("greedy", "random", 4, 2 * starts)
    assert len(matchup_grid(result).rows) == rows
    page = matchup_report(result).html("")
    assert ("without luck: " in shown(result)) is ("without luck" in page) is (rows == 4)


def test_a_slow_match_up_has_a_pace():
    result = replace(evaluate("greedy", "random", 4, 2), seconds=12.3)
    assert "6 s per match" in shown(result) and "matches/s" not in shown(result)


def test_the_report_names_unfinished_matches():
    text = "\n".join(matchup_notes(evaluate("greedy", "random", 4, 4, max_rounds=1)))
    assert "4 unfinished after 1 rounds, each counted as 50.0% won" in text
