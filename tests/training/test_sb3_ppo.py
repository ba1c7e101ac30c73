"""SB3 runs: files, killed, resumed and repeated runs, and folders that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
from sb3_contrib import MaskablePPO

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy
from fiveup_env.agents.protocol import keys_of
from fiveup_env.agents.registry import make_agent
from fiveup_env.views.view import Views
from tests.agents.support import collected
from tests.training.support import TINY, kill_in_the_middle, metrics_of, same, train, write_config
from training._checkpoint import DAMAGED, LATEST, PREVIOUS, load_checkpoint
from training._opponents import Snapshot

ROOT = Path(__file__).parents[2]


def same_weights(left: Path, right: Path) -> bool:
    """Return whether two runs ended with the same policy, to the last bit."""
    mine, other = (MaskablePPO.load(run / "policy.zip", device="cpu").policy.state_dict() for run in (left, right))
    return same(mine, other)


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def done(config) -> Path:
    """Folder of an uninterrupted run."""
    folder = config.parent / "done"
    assert train(config, folder) == 0
    return folder


@pytest.fixture
def copy(done, tmp_path) -> Path:
    """Copy of that run."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in done.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_what_a_run_leaves(done):
    names = {path.name for path in done.iterdir()}
    assert names == {"config.yaml", LATEST, PREVIOUS, "policy.zip", "results.json", "tensorboard"}
    results = json.loads((done / "results.json").read_text())
    assert [(result["b"], result["matches"]) for result in results] == [("random", 8), ("greedy", 8)]
    assert load_checkpoint(done, print)["decisions"] == TINY["decisions"]


def test_what_tensorboard_shows(done):
    events = metrics_of(done)
    tags = set(events.Tags()["scalars"])
    assert tags >= {
        "train/entropy_loss",
        "train/value_loss",
        "train/learning_rate",
        "rollout/return_against_greedy",
        "rollout/return_against_snapshots",
        "evaluation/win_rate_against_random",
        "evaluation/points_per_round_against_greedy",
        "time/seconds_to_collect",
        "time/seconds_to_learn",
    }
    assert [event.step for event in events.Scalars("evaluation/win_rate_against_greedy")] == [640]


def test_the_table_is_printed(config, tmp_path, capsys):
    assert train(config, tmp_path / "run") == 0
    printed = capsys.readouterr()
    assert printed.out.count("│ win rate ") == printed.out.count("│ points per deal ") == 2
    for line in ("compiling the game", "learning from ", " decisions, ", "evaluating against "):
        assert line in printed.err  # without a terminal there are lines instead of a bar


def test_the_policy_is_an_agent_that_plays_by_the_rules(done):
    """R3: a trained policy takes legal actions only."""
    games = collected(4, seed=3)
    views = Views(games, games["turn"])
    keys = keys_of(views, views.seats.astype("u8"))
    for spec in (done / "policy.zip", f"{done / 'policy.zip'}:sample=true"):
        actions = make_agent(spec, 4).act_many(views, keys)
        assert views.observe()[1][range(len(games)), actions].all()


def test_a_snapshot_plays_as_the_policy_does(done):
    """A snapshot's fast probabilities equal SB3's, for any logits of illegal actions."""
    policy = MaskablePPO.load(done / "policy.zip", device="cpu").policy
    policy.action_net.bias.data[:28] += 500.0  # leads, mostly illegal
    frozen = Snapshot(policy, 0, policy.state_dict())
    games = collected(4, seed=4)
    observation, masks = Views(games, games["turn"]).observe()
    expected = MaskablePPOPolicy(policy)._probabilities(observation, masks) * masks
    seen = frozen._probabilities(observation, masks)
    np.testing.assert_allclose(seen / seen.sum(1, keepdims=True), expected / expected.sum(1, keepdims=True), atol=1e-5)
    policy.action_net.bias.data[:] = 0
    assert (frozen._probabilities(observation, masks) == seen).all()


def test_the_seed_decides_the_run(config, done, tmp_path):
    assert train(config, tmp_path / "same") == 0
    assert same_weights(tmp_path / "same", done)
    assert train(config, tmp_path / "other", "--seed", "1") == 0
    assert not same_weights(tmp_path / "other", done)
    # A resumed run keeps its seed.
    assert train(config, tmp_path / "other", "--resume") == 0


@pytest.mark.parametrize("changes", [{"players": 2}, {"players": 3}, {"episode": "match", "reward": "win"}])
def test_other_games_and_returns(changes, tmp_path):
    assert train(write_config(tmp_path, **changes), tmp_path / "run") == 0
    assert make_agent(tmp_path / "run" / "policy.zip").num_players == changes.get("players", 4)


def test_policies_among_the_opponents(done, tmp_path):
    """A policy file can be an opponent, also in a resumed run."""
    policy = str(done / "policy.zip")
    opponents = {policy: 1, "snapshots": 1}
    config = write_config(tmp_path, opponents=opponents)
    assert train(config, tmp_path / "whole") == 0
    config = write_config(tmp_path, opponents=opponents, decisions=512)
    assert train(config, tmp_path / "parts") == 0
    config = write_config(tmp_path, opponents=opponents)
    assert train(config, tmp_path / "parts", "--resume") == 0


def test_killed_and_resumed(config, done, tmp_path):
    """After SIGKILL the resumed run ends with the same bits."""
    folder = tmp_path / "killed"
    kill_in_the_middle(config, folder)
    assert not (folder / "policy.zip").exists()
    assert train(config, folder, "--resume") == 0
    assert same_weights(folder, done)


def test_killed_before_the_first_checkpoint(config, done, tmp_path, capsys):
    folder = tmp_path / "run"
    folder.mkdir()
    assert train(config, folder, "--resume") == 0
    assert "has no checkpoint yet: starting from the beginning" in capsys.readouterr().err
    assert same_weights(folder, done)


def test_resumed_from_a_damaged_checkpoint(config, done, copy, capsys):
    """The run continues from the previous checkpoint and ends with the same bits."""
    content = (copy / LATEST).read_bytes()
    (copy / LATEST).write_bytes(content[: len(content) // 2])
    (copy / "policy.zip").unlink()
    assert train(config, copy, "--resume") == 0
    said = capsys.readouterr().err
    assert f"{copy / LATEST} is truncated or damaged; continuing from the previous one" in said
    assert "Traceback" not in said
    assert (copy / DAMAGED).exists() and same_weights(copy, done)


def test_no_whole_checkpoint(config, copy, capsys):
    for name in (LATEST, PREVIOUS):
        (copy / name).write_bytes(b"")
    assert train(config, copy, "--resume") == 2
    said = capsys.readouterr().err
    assert said.startswith("fiveup: ") and said.count("\n") == 1 and "there is no checkpoint to continue from" in said


def test_a_finished_run_is_evaluated_again(config, done, copy, capsys):
    assert train(config, copy, "--resume") == 0
    assert "win rate" in capsys.readouterr().out
    assert same_weights(copy, done)


def test_longer_than_it_was_meant_to_be(copy, tmp_path, capsys):
    config = write_config(tmp_path, decisions=1280)
    assert train(config, copy, "--resume") == 0
    assert load_checkpoint(copy, print)["decisions"] == 1280
    assert "continuing from 1,024 of 1,280 decisions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, [], "is not empty: resume that run with --resume, or choose another --out"),
        ({"matches": 32}, ["--resume"], "was started with another config: matches cannot change in a run"),
        ({}, ["--resume", "--seed", "5"], "was started with another config: seed cannot change in a run"),
    ],
)
def test_a_run_is_never_overwritten(changes, options, message, copy, tmp_path, capsys):
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    assert train(write_config(tmp_path, **changes), copy, *options) == 2
    assert capsys.readouterr().err == f"fiveup: {copy} {message}\n"
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        ("none", ["--resume"], "there is no run in {} to resume: leave out --resume to start one"),
        ("", ["--resume"], "{} is not the folder of a run: it has no config.yaml"),
        ("notes.txt", [], "{} is not a folder"),
        ("notes.txt/run", [], "{} cannot be written to: "),
    ],
)
def test_folders_that_cannot_be_used(out, options, message, config, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    assert train(config, tmp_path / out, *options) == 2
    assert message.format(tmp_path / out) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
