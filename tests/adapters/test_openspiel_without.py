"""If open-spiel is not installed, one line names the extra to install."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
sys.modules["pyspiel"] = None
from fiveup_env.cli.app import run_fiveup as run
sys.exit(run(["evaluate", "openspiel:ismcts", "random", "--matches", "2"]))
"""


def test_the_extra_is_named_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert "pyspiel is not installed: pip install 'fiveup-env[openspiel]'" in line
