"""Cross-play: the matrix and its gap, also for policies with a private convention."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy, Random
from fiveup_env.agents.protocol import Policy
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation import evaluate
from fiveup_env.reports.study_reports import cross_play_report
from fiveup_env.studies.cross_play import cross_play, gap, labels
from fiveup_env.views.view import Views
from tests.rules.support import scaled

HERE = "tests.studies.test_cross_play"


class Convention(Policy):
    """Greedy in two seats (0 and 1, or 2 and 3), random in the others."""

    def __init__(self, good: int) -> None:
        self.good = good

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        actions = Random().act_many(views, keys)
        own = views.seats // 2 == self.good
        actions[own] = Greedy().act_many(Views(views.games[own], views.seats[own]), keys[own])
        return actions


def test_the_matrix():
    agents = ["greedy", "random", "heuristic"]
    result = cross_play(agents, ["pimc:worlds=2"], "greedy", scaled(60, 0.1), 3)
    assert set(result.cells) == {(r, k) for r in range(3) for k in range(r, 4)}
    assert result.cell(2, 0) is result.cell(0, 2)
    assert result.cells[0, 0] == evaluate("greedy", "greedy", 4, scaled(60, 0.1), 3)
    assert result.cells[0, 3].a == "pair:greedy with pimc:worlds=2"
    own = np.mean([result.cells[i, i].win_rate.value for i in range(3)])
    crossed = np.mean([result.cells[k].win_rate.value for k in ((0, 1), (0, 2), (1, 2))])
    assert result.wins.value == pytest.approx(own - crossed)
    assert json.dumps(result.as_dict(), allow_nan=False)
    assert [len(grid.rows) for grid in cross_play_report(result).grids][:3] == [3, 3, 4]


def test_the_gap_of_private_conventions():
    """By construction these policies do better across than in self-play."""
    a, b = f"{HERE}:Convention:good=0", f"{HERE}:Convention:good=1"
    result = cross_play([a, b], (), "random", scaled(400), 1)
    # a with b: greedy at the first seat, greedy at the second; each with itself has one random seat.
    assert result.points.high < 0 and result.wins.high < 0
    assert result.of_agent(0)[0].high < 0
    same = gap([result.cells[0, 0]], [result.cells[0, 0]])
    assert same[0].value == same[0].low == same[0].high == 0


def test_the_gap_covers():
    """The truth lies in most intervals."""
    agents = ["greedy", "heuristic"]
    truth = cross_play(agents, (), "greedy", scaled(20_000, 0.01), 77).points.value
    hits = 0
    for seed in range(scaled(40)):
        found = cross_play(agents, (), "greedy", 100, seed).points
        hits += found.low <= truth <= found.high
    assert hits >= 0.85 * scaled(40)


def test_refused_agents():
    with pytest.raises(ValueError, match="at least two runs"):
        cross_play(["greedy"])
    with pytest.raises(ValueError, match="greedy is given twice"):
        cross_play(["greedy", "random"], ["greedy"])


def test_the_command(tmp_path, capsys):
    command = ["crossplay", "greedy", "random", "--with", "heuristic", "--matches", "20", "--keep", str(tmp_path / "k")]
    assert run([*command, "--report", str(tmp_path / "card")]) == 0
    shown = capsys.readouterr().out
    assert "Self-play minus cross-play" in shown and "Cross-play: win rate" in shown
    assert sorted(path.name for path in (tmp_path / "card").iterdir()) == ["index.html", "report.json", "report.md"]
    assert len(list((tmp_path / "k").iterdir())) == 5
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gap"]["points"]
    assert run(["crossplay", "greedy", "random", "--players", "3"]) == 2
    assert "fiveup tournament" in capsys.readouterr().err
    assert run(["crossplay", "greedy"]) == 2


def test_labels_are_folders_of_runs(tmp_path):
    files = []
    for run_name in ("one", "two"):
        (tmp_path / run_name).mkdir()
        files.append(str(tmp_path / run_name / "policy.safetensors"))
        (tmp_path / run_name / "policy.safetensors").write_text("")
    assert labels([*files, "greedy"]) == ["one", "two", "greedy"]
    assert labels([files[0], files[0]]) == [files[0], files[0]]
    assert labels([files[0], "one"]) == [files[0], "one"]
