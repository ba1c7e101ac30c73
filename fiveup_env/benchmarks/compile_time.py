"""How long the first use takes: with an empty cache of compiled kernels, and with a full one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from types import MappingProxyType

FIRST_USES: Mapping[str, str] = MappingProxyType(
    {
        "import fiveup_env": "import fiveup_env",
        "Match, one action": "from fiveup_env import Match; m = Match(4, 0); m.play(m.legal_actions()[0])",
        "AEC env, one step": (
            "from fiveup_env import fiveup_v0; e = fiveup_v0.raw_env(); e.reset(seed=0); "
            "e.step(int(e.last()[0]['action_mask'].argmax()))"
        ),
        "vector env, one step": (
            "from fiveup_env import SelfPlayVectorEnv; e = SelfPlayVectorEnv(8); s = e.reset(0); "
            "e.step(s.action_mask.argmax(1))"
        ),
        "gymnasium.make_vec, one step": (
            "import gymnasium, fiveup_env; e = gymnasium.make_vec('fiveup_env/FiveUp-v0', num_envs=8); "
            "o, _ = e.reset(seed=0); e.step(o['action_mask'].argmax(1))"
        ),
    }
)
"""What is timed, each in a process of its own from its first line to its last."""


def first_use_seconds(clock: str = "wall") -> dict[str, tuple[float, float]]:
    """Seconds by what is used: with no compiled kernel in the cache, and with all of them.

    Args:
        clock: "wall", or "cpu" for the time in which the process had a core.
    """
    return {name: _cold_and_warm(code, clock) for name, code in FIRST_USES.items()}


def _cold_and_warm(code: str, clock: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="fiveup-bench-") as folder:
        return _seconds(code, folder, clock), _seconds(code, folder, clock)


def _seconds(code: str, folder: str, clock: str) -> float:
    now = {"wall": "time.perf_counter()", "cpu": "time.process_time()"}[clock]
    timed = f"import time; begun = {now}; {code}; print({now} - begun)"
    run = subprocess.run(
        [sys.executable, "-c", timed],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout.split()[-1])
