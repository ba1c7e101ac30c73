"""The command line: output, one line for bad input, a clean Ctrl-C, a fast start."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

import fiveup_env
from fiveup_env.cli.app import main
from fiveup_env.cli.app import run_fiveup as run


def test_evaluate_prints_a_table(capsys):
    assert run(["evaluate", "greedy", "random", "--matches", "20", "--players", "3"]) == 0
    shown = capsys.readouterr()
    assert "greedy against random: three players" in shown.out
    assert "win rate" in shown.out and "points per deal" in shown.out and "21 matches" in shown.out
    assert shown.err == ""


def test_evaluate_prints_json(capsys):
    assert run(["evaluate", "greedy", "random", "--matches", "6", "--seed", "4", "--max-rounds", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    expected = {"a": "greedy", "b": "random", "matches": 6, "seed": 4, "max_rounds": 2}
    assert result.items() >= expected.items() and result["method"]


def test_info_names_versions_and_agents(capsys):
    assert run(["info"]) == 0
    shown = capsys.readouterr().out
    for piece in ("numba", "gymnasium", "kernel cache", "agent greedy", "agent *.zip"):
        assert piece in shown


def test_version_and_help(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"fiveup-env {fiveup_env.__version__}\n"
    assert run([]) == 0
    assert "evaluate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "gredy", "random"], "there is no agent 'gredy', did you mean 'greedy'?"),
        (["evaluate", "greedy", "random", "--players", "5"], "Invalid value for '--players'"),
        (["evaluate", "greedy", "random", "--players", "two"], "Invalid value for '--players'"),
        (["evaluate", "greedy", "random", "--matches", "0"], "Invalid value for '--matches'"),
        (["evaluate", "greedy", "random", "--seed", "-1"], "Invalid value for '--seed'"),
        (["evaluate", "greedy", "random", "--max-rounds", "0"], "Invalid value for '--max-rounds'"),
        (["evaluate", "greedy", "random", "--mtches", "3"], "No such option: --mtches"),
        (["evaluate", "greedy"], "Missing argument 'B'"),
        (["evaluate", "greedy", "runs/nothing.zip"], "there is no file runs/nothing.zip"),
        (["evaluate", "greedy", "tests.agents.support:Nobody"], "tests.agents.support has no Nobody"),
        (["evaluate", "greedy", "tests.agents.test_registry:ForTwo"], "plays matches of 2 players, not of 4"),
        (["evaluate", "greedy", "tests.cli.test_app:Cheat", "--strict"], "agent Cheat: player_"),
        (["dance"], "No such command 'dance'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, capsys):
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("fiveup: ") and shown.err.count("\n") == 1
    assert message in shown.err


class Cheat:
    """Always passes."""

    def reset(self, seed: int) -> None:
        pass

    def act(self, view) -> int:
        return 120


def test_a_broken_checkpoint_is_one_line(tmp_path, capsys):
    pytest.importorskip("sb3_contrib")
    path = tmp_path / "broken.zip"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    assert run(["evaluate", str(path), "random"]) == 2
    shown = capsys.readouterr()
    assert f"{path} is broken or not a checkpoint of MaskablePPO" in shown.err.replace("\n", " ")
    assert shown.err.count("\n") == 1


def test_a_bug_is_not_reported_as_bad_input():
    """An error that is not the user's keeps its traceback."""
    with pytest.raises(ZeroDivisionError):
        run(["evaluate", "greedy", "tests.cli.test_app:Buggy", "--strict"])


def test_forfeits_are_named(capsys):
    assert run(["evaluate", "greedy", "tests.cli.test_app:Buggy", "--matches", "10"]) == 0
    shown = capsys.readouterr().out
    assert "tests.cli.test_app:Buggy lost 10 matches by forfeit" in shown
    assert "agent Buggy: raised ZeroDivisionError: integer division or modulo by zero" in shown


class Buggy(Cheat):
    """Fails while it plays."""

    def act(self, view) -> int:
        return 1 // 0


class Slow(Cheat):
    """Never answers."""

    def act(self, view) -> int:
        print("asked", flush=True)
        time.sleep(60)
        return 0


def test_control_c_is_clean():
    with subprocess.Popen(
        [sys.executable, "-m", "fiveup_env.cli.app", "evaluate", "tests.cli.test_app:Slow", "random"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A background job of a shell ignores SIGINT, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "fiveup: interrupted\n"


def test_modules_in_the_current_folder_can_be_named(tmp_path, monkeypatch, capsys):
    """The console script does not have the current folder on its path; `main` adds it."""
    (tmp_path / "my_agent_of_the_cli_test.py").write_text(
        "from fiveup_env.agents.baselines import Greedy\n\n\nclass Mine(Greedy):\n    name = 'mine'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", ".")])
    monkeypatch.setattr(
        sys, "argv", ["fiveup", "evaluate", "my_agent_of_the_cli_test:Mine", "random", "--matches", "2", "--json"]
    )
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert json.loads(capsys.readouterr().out)["a"] == "my_agent_of_the_cli_test:Mine"


def test_help_imports_neither_kernels_nor_frameworks():
    code = (
        "import sys; from fiveup_env.cli.app import run_fiveup as run; run(['evaluate', '--help']);"
        "print(sorted({'numba', 'torch', 'ray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
