"""The machine and the package versions that measured figures depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version


def package_version(package: str) -> str:
    """Version of an installed package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor_name() -> str:
    """Model name of the processor."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "processor unknown"


def describe_machine(packages: Iterable[str] = ("fiveup-env", "numpy", "numba")) -> dict[str, str]:
    """Python, operating system, number of cores, and the versions of `packages`."""
    found = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    return found | {"cpus": str(os.cpu_count())} | {package: package_version(package) for package in packages}
