"""`fiveup bench` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fiveup_env.benchmarks import peer_speed as peers
from fiveup_env.benchmarks.benchmark_command import BenchError, checked_sizes
from fiveup_env.cli.app import run

pytestmark = pytest.mark.jit


def test_sizes() -> None:
    assert checked_sizes(None, False) is None
    assert checked_sizes(None, True) == (1, 64, 1024, 16_384, 262_144)
    assert checked_sizes("64, 1", False) == (1, 64) and checked_sizes("8", True) == (8, 262_144)
    for wrong in ("", "many", "0", "1,-2", "262145", "1.5"):
        with pytest.raises(BenchError, match="sizes are numbers of matches from 1 to 262144"):
            checked_sizes(wrong, False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sizes", "x"], "fiveup: sizes are numbers of matches from 1 to 262144, parted by commas, not 'x'"),
        (["--players", "5"], "fiveup: Invalid value for '--players'"),
        (["--soak", "0"], "fiveup: Invalid value for '--soak'"),
        (["--json", "no/such/folder/x.json"], "fiveup: cannot write no/such/folder/x.json: No such file or directory"),
    ],
)
def test_bad_arguments_are_one_line(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *given]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(said) and err.count("\n") == 1


def test_soak(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--soak", "5000", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["2 players", "3 players", "4 players"]
    assert all(line.endswith("nothing found") for line in lines)


def test_peers_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    cases, missing = peers.peer_cases()
    assert cases == [] and [line.rpartition(": ")[2] for line in missing] == [
        f"{name} is not installed" for name in ("pyspiel", "shimmy", "rlcard", "pgx")
    ]


def test_a_peer_that_fails_is_named_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda name: True if name == "pgx" else None)
    monkeypatch.setattr(peers, "_pgx", lambda name: 1 / 0)
    assert "sparrow_mahjong: ZeroDivisionError: division by zero" in peers.peer_cases()[1]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert run(["bench", "--quick", "--turns", "1", "--seconds", "0.01", "--json", str(file), "--peers"]) == 0
    shown = capsys.readouterr().out
    figures = json.loads(file.read_text())
    names = {speed["name"] for speeds in figures["groups"].values() for speed in speeds}
    assert {"rules", "rules, mask", "vector env uint8", "memory copy of a step's bytes uint8"} <= names
    assert all(name in shown for name in ("rules, mask", "memory copy", "ratios"))
    assert all(speed["median"] > 0 for speeds in figures["groups"].values() for speed in speeds)
    assert 400 < figures["memory"]["record of a match"] < 1000
