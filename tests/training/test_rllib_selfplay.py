"""Self-play with RLlib: files, resumed runs, dying nodes; needs the extra `ray`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.system.ray_cluster import OBJECT_STORE
from tests.clusters import WARNINGS, embedded, two_nodes
from tests.training import support
from tests.training.support import explained_metrics, metrics_of, names_of, same, train

TINY: dict[str, Any] = {
    "script": "rllib_selfplay",
    "decisions": 2000,
    "matches": 16,
    "env_runners": 2,
    "opponents": {"self": 2, "snapshots": 1, "greedy": 1},
    "snapshots": {"every": 2, "keep": 2, "at_once": 2},
    "network": {"width": 16, "blocks": 1, "placements": 0},
    "ppo": {"steps": 16, "minibatch": 64},
    "evaluation": {"every": 1000, "matches": 4, "final_matches": 8},
    "checkpoint_seconds": 0,
}
pytestmark = WARNINGS
write_config = partial(support.write_config, base=TINY)


def test_a_missing_ray_is_one_line_that_names_the_extra(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch")
    for name in [name for name in sys.modules if name.split(".")[0] == "ray" or "rllib" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(["train", str(write_config(tmp_path)), "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == "fiveup: training needs ray: pip install 'fiveup-env[ray]'\n"


@pytest.fixture(scope="module")
def ray():
    pytest.importorskip("tensorboard")
    with embedded() as module:
        yield module


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def done(ray, config) -> Path:
    """Folder of an uninterrupted run."""
    folder = config.parent / "done"
    assert train(config, folder) == 0
    return folder


def test_what_a_run_leaves(done):
    from fiveup_env.agents.registry import make_agent
    from training._checkpoint import LATEST, PREVIOUS

    names = {path.name for path in done.iterdir()}
    expected = {"config.yaml", LATEST, PREVIOUS, "policy.safetensors", "curve.json", "results.json", "tensorboard"}
    assert names == expected
    [result] = json.loads((done / "results.json").read_text())
    assert (result["b"], result["matches"]) == ("greedy", 8)
    curve = json.loads((done / "curve.json").read_text())
    assert [entry["decisions"] // 1000 for entry in curve] == [1, 2]
    assert make_agent(done / "policy.safetensors", 4).sizes.width == 16


def test_every_metric_is_explained_and_finite(done):
    from training import rllib_selfplay

    events = metrics_of(done)
    tags = events.Tags()["scalars"]
    assert all(np.isfinite([event.value for event in events.Scalars(tag)]).all() for tag in tags)
    assert names_of(tags) == explained_metrics(rllib_selfplay)


def test_it_is_stopped_and_resumed_to_the_same_bits(done, config, monkeypatch):
    """Stopped between two iterations; matches, open decisions, league and optimiser continue unchanged."""
    from training import rllib_selfplay
    from training._checkpoint import load_checkpoint

    real, count = rllib_selfplay.Run.iteration, []

    def stopping(self):
        count.append(1)
        if len(count) == 4:
            raise KeyboardInterrupt
        return real(self)

    folder = config.parent / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(rllib_selfplay.Run, "iteration", stopping)
        assert train(config, folder) == 130
    assert train(config, folder, "--resume") == 0
    mine, other = (load_checkpoint(path, print)["algorithm"] for path in (folder, done))
    assert mine["progress"]["decisions"] >= TINY["decisions"] and set(mine["runners"]) == {1, 2}
    assert same(mine, other)


def test_nothing_is_lost_on_the_way_to_the_learner(done):
    """Packing is lossless, and unpacking follows the given order."""
    from fiveup_env.views.observation import units
    from training._mix import SELF, Mix
    from training._rllib_team import packed_decisions, unpacked_decisions
    from training._rollout import Clock, Rollout, self_play_matches
    from training._standing import Standing
    from training.rllib_selfplay import Config

    torch = pytest.importorskip("torch")
    for players in (2, 3, 4):
        run = Config(**TINY | {"players": players, "reward": "table"})
        env, mix = self_play_matches(run, belief=False), Mix(run.model_copy(update={"opponents": {SELF: 1.0}}))
        rollout = Rollout(env, 16, mix, Standing(env, run.reward))
        rollout.begin(0)
        generator = torch.Generator().manual_seed(0)

        def act(seen, state, generator=generator):
            observation, mask, _ = seen
            action = torch.multinomial(mask.float(), 1, generator=generator)[:, 0]
            return action, action * -0.125, observation.mean(1)

        rollout.collect(act, generator, Clock())
        rollout.judge(1.0, 0.9)
        fragment = packed_decisions(rollout, (1 / units(players)).astype(np.float32))
        order = np.random.default_rng(0).permutation(len(rollout.judged))
        batch = unpacked_decisions([fragment], players, order, False)
        places = rollout.judged[torch.from_numpy(order)]
        for name, column in (("observation", rollout.observation), ("action_mask", rollout.mask)):
            found, expected = batch["obs"][name], column.flatten(0, 1)[places].numpy()
            assert found.dtype == expected.dtype and np.array_equal(found, expected)
        assert np.array_equal(batch["actions"], rollout.action.flatten()[places])
        assert np.array_equal(batch["action_logp"], rollout.log_prob.flatten()[places])
        assert np.array_equal(batch["advantages"], rollout.advantage.flatten()[places])
        normal = unpacked_decisions([fragment], players, order, True)["advantages"]
        assert abs(normal.mean()) < 1e-4 and abs(normal.std() - 1) < 1e-3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"teacher": {"weight": 1.0, "weights": "x"}}, "teacher is a key of selfplay_ppo"),
        ({"network": {"privileged_critic": True}}, "network.privileged_critic is a key of selfplay_ppo"),
        ({"opponents": {"greddy": 1}}, "did you mean 'greedy'"),
        ({"env_runners": 64}, "env_runners and learners need 64 CPUs; the cluster has 2"),
    ],
)
def test_what_cannot_be_is_one_line(changes, message, ray, tmp_path, capsys):
    assert train(write_config(tmp_path, **changes), tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_other_games(ray, tmp_path):
    """Two and three players, a small variant, a learner in a separate process."""
    from training._network import load_weights

    for number, changes in enumerate(
        (
            {"players": 3, "reward": "table", "env_runners": 1, "network": {"width": 16, "placements": 8}},
            {"players": 4, "learners": 1, "env_runners": 1, "opponents": {"self": 1}},
            {"players": 2, "variant": {"max_pip": 2, "hand_size": 3, "target": 20}, "opponents": {"self": 1}},
        )
    ):
        folder = tmp_path / str(number)
        assert train(write_config(tmp_path, **changes, decisions=300), folder) == 0
        assert load_weights(folder / "policy.safetensors").num_players == changes["players"]


@pytest.mark.slow
def test_training_continues_when_a_node_dies(tmp_path, monkeypatch, capsys):
    """Two nodes of two CPUs, three env runners; the second node dies in the third iteration, and another joins."""
    pytest.importorskip("tensorboard")
    from training import rllib_selfplay

    runners: list[int] = []
    real = rllib_selfplay.Run.iteration
    with two_nodes() as (cluster, second):

        def watched(self):
            metrics = real(self)
            runners.append(int(metrics["rollout/runners"]))
            if len(runners) == 3:
                cluster.remove_node(second, allow_graceful=False)
            if len(runners) == 10:
                cluster.add_node(num_cpus=2, object_store_memory=OBJECT_STORE)
            return metrics

        monkeypatch.setattr(rllib_selfplay.Run, "iteration", watched)
        settings = {"env_runners": 3, "cluster": cluster.address, "decisions": 40_000, "opponents": {"self": 1}}
        assert train(write_config(tmp_path, **settings), tmp_path / "run") == 0
    with capsys.disabled():
        print(f"env runners that took part, by iteration: {runners}")
    assert runners[:3] == [3, 3, 3]
    assert min(runners[3:]) in (1, 2) and len(runners) > 10, "the run did not continue with the live runners"
    assert f"{min(runners)} of 3 env runners live" in capsys.readouterr().err
    assert runners[-1] == 3, "the runner was not restarted"
    assert len(json.loads((tmp_path / "run" / "curve.json").read_text())) > 10


@pytest.mark.slow
def test_a_short_run_beats_random(ray, tmp_path, capsys):
    """200,000 decisions: more than 90% of the matches against `random`, where equal agents win 50%."""
    settings = {
        "decisions": 200_000,
        "matches": 128,
        "network": {"width": 64, "blocks": 1, "placements": 64},
        "reward": "table",
        "ppo": {"steps": 32, "minibatch": 512},
        "evaluation": {"opponents": ["random"], "every": 100_000, "matches": 200, "final_matches": 1000},
        "checkpoint_seconds": 1000,
    }
    assert train(write_config(tmp_path, **settings), tmp_path / "run") == 0
    [result] = json.loads((tmp_path / "run" / "results.json").read_text())
    with capsys.disabled():
        print(f"wins {result['win_rate']}, points per deal {result['points_per_round']}")
    assert result["win_rate"]["interval"][0] > 0.9
