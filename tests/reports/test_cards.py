"""Report cards: a self-contained page, its JSON, and their comparison."""

from __future__ import annotations

import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation.match_plan import Forfeit, MatchPlan, Results
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.reports.matchup_report import matchup_content, matchup_report, verdict
from fiveup_env.reports.plots import Axis, ticks
from fiveup_env.reports.report_comparison import compare_reports, read_report
from fiveup_env.reports.report_writer import write_report
from tests.agents.support import First


def made_up(edge: float, deals: int = 300, num_players: int = 4, seed: int = 0, noise: int = 0) -> MatchUp:
    """An invented match-up in which A leads by `edge` points per deal, with the same luck for every edge."""
    rng = np.random.default_rng(seed)
    plan = MatchPlan(num_players, deals, seed)
    results = Results.empty(plan)
    shape = results.rounds.shape
    results.rounds[:] = rng.integers(5, 12, shape)
    luck = rng.normal(0, 10, shape) + np.random.default_rng(noise).normal(0, 1, shape)
    results.luck[..., 0] = luck
    own = np.rint(25 + luck + edge * results.rounds).astype(int)
    for seating in range(plan.sides):
        results.scores[:, seating] = 5 * 25
        results.scores[:, seating, seating] = 5 * own[:, seating]
        results.winner[:, seating] = np.where(own[:, seating] > 25, seating, (seating + 1) % plan.sides)
    if edge < 0:
        results = Results(*(getattr(results, n) for n in Results.ARRAYS), (Forfeit(0, 0, True, "agent <b>: & fell"),))
    return MatchUp.of(("one<i>", "greedy"), plan, results, 1.5, None)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("deals", [1, 2, 300])
def test_the_page_is_self_contained(num_players, deals):
    m = made_up(-0.5, deals, num_players)
    text = matchup_report(m).html("fiveup evaluate 'one<i>' greedy")
    body = re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", text)
    root = ElementTree.fromstring(body)  # well formed, and every name escaped
    assert len(root.findall(".//svg")) == 5
    assert "one<i>" in "".join(root.itertext()) and "agent <b>: & fell" in "".join(root.itertext())
    assert not re.search(r"https?://|<script|src=|url\(", text)
    assert not re.search(r"\b(nan|inf)\b", text)
    assert ("unknown" in text) == (deals == 1)


def test_the_verdict():
    assert verdict(made_up(1)).startswith("one<i> is better, by ")
    assert verdict(made_up(-1)).startswith("greedy is better, by ")
    assert verdict(made_up(0.0, 20)).startswith("No difference is shown: ")


def test_the_json_says_the_same(tmp_path):
    m = made_up(0.5)
    path = write_report(matchup_report(m), tmp_path / "new" / "card", "fiveup evaluate a b")
    assert path.name == "index.html" and sorted(p.name for p in path.parent.iterdir()) == ["index.html", "report.json"]
    report = read_report(path.parent)
    assert (report.pop("command"), set(report.pop("machine")) > set()) == ("fiveup evaluate a b", True)
    assert report == json.loads(json.dumps(matchup_content(m)))
    assert report["points_per_round"]["value"] == m.points_per_round.value
    lead, rounds = np.array(report["starts"]["lead"]), np.array(report["starts"]["rounds"])
    assert lead.sum() / 5 / rounds.sum() == pytest.approx(m.points_per_round.value)
    assert np.mean(report["starts"]["won"]) / 2 == pytest.approx(m.win_rate.value)


@pytest.mark.parametrize("num_players", [3, 4])
def test_the_same_starts_are_compared_one_by_one(num_players):
    """With shared luck the interval is much narrower than between independent reports."""
    one, two = (matchup_content(made_up(edge, 300, num_players, 0, i)) for i, edge in enumerate((0.5, 0.7)))
    other = matchup_content(made_up(0.7, 300, num_players, 9))
    paired, independent = compare_reports(one, two), compare_reports(one, other)
    assert (paired.paired, independent.paired) == (300, 0)
    difference = two["points_per_round"]["value"] - one["points_per_round"]["value"]
    assert paired.points.value == pytest.approx(difference)
    assert paired.points.low < 0.2 < paired.points.high and independent.points.low < 0.2 < independent.points.high
    assert paired.points.high - paired.points.low < 0.5 * (independent.points.high - independent.points.low)
    assert compare_reports(one, one).points.low == compare_reports(one, one).points.high == 0
    assert compare_reports(json.loads(json.dumps(one)), two) == paired  # one of them read from its file
    fewer = matchup_content(made_up(0.7, 100, num_players))
    assert compare_reports(one, fewer).paired == 100


def test_reports_that_cannot_be_compared(tmp_path, capsys):
    with pytest.raises(ValueError, match="the reports have 4 and 3 players"):
        compare_reports(matchup_content(made_up(0, 5)), matchup_content(made_up(0, 5, 3)))
    (tmp_path / "report.json").write_text("{}")
    format_message = "is not a report card in this version's format 1"
    for path, message in ((tmp_path, format_message), (tmp_path / "x", "cannot read")):
        assert run(["compare", str(path), str(path)]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(ValueError, match=r"report\.json is not a report: "):
        read_report(tmp_path)


def test_the_compare_command(tmp_path, capsys):
    for name, edge in (("a", 0.5), ("b", 0.9)):
        write_report(matchup_report(made_up(edge)), tmp_path / name, "")
    assert run(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    shown = capsys.readouterr().out
    assert "difference" in shown and "300 starts, compared one by one" in shown


def test_ticks_are_round():
    assert ticks(0.1, 0.9) == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert ticks(-3, 3) == [-3, -2, -1, 0, 1, 2, 3] or ticks(-3, 3) == [-2, 0, 2]
    for low, high in ((0, 1e-6), (-123, 4567), (0.499, 0.501)):
        assert 2 <= len(ticks(low, high)) <= 8


def test_an_axis_keeps_to_the_page():
    axis = Axis([-1.0, math.inf, 1.0], 100, 200)
    assert 100 < axis(-1) < axis(0) < axis(1) < 200
    assert axis(math.inf) == 200 and axis(-math.inf) == 100
    assert 100 <= Axis([0.5, 0.5], 100, 200)(0.5) <= 200


class FailsAlone(First):
    """Raises if it is called with many positions at once."""

    def act_many(self, views, keys):
        if len(views) > 32:
            raise RuntimeError("too many")
        return super().act_many(views, keys)


def test_a_report_is_written_without_endgames_if_they_fail(tmp_path, capsys):
    name = "tests.reports.test_cards:FailsAlone"
    assert run(["evaluate", "greedy", name, "--matches", "20", "--report", str(tmp_path), "--endgame", "20"]) == 0
    assert "the report has no endgames: agent FailsAlone failed in an endgame: too many" in capsys.readouterr().err
    assert json.loads((tmp_path / "report.json").read_text())["endgame"] is None
    assert run(["evaluate", "greedy", "random", "--matches", "8", "--report", str(tmp_path), "--endgame", "8"]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert set(report["endgame"]["agents"]) == {"greedy", "random"} and report["conduct"]["a"]["all"]["out"]
    page = (tmp_path / "index.html").read_text()
    assert "Endgame regret" in page and "By the score of the side" in page
