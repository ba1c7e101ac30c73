"""Learning curves of several seeds as a picture: mean and spread, against samples and against time.

    python -m training.curves runs/a runs/b runs/c --out docs/learning.svg --data docs/data/learning.json

A run's folder has a `curve.json` (`imitate` and `selfplay_ppo` write it). Runs of one script are one curve, drawn where
at least one of them was evaluated; the band reaches from the worst seed to the best. With `--data` the numbers are kept
beside the picture; without folders the picture is drawn from that file alone.
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
"""Script -> what it calls the samples that were learned from."""

NAMES = {"imitate": "imitation of search", "selfplay_ppo": "self-play PPO from nothing"}

Curve = list[dict[str, Any]]


def curve_of(folder: Path) -> dict[str, Any]:
    """Script, seed, network and points (samples, seconds, share of wins) of a run.

    Raises:
        typer.BadParameter: if the folder holds no run with a curve.
    """
    try:
        config = yaml.safe_load((folder / "config.yaml").read_text())
        entries = json.loads((folder / "curve.json").read_text())
        samples = SAMPLES[config["script"]]
        points = [{"samples": e[samples], "seconds": e["seconds"], "greedy": e["greedy"]} for e in entries]
    except (OSError, KeyError, ValueError) as error:
        raise typer.BadParameter(f"{folder} holds no run with a curve: {error}") from error
    return {"script": config["script"], "seed": config["seed"], "network": config["network"], "points": points}


def mean_and_spread(curves: Sequence[Curve], x: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means over seeds of x and of the share of wins in percent, and the worst and best, evaluation by evaluation.

    Evaluations that only some of the seeds have come to are means of those.
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


def draw(runs: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Draw the runs, a curve for every script, into an SVG file with nothing in it that changes from day to day.

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
    folders: Annotated[list[Path] | None, typer.Argument(help="folders of runs, any number of seeds")] = None,
    out: Annotated[Path, typer.Option(help="the picture, SVG or PNG")] = Path("learning.svg"),
    data: Annotated[Path | None, typer.Option(help="JSON: written, or without folders read")] = None,
) -> None:
    """Draw learning curves."""
    if folders:
        runs = [curve_of(folder) for folder in folders]
        if data is not None:
            data.write_text(json.dumps(runs, indent=1) + "\n")
    elif data is not None:
        runs = json.loads(data.read_text())
    else:
        raise typer.BadParameter("name folders of runs, or --data FILE with the numbers of some")
    try:
        draw(runs, out)
    except MissingLibraryError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
