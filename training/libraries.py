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
    """A script of `training/examples`; docs/libraries.md describes each.

    Attributes:
        module: module of the library.
        extra: extra of this package that installs it.
        samples: decisions of the run for the table.
        few: decisions of a short test run.
        wins: lowest acceptable win rate against `random` after `samples`.
    """

    module: str
    extra: str
    samples: int
    few: int
    wins: float


EXAMPLES: dict[str, Example] = {
    "torch_ppo": Example("torch", "train", 100_000, 512, 0.75),
    "sb3_ppo": Example("sb3_contrib", "train", 100_000, 512, 0.6),
    "torchrl_ppo": Example("torchrl", "torchrl", 60_000, 512, 0.6),
    "torchrl_mappo": Example("torchrl", "torchrl", 5_000, 1_000, 0.52),
    "tianshou_ppo": Example("tianshou", "tianshou", 60_000, 512, 0.6),
    "skrl_ppo": Example("skrl", "skrl", 60_000, 512, 0.6),
    "rllib_ppo": Example("ray", "ray", 10_000, 600, 0.55),
    "rlcard_dqn": Example("rlcard", "rlcard", 20_000, 512, 0.55),
    "agilerl_ppo": Example("agilerl", "agilerl", 60_000, 512, 0.6),
    "xuance_ippo": Example("xuance", "xuance", 20_000, 512, 0.6),
    "jax_ppo": Example("jax", "jax", 100_000, 1_024, 0.6),
}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def run_example(name: str, samples: int, matches: int, python: str, seed: int = 1) -> dict[str, Any] | str:
    """Run an example in a separate process; returns its figures, or one line with the error."""
    home = Path(__file__).resolve().parent.parent
    module = f"{'fiveup_env.' if home == PACKAGE else ''}training.examples.{name}"
    roots = [str(home.parent if home == PACKAGE else home), os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [python, "-m", module, f"--samples={samples}", f"--matches={matches}", f"--seed={seed}", "--json"]
    done = subprocess.run(
        command,
        env=os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, roots))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["no output"]
    return json.loads(lines[-1]) if done.returncode == 0 else lines[-1]


def library_table(data: dict[str, Any]) -> str:
    """Return the speed of all measured examples as a Markdown table."""
    lines = [
        "| example | library | samples | samples/s | samples per CPU second | wins against `random` | `greedy` |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for name in (name for name in EXAMPLES if name in data["examples"]):
        found = data["examples"][name]
        wins = [_percent(found["wins"][opponent]) for opponent in ("random", "greedy")]
        rates = [_rounded(found["samples"] / found[unit]) for unit in ("seconds", "cpu_seconds")]
        cells = [f"`{name}`", f"{found['library']} {found['version']}", f"{found['samples']:,}", *rates, *wins]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
    show: Annotated[Path | None, typer.Option("--table", help="Print the table of a JSON file and exit")] = None,
) -> None:
    """Run the examples, check that they learn, and print the table."""
    if show is not None:
        typer.echo(library_table(json.loads(show.read_text(encoding="utf-8"))))
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
        wins = found["wins"]["random"]
        typer.echo(f"{name}: {found['samples']:,} samples, {_percent(wins)} against random", err=True)
        if wins["value"] < example.wins:
            typer.echo(f"{name}: this is less than {100 * example.wins:.0f}%", err=True)
            failed = True
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    typer.echo(library_table(data))
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
