"""Find and run the training scripts and their configs, in an installed package or in a checkout.

Every function raises a ConfigError if something is missing or wrong; its message is one line.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

PACKAGE = Path(__file__).resolve().parents[1]
EXTRAS = {"torch": "train", "stable_baselines3": "train", "sb3_contrib": "train", "tensorboard": "train", "ray": "ray"}
"""Extra that installs each library of the training scripts."""


class ConfigError(ValueError):
    """A config cannot be used; the message is one line."""


def folder(name: str) -> Path:
    """Return the folder `training` or `configs`."""
    for place in (PACKAGE / name, PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigError(f"this installation of fiveup-env has no folder {name!r}")


def find_config(given: str) -> Path:
    """Return the config file at a path, or the shipped one of that name (`quickstart`, `configs/quickstart.yaml`)."""
    if Path(given).is_file():
        return Path(given)
    shipped = {path.stem: path for path in sorted(folder("configs").glob("*.yaml"))}
    name = given.removeprefix("configs/").removesuffix(".yaml")
    if name not in shipped:
        raise ConfigError(f"there is no config {given!r}{_instead(name, shipped)}")
    return shipped[name]


def script_of(config: Path) -> str:
    """Return the training script that a config names with its key `script`."""
    try:
        content: Any = yaml.safe_load(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{config}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{config}: a config must be a list of `key: value` lines")
    scripts = {path.stem: path for path in sorted(folder("training").glob("[a-z]*.py"))}
    if "script" not in content:
        raise ConfigError(f"{config}: the key 'script' is missing; scripts: {', '.join(scripts)}")
    name = content["script"]
    if not isinstance(name, str) or name not in scripts:
        raise ConfigError(f"{config}: there is no training script {name!r}{_instead(str(name), scripts)}")
    return name


def train(given: str, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Run the training script that a config names.

    Args:
        given: see `find_config`.
        out: folder of the run, None for the script's default.
        resume: continue from the last checkpoint in that folder.
        seed: replaces the seed of the config.
    """
    config = find_config(given)
    training_module(script_of(config)).main(config, out=out, resume=resume, seed=seed)


def training_module(name: str) -> Any:
    """Import a module of the folder `training`; a ConfigError names the extra that is not installed."""
    home = folder("training")
    prefix = f"{PACKAGE.name}." if home.parent == PACKAGE else ""
    if not prefix:
        sys.path.insert(0, str(home.parent))
    try:
        return importlib.import_module(f"{prefix}training.{name}")
    except ModuleNotFoundError as error:
        if (module := (error.name or "").split(".")[0]) not in EXTRAS:
            raise
        raise ConfigError(f"training needs {error.name}: pip install 'fiveup-env[{EXTRAS[module]}]'") from error


def _instead(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f", did you mean {close[0]!r}?" if close else f"; choices: {', '.join(known)}"
