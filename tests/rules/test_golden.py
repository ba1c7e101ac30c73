"""Same seed, same bits: whole matches against stored hashes, compiled and as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.golden import MATCHES, compute, stored
from tests.rules.support import PLAYERS, scaled

MATCHES_HERE = scaled(MATCHES, 0.2)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_golden_matches(num_players):
    """50 matches a player count. `python -m tests.rules.golden --write` if a change of the game is meant."""
    assert {len(hashes) for hashes in stored(num_players).values()} == {MATCHES}
    golden, found = stored(num_players, MATCHES_HERE), compute(num_players, MATCHES_HERE)
    assert found["game"] == golden["game"], "the same seed gives another game"
    assert found["record"] == golden["record"], "the game is the same, but not the bytes of its record"


@pytest.mark.jit
def test_golden_without_the_compiler():
    """The same source as plain Python, in a separate process, gives the same bits."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.rules.golden", "--matches", "4"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (result.returncode, result.stdout) == (0, "4 matches of each player count are as stored\n"), result.stderr
