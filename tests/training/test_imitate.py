"""Labelled positions, and the script that learns from them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")

from fiveup_env.agents.registry import make_agent  # noqa: E402
from fiveup_env.belief.resample import resample  # noqa: E402
from fiveup_env.cli.app import run_fiveup as run  # noqa: E402
from fiveup_env.system.training_scripts import ConfigError  # noqa: E402
from fiveup_env.views.observation import observation_size, upper_bounds  # noqa: E402
from fiveup_env.views.view import Views  # noqa: E402
from tests.agents.support import undecided  # noqa: E402
from training._network import load_weights  # noqa: E402
from training._positions import (  # noqa: E402
    Source,
    best_actions,
    labeller,
    load_positions,
    make_positions,
    make_shard,
    shard_file,
)

SOURCE = Source(
    num_players=4,
    teacher="pimc:worlds=4",
    players={"teacher": 2.0, "greedy": 1.0, "random": 1.0},
    random=0.2,
    scattered=0.5,
    shard=300,
    seed=5,
)


def make(folder: Path, count: int, source: Source = SOURCE, processes: int = 1) -> list[Path]:
    return make_positions(source, folder, count, processes, lambda done, total: None)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_what_a_shard_holds(tmp_path, num_players):
    source = Source(**(vars(SOURCE) | {"num_players": num_players}))
    shard = make_shard(source, 0)
    legal = np.unpackbits(shard["mask"], axis=1, count=121)
    counts = legal.sum(1)
    assert len(legal) == source.shard and counts.min() > 1
    assert shard["codes"].shape == (source.shard, observation_size(num_players)) and shard["codes"].dtype == np.uint8
    assert (shard["codes"] <= upper_bounds(num_players, codes=True)).all()
    assert shard["belief"].shape == (source.shard, num_players, 28) and shard["belief"].dtype == np.uint8
    unseen = shard["belief"].any(1)
    assert np.abs(shard["belief"].astype(int).sum(1)[unseen] - 255).max() <= num_players  # rounded; a column is a tile
    assert len(shard["values"]) == len(shard["worlds"]) == counts.sum()
    assert ((shard["values"] >= 0) & (shard["values"] <= 1)).all()
    assert (shard["worlds"] >= 1).all() and (shard["spread"] >= 0).all()
    # Legal leads are tiles of the own hand.
    leads = legal[:, :28].any(1)
    assert 0 < leads.sum() < len(legal)
    assert (legal[leads, :28] == shard["codes"][leads, :28]).all()


def test_a_shard_follows_from_source_and_number():
    first, again, other = make_shard(SOURCE, 1), make_shard(SOURCE, 1), make_shard(SOURCE, 2)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["codes"], other["codes"])


@pytest.mark.slow
def test_processes_do_not_matter(tmp_path):
    alone, together = make(tmp_path / "a", 900), make(tmp_path / "b", 900, processes=2)
    assert [file.read_bytes() for file in alone] == [file.read_bytes() for file in together]


def test_what_is_there_is_kept(tmp_path):
    first = make(tmp_path, 300)
    stamp = first[0].stat().st_mtime_ns
    more = make(tmp_path, 301)
    assert more == [shard_file(tmp_path, 0), shard_file(tmp_path, 1)] and more[0].stat().st_mtime_ns == stamp
    with pytest.raises(ConfigError, match="holds positions of another source"):
        make(tmp_path, 300, Source(**(vars(SOURCE) | {"seed": 6})))


def test_positions_in_memory(tmp_path):
    files = make(tmp_path, 600)
    positions = load_positions(files, 4)
    legal = np.isfinite(positions.values)
    assert len(positions) == 600 and positions.values.max() == 0
    assert ((positions.values == 0).sum(1) >= 1).all() and (legal.sum(1) > 1).all()
    with np.load(files[1]) as shard:
        assert np.array_equal(positions.codes[300:], shard["codes"])
        assert np.array_equal(positions.belief[300:], shard["belief"])
        dense = np.full((300, 121), -np.inf, np.float32)
        dense[legal[300:]] = shard["values"]
        np.testing.assert_allclose(
            (positions.value[300:, None] + positions.values[300:])[legal[300:]],
            np.minimum(dense, positions.value[300:, None])[legal[300:]],
            atol=1e-3,
        )


def test_the_best_action_stayed_in_the_race():
    values = np.array([[0.5, 0.9, -np.inf], [0.5, 0.4, 0.3]])
    worlds = np.array([[32, 16, 0], [32, 32, 32]])
    assert best_actions(values, worlds).tolist() == [0, 0]


def test_labels_depend_on_nothing_hidden():
    """R2.2, D6: another deal that looks the same to the seat gets the same labels."""
    rng, estimate = random.Random(3), labeller("pimc:worlds=8", 4)
    matches = [match for match in undecided(4, seed=40, matches=2) if len(match.legal_actions()) > 1]
    keys = np.arange(len(matches), dtype=np.uint64)

    def labels(matches):
        games = np.concatenate([match._games for match in matches])
        views = Views(games, games["turn"])
        return estimate(views, keys, views.observe()[1])

    values, worlds, spreads = labels(matches)
    others = [resample(match, match.turn, rng.getrandbits(64)) for match in matches]
    assert any(match.hands != other.hands for match, other in zip(matches, others, strict=True))
    for ours, theirs in zip((values, worlds, spreads), labels(others), strict=True):
        assert np.array_equal(ours, theirs)


def test_labels_are_the_values_of_the_agent():
    """The teacher's choice by its labels is what the agent itself plays with the same keys."""
    agent, estimate = make_agent("pimc:worlds=32"), labeller("pimc:worlds=32", 4)
    matches = [match for match in undecided(4, seed=41, matches=2) if len(match.legal_actions()) > 1]
    games = np.concatenate([match._games for match in matches])
    views, keys = Views(games, games["turn"]), np.arange(len(matches), dtype=np.uint64)
    values, worlds, _ = estimate(views, keys, views.observe()[1])
    chosen = agent.act_many(views, keys)
    rows = np.arange(len(matches))
    assert (worlds[rows, chosen] == worlds.max(1)).all()
    assert (values[rows, chosen] == values[rows, best_actions(values, worlds)]).all()


TINY = {
    "script": "imitate",
    "players": 4,
    "shard": 256,
    "stages": [
        {"positions": 768, "teacher": "pimc:worlds=4", "epochs": 2},
        {
            "positions": 512,
            "teacher": "pimc:worlds=4",
            "epochs": 1,
            "players": {"network": 1.0},
            "network": {"width": 16, "placements": 4, "belief": False},
        },
    ],
    "network": {"width": 16, "blocks": 1, "placements": 8, "belief": True},
    "learning": {"batch": 64},
    "evaluation": {"opponents": {"random": 20}, "curve": 20},
}


def write_config(folder: Path, **changes: object) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY | changes, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("imitate")
    assert run(["train", str(write_config(folder)), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_what_a_run_leaves(done):
    names = {entry.name for entry in done.iterdir()}
    assert names == {
        "config.yaml",
        "curve.json",
        "learning.jsonl",
        "policy.safetensors",
        "results.json",
        "stage-1",
        "stage-2",
    }
    lines = [json.loads(line) for line in (done / "learning.jsonl").read_text().splitlines()]
    assert [(line["stage"], line["epoch"]) for line in lines] == [(1, 1), (1, 2), (2, 1)]
    assert lines[1]["loss"] < lines[0]["loss"]
    assert all(0 <= line["agreement"] <= 1 and line["regret"] > 0 for line in lines)
    first, second = json.loads((done / "curve.json").read_text())
    assert (first["stage"], first["labelled"], first["passes"]) == (1, 768, 2 * 512)
    assert second["stage"] == 2 and second["seconds"] > first["seconds"] > 0 and second["labelled"] > first["labelled"]
    assert second["passes"] == first["passes"] + 512 + 256 and 0 <= second["interval"][0] <= second["greedy"]
    (result,) = json.loads((done / "results.json").read_text())
    assert result["b"] == "random" and result["matches"] == 20
    agent = make_agent(done / "policy.safetensors", 4)
    assert agent.trained["positions"] == 512 + 256  # one shard per stage is for measuring
    assert agent.trained["config"]["network"] == TINY["network"]
    first, last = (load_weights(done / name) for name in ("stage-1/network.safetensors", "policy.safetensors"))
    assert (first.placements, first.belief, last.placements, last.belief) == (8, True, 4, False)


def test_it_learns_what_the_targets_say(tmp_path):
    """On positions seen often, the network agrees with the teacher."""
    from fiveup_env.agents.network.torch_network import PolicyNetwork
    from training._labels import Learning, learn

    positions = load_positions(make(tmp_path, 300), 4)
    torch.manual_seed(0)
    steps: list[tuple[int, int]] = []
    network = PolicyNetwork(4, 64, 1)
    *_, last = learn(
        network, positions, positions, Learning(batch=64), 150, 5e-3, lambda done, total: steps.append((done, total))
    )
    assert last["agreement"] > 0.9 and last["value_error"] < 0.05
    assert steps[-1] == (len(steps), len(steps))


def test_resumed_after_a_kill(done, tmp_path):
    """Resumed with some shards and no network of the second stage, the run ends with the same bits."""
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(done, folder)
    for name in ("policy.safetensors", "results.json", "stage-2/network.safetensors"):
        (folder / name).unlink()
    shard_file(folder / "stage-2" / "positions", 1).unlink()
    assert run(["train", str(write_config(tmp_path)), "--out", str(folder), "--resume"]) == 0
    ours = load_weights(folder / "policy.safetensors").state_dict()
    theirs = load_weights(done / "policy.safetensors").state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": [{"positions": 9, "teacher": "greedy"}]}, "the teacher must be a pimc agent"),
        ({"stages": [{"positions": 9, "teacher": "pimc:ms=3"}]}, "the teacher must be a pimc agent"),
        ({"stages": [{"positions": 9, "teacher": "pimk"}]}, "stages.0: there is no agent 'pimk'"),
        ({"stages": [{"positions": 9, "players": {"network": 1.0}}]}, "the first stage has no previous stage"),
        ({"stages": [{"positions": 9, "players": {"gredy": 1.0}}]}, "stages.0: there is no agent 'gredy'"),
        ({"evaluation": {"opponents": {"gredy": 1}}}, "evaluation.opponents: there is no agent 'gredy'"),
        ({"stages": []}, "stages"),
    ],
)
def test_configs_that_cannot_work(tmp_path, changes, message, capsys):
    """The error comes before anything is written."""
    assert run(["train", str(write_config(tmp_path, **changes)), "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_resuming_what_cannot_be_resumed(done, tmp_path, capsys):
    path = write_config(tmp_path)
    assert run(["train", str(path), "--out", str(tmp_path / "none"), "--resume"]) == 2
    assert "there is no run in" in capsys.readouterr().err
    path = write_config(tmp_path, random=0.3)
    assert run(["train", str(path), "--out", str(done), "--resume"]) == 2
    assert "was started with another config: random cannot change in a run" in capsys.readouterr().err
    assert run(["train", str(path), "--out", str(done)]) == 2
    assert "is not empty" in capsys.readouterr().err
