"""What `fiveup bench` does with its arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from fiveup_env.benchmarks.bench import LARGEST, SIZES, Plan, run
from fiveup_env.benchmarks.benchmark_tables import report
from fiveup_env.jit.compilation import JIT_DISABLED
from tests.soak.soak import soak

Bar = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Makes a progress bar with a title."""


class BenchError(ValueError):
    """Arguments that make no sense, or something that was found broken; the message is for people."""


def checked_sizes(sizes: str | None, large: bool) -> tuple[int, ...] | None:
    """Numbers of matches from a list such as `1,64`; None for the usual ones.

    Raises:
        BenchError: if it is not that.
    """
    if sizes is None:
        return (*SIZES, LARGEST) if large else None
    try:
        counts = [int(size) for size in sizes.split(",")]
    except ValueError:
        counts = [0]
    if not all(1 <= count <= LARGEST for count in counts):
        raise BenchError(f"sizes are numbers of matches from 1 to {LARGEST}, parted by commas, not {sizes!r}")
    return tuple(sorted({*counts, LARGEST} if large else {*counts}))


def measure(
    num_players: int,
    sizes: tuple[int, ...] | None,
    quick: bool,
    given: Mapping[str, Any],
    json_file: str | None,
    bar: Bar,
) -> None:
    """Measure, print the tables, and write the figures to a file if one is named.

    Raises:
        BenchError: if the file cannot be written (found out before anything is measured), or kernels are not compiled.
    """
    if JIT_DISABLED:
        raise BenchError("with NUMBA_DISABLE_JIT nothing is compiled: there is nothing to measure")
    wanted = {name: value for name, value in given.items() if value is not None}
    plan = replace(Plan.quick(num_players) if quick else Plan(num_players), **wanted)
    if sizes is not None:
        plan = replace(plan, sizes=sizes)
    if json_file is not None:
        _touch(Path(json_file))
    with bar("bench") as progress:
        result = run(plan, lambda what, done, total: progress(done, total))
    # Tables are for reading in a file too.
    Console(width=None if Console().is_terminal else 130).print(report(result))
    if json_file is not None:
        Path(json_file).write_text(json.dumps(result.as_dict(), indent=2) + "\n")


def _touch(path: Path) -> None:
    try:
        path.touch()
    except OSError as error:
        raise BenchError(f"cannot write {path}: {error.strerror}") from error


def soak_all(steps: int, seed: int, bar: Bar) -> None:
    """Soak for 2, 3 and 4 players and print what each came to.

    Raises:
        BenchError: if an invariant was found broken.
    """
    for num_players in (2, 3, 4):
        with bar(f"{num_players} players") as progress:
            result = soak(num_players, steps, seed, progress=progress)
        print(result, flush=True)
        if result.found is not None:
            raise BenchError(f"with {num_players} players this does not hold: {result.found}")
