"""Evaluation on a Ray cluster gives the results of one process, also if a node dies; requires the extra `ray`."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from fiveup_env.agents.network.weights_file import released_file
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation import plan_parts as parts
from fiveup_env.evaluation.match_plan import Results
from fiveup_env.evaluation.ray_parts import ClusterJob, Sent
from fiveup_env.system.ray_cluster import ClusterError
from tests.agents.support import Rng
from tests.clusters import WARNINGS, embedded, two_nodes

MATCHES = 200


def identical(one: Results, other: Results) -> bool:
    """To the last bit."""
    return one.forfeits == other.forfeits and all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in Results.ARRAYS
    )


class Killer(Rng):
    """Exits the process that calls it."""

    def act(self, view) -> int:
        os._exit(1)


class Sleepy(Rng):
    """Slow enough for a node to die during the evaluation."""

    def act(self, view) -> int:
        time.sleep(0.01)
        return super().act(view)


class Slow(Rng):
    """Exceeds the time limit in one of ten decisions."""

    def act(self, view) -> int:
        if self.rng.random() < 0.1:
            time.sleep(30)
        return super().act(view)


class Broken(Rng):
    def act(self, view) -> int:
        if self.rng.random() < 0.1:
            raise RuntimeError("a bug of mine")
        return super().act(view)


# ------------------------------------------------------------------------------------------------ without Ray


def test_a_missing_ray_is_one_line_that_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(["evaluate", "greedy", "random", "--matches", "10", "--ray", "local"]) == 2
    assert capsys.readouterr().err == ("fiveup: evaluation on a cluster needs ray: pip install 'fiveup-env[ray]'\n")


def test_processes_or_a_cluster():
    with pytest.raises(ValueError, match="processes run on this machine, a Ray cluster uses all of its CPUs"):
        evaluate("greedy", "random", matches=10, processes=2, ray="local")


def test_names_are_sent_with_their_files(tmp_path, monkeypatch):
    """Agents are made where those files are missing, under the same name."""
    monkeypatch.chdir(tmp_path)
    file = Path("some net.safetensors")
    file.write_bytes(released_file("duel-v1").read_bytes())
    expected = evaluate(str(file), "random", 2, 20).results
    for spec in (file, f"{file}:sample=false", f"fiveup_env.agents.network.network_agent:NetworkPolicy:path={file}"):
        sent = Sent.of(spec)
        assert isinstance(sent, Sent) and list(sent.files) == [str(file)]
        moved = tmp_path / "moved"
        file.rename(moved)
        agent = sent.agent(2)
        moved.rename(file)
        assert agent.name == "some net"
        assert identical(evaluate(agent, "random", 2, 20).results, expected)
    for spec in ("greedy", "pimc:worlds=2", "exec:./agent --net some.safetensors", "no.safetensors", Rng()):
        assert Sent.of(spec) is spec


def test_another_version_on_a_node_is_refused():
    job = parts.pickled(ClusterJob("greedy", "random", 2, version="9.9"))
    with pytest.raises(ClusterError, match=r"has fiveup-env .*, this program 9\.9; install the same version"):
        parts.play_part(job, None)


# --------------------------------------------------------------------------------------------------- with Ray


@pytest.fixture(scope="module")
def ray():
    """An embedded Ray of two CPUs, shared by the tests below."""
    with embedded() as module:
        yield module


pytestmark = WARNINGS


@pytest.mark.parametrize(
    ("a", "b", "players"),
    [("greedy", "random", 4), ("tests.agents.support:Rng", "greedy", 3), ("duel-v1", "pimc:worlds=2", 2)],
)
def test_a_cluster_gives_what_one_process_gives(a, b, players, ray, monkeypatch):
    monkeypatch.setattr(parts, "COMPILED", 30)
    monkeypatch.setattr(Policy, "together", 20)
    calls: list[tuple[int, int]] = []
    one = evaluate(a, b, players, MATCHES, 5, max_rounds=3)
    spread = evaluate(a, b, players, MATCHES, 5, max_rounds=3, ray="local", progress=lambda *now: calls.append(now))
    assert one == spread and identical(one.results, spread.results)
    assert len(calls) > 2 and calls[-1] == (one.matches, one.matches)


def test_precision_stops_and_a_folder_resumes(ray, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "COMPILED", 50)
    first = evaluate("greedy", "random", precision="0.5", seed=2, ray="local", folder=tmp_path)
    assert first == evaluate("greedy", "random", precision="0.5", seed=2)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    more = evaluate("greedy", "random", matches=first.matches + 300, seed=2, ray="local", folder=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert len(list(tmp_path.glob("*.npz"))) == len(there) + 3
    assert identical(more.results, evaluate("greedy", "random", matches=first.matches + 300, seed=2).results)


def test_forfeits_and_time_limits_are_the_same(ray):
    for name, limit, reason in (("Broken", None, "a bug of mine"), ("Slow", 1.5, "took more than 1.5 s")):
        agent = f"tests.evaluation.test_cluster:{name}"
        options = {"max_rounds": 1, "timeout": limit}
        one, spread = (evaluate(agent, "greedy", 2, 64, 1, ray=ray, **options) for ray in (None, "local"))
        assert identical(one.results, spread.results)
        assert any(reason in text for text in one.reasons)


def test_strict_raises_what_the_agent_raised(ray):
    with pytest.raises(RuntimeError, match="a bug of mine"):
        evaluate("tests.evaluation.test_cluster:Broken", "greedy", 2, 128, strict=True, ray="local")
    agent = Rng()
    agent.lock = threading.Lock()
    with pytest.raises(AgentError, match="an agent cannot be sent to another process"):
        evaluate(agent, "greedy", 4, 20, ray="local")


def test_an_agent_that_exits_its_process_gives_one_line(ray, monkeypatch):
    from fiveup_env.evaluation import ray_parts as spread

    monkeypatch.setattr(spread, "RETRIES", 1)
    with pytest.raises(ClusterError, match=r"a part could not be played on the cluster: .*died") as caught:
        evaluate("tests.evaluation.test_cluster:Killer", "greedy", 2, 10, ray="local")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["somewhere:x", "localhost:1"])
def test_no_cluster_at_an_address_is_one_line(address, monkeypatch, capsys):
    module = pytest.importorskip("ray")
    monkeypatch.setattr(module, "is_initialized", lambda: False)
    assert run(["evaluate", "greedy", "random", "--ray", address]) == 2
    assert capsys.readouterr().err.startswith(f"fiveup: no Ray cluster can be reached at '{address}': ")


# --------------------------------------------------------------------------------------------------- two nodes


@pytest.fixture
def nodes():
    with two_nodes() as (cluster, second):
        yield cluster, second


@pytest.mark.slow
def test_two_nodes_give_what_one_process_gives(nodes, capfd):
    cluster, _ = nodes
    arguments = ["evaluate", "pimc:worlds=4", "duel-v1", "--players", "2", "--matches", "1024", "--json"]
    found = []
    seconds = []
    for more in (["--ray", cluster.address], []):
        assert run([*arguments, *more]) == 0
        found.append(json.loads(capfd.readouterr().out))
        seconds.append(found[-1].pop("seconds"))
    print(f"four CPUs of two nodes {seconds[0]} s, one process {seconds[1]} s")
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_dead_node_changes_no_result(nodes, tmp_path):
    """The other node plays the rest with the same result, and finished parts are saved."""
    cluster, second = nodes
    agent = "tests.evaluation.test_cluster:Sleepy"
    killed = []

    def kill(done: int, total: int) -> None:
        if not killed and 0 < done < total:
            killed.append(done)
            cluster.remove_node(second, allow_graceful=False)

    spread = evaluate(agent, "greedy", 2, 512, ray=cluster.address, progress=kill, folder=tmp_path)
    assert killed
    assert identical(spread.results, evaluate(Rng(), "greedy", 2, 512).results)
    assert len(list(tmp_path.glob("*.npz"))) == 512 // 2 // parts.ONE_BY_ONE
