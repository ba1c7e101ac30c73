"""`fiveup bench`: plan, groups of cases, ratios, tables, and the soak."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fiveup_env.benchmarks.native_speed import (
    CORES,
    DTYPES,
    STEP_ONLY,
    cores_case,
    env_case,
    kernel_cases,
    memory_use,
    roof_case,
)
from fiveup_env.benchmarks.peer_speed import aec_cases, peer_cases
from fiveup_env.benchmarks.timing import CLOCKS, Case, Speed, first_use_seconds, in_turns
from fiveup_env.benchmarks.training_share import BATCH, EPOCHS, NETWORK, Shares, measure_shares
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.system.machine import describe_machine, processor_name

BASE = 1024
"""Number of matches at which variants, memory copies and other libraries are compared."""
THREADED = 16_384
LARGEST = 262_144
SIZES = (1, 64, BASE, THREADED)
QUICK_SIZES = (64, BASE)
PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo")

Bar = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Makes a progress bar with a title; its function takes the numbers of finished and of all turns."""


class BenchError(ValueError):
    """Invalid arguments, or a broken invariant found by the soak; the message is for people."""


@dataclass(frozen=True)
class BenchPlan:
    """Measurements to make.

    Attributes:
        num_players: 2, 3 or 4.
        turns: number of measurements of each case.
        seconds: length of a turn.
        clock: "wall" or "cpu" (see `CLOCKS`).
        sizes: numbers of matches.
        peers, learning, compiling: whether to measure other libraries, a training iteration, and first use.
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
    def quick(cls, num_players: int = 4) -> BenchPlan:
        """A run for CI: few sizes, three short turns, no training."""
        return cls(num_players, 3, 0.03, sizes=QUICK_SIZES, learning=False)


@dataclass
class BenchResult:
    """Figures of a run.

    Attributes:
        machine: facts that the figures depend on.
        groups: title -> speeds of the cases that took turns with each other.
        memory: name -> bytes.
        ratios: (name, ratio of two speeds).
        shares: of a training iteration, None if not measured.
        first_use: name -> seconds with an empty and with a full cache of compiled kernels.
        missing: a line for everything left out, with the reason.
    """

    plan: BenchPlan
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


def checked_sizes(sizes: str | None, large: bool) -> tuple[int, ...] | None:
    """Numbers of matches from a list such as `1,64`; None for the default ones.

    Raises:
        BenchError: if `sizes` is not a list of numbers from 1 to 262144.
    """
    if sizes is None:
        return (*SIZES, LARGEST) if large else None
    try:
        counts = [int(size) for size in sizes.split(",")]
    except ValueError:
        counts = [0]
    if not all(1 <= count <= LARGEST for count in counts):
        raise BenchError(f"sizes are numbers of matches from 1 to {LARGEST}, separated by commas, not {sizes!r}")
    return tuple(sorted({*counts, LARGEST} if large else {*counts}))


def bench_speed(
    num_players: int,
    sizes: tuple[int, ...] | None,
    quick: bool,
    given: Mapping[str, Any],
    json_file: str | None,
    bar: Bar,
) -> None:
    """Measure, print the tables, and write the figures to `json_file` if it is not None.

    Raises:
        BenchError: if the file cannot be written (checked before anything is measured), or kernels are not compiled.
    """
    if JIT_DISABLED:
        raise BenchError("NUMBA_DISABLE_JIT is set: nothing is compiled, so there is nothing to measure")
    wanted = {name: value for name, value in given.items() if value is not None}
    plan = replace(BenchPlan.quick(num_players) if quick else BenchPlan(num_players), **wanted)
    if sizes is not None:
        plan = replace(plan, sizes=sizes)
    if json_file is not None:
        try:
            Path(json_file).touch()
        except OSError as error:
            raise BenchError(f"cannot write {json_file}: {error.strerror}") from error
    with bar("bench") as progress:
        result = run_bench(plan, progress)
    # 130 columns where the output is a file.
    Console(width=None if Console().is_terminal else 130).print(bench_tables(result))
    if json_file is not None:
        Path(json_file).write_text(json.dumps(result.as_dict(), indent=2) + "\n")


def bench_soak(steps: int, seed: int, bar: Bar) -> None:
    """Soak the rules for 2, 3 and 4 players and print the results.

    Raises:
        BenchError: if an invariant was broken, or the tests are not installed.
    """
    try:
        from tests.soak.soak import soak
    except ImportError as error:
        raise BenchError(f"--soak runs in a checkout of the repository only: {error}") from error
    for num_players in (2, 3, 4):
        with bar(f"{num_players} players") as progress:
            result = soak(num_players, steps, seed, progress=progress)
        print(result, flush=True)
        if result.found is not None:
            raise BenchError(f"invariant broken with {num_players} players: {result.found}")


def run_bench(plan: BenchPlan, tell: Callable[[int, int], None] | None = None) -> BenchResult:
    """Measure one group of cases after the other; `tell` gets the numbers of finished and of all turns of a group."""
    tell = tell or (lambda done, total: None)
    machine = describe_machine(PACKAGES)
    machine["system"] += f", {processor_name()}"
    machine["numba threads"] = str(numba.config.NUMBA_NUM_THREADS)
    machine["load at the start"] = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    result = BenchResult(plan, machine)
    for title, cases in _groups(plan, result.missing):
        result.groups[title] = in_turns(cases, plan.turns, plan.seconds, tell, CLOCKS[plan.clock])
        del cases  # tens of megabytes each
    result.memory = memory_use(plan.num_players)
    if plan.learning:
        if all(find_spec(name) for name in ("torch", "stable_baselines3", "sb3_contrib")):
            tell(0, 1)
            result.shares = measure_shares(plan.num_players)
        else:
            result.missing.append("training: torch, stable-baselines3 or sb3-contrib is not installed")
    if plan.compiling:
        tell(0, 1)
        result.first_use = first_use_seconds(plan.clock)
    result.ratios = list(speed_ratios(result.groups))
    return result


def _groups(plan: BenchPlan, missing: list[str]) -> Iterator[tuple[str, list[Case]]]:
    n = plan.num_players
    for count in plan.sizes:
        yield f"{count:,} matches", _by_size(n, count)
    yield "one match as PettingZoo AEC env", list(aec_cases(n))
    if plan.peers:
        ours = [*(env_case(n, BASE, dtype) for dtype in DTYPES), next(aec_cases(n))]
        cases, absent = peer_cases()
        missing += absent
        yield "peers", [*ours, *cases]


def _by_size(n: int, count: int) -> list[Case]:
    cases = list(kernel_cases(n, count)) if count <= THREADED else [next(kernel_cases(n, count))]
    dtypes = [dtype for dtype in DTYPES if count <= THREADED or dtype == np.uint8]
    cases += [env_case(n, count, dtype) for dtype in dtypes]
    if count == BASE:
        cases += [env_case(n, count, np.uint8, draws="auto"), env_case(n, count, np.float32, draws="auto")]
        for dtype in DTYPES:
            cases += [roof_case(n, count, dtype), roof_case(n, count, dtype, stream=True)]
            cases += [env_case(n, count, dtype, one_set=True), env_case(n, count, dtype, stream=True)]
    if count >= BASE and numba.config.NUMBA_NUM_THREADS > 1:
        cases += [cores_case(1), cores_case(2)] if count == BASE else []
        cases += [env_case(n, count, dtype, threads=2) for dtype in dtypes]
    return cases


def speed_ratios(groups: Mapping[str, list[Speed]]) -> Iterator[tuple[str, float]]:
    """Ratios of speeds: to a memory copy, of two threads to one, of large batches to the base size, to libraries."""
    found = {title: {speed.name: speed for speed in speeds} for title, speeds in groups.items()}
    base_title = f"{BASE:,} matches"
    base = found.get(base_title, {})

    def ratio(name: str, speeds: Mapping[str, Speed], over: str, under: str) -> Iterator[tuple[str, float]]:
        if over in speeds and under in speeds:
            yield name, speeds[over].over(speeds[under])

    for dtype in ("uint8", "float32"):
        for where in ("", ", into a rollout buffer"):
            env, roof = f"vector env {dtype}{where}", f"memory copy of a step's bytes {dtype}{where}"
            yield from ratio(f"vector env {dtype}{where}, {BASE:,} matches, of the memory copy", base, env, roof)
    for title in (base_title, f"{THREADED:,} matches"):
        for dtype in ("uint8", "float32"):
            one, two = f"vector env {dtype}, {STEP_ONLY}", f"vector env {dtype}, 2 threads, {STEP_ONLY}"
            yield from ratio(f"{one}, {title}, 2 threads to 1", found.get(title, {}), two, one)
    yield from ratio(f"{CORES}, 2 threads to 1", base, f"{CORES}, 2 threads", f"{CORES}, 1 threads")
    step = f"vector env uint8, {STEP_ONLY}"
    for title, speeds in found.items():
        if step in base and step in speeds and speeds[step].facts["matches"] > BASE:
            yield f"cost of a step ({step}), {title} to {BASE:,}", base[step].median / speeds[step].median
    peers = groups.get("peers", [])
    for ours in (speed for speed in peers if "peer" not in speed.facts and STEP_ONLY not in speed.name):
        for theirs in (speed for speed in peers if "peer" in speed.facts):
            yield f"{ours.name} to {theirs.name}", ours.over(theirs)


def speed_text(value: float) -> str:
    """Steps per second with three figures: `12.3 M`."""
    for unit, name in ((1e6, "M"), (1e3, "k"), (1.0, "")):
        if value >= unit:
            scaled = value / unit
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {name}".rstrip()
    return f"{value:.2f}"


def bench_tables(result: BenchResult) -> RenderableType:
    """All figures as tables for the terminal."""
    return Group(*_tables(result))


def _tables(result: BenchResult) -> Iterator[RenderableType]:
    plan, shares = result.plan, result.shares
    yield Text(", ".join(f"{name} {value}" for name, value in result.machine.items()))
    yield Text(
        f"{plan.num_players} players, uniformly random legal actions, choosing them included; agent-steps per second, "
        f"median and range of {plan.turns} turns of {plan.seconds:g} s, the cases of a table in turn; "
        + ("CPU seconds of one thread, wall clock for several threads" if plan.clock == "cpu" else "wall clock")
    )
    for title, speeds in result.groups.items():
        rows = [_speed_row(speed) for speed in speeds]
        yield _table(title, rows, ("what", "steps/s", "from", "to", "ns/step", "bytes/step", "GB/s"))
    yield _table("memory", [(name, f"{value:,.0f} bytes") for name, value in result.memory.items()])
    if shares:
        yield _table(
            f"an iteration of MaskablePPO: {shares.matches:,} matches × {shares.steps} steps, network {NETWORK[0]} × "
            f"{NETWORK[1]}, {EPOCHS} epochs of batches of {BATCH:,}, one thread; "
            f"{speed_text(shares.samples_per_second)} samples/s",
            [(part, f"{share:.1%}") for part, share in shares.rows().items()],
        )
    if result.first_use:
        seconds = [(name, f"{cold:.2f}", f"{warm:.2f}") for name, (cold, warm) in result.first_use.items()]
        title = "first use, in seconds, process and imports included"
        yield _table(title, seconds, ("what", "empty cache", "full cache"))
    if result.ratios:
        ratios = [(name, f"{value:.2f}" if value < 10 else f"{value:,.0f}") for name, value in result.ratios]
        yield _table("ratios, each the median over turns", ratios)
    for line in result.missing:
        yield Text(f"left out: {line}")


def _table(title: str, rows: Sequence[tuple[str, ...]], columns: tuple[str, ...] = ()) -> Table:
    table = Table(title=title, title_justify="left", show_header=bool(columns))
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _speed_row(speed: Speed) -> tuple[str, ...]:
    written = speed.facts.get("bytes")
    return (
        speed.name,
        *(speed_text(value) for value in (speed.median, *speed.spread)),
        f"{1e9 / speed.median:.1f}" if speed.median > 1e5 else f"{1e9 / speed.median:,.0f}",
        f"{written:,}" if written else "",
        f"{written * speed.median / 1e9:.1f}" if written else "",
    )
