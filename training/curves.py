"""Plot of learning curves over several seeds: mean and range, against samples and against time.

    python -m training.curves runs/a runs/b runs/c --out docs/learning.svg --data docs/data/learning.json

Runs of `imitate` and `selfplay_ppo` write a `curve.json`. The runs of one script form one curve, with a band from the
worst to the best seed. `--data` also writes the numbers to a file; without folders the plot is drawn from that file.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import yaml

from fiveup_env.system.optional import MissingLibraryError, library

SAMPLES = {"imitate": "passes", "selfplay_ppo": "decisions"}
"""Key of the number of samples, by script."""

NAMES = {"imitate": "imitation of search", "selfplay_ppo": "self-play PPO"}

Curve = list[dict[str, Any]]


def curve_of(folder: Path) -> dict[str, Any]:
    """Return script, seed, network and points (samples, seconds, win rate) of a run.

    Raises:
        typer.BadParameter: if the folder holds no run with a curve.
    """
    try:
        config = yaml.safe_load((folder / "config.yaml").read_text())
        entries = json.loads((folder / "curve.json").read_text())
        samples = SAMPLES[config["script"]]
        points = [{"samples": e[samples], "seconds": e["seconds"], "greedy": e["greedy"]} for e in entries]
    except (OSError, KeyError, ValueError) as error:
        raise typer.BadParameter(f"{folder} is not the folder of a run with a curve: {error}") from error
    return {"script": config["script"], "seed": config["seed"], "network": config["network"], "points": points}


def mean_and_spread(curves: Sequence[Curve], x: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean x, and the mean, lowest and highest win rate in percent, of every evaluation over the seeds.

    An evaluation that only some seeds have is the mean of those.
    """
    longest = max(len(curve) for curve in curves)
    at = [[curve[i] for curve in curves if i < len(curve)] for i in range(longest)]
    wins = [[100 * point["greedy"] for point in points] for points in at]
    return (
        np.array([np.mean([point[x] for point in points]) for points in at]),
        np.array([np.mean(w) for w in wins]),
        np.array([min(w) for w in wins]),
        np.array([max(w) for w in wins]),
    )


def draw_curves(runs: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Draw one curve per script into a reproducible file.

    Raises:
        MissingLibraryError: if Matplotlib is not installed.
    """
    with library("notebooks"):
        import matplotlib
        from matplotlib import pyplot

    matplotlib.use("Agg")
    by_script = defaultdict(list)
    for run in runs:
        by_script[run["script"]].append(run["points"])
    style = {"svg.hashsalt": "fiveup", "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
        for axis, key, scale, label in (
            (axes[0], "samples", 1e6, "samples learned from (millions)"),
            (axes[1], "seconds", 60, "minutes"),
        ):
            for script, color in zip(SAMPLES, ("#0072b2", "#d55e00"), strict=True):
                curves = by_script.get(script)
                if curves:
                    x, mean, low, high = mean_and_spread(curves, key)
                    name = f"{NAMES[script]} ({len(curves)} seed{'s' * (len(curves) > 1)})"
                    axis.fill_between(x / scale, low, high, color=color, alpha=0.2, linewidth=0)
                    axis.plot(x / scale, mean, color=color, marker="o", markersize=3, label=name)
            axis.axhline(50, color="#888888", linewidth=0.8, linestyle=":")
            axis.set_xlabel(label)
            axis.set_xscale("log")
            axis.grid(alpha=0.3)
        axes[0].set_ylabel("wins against greedy (%)")
        axes[0].legend(loc="lower right", frameon=False)
        figure.savefig(out, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        pyplot.close(figure)


def main(
    folders: Annotated[list[Path] | None, typer.Argument(help="Folders of the runs")] = None,
    out: Annotated[Path, typer.Option(help="Plot to write, SVG or PNG")] = Path("learning.svg"),
    data: Annotated[Path | None, typer.Option(help="JSON file to write, or to read if there are no folders")] = None,
) -> None:
    """Draw learning curves."""
    if folders:
        runs = [curve_of(folder) for folder in folders]
        if data is not None:
            data.write_text(json.dumps(runs, indent=1) + "\n")
    elif data is not None:
        runs = json.loads(data.read_text())
    else:
        raise typer.BadParameter("name folders of runs, or a file with --data")
    try:
        draw_curves(runs, out)
    except MissingLibraryError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
