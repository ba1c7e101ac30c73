"""A training run that takes seconds, and what tests look at in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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
    """A tiny config as `tiny.yaml` in a folder, with other values for some keys."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(base | changes, sort_keys=False))
    return path


def train(config: Path, out: Path, *options: str) -> int:
    """`fiveup train` in this process; its exit code."""
    return run(["train", str(config), "--out", str(out), *options])


def kill_in_the_middle(config: Path, folder: Path) -> None:
    """Train in another process, and end it by SIGKILL once there are two checkpoints."""
    command = [sys.executable, "-m", "fiveup_env.cli.app", "train", str(config), "--out", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (folder / PREVIOUS).exists():
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.002)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def weights(run: Path) -> list[torch.Tensor]:
    """The weights of the policy that a run ended with."""
    from sb3_contrib import MaskablePPO

    return list(MaskablePPO.load(run / "policy.zip", device="cpu").policy.state_dict().values())


def same_weights(left: Path, right: Path) -> bool:
    """Whether two runs ended with the same policy, to the last bit."""
    return all(torch.equal(a, b) for a, b in zip(weights(left), weights(right), strict=True))
