"""Endgame regret: positions, their values by the solver, and the loss of agents."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.endgame import double_dummy
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.reports.study_reports import endgame_grid
from fiveup_env.rules.match import Match
from fiveup_env.studies.endgame_regret import (
    MOST_TILES,
    PHASES,
    Endgames,
    choices,
    collect,
    of_agent,
    of_records,
    read_folder,
    regret_of,
    regrets,
)
from fiveup_env.views.view import View, Views
from tests.agents.support import First, Rng
from tests.rules.support import PLAYERS, scaled


@pytest.fixture(scope="module")
def positions() -> Endgames:
    return collect(of_agent("greedy", 4, scaled(60, 0.1), 4), 4)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_positions_are_the_decisions_with_an_empty_boneyard(num_players):
    played = list(of_agent("random", num_players, scaled(12, 0.25), 1))
    found = collect(played, num_players)
    expected = []
    for number, (start, actions, _) in enumerate(played):
        match = start.copy()
        for action in actions:
            held = sum(map(len, match.hands))
            if not match.boneyard and len(match.legal_actions()) > 1 and held <= MOST_TILES[num_players]:
                expected.append((number, match.copy()))
            match.play(action)
        assert match.winner is not None
    assert found.matches == len(played) and found.match.tolist() == [number for number, _ in expected]
    for i, (_, match) in enumerate(expected[:20]):
        assert Match.of(found.games[i]) == match
        solution = double_dummy(match, most_tiles=28)
        assert np.flatnonzero(np.isfinite(found.values[i])).tolist() == list(solution.actions)
        assert found.values[i, list(solution.actions)].tolist() == list(solution.values)


class Solver(Policy):
    """Knows the answer: the positions' own values."""

    def __init__(self, endgames: Endgames, sign: int = 1) -> None:
        self.values = np.where(np.isfinite(endgames.values), sign * endgames.values, -np.inf)

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return self.values.argmax(1)


def test_regret_is_zero_for_the_best_and_most_for_the_worst(positions):
    best, worst, first = (
        regrets(positions, choices(agent, positions)) for agent in (Solver(positions), Solver(positions, -1), First())
    )
    rows = np.isfinite(positions.values)
    span = positions.values.max(1) - np.where(rows, positions.values, np.inf).min(1)
    assert best[-1].loss.value == 0 and best[-1].best.value == 1 and best[-1].best.low < 1
    assert worst[-1].loss.value == pytest.approx(span.mean())
    assert 0 < first[-1].loss.value < worst[-1].loss.value
    assert first[-1].loss.low < first[-1].loss.value < first[-1].loss.high
    assert sum(regret.positions for regret in best[:-1]) == best[-1].positions == len(positions.games)


def test_agents_see_no_more_than_their_view(positions):
    """An agent with memory is reset before every position."""
    seen = []

    class Looks(Rng):
        def act(self, view: View) -> int:
            seen.append(view)
            return super().act(view)

    first = choices(Looks(), positions)
    assert first.tolist() == choices(Looks(), positions).tolist()
    for view in seen:
        others = [seat for seat in range(4) if seat != view.seat]
        assert not view.game.hands[others].any() and view.game.seed == 0


def test_failing_agents_are_named(positions):
    class Passes(Policy):
        def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
            return np.full(len(views), 120)

    with pytest.raises(AgentError, match="agent Passes chose action 120 in an endgame, which is not legal"):
        choices(Passes(), positions)

    class Raises(Rng):
        def act(self, view: View) -> int:
            raise RuntimeError("no\nidea")

    with pytest.raises(AgentError, match="agent Raises failed in an endgame: no idea"):
        choices(Raises(), positions)


def test_without_positions_there_is_no_figure():
    nothing = collect([], 4)
    told = regrets(nothing, choices(make_agent("greedy"), nothing))
    assert [regret.loss for regret in told] == [None] * len(PHASES)
    assert endgame_grid(regret_of(["greedy"], nothing)).rows == []


def test_the_command(tmp_path, capsys):
    report, records = tmp_path / "card", tmp_path / "records"
    assert run(["endgame", "greedy", "random", "--matches", "20", "--report", str(report)]) == 0
    assert "Endgame regret" in capsys.readouterr().out
    told = json.loads((report / "report.json").read_text())["agents"]
    assert told["greedy"]["all"]["loss"]["value"] < told["random"]["all"]["loss"]["value"]
    command = ["evaluate", "heuristic", "greedy", "--matches", "8", "--record", str(records), "--records", "8"]
    assert run(command) == 0
    capsys.readouterr()
    assert run(["endgame", "greedy", "--records", str(records), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 8
    assert len(list(of_records(read_folder(records)))) == 8
    for arguments, message in (
        (["greedy", "--records", str(tmp_path / "none")], "holds no records"),
        (["greedy", "--records", str(records), "--players", "2"], "match 0 has 4 players, not 2"),
        (["greedy", "greedy", "--matches", "2"], "agent greedy is given twice"),
    ):
        assert run(["endgame", *arguments]) == 2
        assert message in capsys.readouterr().err
