"""The long soak: nothing is found, the same seed gives the same, and a fault in the engine is found."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.rules.support import PLAYERS, scaled
from tests.soak.invariants import EVENTS, INVARIANTS, SUM
from tests.soak.soak import Soak, soak


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("steps", [200_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_nothing_is_found(num_players: int, steps: int) -> None:
    steps = scaled(steps, 0.01)
    result = soak(num_players, steps, seed=num_players)
    assert result.found is None and result.match is None
    assert steps <= result.steps < steps + 96 and result.checks > steps // 20
    assert result.matches > steps / 1000 and result.discarded > steps / 1000 and result.accepted > steps / 10
    assert "nothing found" in str(result)


def test_the_seed_decides() -> None:
    one, two, three = (replace(soak(4, 5_000, seed=seed), seconds=0.0) for seed in (1, 1, 2))
    assert one == two != three


FAULT = """
import tests.soak.soak as module
from fiveup_env.rules import turn

def faulty(game, action):
    turn.step(game, action)
    if game.num_laid == 7:
        {fault}

module.step, module.MATCHES = faulty, 3
print(module.soak(4, 500, every=1))
"""


@pytest.mark.parametrize(
    ("fault", "what"), [("game.end_sum += 5", SUM), ("game.scores[1] -= 5", EVENTS)], ids=["sum", "events"]
)
def test_a_fault_in_the_engine_is_found(fault: str, what: int) -> None:
    """As plain Python, where the engine can be tampered with."""
    run = subprocess.run(
        [sys.executable, "-c", FAULT.format(fault=fault)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert f"BROKEN: {INVARIANTS[what]}" in run.stdout and "history: ((" in run.stdout


def test_what_was_found_is_said() -> None:
    said = str(Soak(2, 10, 0, 1, 0, 0, 0.1, INVARIANTS[SUM], None))
    assert said.startswith("2 players: 10 steps") and f"BROKEN: {INVARIANTS[SUM]}" in said
