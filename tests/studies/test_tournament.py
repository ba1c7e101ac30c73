"""Bradley-Terry ratings: they find the true strengths, intervals cover, and circles are named."""

from __future__ import annotations

import io
import itertools
import json

import numpy as np
import pytest
from rich.console import Console

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation import plan_parts as parts
from fiveup_env.reports.study_reports import tournament_grids
from fiveup_env.studies.tournament import ELO, bradley_terry, f_tail, round_robin
from tests.agents.support import First
from tests.rules.support import scaled

TRUE = np.array([0.9, 0.1, -0.2, -0.8])  # mean zero, in log odds


def simulated(rng: np.random.Generator, deals: int, sides: int, common: float = 0.5) -> tuple[list, np.ndarray]:
    """Pairs and A's share of every deal; pairs share part of a deal's luck, as with duplicate deals."""
    order = itertools.permutations if sides == 3 else itertools.combinations
    pairs = list(order(range(4), 2))
    shares = np.empty((deals, len(pairs)))
    luck = rng.random(deals)
    for k, (a, b) in enumerate(pairs):
        chance = 1 / (1 + (sides - 1) * np.exp(TRUE[b] - TRUE[a]))
        draws = np.where(rng.random((deals, sides)) < common, luck[:, None], rng.random((deals, sides)))
        shares[:, k] = (draws < chance).mean(1)
    return pairs, shares


@pytest.mark.parametrize("sides", [2, 3])
def test_ratings_find_the_truth_and_cover_it(sides):
    """200 tournaments of 150 deals: every interval holds the true rating in 92% to 98% of them."""
    rng, hits, small_p = np.random.default_rng(3), np.zeros(4), 0
    values = np.zeros(4)
    for _ in range(200):
        pairs, shares = simulated(rng, 150, sides)
        result = bradley_terry(pairs, shares, sides, 4)
        hits += [r.low <= ELO * true <= r.high for r, true in zip(result.ratings, TRUE, strict=True)]
        values += [r.value for r in result.ratings]
        small_p += result.p_value < 0.05
    assert (hits >= 0.92 * 200 - 1e-9).all() and (hits <= 0.98 * 200 + 1e-9).all(), hits
    assert np.abs(values / 200 - ELO * TRUE).max() < 6
    assert small_p < 0.11 * 200  # the model is right: a p-value below 0.05 has probability 0.05


def test_ratings_have_mean_zero_and_are_finite_where_one_side_won_all():
    result = bradley_terry([(0, 1)], np.ones((50, 1)), 2, 2)
    one, other = (r.value for r in result.ratings)
    assert one == pytest.approx(-other) and 100 < one < 1000
    assert result.freedom == 0 and result.p_value == 1


def test_a_circle_is_seen():
    """Rock, paper, scissors: equal ratings and a significant deviation."""
    rng = np.random.default_rng(0)
    pairs = [(0, 1), (1, 2), (0, 2)]
    shares = (rng.random((400, 3)) < [0.7, 0.7, 0.3]).astype(float)
    result = bradley_terry(pairs, shares, 2, 3)
    assert max(abs(r.value) for r in result.ratings) < 40
    assert result.freedom == 1 and result.p_value < 1e-6


@pytest.mark.parametrize(
    ("value", "freedom", "rest", "tail"),
    [(4.03, 1, 50, 0.05), (3.18, 2, 50, 0.05), (2.03, 10, 50, 0.05), (1.83, 10, 10**6, 0.05), (1, 2, 10**6, 0.368)],
)
def test_the_tail_of_f(value, freedom, rest, tail):
    """The printed table."""
    assert f_tail(value, freedom, rest) == pytest.approx(tail, abs=0.01)


@pytest.mark.parametrize("num_players", [3, 4])
def test_a_round_robin(num_players):
    agents = ["greedy", "random", First()]
    result = round_robin(agents, num_players, scaled(150, 0.1), 4)
    assert result.agents == ("greedy", "random", "First")
    assert len(result.match_ups) == (6 if num_players == 3 else 3)
    best = max(result.ratings.ratings, key=lambda r: r.value)
    assert best is result.ratings.ratings[0]
    assert sum(r.value for r in result.ratings.ratings) == pytest.approx(0, abs=1e-6)
    json.dumps(result.as_dict(), allow_nan=False)
    text = io.StringIO()
    for grid in tournament_grids(result):
        Console(width=150, file=text).print(grid.rich())
    assert "greedy" in text.getvalue() and "no circle" in text.getvalue() and "T²" in text.getvalue()


def test_bad_round_robins():
    with pytest.raises(ValueError, match="at least two agents"):
        round_robin(["greedy"])
    with pytest.raises(ValueError, match="agent greedy is given twice"):
        round_robin(["greedy", "random", "greedy"])


def test_the_command(capsys):
    assert run(["tournament", "greedy", "random", "--matches", "20", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["ratings"]) == {"greedy", "random"}
    assert run(["tournament", "greedy"]) == 2
    assert "at least two agents" in capsys.readouterr().err


def test_a_tournament_is_kept_and_reported(tmp_path, capsys, monkeypatch):
    """A second run plays nothing; with another agent it plays only that agent's pairs."""
    kept, card = tmp_path / "kept", tmp_path / "card"
    command = ["tournament", "greedy", "random", "--matches", "20", "--keep", str(kept)]
    assert run([*command, "--report", str(card), "--endgames", "4"]) == 0
    first = json.loads((card / "report.json").read_text())
    assert first["endgame"]["agents"].keys() == first["conduct"].keys() == {"greedy", "random"}
    page = (card / "index.html").read_text()
    assert page.count("<svg") == 1 and "Endgame regret" in page and "Behaviour" in page
    assert "| greedy |" in (card / "report.md").read_text()
    played = []
    real = parts.play_matches
    monkeypatch.setattr(
        parts, "play_matches", lambda a, b, *rest, **more: played.append(b) or real(a, b, *rest, **more)
    )
    assert run([*command, "--json"]) == 0
    assert not played
    capsys.readouterr()
    assert run(["tournament", "greedy", "random", "heuristic", *command[3:]]) == 0
    assert len(played) == 2
    assert "heuristic" in capsys.readouterr().out


def test_a_tournament_with_forfeits(tmp_path, capsys):
    slow = "tests.evaluation.test_match_recording:Slow"
    command = ["tournament", "greedy", slow, "--matches", "4", "--timeout", "0.02", "--report", str(tmp_path)]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert f"greedy against {slow}: forfeits 0 and 4" in shown.out
    assert "the report has no endgames: matches were forfeited" in shown.err
    assert json.loads((tmp_path / "report.json").read_text())["endgame"] is None
    (tmp_path / "file").write_text("")
    assert run([*command[:-1], str(tmp_path / "file")]) == 2
    assert "cannot write the report to" in capsys.readouterr().err
