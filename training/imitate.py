"""A policy that imitates search: `pimc` labels positions with a value for every action, a network learns them.

    fiveup train imitate
    fiveup train configs/imitate.yaml --out runs/mine --seed 3
    fiveup train configs/imitate.yaml --out runs/mine --resume

A search looks at hundreds of sampled worlds for one decision; a network that has seen a million of its decisions
answers in one forward pass, and its errors average out what chance there was in each label. A run goes through stages.
In the first one the teacher itself plays the matches whose positions are labelled; in later ones the network of the
stage before does (`players: {network: 1}`), so that it learns what to do where its own mistakes lead (DAgger: Ross,
Gordon and Bagnell, 2011). What a run leaves in its folder:

- `policy.safetensors`: the network, for `fiveup evaluate` and wherever an agent is named
- `results.json`: the evaluation that ends the run
- `config.yaml`: the config as it was used
- `stage-1/positions`, ...: the labelled positions (see `_positions`); `stage-1/network.safetensors`, ...
- `learning.jsonl`: a line per epoch: loss, regret, agreement, seconds
- `curve.json`: after every stage the positions labelled and passed through so far, the seconds of labelling and
  learning, and wins against `greedy`

With `--resume` positions and finished stages that are there are kept; a stage's learning begins anew.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import evaluate
from fiveup_env.system.training_scripts import ConfigError

from ._checkpoint import write_file
from ._config import Count, Positive, Section, Share, read_config
from ._labels import Learning, learn
from ._network import PolicyNetwork, load_weights, save_weights
from ._positions import TEACHER, Positions, Source, labeller, load_positions, make_positions
from ._run import begin_folder, continued, final_evaluation, free_folder

NETWORK = "network"
"""Among those who play: the network of the stage before."""

# ---------------------------------------------------------------------------------------------- config


class Network(Section):
    """A residual perceptron that scores placements; see `_network`."""

    width: Count = Field(default=256, description="of all hidden layers")
    blocks: int = Field(default=1, ge=0, description="of two layers each")
    placements: int = Field(
        default=128, ge=0, description="width of the layers that score placements; 0: an output per action id"
    )
    belief: bool = Field(
        default=True, description="whether it sees where tiles are likely to be, given what the others chose"
    )


class Stage(Section):
    """Positions, and learning from them."""

    positions: Count = Field(description="how many, rounded up to whole shards")
    teacher: str = Field(default="pimc:worlds=128", description="the search that labels them")
    players: dict[str, Positive] = Field(
        default={TEACHER: 3.0, "greedy": 1.0},
        min_length=1,
        description="share of the sides that each agent plays; `teacher` is the search's own choice, `network` the "
        "network of the stage before",
    )
    keep: bool = Field(default=True, description="learn from the positions of the stages before as well")
    epochs: Count = Field(default=4, description="passes over all positions")
    learning_rate: Positive = Field(default=1e-3, description="of AdamW, at the start; falls to 0 by a cosine")
    network: Network | None = Field(
        default=None, description="sizes of a new network that this stage begins with; None: goes on with the last one"
    )


class Evaluation(Section):
    """Matches of the policy, always taking its most likely action, on duplicate deals."""

    opponents: dict[str, Count] = Field(default={"greedy": 4000}, description="against whom, and how many matches")
    curve: int = Field(default=2000, ge=0, description="matches against `greedy` after every stage, 0 for none")
    seed: int = Field(default=1, ge=0, lt=2**64, description="of the deals")


class Config(Section):
    """A run."""

    script: Literal["imitate"] = Field(description="this script")
    players: Literal[2, 3, 4] = Field(default=4, description="seats; four are two partnerships (R1.2)")
    seed: int = Field(default=0, ge=0, lt=2**32, description="decides the run; on one thread to the last bit")
    threads: Count = Field(default=1, description="of torch")
    processes: Count = Field(default=1, description="that make positions; what they make does not depend on it")
    shard: Count = Field(default=16_384, le=1 << 20, description="positions per file")
    random: Share = Field(default=0.1, description="share of decisions made at random, so that mistakes are seen too")
    scattered: Share = Field(default=0.5, description="share of matches that start from random scores, not 0 : 0")
    holdout: Share = Field(default=0.03, description="share of the shards that are for measuring alone (at least one)")
    stages: list[Stage] = Field(min_length=1, description="one after the other")
    network: Network = Field(default=Network(), description="sizes of the first stage's")
    learning: Learning = Field(default=Learning(), description="the loss")
    evaluation: Evaluation = Field(default=Evaluation(), description="after the last stage")


MAY_CHANGE = frozenset({"threads", "processes", "evaluation"})
"""Keys that may differ from the first part of a run when it is resumed."""

# ------------------------------------------------------------------------------------------------- run


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Label, learn, evaluate, and print the result.

    Args:
        config_file: see `Config`.
        out: folder of the run; default `runs/<name of the config>`.
        resume: keep what is in that folder.
        seed: in place of the config's.

    Raises:
        ConfigError: if the config is wrong, or the folder has a run that is not to be resumed, or none that can be.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    folder = Path(out) if out else Path("runs", config_file.stem)
    config = read_config(config_file, Config, seed=seed)
    check_agents(config)
    if resume:
        config = resumed(folder, config, seed is None)
    else:
        free_folder(folder)
    begin_folder(folder, config)
    torch.set_num_threads(config.threads)
    network, files, labelled = None, [], 0
    for number, stage in enumerate(config.stages, 1):
        here = folder / f"stage-{number}"
        began = time.monotonic()
        made = label(config, number, folder, console)
        files = [*files, made] if stage.keep else [made]
        labelled += config.shard * len(made)
        if (here / "network.safetensors").exists():
            network = load_weights(here / "network.safetensors")
            continue
        learned, measured = parted(files, config)
        console.print(f"stage {number}: learning from {len(learned):,} positions, measuring on {len(measured):,}")
        torch.manual_seed(config.seed * 1000 + number)
        if network is None or stage.network:
            network = PolicyNetwork(config.players, **(stage.network or config.network).model_dump())
        with progress_bar(console, f"stage {number}: learning") as bar:
            for line in learn(
                network,
                learned,
                measured,
                config.learning,
                stage.epochs,
                stage.learning_rate,
                partial(show, bar),
            ):
                note(folder, console, {"stage": number} | line)
        trained = {
            "script": "imitate",
            "config": config.model_dump(),
            "stage": number,
            "labelled": labelled,
            "positions": len(learned),
            "passes": len(learned) * stage.epochs,
            "seconds": round(time.monotonic() - began, 1),
        }
        if config.evaluation.curve:
            add_to_curve(folder, network, config, trained)
        save_weights(here / "network.safetensors", network, trained)
    assert network is not None
    write_file(folder / "policy.safetensors", (here / "network.safetensors").read_bytes())
    weights, opponents = folder / "policy.safetensors", config.evaluation.opponents
    final_evaluation(
        folder,
        console,
        opponents,
        lambda name: evaluate(weights, name, config.players, opponents[name], config.evaluation.seed),
    )


def check_agents(config: Config) -> None:
    """Refuse what would fail hours later."""
    for number, stage in enumerate(config.stages, 1):
        try:
            labeller(stage.teacher, config.players)
            for name in stage.players:
                if name == NETWORK and number == 1:
                    raise ConfigError("stages.0.players: there is no stage before the first one whose network plays")
                if name not in (TEACHER, NETWORK):
                    make_agent(name, config.players)
        except AgentError as error:
            raise ConfigError(f"stages.{number - 1}: {error}") from error
    for name in config.evaluation.opponents:
        try:
            make_agent(name, config.players)
        except AgentError as error:
            raise ConfigError(f"evaluation.opponents: {error}") from error


def resumed(folder: Path, config: Config, any_seed: bool) -> Config:
    """The config to go on with."""
    if not (folder / "config.yaml").exists():
        raise ConfigError(f"there is no run in {folder} to resume: leave out --resume to start one")
    return continued(folder, config, MAY_CHANGE, any_seed)


# -------------------------------------------------------------------------------------------- positions


def label(config: Config, number: int, folder: Path, console: Console) -> list[Path]:
    """The files with the positions of a stage; what is missing is made."""
    stage = config.stages[number - 1]
    before = str(folder / f"stage-{number - 1}" / "network.safetensors")
    source = Source(
        num_players=config.players,
        teacher=stage.teacher,
        players={before if name == NETWORK else name: share for name, share in stage.players.items()},
        random=config.random,
        scattered=config.scattered,
        shard=config.shard,
        seed=config.seed * 1000 + number,
    )
    with progress_bar(console, f"stage {number}: positions") as bar:
        return make_positions(
            source,
            folder / f"stage-{number}" / "positions",
            stage.positions,
            config.processes,
            partial(show, bar),
        )


def parted(files: list[list[Path]], config: Config) -> tuple[Positions, Positions]:
    """What is learned from, and what is measured on: the last shards of every stage, from matches of their own."""
    learned, measured = [], []
    for shards in files:
        held = max(1, round(config.holdout * len(shards)))
        if held >= len(shards):
            raise ConfigError("stages: a stage needs more positions than a shard: one shard is for measuring alone")
        learned += shards[:-held]
        measured += shards[-held:]
    return load_positions(learned, config.players), load_positions(measured, config.players)


# ------------------------------------------------------------------------------------------------ notes


def add_to_curve(folder: Path, network: PolicyNetwork, config: Config, trained: dict[str, Any]) -> None:
    """Evaluate the network of a stage, on deals that are the same for all stages and runs, and note it in `curve.json`.

    Args:
        folder: of the run.
        network: as it is at the end of the stage.
        config: of the run.
        trained: the stage's number, positions labelled so far, passes (positions times epochs) and seconds.
    """
    file, weights = folder / "curve.json", folder / "curve.safetensors"
    before = (
        [entry for entry in json.loads(file.read_text()) if entry["stage"] < trained["stage"]] if file.exists() else []
    )
    save_weights(weights, network, {"script": "imitate"})
    found = evaluate(weights, "greedy", config.players, config.evaluation.curve, config.evaluation.seed)
    weights.unlink()
    so_far = {key: trained[key] + (before[-1][key] if before else 0) for key in ("passes", "seconds")}
    entry = {"stage": trained["stage"], "labelled": trained["labelled"]} | so_far
    rate = found.as_dict()["win_rate"]
    entry |= {"greedy": rate["value"], "interval": rate["interval"]}
    write_file(file, json.dumps([*before, entry], indent=1).encode())


def note(folder: Path, console: Console, line: dict[str, Any]) -> None:
    """A line for people, and one for programs."""
    with (folder / "learning.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    console.print(
        f"stage {line['stage']}, epoch {line['epoch']}, {line['seconds']:.0f} s: loss {line['loss']:.4f}; held out: "
        f"{line['cross_entropy']:.4f}, agreement {100 * line['agreement']:.1f}%, regret {100 * line['regret']:.3f}% "
        f"of a match, value error {100 * line['value_error']:.1f}%"
    )


def show(bar: Progress, done: int, total: int) -> None:
    """Move the bar."""
    bar.update(bar.task_ids[0], completed=done, total=total)


def progress_bar(console: Console, what: str) -> Progress:
    """What is done, time taken and time left; on a terminal only."""
    bar = Progress(
        TextColumn(f"{what}: {{task.completed:,.0f}} of {{task.total:,.0f}}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    bar.add_task(what, total=0)
    return bar
