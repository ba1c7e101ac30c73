"""Play in the terminal: people and agents, hints, taking back, records."""

import re

import pytest

from fiveup_env.agents.registry import make_agent
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation.match_recording import record_match
from fiveup_env.play.session import Sitting
from fiveup_env.play.terminal import play_in_terminal
from fiveup_env.play.thoughts import Thinker
from fiveup_env.records import parse_record, read_record
from fiveup_env.rules.match import Match
from tests.rules.support import PLAYERS


def sit(num_players=2, seed=5, people=(0,)):
    agents = [None if seat in people else make_agent("greedy") for seat in range(num_players)]
    return Sitting(Match(num_players, seed=seed), agents, seed)


def talk(sitting, *lines, **options):
    told, answers = [], iter(lines)

    def ask(prompt):
        told.append(prompt)
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    play_in_terminal(sitting, ask, told.append, **options)
    return "\n".join(told)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_whole_match_follows_the_rules(num_players):
    sitting = sit(num_players, people=(1,))
    told = talk(sitting, *["1"] * 2000)
    assert sitting.match.winner is not None and "wins the match with exactly 61 points" in told
    record = parse_record(sitting.recorder.text())
    assert record.final == sitting.match and record.players[1] == "you"


def test_a_sitting_without_people_equals_a_recorded_match():
    sitting = sit(3, people=())
    while sitting.advance() is not None:
        pass
    agents = [make_agent("greedy")] * 3
    assert sitting.recorder.text() == record_match(agents, Match(3, seed=5), 5).text()


def test_other_hands_are_hidden():
    """R2.2."""
    sitting = sit(4, people=(2,))
    told = talk(sitting, "q")
    for seat, hand in enumerate(sitting.match.hands):
        text = " ".join(f"[{low}|{high}]" for low, high in hand)
        assert (f"player_{seat}* {text}" in told or f"player_{seat}  {text}" in told) == (seat == 2)


def test_hints_and_invalid_input():
    sitting = sit()
    told = talk(sitting, "h", "0", "99999", "²", "lay", "u", "b", "q", adviser=Thinker(make_agent("duel-v1"), worlds=8))
    legal = sit_until_choice().match.legal_actions()
    hints = re.findall(r"Hint: (\d+): .*, (\d+\.\d)% to win, the policy plays it with \d+%", told)
    assert sorted(int(number) for number, _ in hints) == list(range(1, len(legal) + 1))
    assert [float(chance) for _, chance in hints] == sorted((float(chance) for _, chance in hints), reverse=True)
    assert told.count("Type a number from 1 to") == 4
    assert "taken back in practice only" in told and "There is no adviser" in talk(sit(), "h")
    assert sitting.match == sit_until_choice().match


def sit_until_choice():
    sitting = sit()
    while sitting.advance() is not None:
        pass
    return sitting


def test_taking_back():
    sitting = sit()
    told = talk(sitting, "u", practice=True)
    assert "nothing to take back" in told
    before = sitting.recorder.text()
    talk(sitting, "1", "u", "q", practice=True)
    assert sitting.recorder.text() == before
    talk(sitting, "1", "1", "1", "u", "u", "u", "u", practice=True)
    assert sitting.recorder.text() == before


def test_command(monkeypatch, capsys, tmp_path):
    answers = iter(["1", "h", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    file = tmp_path / "match.jsonl"
    assert run(["play", "you", "greedy", "--seed", "5", "--record", str(file)]) == 0
    assert "Hint: " in capsys.readouterr().out and read_record(file).players == ("you", "greedy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["you"], "two to four players"),
        (["you"] * 5, "two to four players"),
        (["you", "gredy"], "did you mean 'greedy'?"),
        (["you", "greedy", "--hints", "nobody"], "there is no agent 'nobody'"),
    ],
)
def test_bad_input(arguments, message, capsys):
    assert run(["play", *arguments]) == 2
    assert message in capsys.readouterr().err
