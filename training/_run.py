"""Shared parts of all runs: folder, resuming, device, progress lines and evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
import yaml
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import evaluate
from fiveup_env.reports.matchup_report import matchup_grid
from fiveup_env.system.training_scripts import ConfigError

from ._checkpoint import load_checkpoint, write_file, write_json
from ._config import ConfigSection, read_config
from ._config_parts import Evaluation, RunConfig
from ._mix import SELF, SNAPSHOTS

Model = TypeVar("Model", bound=RunConfig)

# ------------------------------------------------------------------------------------- folder and config


def free_folder(folder: Path) -> None:
    """Check that a new run can use the folder; a run never overwrites files.

    Raises:
        ConfigError: if the path is a file or the folder is not empty.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty: resume that run with --resume, or choose another --out")


def opened(
    config_file: Path, model: type[Model], may_change: Collection[str], out: str | None, resume: bool, seed: int | None
) -> tuple[Path, Model, Console]:
    """Read the config of a run, and check its folder.

    Args:
        config_file: YAML file.
        model: model of the config.
        may_change: keys that may differ between a resumed run and its config.
        out: folder of the run; None: `runs/<name of the config>`.
        resume: whether the folder holds a run to continue.
        seed: replaces the seed of the config; a resumed run keeps its seed if this is None.

    Returns:
        folder, config, and a console for progress lines on stderr.

    Raises:
        ConfigError: if the config is wrong, the folder holds a run without `resume`, or there is no run to resume with
            this config.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    folder = Path(out) if out else Path("runs", config_file.stem)
    config = read_config(config_file, model, seed=seed)
    if not resume:
        free_folder(folder)
        return folder, config, console
    started = folder / "config.yaml"
    if not folder.is_dir():
        raise ConfigError(f"there is no run in {folder} to resume: leave out --resume to start one")
    if not started.exists() and any(path.suffix != ".tmp" for path in folder.iterdir()):
        raise ConfigError(f"{folder} is not the folder of a run: it has no config.yaml")
    if started.exists():
        before = read_config(started, model)
        if seed is None:
            config = config.model_copy(update={"seed": before.seed})
        fixed = [name for name in model.model_fields if name not in may_change]
        if changed := [name for name in fixed if getattr(before, name) != getattr(config, name)]:
            raise ConfigError(f"{folder} was started with another config: {', '.join(changed)} cannot change in a run")
    return folder, config, console


def last_checkpoint(folder: Path, resume: bool, console: Console) -> dict[str, Any] | None:
    """Return the checkpoint to continue from; None for a new run, or if the run stopped before its first one.

    Raises:
        ConfigError: if there are checkpoints and all are damaged.
    """
    if not resume:
        return None
    state = load_checkpoint(folder, console.print)
    if state is None:
        console.print(f"{folder} has no checkpoint yet: starting from the beginning")
    return state


def begin_folder(folder: Path, config: ConfigSection) -> None:
    """Create the folder of a run with its config.

    Raises:
        ConfigError: if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "config.yaml", yaml.safe_dump(config.model_dump(), sort_keys=False).encode())
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written to: {error}") from error


def check_agents(names: Iterable[str], num_players: int, key: str) -> None:
    """Check that all agents exist and fit, before a run writes anything.

    Raises:
        ConfigError: if one does not; the message starts with `key`.
    """
    with agents_of(key):
        for name in names:
            if name not in (SELF, SNAPSHOTS):
                make_agent(name, num_players)


@contextmanager
def agents_of(key: str) -> Iterator[None]:
    """Report an `AgentError` as a `ConfigError` of a key of the config."""
    try:
        yield
    except AgentError as error:
        raise ConfigError(f"{key}: {error}") from error


def found_device(name: str) -> torch.device:
    """Return a torch device by name; `auto` is a GPU if there is one.

    Raises:
        ConfigError: if torch cannot use it.
    """
    try:
        device = torch.device(name if name != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device: torch cannot use {name!r} here ({str(error).splitlines()[0]})") from error
    return device


# ----------------------------------------------------------------------------------------------- progress


@contextmanager
def busy(console: Console, text: str) -> Iterator[None]:
    """Announce a long operation: a spinner on a terminal, a line elsewhere."""
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        console.print(text)
        yield


class Amount(ProgressColumn):
    """Completed and total amount, in millions if the total is at least one million."""

    def render(self, task: Task) -> Text:
        """Return text such as `1.50 of 20.00 M`."""
        done, total = task.completed, task.total or 0
        return Text(f"{done / 1e6:.2f} of {total / 1e6:.2f} M" if total >= 1e6 else f"{done:,.0f} of {total:,.0f}")


def amount_bar(console: Console, text: str, total: int = 0) -> Progress:
    """Return a progress bar within 80 columns with one task; it is shown on terminals only.

    `bar.update(bar.task_ids[0], completed=…, speed=…)` moves it; `speed` is free text.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        Amount(),
        BarColumn(5),
        TaskProgressColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[speed]}"),
        console=console,
        disable=not console.is_terminal,
    )
    bar.add_task(text, total=total, speed="")
    return bar


def training_bar(console: Console, decisions: int) -> Progress:
    """Return the bar of a run that learns from a number of decisions; elsewhere than on a terminal print a line."""
    if not console.is_terminal:
        console.print(f"learning from {decisions:,} decisions; every evaluation gives a line")
    return amount_bar(console, "", decisions)


# --------------------------------------------------------------------------------------------- evaluation


def is_due(every: int, before: int, now: int) -> bool:
    """Return whether a multiple of `every` lies in (before, now]."""
    return now // every > before // every


def evaluated(
    policy: Any, opponents: Iterable[str], num_players: int, settings: Evaluation
) -> tuple[dict[str, float], dict[str, float]]:
    """Play a policy against every opponent during training; returns metrics for TensorBoard, and win rates by name."""
    metrics, wins = {}, {}
    for name in opponents:
        result = evaluate(policy, name, num_players, settings.matches, settings.seed)
        metrics[f"evaluation/win_rate_against_{name}"] = wins[name] = result.win_rate.value
        metrics[f"evaluation/points_per_round_against_{name}"] = result.points_per_round.value
    return metrics, wins


def progress_line(decisions: int, speed: str, entropy: float, wins: dict[str, float]) -> str:
    """Return the line that is printed for an evaluation."""
    shown = ", ".join(f"{name} {100 * rate:.1f}%" for name, rate in wins.items())
    return f"{decisions:>11,} decisions, {speed}, entropy {entropy:.2f}, wins: {shown}"


def final_evaluation(
    folder: Path, console: Console, config: Any, policy: Any, opponents: Mapping[str, int], ray: str | None = None
) -> None:
    """Play a policy against every opponent, write `results.json` and print the tables.

    Args:
        folder: folder of the run.
        console: console for progress lines.
        config: config of the run, with the players and the seed of the deals.
        policy: agent or weights file.
        opponents: matches by name.
        ray: address of a Ray cluster that plays the matches; None plays them in this process.
    """
    results = []
    for name, matches in opponents.items():
        with busy(console, f"evaluating against {name}"):
            results.append(evaluate(policy, name, config.players, matches, config.evaluation.seed, ray=ray))
    write_json(folder / "results.json", [result.as_dict() for result in results], indent=2)
    for result in results:
        Console().print(matchup_grid(result).rich())
