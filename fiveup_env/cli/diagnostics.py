"""What is installed and where things are, for people and for bug reports."""

from __future__ import annotations

import platform
from pathlib import Path

from numba.core import config as numba_config
from rich.table import Table

from fiveup_env.agents.registry import BUILT_IN, CHECKPOINTS
from fiveup_env.jit.compilation import JIT_DISABLED, cache_directory
from fiveup_env.system.machine import package_version

PACKAGES = ("fiveup-env", "numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch")


def overview() -> Table:
    """Versions, the folder of compiled kernels, and the agents there are."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in PACKAGES:
        table.add_row(package, package_version(package))
    table.add_row("kernels", "plain Python (NUMBA_DISABLE_JIT)" if JIT_DISABLED else "compiled")
    table.add_row("kernel cache", _kernel_cache())
    table.add_section()
    for name, (_, meaning) in BUILT_IN.items():
        table.add_row(f"agent {name}", meaning)
    for suffix, (_, meaning) in CHECKPOINTS.items():
        table.add_row(f"agent *{suffix}", f"checkpoint: {meaning}")
    return table


def _kernel_cache() -> str:
    """The user's own folder for numba, or the one that ours are in."""
    if numba_config.CACHE_DIR:
        return str(numba_config.CACHE_DIR)
    folder = cache_directory("rules")
    return "none (no folder can be written)" if folder is None else str(Path(folder).parent)
