"""The records of a match-up are of the very matches that were evaluated."""

import pytest

from fiveup_env.agents.base import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.cli import run
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation.recording import record_match, save_records
from fiveup_env.records import parse_record, read_record
from fiveup_env.rules.match import Match
from tests.rules.support import PLAYERS


class Remembers:
    """Not a policy: it takes turns between the lowest and the highest action, from where its seed says."""

    name = "remembers"

    def reset(self, seed):
        self.count = seed % 2

    def act(self, view):
        self.count += 1
        return view.legal_actions()[-(self.count % 2)]


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("b", ["random", Remembers()], ids=["compiled", "lockstep"])
def test_records_are_of_the_matches_that_were_evaluated(num_players, b, tmp_path):
    result = evaluate("greedy", b, num_players, 6, 11, max_rounds=5, start=(30, 60))
    assert save_records(result, "greedy", b, tmp_path, 5) == 5
    sides = result.results.winner.shape[1]
    for number in range(5):
        record = read_record(tmp_path / f"match_{number:06}.jsonl")
        deal, seating = divmod(number, sides)
        assert record.final.scores == tuple(result.results.scores[deal, seating])
        winner = record.final.winner
        assert (-1 if winner is None else winner) == result.results.winner[deal, seating]
        assert [name == "greedy" for name in record.players] == [s % sides == seating for s in range(num_players)]


def test_thoughts_are_written_down_where_there_was_a_choice():
    agents = [make_agent("random")] * 2
    recorder = record_match(agents, Match(2, seed=3), 5, thoughts=lambda view, agent: {"value": len(view.hand)})
    for move, before, _ in parse_record(recorder.text()).positions():
        assert (move.info is None) == (len(before.legal_actions()) == 1)


class Cheats:
    def reset(self, seed):
        pass

    def act(self, view):
        return 120


def test_an_illegal_answer_names_the_agent():
    with pytest.raises(AgentError, match="agent Cheats at player_"):
        record_match([Cheats(), Cheats()], Match(2, seed=3), 5)


def test_commands(tmp_path, capsys):
    folder = tmp_path / "records"
    assert (
        run(
            [
                "evaluate",
                "greedy",
                "random",
                "--players",
                "2",
                "--matches",
                "4",
                "--record",
                str(folder),
                "--records",
                "2",
            ]
        )
        == 0
    )
    assert sorted(path.name for path in folder.iterdir()) == ["match_000000.jsonl", "match_000001.jsonl"]
    capsys.readouterr()
    file = folder / "match_000000.jsonl"
    assert run(["replay", str(file)]) == 0
    told = capsys.readouterr().out
    assert "0 greedy, 1 random" in told and "verified: " in told and "has won" in told
    assert run(["replay", str(file), "--quiet"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-5]))
    assert run(["replay", str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"fiveup: {file}, line ") and shown.err.count("\n") == 1 and not shown.out
    assert run(["replay", str(tmp_path / "nothing")]) == 2
    assert "cannot read" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert run(["evaluate", "greedy", "random", "--matches", "2", "--record", str(tmp_path / "file")]) == 2
    assert "cannot write records" in capsys.readouterr().err
