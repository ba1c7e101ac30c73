"""Timing of cases that take turns, and of first use in new processes.

The load of the machine changes over time and affects all cases of a turn alike: ratios are more reliable than speeds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, thread_time
from types import MappingProxyType
from typing import Any

Clock = Callable[[], float]
CLOCKS: Mapping[str, Clock] = MappingProxyType({"wall": perf_counter, "cpu": thread_time})
"""Elapsed seconds, or seconds of CPU time of the calling thread. CPU time depends less on other load."""

Seconds = Mapping[str, float]
"""Seconds of one turn by part; the key "" is the total."""

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
"""Name -> code that is timed in a new process, imports included."""


@dataclass(frozen=True)
class Case:
    """Work whose speed is measured.

    Attributes:
        name: for the table.
        run: does the work `calls` times by a clock; returns the seconds of named parts, or None.
        steps: agent-steps of a call.
        facts: more columns: number of matches, threads, bytes written per step, ...
    """

    name: str
    run: Callable[[int, Clock], Seconds | None]
    steps: int = 1
    facts: Mapping[str, Any] = field(default_factory=dict)

    def time(self, calls: int, clock: Clock) -> dict[str, float]:
        """Seconds of `calls` calls by part. Cases with several threads always use elapsed time."""
        clock = clock if self.facts.get("threads", 1) == 1 else perf_counter
        begun = clock()
        taken = self.run(calls, clock)
        return {"": clock() - begun} | dict(taken or {})

    def calls_for(self, seconds: float, clock: Clock) -> int:
        """Number of calls that take about `seconds`. The first call may compile and is not counted."""
        self.time(1, clock)
        calls, taken = 1, self.time(1, clock)[""]
        while taken < seconds / 4:
            calls *= 2
            taken = self.time(calls, clock)[""]
        return max(1, round(calls * seconds / taken))


@dataclass(frozen=True)
class Speed:
    """Agent-steps per second of a case.

    Attributes:
        name: of the case, followed by the part of the time if it is one.
        values: one per turn, in order.
        facts: of the case.
    """

    name: str
    values: tuple[float, ...]
    facts: Mapping[str, Any]

    @property
    def median(self) -> float:
        """Median of the turns."""
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """Slowest and fastest turn."""
        return min(self.values), max(self.values)

    def over(self, other: Speed) -> float:
        """Speed relative to another case: median of the ratios of each turn."""
        return median(mine / theirs for mine, theirs in zip(self.values, other.values, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        low, high = self.spread
        return {"name": self.name, "median": self.median, "min": low, "max": high, "turns": list(self.values)} | dict(
            self.facts
        )


def in_turns(
    cases: Sequence[Case],
    turns: int,
    seconds: float,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> list[Speed]:
    """Run the cases one after the other, `turns` times, and return their speeds.

    Args:
        cases: with different names.
        turns: number of turns of each case.
        seconds: approximate length of a turn.
        progress: called with the numbers of finished and of all turns.
        clock: see `CLOCKS`.
    """
    tell = progress or (lambda done, total: None)
    calls = []
    total = len(cases) * (turns + 1)
    for number, case in enumerate(cases):
        calls.append(case.calls_for(seconds, clock))
        tell(number + 1, total)
    values: dict[tuple[int, str], list[float]] = {}
    for turn in range(turns):
        for number, case in enumerate(cases):
            for part, taken in case.time(calls[number], clock).items():
                values.setdefault((number, part), []).append(calls[number] * case.steps / taken)
            tell(len(cases) * (turn + 1) + number + 1, total)
    return [
        Speed(f"{cases[number].name}, {part}" if part else cases[number].name, tuple(found), cases[number].facts)
        for (number, part), found in sorted(values.items())
    ]


def first_use_seconds(clock: str = "wall") -> dict[str, tuple[float, float]]:
    """Seconds of every code in `FIRST_USES` with an empty cache of compiled kernels, then with a full one.

    Args:
        clock: "wall", or "cpu" for CPU time of the process.
    """
    now = {"wall": "time.perf_counter()", "cpu": "time.process_time()"}[clock]
    found = {}
    for name, code in FIRST_USES.items():
        timed = [sys.executable, "-c", f"import time; begun = {now}; {code}; print({now} - begun)"]
        with tempfile.TemporaryDirectory(prefix="fiveup-bench-") as folder:
            env = os.environ | {"NUMBA_CACHE_DIR": folder}
            runs = [subprocess.run(timed, env=env, capture_output=True, text=True, check=True) for _ in range(2)]
        cold, warm = (float(run.stdout.split()[-1]) for run in runs)
        found[name] = cold, warm
    return found
