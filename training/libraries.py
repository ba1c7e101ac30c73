"""Run the examples of all learning libraries: check that they learn, measure their speed, write docs/libraries.md.

    python -m training.libraries --out docs/data/libraries.json
    python -m training.libraries torch_ppo torchrl_ppo
    python -m training.libraries --python agilerl=other-env/bin/python --out docs/data/libraries.json
    python -m training.libraries --table docs/data/libraries.json

The examples run one after the other, each in a separate process on one thread. A library that conflicts with others
runs with the interpreter of another environment (`--python LIBRARY=PATH`, repeatable). An example whose library is not
installed keeps its earlier figures in the file.
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
        module: module of the library.
        extra: extra of this package that installs it.
        samples: decisions of the run for the table.
        few: decisions of a short test run.
        wins: lowest acceptable win rate against `random` after `samples`.
        works, caveats: text for the table.
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
        "the next row belongs to an opponent, so advantages are computed per side",
    ),
    "sb3_ppo": Example(
        "sb3_contrib",
        "train",
        100_000,
        512,
        0.6,
        "`FiveUpSB3VecEnv`, a `VecEnv` over the native one; MaskablePPO of sb3-contrib asks it for `action_masks`; for "
        "long runs `fiveup train quickstart` ([training](training.md))",
        "SB3 does not take Gymnasium vector envs, hence the adapter; observations are the vector only",
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
        "infos must be arrays (`MaskInfos`); train only rows with the group's `mask`; hundreds of samples per second",
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
        "the standard route has one Python object per match; RLlib's environment check takes illegal actions",
    ),
    "rlcard_dqn": Example(
        "rlcard",
        "rlcard",
        20_000,
        512,
        0.55,
        '`rlcard.make("five-up")`, `DQNAgent` in all seats, `step_back`',
        "rewards only at the end of an episode; one match in Python",
    ),
    "agilerl_ppo": Example(
        "agilerl",
        "agilerl",
        60_000,
        512,
        0.6,
        "`PPO` and its `RolloutBuffer` on the native vector env, masks from its infos",
        "separate environment; its `collect_rollouts` cuts advantages one row too early at the end of an episode: "
        "the example has another collector",
    ),
    "xuance_ippo": Example(
        "xuance",
        "xuance",
        20_000,
        512,
        0.6,
        "`IPPO_Agents` with `use_actions_mask` over a `RawMultiAgentEnv`: four seats, one network, self-play",
        "separate environment (numpy 1); all seats act at once, idle ones by a single action; slow Python objects",
    ),
    "jax_ppo": Example(
        "jax",
        "jax",
        100_000,
        1_024,
        0.6,
        "self-play PPO: `FiveUpJax` inside one jitted `scan`, by `pure_callback`",
        "rules run on the host; tested in a separate environment without torch; no `vmap`",
    ),
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def run_example(name: str, samples: int, matches: int, python: str, seed: int = 1) -> dict[str, Any] | str:
    """Run an example in a separate process; returns its figures, or one line with the error."""
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
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["no output"]
    return json.loads(lines[-1]) if done.returncode == 0 else lines[-1]


def library_tables(data: dict[str, Any]) -> str:
    """Return the two Markdown tables: features, and speed."""
    head = "| example | library, version | features | caveats |\n| --- | --- | --- | --- |"
    speeds = (
        "| example | samples | samples/s | samples per CPU second | wins against `random` | `greedy` |\n"
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
    """Return an `Estimate.as_dict` in percent."""
    low, high = estimate["interval"]
    return f"{100 * estimate['value']:.1f}% [{100 * low:.1f}, {100 * high:.1f}]"


def _rounded(rate: float) -> str:
    """Return a rate with two significant digits."""
    return f"{float(f'{rate:.2g}'):,.0f}"


@app.command()
def main(
    names: Annotated[list[str] | None, typer.Argument(help="Examples to run (default: all)")] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file to update")] = None,
    python: Annotated[list[str] | None, typer.Option(help="LIBRARY=INTERPRETER of another environment")] = None,
    matches: Annotated[int, typer.Option(min=2, help="Matches per opponent of the evaluation")] = 2000,
    show: Annotated[Path | None, typer.Option("--table", help="Print the tables of a JSON file and exit")] = None,
) -> None:
    """Run the examples, check that they learn, and print the tables."""
    if show is not None:
        typer.echo(library_tables(json.loads(show.read_text(encoding="utf-8"))))
        return
    if unknown := sorted(set(names or ()) - set(EXAMPLES)):
        raise typer.BadParameter(f"there is no example {unknown[0]!r}; examples: {', '.join(EXAMPLES)}")
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
                typer.echo(f"{name}: this is less than {100 * example.wins:.0f}%", err=True)
                failed = True
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    typer.echo(library_tables(data))
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
