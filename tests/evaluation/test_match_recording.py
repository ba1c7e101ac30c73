"""Records of a match-up hold exactly the evaluated matches."""

import time

import pytest

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation.match_recording import record_match, save_records
from fiveup_env.records import parse_record, read_record
from fiveup_env.rules.match import Match
from tests.rules.support import PLAYERS


class Remembers:
    """Agent with memory: alternates between the lowest and the highest action, starting by its seed."""

    name = "remembers"

    def reset(self, seed):
        self.count = seed % 2

    def act(self, view):
        self.count += 1
        return view.legal_actions()[-(self.count % 2)]


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("b", ["random", Remembers()], ids=["compiled", "lockstep"])
def test_records_hold_the_evaluated_matches(num_players, b, tmp_path):
    result = evaluate("greedy", b, num_players, 6, 11, max_rounds=5, start=(30, 60))
    assert list(save_records(result, "greedy", b, tmp_path, 5).values()) == [None] * 5
    sides = result.results.winner.shape[1]
    for number in range(5):
        record = read_record(tmp_path / f"match_{number:06}.jsonl")
        deal, seating = divmod(number, sides)
        assert record.final.scores == tuple(result.results.scores[deal, seating])
        winner = record.final.winner
        assert (-1 if winner is None else winner) == result.results.winner[deal, seating]
        assert [name == "greedy" for name in record.players] == [s % sides == seating for s in range(num_players)]


def test_infos_are_written_at_decisions():
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
    command = ["evaluate", "greedy", "random", "--players", "2", "--matches", "4", "--record", str(folder)]
    assert run([*command, "--records", "2"]) == 0
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


class Fails(Remembers):
    """Raises in the second round."""

    name = "fails"

    def act(self, view):
        if view.round_number == 2:
            raise RuntimeError("no\nmore")
        return super().act(view)


def test_a_forfeited_match_is_recorded_up_to_the_failure(tmp_path, capsys):
    result = evaluate("greedy", Fails(), 4, 4, 1)
    assert result.forfeits == (0, 4)
    written = save_records(result, "greedy", Fails(), tmp_path, 4)
    assert set(written.values()) == {"raised RuntimeError: no more"}
    for path in written:
        record = read_record(path)
        assert record.final.winner is None and record.final.round_number == 2
    name = "tests.evaluation.test_match_recording:Fails"
    assert run(["evaluate", "greedy", name, "--matches", "2", "--record", str(tmp_path / "r")]) == 0
    shown = capsys.readouterr().err
    assert shown.count("ends where the match was forfeited: raised RuntimeError: no more") == 2


class Slow(Remembers):
    def act(self, view):
        time.sleep(5)


def test_a_recording_stops_an_agent_that_hangs(tmp_path):
    result = evaluate("greedy", Slow(), 2, 2, 1, timeout=0.05)
    began = time.monotonic()
    assert set(save_records(result, "greedy", Slow(), tmp_path, 2, 0.05).values()) == {"took more than 0.05 s"}
    assert time.monotonic() - began < 4
