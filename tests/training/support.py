"""Training runs that take seconds, and comparisons of their results."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import yaml

from fiveup_env.cli.app import run_fiveup as run
from training._checkpoint import PREVIOUS

ROOT = Path(__file__).parents[2]

TINY: dict[str, Any] = {
    "script": "sb3_ppo",
    "decisions": 1024,
    "matches": 16,
    "opponents": {"random": 1, "greedy": 1, "snapshots": 2},
    "snapshots": {"every": 2, "keep": 2, "at_once": 2},
    "network": {"policy": [16], "value": [16]},
    "ppo": {"steps": 8, "batch": 64, "epochs": 1},
    "evaluation": {"every": 512, "matches": 4, "final_matches": 8},
    "checkpoint_seconds": 0,
}


def write_config(folder: Path, base: dict[str, Any] = TINY, **changes: Any) -> Path:
    """Write a tiny config with changed keys to `tiny.yaml` in a folder."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(base | changes, sort_keys=False))
    return path


def train(config: Path, out: Path, *options: str) -> int:
    """Run `fiveup train` in this process; returns the exit code."""
    return run(["train", str(config), "--out", str(out), *options])


def kill_in_the_middle(config: Path, folder: Path) -> None:
    """Train in another process, and kill it by SIGKILL after two checkpoints."""
    command = [sys.executable, "-m", "fiveup_env.cli.app", "train", str(config), "--out", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (folder / PREVIOUS).exists():
            assert process.poll() is None, "the run ended before the kill"
            time.sleep(0.002)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def same(left: Any, right: Any) -> bool:
    """Return whether two nested states are equal to the last bit."""
    if isinstance(left, torch.Tensor):
        return torch.equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return left == right


def metrics_of(run: Path) -> Any:
    """Return TensorBoard's record of a run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    return events


def names_of(metrics: Iterable[str]) -> set[str]:
    """Return the names of metrics as in the tables of the scripts."""
    return {re.sub(r"share_.*", "share_PHASE", re.sub(r"against_.*", "against_NAME", name)) for name in metrics}


def explained_metrics(script: Any) -> set[str]:
    """Return the names in the tables of metrics of the self-play loop and of a script."""
    from training import _selfplay_loop

    return set(re.findall(r"^\| (\w+/[^|]*?) *\|", _selfplay_loop.__doc__ + script.__doc__, re.MULTILINE))
