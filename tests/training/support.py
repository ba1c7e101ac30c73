"""A training run that takes seconds, and what tests look at in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import yaml

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


def write_config(folder: Path, **changes: Any) -> Path:
    """The tiny config as `tiny.yaml` in a folder, with other values for some keys."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | changes, sort_keys=False))
    return path


def weights(run: Path) -> list[torch.Tensor]:
    """The weights of the policy that a run ended with."""
    from sb3_contrib import MaskablePPO

    return list(MaskablePPO.load(run / "policy.zip", device="cpu").policy.state_dict().values())


def same_weights(left: Path, right: Path) -> bool:
    """Whether two runs ended with the same policy, to the last bit."""
    return all(torch.equal(a, b) for a, b in zip(weights(left), weights(right), strict=True))
