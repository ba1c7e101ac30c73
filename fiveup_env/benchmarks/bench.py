"""`fiveup bench`: what is measured, in which groups, and what it comes to."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np

from fiveup_env.benchmarks.aec_speed import agent_steps_per_second, contestants
from fiveup_env.benchmarks.compile_time import first_use_seconds
from fiveup_env.benchmarks.native_speed import (
    CORES,
    DTYPES,
    STEP_ONLY,
    cores_case,
    env_case,
    kernel_cases,
    memory_per_match,
    record_size,
    roof_case,
)
from fiveup_env.benchmarks.peer_speed import peer_cases
from fiveup_env.benchmarks.timing import CLOCKS, Case, Clock, Speed, in_turns
from fiveup_env.benchmarks.training_share import Shares, measure_shares

BASE = 1024
"""Number of matches at which variants, roof and peers are compared."""
THREADED = 16_384
LARGEST = 262_144
SIZES = (1, 64, BASE, THREADED)
QUICK_SIZES = (64, BASE)

Tell = Callable[[str, int, int], None]
"""Called with what is being measured and the numbers of turns that are done and that there are."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        num_players: 2, 3 or 4.
        turns: how often each case is measured.
        seconds: length of a turn.
        clock: "wall" or "cpu" (see `CLOCKS`).
        sizes: numbers of matches.
        peers, learning, compiling: whether to measure these too.
    """

    num_players: int = 4
    turns: int = 7
    seconds: float = 0.2
    clock: str = "wall"
    sizes: tuple[int, ...] = SIZES
    peers: bool = False
    learning: bool = True
    compiling: bool = False

    @classmethod
    def quick(cls, num_players: int = 4, **wanted: Any) -> Plan:
        """A run for CI: few sizes, three short turns, no training."""
        return cls(num_players, 3, 0.03, sizes=QUICK_SIZES, learning=False, **wanted)


@dataclass
class Bench:
    """What came of it.

    Attributes:
        machine: where it ran.
        groups: title -> speeds of the cases that took turns with each other.
        memory: what -> bytes.
        ratios: (what, how many times, what was asked for by whom).
        shares: of a training iteration, None if not measured.
        first_use: what -> seconds with an empty and a full cache of kernels.
        missing: what was left out, and why.
    """

    plan: Plan
    machine: dict[str, str]
    groups: dict[str, list[Speed]] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    ratios: list[tuple[str, float]] = field(default_factory=list)
    shares: Shares | None = None
    first_use: dict[str, tuple[float, float]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        return {
            "machine": self.machine,
            "plan": vars(self.plan),
            "groups": {title: [speed.as_dict() for speed in speeds] for title, speeds in self.groups.items()},
            "memory": self.memory,
            "ratios": dict(self.ratios),
            "training": None if self.shares is None else self.shares.as_dict(),
            "first use, seconds": {
                name: {"empty cache": cold, "full cache": warm} for name, (cold, warm) in self.first_use.items()
            },
            "missing": self.missing,
        }


def machine() -> dict[str, str]:
    """What the figures depend on."""
    packages = {name: version(name) for name in ("numpy", "numba", "gymnasium", "pettingzoo")}
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {_processor()}",
        "cores": str(os.cpu_count()),
        "numba threads": str(numba.config.NUMBA_NUM_THREADS),
        "load at the start": load,
    } | packages


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "processor unknown"


def run(plan: Plan, tell: Tell | None = None) -> Bench:
    """Measure, group after group."""
    tell = tell or (lambda what, done, total: None)
    bench = Bench(plan, machine())
    for title, cases in _groups(plan, bench.missing):
        clock = CLOCKS[plan.clock]
        bench.groups[title] = in_turns(cases, plan.turns, plan.seconds, partial(tell, title), clock)
        del cases  # tens of megabytes each
    bench.memory = {"record of a match": float(record_size())} | {
        f"vector env, per match, {np.dtype(dtype).name}": memory_per_match(plan.num_players, dtype) for dtype in DTYPES
    }
    if plan.learning:
        bench.shares = _shares(plan, bench.missing, tell)
    if plan.compiling:
        tell("first use", 0, 1)
        bench.first_use = first_use_seconds(plan.clock)
    bench.ratios = list(_ratios(bench))
    return bench


def _shares(plan: Plan, missing: list[str], tell: Tell) -> Shares | None:
    if any(find_spec(name) is None for name in ("torch", "stable_baselines3", "sb3_contrib")):
        missing.append("training: torch, stable-baselines3 or sb3-contrib is not installed")
        return None
    tell("training", 0, 1)
    return measure_shares(plan.num_players)


def _groups(plan: Plan, missing: list[str]) -> Iterator[tuple[str, list[Case]]]:
    n = plan.num_players
    for count in plan.sizes:
        yield f"{count:,} matches", _by_size(n, count)
    yield "one match as PettingZoo AEC env", list(_aec(n))
    if plan.peers:
        ours = [*(env_case(n, BASE, dtype) for dtype in DTYPES), *_aec(n, ("five up, raw",))]
        cases, absent = peer_cases()
        missing += absent
        yield "peers", [*ours, *cases]


def _by_size(n: int, count: int) -> list[Case]:
    cases = list(kernel_cases(n, count)) if count <= THREADED else [next(kernel_cases(n, count))]
    cases += [env_case(n, count, dtype) for dtype in DTYPES if count <= THREADED or dtype == np.uint8]
    if count == BASE:
        cases += [env_case(n, count, np.uint8, draws="auto"), env_case(n, count, np.float32, draws="auto")]
        for dtype in DTYPES:
            cases += [roof_case(n, count, dtype), roof_case(n, count, dtype, stream=True)]
            cases += [env_case(n, count, dtype, one_set=True), env_case(n, count, dtype, stream=True)]
    if count >= BASE and numba.config.NUMBA_NUM_THREADS > 1:
        cases += [cores_case(1), cores_case(2)] if count == BASE else []
        cases += [env_case(n, count, dtype, threads=2) for dtype in DTYPES if count <= THREADED or dtype == np.uint8]
    return cases


def _aec(n: int, names: Sequence[str] | None = None) -> Iterator[Case]:
    for name, make in contestants(n).items():
        if name.startswith("hanabi") or (names is not None and name not in names):
            continue
        env = make()

        def run(calls: int, clock: Clock, env: Any = env) -> None:
            agent_steps_per_second(env, calls)

        yield Case(f"AEC {name}", run, facts={"players": n})


def _ratios(bench: Bench) -> Iterator[tuple[str, float]]:
    """The comparisons that users ask for, each of cases that took turns."""
    base = {speed.name: speed for speed in bench.groups.get(f"{BASE:,} matches", [])}
    for dtype in ("uint8", "float32"):
        for where in ("", ", into a rollout buffer"):
            env, roof = (
                base.get(f"vector env {dtype}{where}"),
                base.get(f"memory copy of a step's bytes {dtype}{where}"),
            )
            if env and roof:
                yield f"vector env {dtype}{where}, {BASE:,} matches, of the memory copy", env.over(roof)
    for title in (f"{BASE:,} matches", f"{THREADED:,} matches"):
        found = {speed.name: speed for speed in bench.groups.get(title, [])}
        for dtype in ("uint8", "float32"):
            one = found.get(f"vector env {dtype}, {STEP_ONLY}")
            two = found.get(f"vector env {dtype}, 2 threads, {STEP_ONLY}")
            if one and two:
                yield f"vector env {dtype}, {STEP_ONLY}, {title}, 2 threads to 1", two.over(one)
    if f"{CORES}, 2 threads" in base:
        yield f"{CORES}, 2 threads to 1", base[f"{CORES}, 2 threads"].over(base[f"{CORES}, 1 threads"])
    yield from _flatness(bench)
    peers = bench.groups.get("peers", [])
    for ours in (speed for speed in peers if "peer" not in speed.facts and STEP_ONLY not in speed.name):
        for theirs in (speed for speed in peers if "peer" in speed.facts):
            yield f"{ours.name} to {theirs.name}", ours.over(theirs)


def _flatness(bench: Bench) -> Iterator[tuple[str, float]]:
    """Cost of a step in large batches, in those of the base size; without what chooses the actions."""
    name = f"vector env uint8, {STEP_ONLY}"
    base = next((s for s in bench.groups.get(f"{BASE:,} matches", []) if s.name == name), None)
    for title, speeds in bench.groups.items():
        other = next((s for s in speeds if s.name == name), None)
        if base and other and other.facts["matches"] > BASE:
            yield f"cost of a step ({name}), {title} to {BASE:,}", base.median / other.median
