"""Helpers of all commands: option types, one-line errors, progress bars, printing, and the table of `fiveup info`."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from fiveup_env.evaluation.match_play import Progress
    from fiveup_env.reports.report_writer import ReportContent
    from fiveup_env.reports.tables import Grid

# Typer vendors click from some release on, so click's classes are reached through typer's.
UsageError: Any = typer.BadParameter.__mro__[1]
ClickError: Any = typer.BadParameter.__mro__[2]
assert (UsageError.__name__, ClickError.__name__) == ("UsageError", "ClickException")

MAX_SEED = 2**64 - 1
AGENT = "Agent: name (see `fiveup info`), checkpoint file, module:Class, openspiel:BOT, exec:COMMAND, 'pair:X with Y'."

AgentA = Annotated[str, Argument(metavar="A", help=AGENT, show_default=False)]
AgentB = Annotated[str, Argument(metavar="B", help="Opponent of A, named the same way.", show_default=False)]
Agents = Annotated[list[str], Argument(metavar="AGENT...", help=AGENT, show_default=False)]
Players = Annotated[int, Option(min=2, max=4, help="Number of players; four form two partnerships.")]
Seed = Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the deals and of the agents.")]
Processes = Annotated[int, Option(min=1, max=1024, help="Number of processes; results do not depend on it.")]
Keep = Annotated[str | None, Option(metavar="DIR", help="Save finished parts in DIR and reuse those found there.")]
Timeout = Annotated[float | None, Option(min=0.001, help="Seconds allowed per decision.", show_default="no limit")]
Report = Annotated[str | None, Option(metavar="DIR", help="Write index.html, report.json and report.md to DIR.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON instead of tables.")]

PACKAGES = ("fiveup-env", "numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch")


def command_line() -> str:
    """The current command line, quoted for a shell."""
    return shlex.join(["fiveup", *sys.argv[1:]])


@contextmanager
def usage_errors(written: str | None = None) -> Iterator[None]:
    """Turn a ValueError into a UsageError, and an OSError too if `written` names what the block writes."""
    try:
        yield
    except OSError as error:
        if written is None:
            raise
        raise UsageError(f"cannot write {written}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(str(error)) from error


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A progress bar with the remaining time on stderr, if stderr is a terminal; it disappears at the end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_bars() -> Iterator[Callable[[str], Progress]]:
    """Consecutive progress bars: calling the result with a title ends the last bar and starts the next."""
    with ExitStack() as bars:

        def watch(title: str) -> Progress:
            bars.close()
            return bars.enter_context(progress_bar(title))

        yield watch


@contextmanager
def without_endgames() -> Iterator[None]:
    """Skip the endgames of a report if an agent fails in them, and print the reason; the matches are kept."""
    from fiveup_env.agents.protocol import AgentError

    try:
        yield
    except AgentError as error:
        print(f"the report has no endgames: {error}", file=sys.stderr)


def save_report(folder: str, report: ReportContent) -> None:
    """Write a report to a folder and print its path."""
    from fiveup_env.reports.report_writer import write_report

    with usage_errors(f"the report to {folder}"):
        print(f"report: {write_report(report, folder, command_line())}", file=sys.stderr)


def show(*parts: RenderableType) -> None:
    """Print tables and text of rich."""
    from rich.console import Console

    for part in parts:
        Console().print(part)


def print_result(content: Mapping[str, Any], as_json: bool, grids: Iterable[Grid]) -> None:
    """Print a result as JSON or as tables."""
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        show(*(grid.rich() for grid in grids))


def overview() -> Table:
    """Table of `fiveup info`: versions, the cache of compiled kernels, and the agents."""
    from rich.table import Table

    from fiveup_env.agents.registry import BUILT_IN, CHECKPOINTS
    from fiveup_env.jit.compilation import JIT_DISABLED
    from fiveup_env.system.machine import package_version

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in PACKAGES:
        table.add_row(package, package_version(package))
    table.add_row("kernels", "plain Python (NUMBA_DISABLE_JIT)" if JIT_DISABLED else "compiled")
    table.add_row("kernel cache", _kernel_cache())
    table.add_section()
    for name, (_, meaning) in BUILT_IN.items():
        table.add_row(f"agent {name}", meaning)
    for suffix, (_, meaning) in CHECKPOINTS.items():
        table.add_row(f"agent *{suffix}", f"checkpoint: {meaning}")
    return table


def _kernel_cache() -> str:
    """Folder of compiled kernels: numba's, if the user has set it, else that of this package."""
    from numba.core import config as numba_config

    from fiveup_env.jit.compilation import cache_directory

    if numba_config.CACHE_DIR:
        return str(numba_config.CACHE_DIR)
    folder = cache_directory("rules")
    return "none (no folder is writable)" if folder is None else str(Path(folder).parent)
