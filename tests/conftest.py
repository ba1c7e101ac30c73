"""Settings of all tests: one compute thread each, repeatable hypothesis runs."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Threads of several xdist workers slow each other down. OpenMP reads this when torch is first imported, which no
# test does at collection; subprocesses inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Windows open without a screen. SDL reads this when pygame's display starts.
os.environ["SDL_VIDEODRIVER"] = "dummy"

# No deadline and no check of slow examples: the first example of a test may compile a kernel.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.register_profile("slow", settings.get_profile("dev"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    """Reset torch's number of threads after a test."""
    yield
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
