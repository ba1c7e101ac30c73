"""Every learning library's example in one run: that it learns, how fast it is, and the table of docs/libraries.md.

    python -m training.libraries --out docs/data/libraries.json
    python -m training.libraries torch_ppo torchrl_ppo
    python -m training.libraries --python agilerl=other-env/bin/python --out docs/data/libraries.json
    python -m training.libraries --table docs/data/libraries.json

Each example runs as its own process, one after the other, on one thread; libraries that do not live beside the others
are run by the interpreter of their own environment (`--python LIBRARY=PATH`, more than once). An example whose library
that interpreter lacks keeps the figures of an earlier run in the file, if it has any.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from fiveup_env.system.training_scripts import PACKAGE


@dataclass(frozen=True)
class Example:
    """A script of `training/examples`.

    Attributes:
        module: what must be importable.
        extra: of this package, which brings it.
        samples: decisions of the run whose figures stand in the table.
        few: decisions that are enough to see that it runs.
        wins: win rate against `random` that a run of `samples` must reach.
        works: for the table: what the example shows.
        caveats: for the table.
    """

    module: str
    extra: str
    samples: int
    few: int
    wins: float
    works: str
    caveats: str


EXAMPLES: dict[str, Example] = {
    "torch_ppo": Example(
        "torch",
        "train",
        100_000,
        512,
        0.75,
        "self-play PPO in one file, all four seats by one network on `SelfPlayVectorEnv`",
        "the next row is an opponent's: advantages per side",
    ),
    "sb3_ppo": Example(
        "sb3_contrib",
        "train",
        100_000,
        512,
        0.6,
        "`FiveUpSB3VecEnv`, a `VecEnv` over the native one; MaskablePPO of sb3-contrib asks it for `action_masks`; for "
        "long runs `fiveup train quickstart` ([training](training.md))",
        "SB3 takes no Gymnasium vector env, hence the adapter; observations are the vector alone",
    ),
    "torchrl_ppo": Example(
        "torchrl",
        "torchrl",
        60_000,
        512,
        0.6,
        "`GymWrapper` over the native vector env, `MaskedCategorical`, `Collector`, `GAE`, `ClipPPOLoss`",
        'the vector env must be made with `autoreset_mode="DISABLED"`',
    ),
    "torchrl_mappo": Example(
        "torchrl",
        "torchrl",
        5_000,
        1_000,
        0.52,
        "`PettingZooWrapper` with two team groups, a critic over the global state",
        "infos must be arrays: `MaskInfos`; only rows with the group's `mask` may train; hundreds of samples a second",
    ),
    "tianshou_ppo": Example(
        "tianshou",
        "tianshou",
        60_000,
        512,
        0.6,
        "`FiveUpTianshouEnv`, a `BaseVectorEnv` over the native one; `Collector`, `PPO`; Q-learning finds the mask",
        "policies other than Q-functions must mask in their actor; collect steps, not episodes",
    ),
    "skrl_ppo": Example(
        "skrl",
        "skrl",
        60_000,
        512,
        0.6,
        "`wrap_env` over the native vector env, `PPO`, `SequentialTrainer`",
        "the policy unflattens observation and mask; pass `headless=True` to trainers",
    ),
    "rllib_ppo": Example(
        "ray",
        "ray",
        10_000,
        600,
        0.55,
        "`FiveUpMultiAgentEnv` lists only the seat to act, `MaskedPPOModule`, one policy for all seats; on clusters "
        "`fiveup train rllib` ([cluster](cluster.md))",
        "the standard route is a Python object a match; RLlib's own check of an environment takes illegal actions",
    ),
    "rlcard_dqn": Example(
        "rlcard",
        "rlcard",
        20_000,
        512,
        0.55,
        '`rlcard.make("five-up")`, `DQNAgent` in all seats, `step_back`',
        "rewards at the end of an episode only; one table in Python",
    ),
    "agilerl_ppo": Example(
        "agilerl",
        "agilerl",
        60_000,
        512,
        0.6,
        "`PPO` and its `RolloutBuffer` on the native vector env, masks from its infos",
        "environment of its own; its `collect_rollouts` cuts advantages a row too early at the end of an episode: the "
        "example collects itself",
    ),
    "xuance_ippo": Example(
        "xuance",
        "xuance",
        20_000,
        512,
        0.6,
        "`IPPO_Agents` with `use_actions_mask` over a `RawMultiAgentEnv`: four seats, one network, self-play",
        "environment of its own (numpy 1); all act at once: idle seats have a single action; one Python object a match",
    ),
    "jax_ppo": Example(
        "jax",
        "jax",
        100_000,
        1_024,
        0.6,
        "self-play PPO: `FiveUpJax` inside one jitted `scan`, by `pure_callback`",
        "rules run on the host; environment of its own here (no torch needed); not for `vmap`",
    ),
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def run_example(name: str, samples: int, matches: int, python: str, seed: int = 1) -> dict[str, Any] | str:
    """The figures of an example that ran as a process of its own, or the line that says why there are none."""
    home = Path(__file__).resolve().parent.parent
    module = f"{'fiveup_env.' if home == PACKAGE else ''}training.examples.{name}"
    roots = [str(home.parent if home == PACKAGE else home), os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [
        python,
        "-m",
        module,
        "--samples",
        str(samples),
        "--matches",
        str(matches),
        "--seed",
        str(seed),
        "--json",
    ]
    done = subprocess.run(
        command,
        env=os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, roots))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["no word"]
    return json.loads(lines[-1]) if done.returncode == 0 else lines[-1]


def table(data: dict[str, Any]) -> str:
    """The two Markdown tables: what works, and how fast it was."""
    head = "| example | library, version | what works | mind |\n| --- | --- | --- | --- |"
    speeds = (
        "| example | samples | samples/s | samples per processor second | wins against `random` | `greedy` |\n"
        "| --- | ---: | ---: | ---: | --- | --- |"
    )
    for name, example in EXAMPLES.items():
        found = data["examples"].get(name)
        what = f"{found['library']} {found['version']}" if found else example.module
        head += f"\n| `{name}` | {what} | {example.works} | {example.caveats} |"
        if found and found["samples"]:
            wins = [_percent(found["wins"][opponent]) for opponent in ("random", "greedy")]
            rates = [_rounded(found["samples"] / found[unit]) for unit in ("seconds", "cpu_seconds")]
            speeds += f"\n| `{name}` | {found['samples']:,} | {' | '.join(rates)} | {' | '.join(wins)} |"
    return f"{head}\n\n{speeds}"


def _percent(estimate: dict[str, Any]) -> str:
    """Of `Estimate.as_dict`."""
    low, high = estimate["interval"]
    return f"{100 * estimate['value']:.1f}% [{100 * low:.1f}, {100 * high:.1f}]"


def _rounded(rate: float) -> str:
    """Two digits are more than a busy machine holds."""
    return f"{float(f'{rate:.2g}'):,.0f}"


@app.command()
def main(
    names: Annotated[list[str] | None, typer.Argument(help="examples; all if none is named")] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file to write; what it has of other examples stays")] = None,
    python: Annotated[list[str] | None, typer.Option(help="LIBRARY=interpreter of its own environment")] = None,
    matches: Annotated[int, typer.Option(min=2, help="of the evaluation, per opponent")] = 2000,
    show: Annotated[Path | None, typer.Option("--table", help="print the tables of such a file and end")] = None,
) -> None:
    """Run the examples, check that they learn, and print the tables."""
    if show is not None:
        typer.echo(table(json.loads(show.read_text(encoding="utf-8"))))
        return
    if unknown := sorted(set(names or ()) - set(EXAMPLES)):
        raise typer.BadParameter(f"there is no example {unknown[0]!r}; there are: {', '.join(EXAMPLES)}")
    interpreters = dict(pair.partition("=")[::2] for pair in python or ())
    data: dict[str, Any] = {"examples": {}}
    if out is not None and out.exists():
        data = json.loads(out.read_text(encoding="utf-8"))
    data |= {"machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"}
    failed = False
    for name in names or EXAMPLES:
        example = EXAMPLES[name]
        found = run_example(name, example.samples, matches, interpreters.get(example.extra, sys.executable))
        if isinstance(found, str):
            typer.echo(f"{name}: {found}", err=True)
            failed |= "is not installed" not in found
            continue
        data["examples"][name] = found | {"date": date.today().isoformat()}
        if found["samples"]:
            learned = found["wins"]["random"]["value"] >= example.wins
            typer.echo(
                f"{name}: {found['samples']:,} samples, {_percent(found['wins']['random'])} against random", err=True
            )
            if not learned:
                typer.echo(f"{name}: that is less than {100 * example.wins:.0f}%", err=True)
                failed = True
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    typer.echo(table(data))
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
