"""Find and run training scripts and configs, in a checkout and in an installed package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.system import training_scripts as scripts
from fiveup_env.system.training_scripts import ConfigError, find_config, script_of, train

SCRIPT = """ran = []


def main(config, *, out=None, resume=False, seed=None):
    ran.append((config.name, out, resume, seed))
"""


@pytest.fixture(params=["checkout", "installed"])
def home(request, tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder that holds `training` and `configs`: around the package, or the package itself."""
    package = tmp_path / "package_of_the_scripts_test"
    home = tmp_path if request.param == "checkout" else package
    (home / "training").mkdir(parents=True)
    (home / "configs").mkdir()
    package.mkdir(exist_ok=True)
    (home / "training" / "ppo.py").write_text(SCRIPT)
    for shared in ("__init__", "_shared"):
        (home / "training" / f"{shared}.py").write_text("")
    (home / "configs" / "quickstart.yaml").write_text("script: ppo\nsteps: 10\n")
    monkeypatch.setattr(scripts, "PACKAGE", package)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "training"}
    forget(*before)
    yield home
    forget(*(name for name in tuple(sys.modules) if name.split(".")[0] in ("training", package.name)))
    sys.modules.update(before)


def forget(*names: str) -> None:
    for name in names:
        del sys.modules[name]


def ran() -> list[tuple[str, str | None, bool, int | None]]:
    (module,) = (module for name, module in sys.modules.items() if name.endswith("training.ppo"))
    return module.ran


def test_a_shipped_config_by_any_name(home, monkeypatch, tmp_path):
    monkeypatch.chdir(home / "training")  # where "configs/quickstart.yaml" is not a file
    for name in ("quickstart", "quickstart.yaml", "configs/quickstart.yaml", "configs/quickstart"):
        assert find_config(name) == home / "configs" / "quickstart.yaml"
    mine = tmp_path / "mine.yaml"
    mine.write_text("script: ppo\n")
    assert find_config(str(mine)) == mine


def test_train_runs_the_script_that_the_config_names(home):
    train("quickstart")
    assert ran() == [("quickstart.yaml", None, False, None)]
    assert run(["train", "quickstart", "--resume", "--out", "there", "--seed", "7"]) == 0
    assert ran()[1:] == [("quickstart.yaml", "there", True, 7)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps: 10\n", "the key 'script' is missing; scripts: ppo$"),
        ("script: pp0\n", "there is no training script 'pp0', did you mean 'ppo'?"),
        ("script: _shared\n", "there is no training script '_shared'; choices: ppo"),
        ("script: [ppo]\n", "there is no training script"),
        ("- script\n", "a config must be a list of `key: value` lines"),
        ("", "a config must be a list of `key: value` lines"),
        ("script: ppo\nsteps: [1, 2\n", "line 3, column 1"),
    ],
)
def test_a_config_that_names_no_script(home, text, message, capsys):
    path = home / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        script_of(path)
    assert run(["train", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fiveup: {path}: ") and error.count("\n") == 1
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"mine\.yaml: "):
        script_of(path)


def test_an_unknown_config(home, capsys):
    assert run(["train", "quikstart"]) == 2
    assert capsys.readouterr().err == "fiveup: there is no config 'quikstart', did you mean 'quickstart'?\n"
    with pytest.raises(ConfigError, match="there is no config 'xyz'; choices: quickstart"):
        find_config("xyz")


def test_an_installation_without_configs(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "PACKAGE", tmp_path / "package")
    with pytest.raises(ConfigError, match="this installation of fiveup-env has no folder 'configs'"):
        find_config("quickstart")


@pytest.mark.parametrize("missing", ["torch", "sb3_contrib"])
def test_without_the_extra(home, missing, monkeypatch, capsys):
    (home / "training" / "ppo.py").write_text(f"import {missing}\n")
    monkeypatch.setitem(sys.modules, missing, None)
    assert run(["train", "quickstart"]) == 2
    assert capsys.readouterr().err == f"fiveup: training needs {missing}: pip install 'fiveup-env[train]'\n"
