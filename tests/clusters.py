"""Ray for tests: an embedded one, and a cluster of two nodes on this machine. They end with what they are used in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fiveup_env.system.ray_cluster import OBJECT_STORE, connected

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
WARNINGS = pytest.mark.filterwarnings(
    # Ray warns of an environment variable, of its options, and of processes that it ended without waiting for them.
    "ignore:Tip. In future versions of Ray:FutureWarning",
    "ignore:`use_[a-z_0-9]+` is deprecated:DeprecationWarning",
    "ignore:subprocess [0-9]+ is still running:ResourceWarning",
)
"""Warnings of Ray in these tests, by message."""


def _environment() -> None:
    """Set the environment of Ray's processes. Their default priority is so low that tests would wait for minutes."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0", PYTHONPATH=str(ROOT))


def _patient(start: Callable[[], T], attempts: int = 4) -> T:
    """Return the result of `start`, in several attempts: Ray gives a new node only 30 s."""
    for _ in range(attempts - 1):
        try:
            return start()
        except Exception as error:  # Ray raises no other
            if "timed out during startup" not in str(error):
                raise
    return start()


@contextmanager
def embedded(cpus: int = 2) -> Iterator[Any]:
    """The module `ray`, connected to an embedded one."""
    pytest.importorskip("ray")
    _environment()
    with ExitStack() as stack:
        yield _patient(lambda: stack.enter_context(connected("local", "this test", cpus)))


@contextmanager
def two_nodes() -> Iterator[tuple[Any, Any]]:
    """A cluster of two nodes with two CPUs each, and its second node."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    _environment()
    assert not ray.is_initialized()
    options = {"num_cpus": 2, "object_store_memory": OBJECT_STORE}
    cluster = _patient(lambda: Cluster(initialize_head=True, head_node_args=options | {"include_dashboard": False}))
    try:
        yield cluster, _patient(lambda: cluster.add_node(**options))
    finally:
        ray.shutdown()
        cluster.shutdown()
