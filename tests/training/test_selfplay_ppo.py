"""Self-play runs: files, killed and resumed runs, and every option."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

import torch

from fiveup_env.agents.network.weights_file import released_file
from tests.training import support
from tests.training.support import explained_metrics, kill_in_the_middle, metrics_of, names_of, same, train
from training import _selfplay_loop, selfplay_ppo
from training._checkpoint import LATEST, PREVIOUS, load_checkpoint
from training._network import load_weights

ROOT = Path(__file__).parents[2]
TINY: dict[str, Any] = {
    "script": "selfplay_ppo",
    "decisions": 1024,
    "matches": 16,
    "opponents": {"self": 2, "snapshots": 1, "greedy": 1},
    "snapshots": {"every": 2, "keep": 2, "at_once": 2},
    "network": {"width": 16, "blocks": 1},
    "ppo": {"steps": 8, "minibatch": 64, "epochs": 1},
    "evaluation": {"every": 512, "matches": 4, "final_matches": 8},
    "checkpoint_seconds": 0,
}


write_config = partial(support.write_config, base=TINY)


def same_end(left: Path, right: Path) -> bool:
    """Return whether two runs ended in the same state, to the last bit."""
    mine, other = (load_checkpoint(folder, print) for folder in (left, right))
    for state in (mine, other):
        del state["progress"]["seconds"]
        for entry in state["curve"]:
            del entry["seconds"]
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


def test_what_a_run_leaves(done):
    names = {path.name for path in done.iterdir()}
    expected = {"config.yaml", LATEST, PREVIOUS, "policy.safetensors", "curve.json", "results.json", "tensorboard"}
    assert names == expected
    [result] = json.loads((done / "results.json").read_text())
    assert (result["a"], result["b"], result["matches"]) == ("learner", "greedy", 8)
    curve = json.loads((done / "curve.json").read_text())
    assert [entry["decisions"] // 512 for entry in curve] == [1, 2]
    assert all(0 <= entry["greedy"] <= 1 and entry["seconds"] > 0 for entry in curve)
    assert load_weights(done / "policy.safetensors").width == 16


def test_every_metric_is_explained(done):
    """The metrics in TensorBoard are those in the script's table."""
    optional = {"policy/teacher_kl", "value/public_loss", "schedule/teacher_weight"}
    assert names_of(metrics_of(done).Tags()["scalars"]) == explained_metrics(selfplay_ppo) - optional


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 2, "reward": "table"},
        {"players": 3, "reward": "table", "opponents": {"greedy": 1, "snapshots": 1}},
        {"reward": "win", "episode": "match", "opponents": {"self": 1}},
        {"network": {"width": 16, "blocks": 0, "privileged_critic": True}},
        {
            "players": 3,
            "network": {"width": 16, "placements": 8, "belief": True},
            "ppo": {"steps": 8, "value_warmup": 99},
        },
        {"network": {"width": 16, "privileged_critic": True, "critic_playouts": True}, "reward": "points"},
        {"teacher": {"weights": str(released_file("partnership-v1")), "weight": 1.0}},
        {"reward": "points", "mixed_precision": True, "ppo": {"steps": 8, "epochs": 2, "normalize_advantages": False}},
        {"opponents": {"pimc:worlds=2": 1, "self": 3}, "decisions": 200},
        {"players": 2, "variant": {"max_pip": 2, "hand_size": 3, "target": 20}, "opponents": {"self": 1}},
    ],
)
def test_other_games_and_options(changes, tmp_path):
    assert train(write_config(tmp_path, **changes), tmp_path / "run") == 0
    assert load_weights(tmp_path / "run" / "policy.safetensors").num_players == changes.get("players", 4)


def test_from_a_network_with_a_teacher(done, tmp_path):
    """The warm-up trains values only; with a high teacher weight the policy stays near its start."""
    start = str(done / "policy.safetensors")
    options = {"network": {"start_from": start, "privileged_critic": True}, "teacher": {"weight": 100.0}}
    warm = write_config(tmp_path, **options, ppo=TINY["ppo"] | {"value_warmup": 10**6})
    assert train(warm, tmp_path / "warm") == 0
    before, after = (load_weights(path).state_dict() for path in (start, tmp_path / "warm" / "policy.safetensors"))
    assert {name for name in before if not torch.equal(before[name], after[name])} == {"value.weight", "value.bias"}
    distances = []
    for weight in (0.0, 100.0):
        folder = tmp_path / f"teacher {weight}"
        strong = {"steps": 8, "minibatch": 64, "learning_rate": 0.01, "learning_rate_end": 0.01}
        changed = write_config(tmp_path, **options | {"teacher": {"weight": weight, "weight_end": weight}}, ppo=strong)
        assert train(changed, folder) == 0
        x = (torch.arange(1000 * 453).reshape(1000, 453) % 7 < 1).float()
        mask = torch.ones(1000, 121, dtype=torch.int8)
        with torch.no_grad():
            theirs, ours = (
                load_weights(path)(x, mask)[0].softmax(1) for path in (start, folder / "policy.safetensors")
            )
        distances.append(float((theirs - ours).abs().sum(1).mean()))
    assert distances[1] < distances[0] / 2


def test_the_seed_decides_the_run(config, done, tmp_path):
    assert train(config, tmp_path / "same") == 0
    assert same_end(tmp_path / "same", done)
    assert train(config, tmp_path / "other", "--seed", "1") == 0
    assert not same_end(tmp_path / "other", done)


@pytest.mark.parametrize(
    "options", [{"network": {"belief": True}}, {"network": {"width": 8, "privileged_critic": True}, "reward": "table"}]
)
def test_stopped_and_resumed(options, tmp_path):
    """A run in two parts ends with the same checkpoint as an uninterrupted one."""
    whole = write_config(tmp_path, **options)
    assert train(whole, tmp_path / "whole") == 0
    state = load_checkpoint(tmp_path / "whole", print)
    # The schedules depend on `decisions`, so the run is stopped from outside.
    stopped = tmp_path / "parts"
    with pytest.MonkeyPatch.context() as patch:
        original = _selfplay_loop.save_checkpoint

        def stop_at_third(folder, content):
            original(folder, content)
            if content["progress"]["iterations"] == 3:
                raise KeyboardInterrupt

        patch.setattr(_selfplay_loop, "save_checkpoint", stop_at_third)
        assert train(whole, stopped) != 0
    assert load_checkpoint(stopped, print)["progress"]["iterations"] == 3 < state["progress"]["iterations"]
    assert train(whole, stopped, "--resume") == 0
    assert same_end(tmp_path / "whole", stopped)


def test_killed_and_resumed(config, done, tmp_path):
    """After SIGKILL the resumed run ends with the same bits."""
    folder = tmp_path / "killed"
    kill_in_the_middle(config, folder)
    assert not (folder / "results.json").exists()
    assert train(config, folder, "--resume") == 0
    assert same_end(folder, done)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reward": "win"}, "reward: win needs episode: match"),
        ({"reward": "table", "episode": "match"}, "reward: table needs episode: round"),
        ({"network": {"critic_playouts": True}}, "needs network.privileged_critic"),
        ({"network": {"ignore": ["hands"]}}, "there is no section 'hands'; there are hand, laid"),
        ({"teacher": {"weight": 1.0}}, "a teacher needs teacher.weights or network.start_from"),
        ({"network": {"start_from": "no/such.safetensors"}}, "no/such.safetensors"),
        ({"opponents": {"greedi": 1}}, "did you mean 'greedy'"),
        ({"ppo": {"step": 8}}, "did you mean 'steps'"),
        ({"device": "cuda:7"}, "device"),
    ],
)
def test_what_is_wrong_is_one_line(changes, said, tmp_path, capsys):
    assert train(write_config(tmp_path, **changes), tmp_path / "run") == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1 and printed.startswith("fiveup: ")
    assert not (tmp_path / "run").exists()


def test_a_network_for_other_players(done, tmp_path, capsys):
    config = write_config(tmp_path, players=2, network={"start_from": str(done / "policy.safetensors")})
    assert train(config, tmp_path / "run") == 2
    assert "is for 4 players, this run for 2" in capsys.readouterr().err
