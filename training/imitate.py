"""Imitation of search: `pimc` labels positions with a value per action, and a network learns the labels.

    fiveup train imitate
    fiveup train configs/imitate.yaml --out runs/mine --seed 3
    fiveup train configs/imitate.yaml --out runs/mine --resume

A search plays hundreds of sampled worlds per decision. A network trained on a million of its decisions answers in one
forward pass and averages out the noise of single labels. A run has stages. In the first stage the teacher plays the
matches whose positions are labelled; in later stages the network of the previous stage can play (`players:
{network: 1}`), so that it learns the positions that its own mistakes lead to (DAgger: Ross, Gordon and Bagnell, 2011).
A run writes to its folder:

- `policy.safetensors`: the network, usable wherever an agent is named
- `results.json`: the final evaluation
- `config.yaml`: the config of the run
- `stage-1/positions`, ...: labelled positions (see `_positions`); `stage-1/network.safetensors`, ...
- `learning.jsonl`: one line per epoch: loss, regret, agreement, seconds
- `curve.json`: after every stage, the total of labelled positions and passes, the seconds of labelling and learning,
  and the win rate against `greedy`

`--resume` keeps positions and finished stages; the learning of an unfinished stage starts again.
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
from rich.progress import Progress

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.evaluation import evaluate
from fiveup_env.system.training_scripts import ConfigError

from ._checkpoint import write_file, write_json
from ._config import ConfigSection, Count, Positive, Share, with_defaults
from ._config_parts import ResidualNetwork, RunConfig, StageEvaluation
from ._labels import Learning, learn
from ._network import load_weights, save_weights
from ._positions import TEACHER, Positions, Source, labeller, load_positions, make_positions
from ._run import agents_of, amount_bar, begin_folder, check_agents, final_evaluation, opened

NETWORK = "network"
"""Name of the previous stage's network among the players."""

SeeingNetwork = with_defaults(ResidualNetwork, belief=True)


class ImitationStage(ConfigSection):
    """Positions to label, and their learning."""

    positions: Count = Field(description="number of positions, rounded up to whole shards")
    teacher: str = Field(default="pimc:worlds=128", description="search that labels them")
    players: dict[str, Positive] = Field(
        default={TEACHER: 3.0, "greedy": 1.0},
        min_length=1,
        description="share of the sides per player: an agent name, `teacher` (the search's own choice) or `network` "
        "(the network of the previous stage)",
    )
    keep: bool = Field(default=True, description="whether the positions of earlier stages are used again")
    epochs: Count = Field(default=4, description="passes over all positions")
    learning_rate: Positive = Field(default=1e-3, description="initial rate of AdamW; it falls to 0 by a cosine")
    network: SeeingNetwork | None = Field(
        default=None, description="sizes of a new network for this stage; None continues with the previous one"
    )


class Config(RunConfig):
    """Config of a run."""

    script: Literal["imitate"] = Field(description="this script")
    processes: Count = Field(default=1, description="processes that label; the result does not depend on it")
    shard: Count = Field(default=16_384, le=1 << 20, description="positions per file")
    random: Share = Field(default=0.1, description="share of random decisions, so that the positions include mistakes")
    scattered: Share = Field(default=0.5, description="share of matches that start from random scores, not 0 : 0")
    holdout: Share = Field(default=0.03, description="share of the shards used for measuring only (at least one)")
    stages: list[ImitationStage] = Field(min_length=1, description="stages in order")
    network: SeeingNetwork = Field(default=SeeingNetwork(), description="sizes of the first stage's network")
    learning: Learning = Field(default=Learning(), description="loss and optimiser")
    evaluation: StageEvaluation = Field(default=StageEvaluation(), description="evaluation after stages and training")


MAY_CHANGE = frozenset({"threads", "processes", "evaluation"})
"""Keys that may change when a run is resumed."""


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Label, learn, evaluate and print the result; for the arguments and errors see `_run.opened`."""
    folder, config, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    check_players(config)
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
        with amount_bar(console, f"stage {number}: learning") as bar:
            schedule = (config.learning, stage.epochs, stage.learning_rate)
            for line in learn(network, learned, measured, *schedule, partial(show_progress, bar)):
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
    final_evaluation(folder, console, config, folder / "policy.safetensors", config.evaluation.opponents)


def check_players(config: Config) -> None:
    """Check all agents of the config before the first stage.

    Raises:
        ConfigError: if one does not exist or fit.
    """
    for number, stage in enumerate(config.stages):
        if number == 0 and NETWORK in stage.players:
            raise ConfigError("stages.0.players: the first stage has no previous stage whose network could play")
        with agents_of(f"stages.{number}"):
            labeller(stage.teacher, config.players)
        check_agents(stage.players.keys() - {TEACHER, NETWORK}, config.players, f"stages.{number}")
    check_agents(config.evaluation.opponents, config.players, "evaluation.opponents")


def label(config: Config, number: int, folder: Path, console: Console) -> list[Path]:
    """Return the files with the positions of a stage; missing files are created."""
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
    with amount_bar(console, f"stage {number}: positions") as bar:
        here = folder / f"stage-{number}" / "positions"
        return make_positions(source, here, stage.positions, config.processes, partial(show_progress, bar))


def parted(files: list[list[Path]], config: Config) -> tuple[Positions, Positions]:
    """Return positions for learning and for measuring: the last shards of every stage, from separate matches."""
    learned, measured = [], []
    for shards in files:
        held = max(1, round(config.holdout * len(shards)))
        if held >= len(shards):
            raise ConfigError(
                "stages: a stage needs more positions than one shard, because one shard is used for measuring only"
            )
        learned += shards[:-held]
        measured += shards[-held:]
    return load_positions(learned, config.players), load_positions(measured, config.players)


def add_to_curve(folder: Path, network: PolicyNetwork, config: Config, trained: dict[str, Any]) -> None:
    """Evaluate the network of a stage on the deals of all stages and runs, and add the result to `curve.json`.

    Args:
        folder: folder of the run.
        network: network at the end of the stage.
        config: config of the run.
        trained: number of the stage, total of labelled positions, passes (positions times epochs) and seconds.
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
    write_json(file, [*before, entry])


def note(folder: Path, console: Console, line: dict[str, Any]) -> None:
    """Print a line, and add it to `learning.jsonl`."""
    with (folder / "learning.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    console.print(
        f"stage {line['stage']}, epoch {line['epoch']}, {line['seconds']:.0f} s: loss {line['loss']:.4f}; held out: "
        f"{line['cross_entropy']:.4f}, agreement {100 * line['agreement']:.1f}%, regret {100 * line['regret']:.3f}% "
        f"of a match, value error {100 * line['value_error']:.1f}%"
    )


def show_progress(bar: Progress, done: int, total: int) -> None:
    """Update the progress bar."""
    bar.update(bar.task_ids[0], completed=done, total=total)
