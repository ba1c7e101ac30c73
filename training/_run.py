"""What runs share: how they begin or are resumed, bar of progress, device, and the evaluation that ends them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
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

from fiveup_env.evaluation import MatchUp
from fiveup_env.reports.matchup_report import matchup_grid
from fiveup_env.system.training_scripts import ConfigError

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


def continued(folder: Path, config: Model, may_change: Collection[str], any_seed: bool) -> Model:
    """The config to go on with in a folder that has one; for the arguments see `resumed`.

    Raises:
        ConfigError: if it differs from that one where it may not.
    """
    before = read_config(folder / "config.yaml", type(config))
    if any_seed:
        config = config.model_copy(update={"seed": getattr(before, "seed")})  # noqa: B009
    fixed = [name for name in type(config).model_fields if name not in may_change]
    if changed := [name for name in fixed if getattr(before, name) != getattr(config, name)]:
        raise ConfigError(f"{folder} was started with another config: {', '.join(changed)} cannot change in a run")
    return config


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
        config = continued(folder, config, may_change, any_seed)
    state = load_checkpoint(folder, console.print)
    if state is None:
        console.print(f"{folder} has no checkpoint yet: starting from the beginning")
    return config, state


def opened(
    config_file: Path, model: type[Model], may_change: Collection[str], out: str | None, resume: bool, seed: int | None
) -> tuple[Path, Model, dict[str, Any] | None, Console]:
    """What a run of a script begins with: its folder, its config, the checkpoint to go on from, and a console.

    Args:
        config_file: see `model`.
        model: what is expected in it.
        may_change: see `resumed`.
        out, resume, seed: as given to the script; the folder is `runs/<name of the config>` by default.

    Raises:
        ConfigError: if the config is wrong, or the folder has a run that is not to be resumed, or none that can be.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    folder = Path(out) if out else Path("runs", config_file.stem)
    config = read_config(config_file, model, seed=seed)
    if resume:
        config, state = resumed(folder, config, may_change, seed is None, console)
        return folder, config, state, console
    free_folder(folder)
    return folder, config, None, console


def final_evaluation(
    folder: Path, console: Console, opponents: Iterable[str], match_up: Callable[[str], MatchUp]
) -> None:
    """The match-up with every opponent by name, as tables and as `results.json`."""
    results = []
    for name in opponents:
        with busy(console, f"evaluating against {name}"):
            results.append(match_up(name))
    write_file(folder / "results.json", json.dumps([result.as_dict() for result in results], indent=2).encode())
    for result in results:
        Console().print(matchup_grid(result).rich())


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


@contextmanager
def busy(console: Console, what: str) -> Iterator[None]:
    """Say what takes a while: beside a turning sign on a terminal, elsewhere as a line."""
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        console.print(what)
        yield


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
    """Decisions learned from, time left, and what `speed` says, within 80 columns; no bar, but a line, elsewhere."""
    if not console.is_terminal:
        console.print(f"learning from {total:,} decisions; every evaluation gives a line")
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
