"""Connect to Ray: an embedded instance on this machine, or a running cluster (docs/cluster.md).

Ray is optional and imported on first use.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOCAL = "local"
"""Address of an embedded Ray that ends with this program."""
OBJECT_STORE = 200 * 2**20
"""Bytes of shared memory of an embedded Ray; the program keeps a few megabytes in it."""
EXTRA = "pip install 'fiveup-env[ray]'"


class ClusterError(ValueError):
    """Ray is missing or cannot be reached; the message is one line."""


def ray_module(user: str) -> Any:
    """Import Ray; its usage reports are off unless the user has enabled them.

    Args:
        user: the feature that uses Ray, for the message.

    Raises:
        ClusterError: if Ray is not installed, naming the extra to install.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ClusterError(f"{user} needs {error.name or 'ray'}: {EXTRA}") from error
    return ray


@contextmanager
def connected(address: str, user: str, cpus: int | None = None) -> Iterator[Any]:
    """Connect to Ray inside the block. An existing connection is used and kept.

    Args:
        address: `local`, `auto` for the cluster of this machine, or `HOST:PORT` of a cluster's head.
        user: the feature that uses Ray, for messages.
        cpus: number of CPUs of a local Ray; None for all.

    Raises:
        ClusterError: if Ray is missing or the cluster cannot be reached.
    """
    ray = ray_module(user)
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address == LOCAL:
        options |= {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    try:
        _knock(address)
        ray.init(address, **options)
    except Exception as error:  # Ray raises many classes, plain `Exception` if a local node starts too slowly
        fault = "Ray does not start" if address == LOCAL else f"no Ray cluster can be reached at {address!r}"
        raise ClusterError(f"{fault}: {_first_line(error)}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Fail at once if nothing listens at HOST:PORT; Ray itself takes minutes to give up."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "//" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
