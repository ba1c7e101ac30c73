"""The folder of a run: what is checked before one starts or is resumed, and its bar of progress; and its device."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeVar

import torch
import yaml
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from fiveup_env.scripts import ConfigError

from ._checkpoint import load_checkpoint, write_file
from ._config import Section, read_config

Model = TypeVar("Model", bound=Section)


def free_folder(folder: Path) -> None:
    """Check that a new run may write to the folder: nothing is ever overwritten.

    Raises:
        ConfigError: if it may not.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty: resume that run with --resume, or choose another --out")


def resumed(
    folder: Path, config: Model, may_change: Collection[str], any_seed: bool, console: Console
) -> tuple[Model, dict[str, Any] | None]:
    """The config to go on with, and the last checkpoint; None if the run stopped before the first.

    Args:
        folder: of the run.
        config: as asked for now, with a key `seed`.
        may_change: keys that may differ from those the run was started with.
        any_seed: the run's own seed is meant, whatever the config says.
        console: for remarks.

    Raises:
        ConfigError: if there is no run, or none that can go on with this config.
    """
    started = folder / "config.yaml"
    if not folder.is_dir():
        raise ConfigError(f"there is no run in {folder} to resume: leave out --resume to start one")
    if not started.exists() and any(path.suffix != ".tmp" for path in folder.iterdir()):
        raise ConfigError(f"{folder} holds something else than a run: it has no config.yaml")
    if started.exists():
        before = read_config(started, type(config))
        if any_seed:
            config = config.model_copy(update={"seed": getattr(before, "seed")})  # noqa: B009
        fixed = [name for name in type(config).model_fields if name not in may_change]
        if changed := [name for name in fixed if getattr(before, name) != getattr(config, name)]:
            raise ConfigError(f"{folder} was started with another config: {', '.join(changed)} cannot change in a run")
    state = load_checkpoint(folder, console.print)
    if state is None:
        console.print(f"{folder} has no checkpoint yet: starting from the beginning")
    return config, state


def begin_folder(folder: Path, config: Section) -> None:
    """Make the folder of a run, with the config that is used.

    Raises:
        ConfigError: if it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "config.yaml", yaml.safe_dump(config.model_dump(), sort_keys=False).encode())
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written to: {error}") from error


def found_device(name: str) -> torch.device:
    """A device by torch's name of it, `auto` for a GPU if there is one.

    Raises:
        ConfigError: if torch cannot use it.
    """
    try:
        device = torch.device(name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device: torch cannot use {name!r} here ({str(error).splitlines()[0]})") from error
    return device


class Decisions(ProgressColumn):
    """How many millions of decisions are learned from, of how many."""

    def render(self, task: Task) -> Text:
        """Such as `1.50 of 20.00 M`."""
        return Text(f"{task.completed / 1e6:.2f} of {(task.total or 0) / 1e6:.2f} M")


def progress_bar(console: Console, total: int) -> Progress:
    """Decisions learned from, time left, and what `speed` says, within 80 columns; on a terminal only."""
    bar = Progress(
        Decisions(),
        BarColumn(5),
        TaskProgressColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[speed]}"),
        console=console,
        disable=not console.is_terminal,
    )
    bar.add_task("train", total=total, speed="")
    return bar
