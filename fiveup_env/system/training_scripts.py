"""Where the training scripts and their configs are: inside an installed package, or beside it in a checkout."""

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
"""Which extra brings what training scripts import."""


class ConfigError(ValueError):
    """A config that cannot be used; the message is one line."""


def folder(name: str) -> Path:
    """The folder `training` or `configs`.

    Raises:
        ConfigError: if this installation has none.
    """
    for place in (PACKAGE / name, PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigError(f"this installation of fiveup-env has no folder {name!r}")


def find_config(given: str) -> Path:
    """The config file at a path, or the shipped one of that name (`quickstart`, `configs/quickstart.yaml`).

    Raises:
        ConfigError: if there is none, naming those there are.
    """
    if Path(given).is_file():
        return Path(given)
    shipped = {path.stem: path for path in sorted(folder("configs").glob("*.yaml"))}
    name = given.removeprefix("configs/").removesuffix(".yaml")
    if name not in shipped:
        raise ConfigError(f"there is no config {given!r}{_instead(name, shipped)}")
    return shipped[name]


def script_of(config: Path) -> str:
    """The training script that a config names by its key `script`.

    Raises:
        ConfigError: if the file cannot be read, is no YAML mapping, or names no script.
    """
    try:
        content: Any = yaml.safe_load(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{config}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{config}: a config is a list of `key: value` lines")
    there = {path.stem: path for path in sorted(folder("training").glob("[a-z]*.py"))}
    if "script" not in content:
        raise ConfigError(f"{config}: the key 'script' is missing; scripts: {', '.join(there)}")
    name = content["script"]
    if not isinstance(name, str) or name not in there:
        raise ConfigError(f"{config}: there is no training script {name!r}{_instead(str(name), there)}")
    return name


def train(given: str, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Run the training script that a config names.

    Args:
        given: see `find_config`.
        out: folder of the run, None for the script's choice.
        resume: go on from the last checkpoint in it.
        seed: in place of the config's.

    Raises:
        ConfigError: if there is no such config or script, what training needs is not installed, or the script finds
            something wrong with the config or the folder.
    """
    config = find_config(given)
    training_module(script_of(config)).main(config, out=out, resume=resume, seed=seed)


def training_module(name: str) -> Any:
    """A module of the folder `training`, imported.

    Raises:
        ConfigError: if this installation has no such folder, or what training needs is not installed.
    """
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


def _instead(name: str, there: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, there, 1)
    return f", did you mean {close[0]!r}?" if close else f"; there are: {', '.join(there)}"
