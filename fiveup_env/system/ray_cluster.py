"""Ray, connected: an embedded one on this machine, or a cluster that somebody started (docs/cluster.md).

Ray is optional, and imported here only when it is asked for.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOCAL = "local"
"""The address that stands for a Ray of this program's own, which ends with it."""
OBJECT_STORE = 200 * 2**20
"""Bytes of shared memory of that one: what goes through it at a time is a few megabytes."""
EXTRA = "pip install 'fiveup-env[ray]'"


class ClusterError(ValueError):
    """Ray is missing or cannot be reached; the message is one line."""


def ray_module(what: str) -> Any:
    """Ray, imported; it reports nothing to anybody unless the user has said otherwise.

    Args:
        what: what needs it, for the message.

    Raises:
        ClusterError: naming the extra to install.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ClusterError(f"{what} needs {error.name or 'ray'}: {EXTRA}") from error
    return ray


@contextmanager
def connected(address: str, what: str, cpus: int | None = None) -> Iterator[Any]:
    """Ray inside the block, one that is connected already as it is; else it is left again behind the block.

    Args:
        address: `local`, `auto` for the cluster that this machine belongs to, or `HOST:PORT` of its head.
        what: what needs it, for messages.
        cpus: of a local one; None for all there are.

    Raises:
        ClusterError: if Ray is missing or the cluster cannot be reached.
    """
    ray = ray_module(what)
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address == LOCAL:
        options |= {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    try:
        _knock(address)
        ray.init(address, **options)
    except (
        Exception
    ) as error:  # Ray raises all kinds, `Exception` itself where a node of its own does not start in time
        what = "Ray does not start" if address == LOCAL else f"there is no Ray cluster to be reached at {address!r}"
        raise ClusterError(f"{what}: {_first_line(error)}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Fail at once where nobody answers at a HOST:PORT: Ray itself takes minutes to give up."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "//" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
