"""`fiveup analyse`: estimates from the view alone, exact belief, endgame solver."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from fiveup_env.agents.search.endgame import double_dummy
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.belief.resample import resample
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.play.analysis import Analysis, analyse, analysis_report, position_of_seed
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View
from tests.rules.support import scaled

WORLDS = scaled(200, 0.02)


def shown(analysis: Analysis) -> str:
    text = io.StringIO()
    Console(width=200, file=text).print(analysis_report(analysis))
    return text.getvalue()


def test_candidates_are_the_legal_actions_best_first():
    match = position_of_seed(3, 7)
    found = analyse(match, worlds=WORLDS, seed=1)
    assert sorted(c.action for c in found.candidates) == match.legal_actions()
    values = [c.value.value for c in found.candidates]
    assert values == sorted(values, reverse=True)
    legal, outcomes = PIMC().outcomes(View.of(match), 1, WORLDS)
    for c in found.candidates:
        column = outcomes[:, legal.index(c.action)]
        assert c.value.value == pytest.approx(column.mean())
        assert c.behind.value == pytest.approx(values[0] - c.value.value)
        assert c.value.low <= c.value.value <= c.value.high
        assert c.value.low >= 0 and c.value.high <= 1
    assert found.candidates[0].behind.low == found.candidates[0].behind.high == 0


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_estimates_use_the_view_only(num_players):
    """R2.2, D6: a match with the same view gets the same estimates and belief."""
    match = position_of_seed(5, 6, num_players)
    other = resample(match, match.turn, rng=2)
    assert match != other
    one, two = analyse(match, worlds=WORLDS, seed=1), analyse(other, worlds=WORLDS, seed=1)
    assert one.candidates == two.candidates
    assert np.array_equal(one.belief.place_counts(), two.belief.place_counts())


def test_more_worlds_narrow_the_interval():
    match = position_of_seed(3, 7)
    few, many = (analyse(match, worlds=n, seed=1).candidates[0].value for n in (WORLDS, 16 * WORLDS))
    assert many.high - many.low < 0.6 * (few.high - few.low)


def test_the_solver():
    match = Match.from_deal([[(0, 1), (1, 5), (5, 5)], [(1, 2), (2, 5)]], [], 0)
    found = analyse(match, worlds=8)
    assert found.solution == double_dummy(match)
    text = shown(found)
    assert "all hands known" in text and describe(found.solution.line[0]) in text
    # With an empty boneyard the other hand is known, so all worlds are equal.
    assert all(c.value.low == pytest.approx(c.value.high, abs=1e-6) for c in found.candidates)


def test_the_report():
    match = position_of_seed(0, 5)
    found = analyse(match, worlds=WORLDS)
    text = shown(found)
    assert all(describe(c.action) in text for c in found.candidates)
    assert f"{Belief(View.of(match)).count:,} deals agree" in text
    assert "endgame solver: needs an empty boneyard" in text
    assert f"player_{match.turn} to act" in text and "chance to win the match" in text


def test_positions():
    assert position_of_seed(4) == Match(4, 4)
    later = position_of_seed(4, 9)
    assert len(later.legal_actions()) > 1
    assert later == position_of_seed(4, 9)
    with pytest.raises(ValueError, match=r"the match of seed 4 is over after \d+ actions: no decision at 100000 or"):
        position_of_seed(4, 100_000)
    with pytest.raises(ValueError, match="worlds must be an integer from 2 to 1000000, not 1"):
        analyse(later, worlds=1)


def test_the_command(capsys):
    assert run(["analyse", "--seed", "3", "--plies", "7", "--worlds", str(WORLDS)]) == 0
    assert "Legal actions" in capsys.readouterr().out
    assert run(["analyse", "--seed", "3", "--plies", "100000"]) == 2
    assert capsys.readouterr().err.startswith("fiveup: the match of seed 3 is over after ")
