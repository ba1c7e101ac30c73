"""Errors of configs are one line with file, line and key."""

from __future__ import annotations

import pytest

pytest.importorskip("sb3_contrib")

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.system.training_scripts import ConfigError, folder, script_of, training_module
from tests.training.support import write_config
from training._config import read_config
from training.sb3_ppo import Config

HEAD = "script: sb3_ppo\ndecisions: 1000\n"


def refused(path, text: str) -> str:
    """Return the error of a config, without the name of the file."""
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_config(path, Config)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message.removeprefix(str(path)).strip()


@pytest.mark.parametrize("path", sorted(folder("configs").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configs_are_valid(path):
    script = script_of(path)
    if script.startswith("rllib"):
        pytest.importorskip("ray")
    assert read_config(path, training_module(script).Config).script == script


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lerning_rate: 1\n", "line 3: there is no key 'lerning_rate', keys: script, players,"),
        ("desisions: 1\n", "line 3: there is no key 'desisions', did you mean 'decisions'?"),
        (
            "ppo:\n  epochs: 2\n  lerning_rate: 1\n",
            "line 5: there is no key 'ppo.lerning_rate', did you mean 'learning_rate'?",
        ),
        ("matches: many\n", "line 3: matches: input should be a valid integer, not 'many'"),
        ("matches: 2.5\n", "line 3: matches: input should be a valid integer, not 2.5"),
        ("matches: true\n", "line 3: matches: input should be a valid integer, not True"),
        ("players: 5\n", "line 3: players: input should be 2, 3 or 4, not 5"),
        ("reward: poins\n", "line 3: reward: input should be 'equity', 'points' or 'win', not 'poins'"),
        ("ppo: {learning_rate: fast}\n", "line 3: ppo.learning_rate: input should be a valid number, not 'fast'"),
        ("ppo: {learning_rate: 0}\n", "line 3: ppo.learning_rate: input should be greater than 0, not 0"),
        ("ppo: {gae_lambda: 1.5}\n", "line 3: ppo.gae_lambda: input should be less than or equal to 1, not 1.5"),
        ("ppo: 3\n", "line 3: ppo: input should be a valid dictionary or instance of MaskablePPOSettings, not 3"),
        ("network: {policy: 128}\n", "line 3: network.policy: input should be a valid list, not 128"),
        ("network: {policy: [64, 0]}\n", "line 3: network.policy.1: input should be greater than or equal to 1, not 0"),
        ("opponents: {greedy: -1}\n", "line 3: opponents.greedy: input should be greater than 0, not -1"),
        ("opponents: {}\n", "line 3: opponents: dictionary should have at least 1 item"),
        ("seed: -1\n", "line 3: seed: input should be greater than or equal to 0, not -1"),
        ("ppo: {batch: 500}\n", ": ppo.batch must divide matches * ppo.steps = 8192, which 500 does not"),
        ("ppo: {batch: 64}\nppo: {epochs: 2}\n", "line 4: ppo is given twice"),
        ("1: 2\n", "line 3: 1: keys should be strings, not 1"),
    ],
)
def test_what_is_wrong(tmp_path, text, message):
    assert refused(tmp_path / "mine.yaml", HEAD + text).startswith(message)


def test_a_missing_key(tmp_path):
    assert refused(tmp_path / "mine.yaml", "script: sb3_ppo\n") == ": the key 'decisions' is missing"


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    said = refused(tmp_path / "mine.yaml", HEAD + "matches: x\nplayers: 9\n")
    assert "line 3: matches" in said and "line 4: players" in said


@pytest.mark.parametrize("text", ["ppo: {batch: 1", "ppo:\n\t- x\n", "a: b: c\n", "? [a]\n: b\n", "x: !!python/none\n"])
def test_broken_yaml(tmp_path, text):
    assert "line" in refused(tmp_path / "mine.yaml", HEAD + text)


def test_numbers_as_people_write_them(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + "ppo: {learning_rate: 1e-3}\nmatches: 1_024\n")
    config = read_config(path, Config)
    assert config.ppo.learning_rate == 1e-3 and config.matches == 1024


def test_a_seed_from_the_command_line(tmp_path):
    path = write_config(tmp_path)
    assert read_config(path, Config, seed=7).seed == 7
    assert read_config(path, Config, seed=None).seed == 0


def test_at_the_command_line(tmp_path, capsys):
    path = write_config(tmp_path, desisions=3)
    assert run(["train", str(path), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said == f"fiveup: {path} line 26: there is no key 'desisions', did you mean 'decisions'?\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"opponents": {"gredy": 1}}, "opponents: there is no agent 'gredy', did you mean 'greedy'?"),
        ({"opponents": {"nowhere/policy.zip": 1}}, "opponents: agent 'nowhere/policy.zip': there is no file"),
        ({"evaluation": {"opponents": ["randem"]}}, "opponents: there is no agent 'randem', did you mean 'random'?"),
    ],
)
def test_opponents_that_do_not_exist(tmp_path, changes, message, capsys):
    """The error comes before anything is written."""
    path = write_config(tmp_path, **changes)
    assert run(["train", str(path), "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
