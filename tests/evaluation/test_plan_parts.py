"""Evaluation in parts: the same in any number of processes, resumed after a kill, stopped by precision."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation import plan_parts as parts
from fiveup_env.evaluation.match_plan import MatchPlan
from fiveup_env.evaluation.plan_parts import Folder, Job, part_size, play_parts
from fiveup_env.evaluation.statistics import LEAST_DEALS, Estimate, Precision
from tests.agents.support import First, Last, Rng
from tests.evaluation.test_match_play import same, silent
from tests.rules.support import scaled


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of five deals for all agents."""
    monkeypatch.setattr(parts, "COMPILED", 5)
    monkeypatch.setattr(parts, "ONE_BY_ONE", 5)
    monkeypatch.setattr(Policy, "together", 5)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize(
    ("a", "b"),
    [("greedy", "random"), (Rng(), "random"), (Last(), First())],
    ids=["kernels", "remembers", "batches"],
)
def test_parts_are_the_whole(num_players, a, b, small_parts):
    plan = MatchPlan(num_players, 12, 3)
    whole = parts.play_matches(*Job(a, b, num_players).agents(), plan, silent)
    assert same(play_parts(Job(a, b, num_players), plan, silent), whole)


def test_part_sizes():
    assert part_size(Greedy(), Greedy()) == parts.COMPILED
    assert part_size(First(), Greedy()) == Policy.together
    assert part_size(First(), Rng()) == parts.ONE_BY_ONE


@pytest.mark.jit
def test_two_processes_give_the_same(tmp_path):
    """One agent has its own random generator; 3 parts of 32 deals."""
    name = "tests.agents.support:Rng"
    calls: list[tuple[int, int]] = []
    one = evaluate(name, "greedy", 4, 140, max_rounds=1)
    two = evaluate(
        name, "greedy", 4, 140, max_rounds=1, processes=2, folder=tmp_path, progress=lambda *now: calls.append(now)
    )
    assert one == two and same(one.results, two.results)
    assert calls[-1] == (140, 140) and [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(list(tmp_path.glob("*.npz"))) == 3


def test_an_agent_that_cannot_be_sent_is_named(small_parts):
    agent = Rng()
    agent.lock = open(os.devnull)  # noqa: SIM115
    with agent.lock, pytest.raises(AgentError, match="an agent cannot be sent to another process"):
        evaluate(agent, "greedy", 4, 20, processes=2)


def test_saved_parts_are_not_played_again(tmp_path, small_parts, monkeypatch):
    first = evaluate("greedy", "random", 4, 20, folder=tmp_path)
    played: list[MatchPlan] = []
    real = parts.play_matches

    def noted(a, b, plan, *rest, **more):
        played.append(plan)
        return real(a, b, plan, *rest, **more)

    monkeypatch.setattr(parts, "play_matches", noted)
    assert evaluate("greedy", "random", 4, 20, folder=tmp_path) == first
    assert not played
    more = evaluate("greedy", "random", 4, 40, folder=tmp_path)
    assert [(plan.first, plan.deals) for plan in played] == [(10, 5), (15, 5)]
    assert more == evaluate("greedy", "random", 4, 40)


def test_a_folder_of_another_evaluation_is_refused(tmp_path, small_parts):
    evaluate("greedy", "random", 4, 10, folder=tmp_path)
    for arguments, what in (
        ({"a": "random"}, r"its a is 'greedy', not 'random'"),
        ({"seed": 1}, "its seed is 0, not 1"),
        ({"max_rounds": 2}, "its max_rounds is 0, not 2"),
    ):
        with pytest.raises(ValueError, match=f"holds another evaluation: {what}; give an empty folder"):
            evaluate(**({"a": "greedy", "b": "random", "matches": 10, "folder": tmp_path} | arguments))
    with pytest.raises(ValueError, match="agent A must be given by name"):
        evaluate(Greedy(), "random", 4, 10, folder=tmp_path)
    with pytest.raises(ValueError, match="cannot be used for partial results"):
        Folder(tmp_path / "about.json", {})


def test_a_half_written_part_does_not_count(tmp_path, small_parts):
    expected = evaluate("greedy", "random", 4, 20, folder=tmp_path)
    for path in tmp_path.glob("*.npz"):
        path.rename(path.with_suffix(".123.new"))
    assert evaluate("greedy", "random", 4, 20, folder=tmp_path) == expected


@pytest.mark.jit
def test_kill_and_resume_lose_nothing(tmp_path):
    """After SIGKILL the two workers exit, finished parts stay, and the resumed result is the same."""
    agent = "tests.evaluation.test_plan_parts:Sleepy"
    command = [sys.executable, "-m", "fiveup_env.cli.app", "evaluate", agent, "greedy"]
    command += ["--matches", "192", "--max-rounds", "1", "--processes", "2", "--keep", str(tmp_path), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=Path.cwd()) as process:
        deadline = time.monotonic() + 250
        while not list(tmp_path.glob("*.npz")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert 1 <= len(there) < 3
    resumed = evaluate(agent, "greedy", 4, 192, max_rounds=1, folder=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert same(resumed.results, evaluate(Rng(), "greedy", 4, 192, max_rounds=1).results)


class Sleepy(Rng):
    """Slow enough to be killed in the middle."""

    def act(self, view) -> int:
        time.sleep(0.002)
        return super().act(view)


def test_precision_is_parsed():
    assert Precision.parse("0.1") == Precision(0.1, False)
    assert Precision.parse(" 1.5% ") == Precision(0.015, True)
    assert str(Precision.parse("0.10")) == "0.1" and str(Precision.parse("2%")) == "2%"
    assert not Precision(0.1, False).reached(Estimate(0, -0.01, 0.01), LEAST_DEALS - 1)
    assert Precision(0.1, False).reached(Estimate(0, -0.1, 0.1), LEAST_DEALS)


@pytest.mark.parametrize("precision", ["0.5", "4%"])
def test_it_stops_when_it_is_precise_enough(precision, monkeypatch):
    """It plays the same deals as a fixed number of matches."""
    monkeypatch.setattr(parts, "COMPILED", 50)
    result = evaluate("greedy", "random", 4, precision=precision, seed=2)
    estimate = result.win_rate if precision.endswith("%") else result.points_per_round
    assert LEAST_DEALS <= result.deals < 5000 and result.deals % 50 == 0
    assert (estimate.high - estimate.low) / 2 <= float(precision.rstrip("%")) / (100 if "%" in precision else 1)
    assert result.precision == precision
    fixed = evaluate("greedy", "random", 4, result.matches, seed=2)
    assert np.array_equal(fixed.results.scores, result.results.scores)


def test_it_stops_at_the_most_matches(monkeypatch):
    monkeypatch.setattr(parts, "COMPILED", 50)
    result = evaluate("greedy", "random", 4, scaled(400), precision="0.001")
    assert result.matches == scaled(400) and result.deals >= 1
