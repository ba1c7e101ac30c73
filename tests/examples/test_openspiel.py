"""OpenSpiel's example finds an equilibrium; bad input gives one line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

WHY = "needs open-spiel (pip install 'fiveup-env[openspiel]', Python 3.11 or later)"
SCRIPT = [sys.executable, "-m", "training.examples.openspiel_cfr"]


def test_it_finds_the_equilibrium() -> None:
    pytest.importorskip("pyspiel", reason=WHY)
    done = subprocess.run([*SCRIPT, "--iterations", "60", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["value"] == pytest.approx(49 / 60, abs=1e-3)
    gaps = [gap for _, gap in found["curve"]]
    assert gaps[-1] < 1e-3 and gaps[-1] < gaps[0]
    assert found["as_agent"] == pytest.approx(gaps[-1], abs=1e-6)
    assert all(gap > 0.1 for gap in found["agents"].values())


def test_bad_input_is_one_line() -> None:
    pytest.importorskip("pyspiel", reason=WHY)
    done = subprocess.run([*SCRIPT, "--hand-size", "9"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "2 hands of 9 tiles do not fit into the 6 tiles of a double-2 set\n"


def test_a_missing_library_is_one_line() -> None:
    code = "import sys, runpy; sys.modules['pyspiel'] = None; "
    code += "runpy.run_module('training.examples.openspiel_cfr', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "pyspiel is not installed: pip install 'fiveup-env[openspiel]'\n"
