"""What the commands share: errors in one line, a bar of progress, the command line as it was typed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from fiveup_env.evaluation.match_play import Progress

# Typer brings its own click from some release on, so click's classes are reached through typer's.
UsageError: Any = typer.BadParameter.__mro__[1]
ClickError: Any = typer.BadParameter.__mro__[2]
assert (UsageError.__name__, ClickError.__name__) == ("UsageError", "ClickException")

AGENT = "A name (see `fiveup info`), a checkpoint file, module:Class, openspiel:BOT, exec:COMMAND, or 'pair:X with Y'."


def command_line(arguments: Sequence[str]) -> str:
    """What was typed, as it would be typed again."""
    return shlex.join(["fiveup", *arguments])


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """A bar with the remaining time on stderr, if that is a terminal; it goes when the work is done."""
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
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def without_endgames() -> Iterator[None]:
    """Let a report go without the endgames of agents that fail in them, and say why: the rest has been played."""
    from fiveup_env.agents.protocol import AgentError

    try:
        yield
    except AgentError as error:
        print(f"the report has no endgames: {error}", file=sys.stderr)


@contextmanager
def progress_bars() -> Iterator[Callable[[str], Progress]]:
    """One bar after the other: a function that ends the last one and begins the next, given what it shows."""
    with ExitStack() as bars:

        def watch(what: str) -> Progress:
            bars.close()
            return bars.enter_context(progress_bar(what))

        yield watch
