"""Checkpoints that survive a kill at any moment, and atomic writes of files.

A checkpoint is a dictionary of tensors, numbers, text, lists and dictionaries; loading one runs no code from the file.
The latest two are kept: `checkpoint.pt` and `checkpoint.previous.pt`, which replaces a damaged latest one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fiveup_env.system.training_scripts import ConfigError

LATEST, PREVIOUS, DAMAGED = "checkpoint.pt", "checkpoint.previous.pt", "checkpoint.damaged.pt"
MAGIC = b"fiveup checkpoint 1\n"


def write_file(path: Path, content: bytes, keep: Path | None = None) -> None:
    """Write a file atomically and durably: after a kill there is either the old file or the new one.

    With `keep`, the old file is renamed to that path; a kill may leave it under that name only.
    """
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if keep is not None and path.exists():
        os.replace(path, keep)
    os.replace(unfinished, path)
    _sync_folder(path.parent)


def write_json(path: Path, data: Any, indent: int = 1) -> None:
    """Write data to a JSON file atomically."""
    write_file(path, json.dumps(data, indent=indent).encode())


def _sync_folder(folder: Path) -> None:
    """Make renames durable; not needed where folders cannot be opened (Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write the latest checkpoint; the former one becomes the previous one."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    write_file(folder / LATEST, MAGIC + hashlib.sha256(content).digest() + content, keep=folder / PREVIOUS)


def load_checkpoint(folder: Path, warn: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the latest intact checkpoint; None if none was written yet.

    Args:
        folder: folder of the run.
        warn: called with one line if a damaged checkpoint is skipped.

    Raises:
        ConfigError: if there are checkpoints and all are damaged.
    """
    damaged = []
    for name in (LATEST, PREVIOUS):
        path = folder / name
        if not path.exists():
            continue
        try:
            state = _read(path)
        except ValueError as error:
            damaged.append(f"{path} {error}")
            continue
        if damaged:
            warn(f"{damaged[0]}; continuing from the previous one, and keeping the damaged one as {DAMAGED}")
            os.replace(folder / LATEST, folder / DAMAGED)  # so that it never replaces an intact one
        return state
    if damaged:
        raise ConfigError(f"{'; '.join(damaged)}; there is no checkpoint to continue from")
    return None


def _read(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    start = len(MAGIC) + hashlib.sha256().digest_size
    if not content.startswith(MAGIC):
        raise ValueError("is not a checkpoint of this version, or damaged")
    if hashlib.sha256(content[start:]).digest() != content[len(MAGIC) : start]:
        raise ValueError("is truncated or damaged")
    state: dict[str, Any] = torch.load(io.BytesIO(content[start:]), map_location="cpu", weights_only=True)
    return state


def random_state() -> dict[str, Any]:
    """Return the state of torch's and NumPy's global generators, which SB3 uses for actions and minibatches."""
    numpy_state: Any = np.random.get_state(legacy=False)  # noqa: NPY002
    numpy_state["state"]["key"] = torch.from_numpy(numpy_state["state"]["key"].astype(np.int64))
    return {"torch": torch.get_rng_state(), "numpy": numpy_state}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a state returned by `random_state`."""
    torch.set_rng_state(state["torch"])
    inner = state["numpy"]["state"]
    key = inner["key"].numpy().astype(np.uint32)
    np.random.set_state(state["numpy"] | {"state": inner | {"key": key}})  # noqa: NPY002
