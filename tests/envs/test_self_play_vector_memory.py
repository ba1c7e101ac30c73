"""A step of the vector env allocates nothing, in Python or in compiled code."""

from __future__ import annotations

import tracemalloc

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python as _nrt
from numba.core.runtime import rtsys

from fiveup_env.agents.baseline_kernels import RANDOM, choose_many
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv

pytestmark = pytest.mark.jit
COUNT = 4096
"""An array of one byte a match would show."""


class Loop:
    """Random steps that allocate nothing themselves."""

    def __init__(self, count: int, threads: int = 1) -> None:
        self.env = SelfPlayVectorEnv(count, draws="auto", max_rounds=2, threads=threads)
        self.env.reset(0)
        self.actions = np.zeros(count, np.int64)
        self.keys = np.random.default_rng(0).integers(2**64, size=count, dtype=np.uint64)
        self.ended = False
        self(3)

    def __call__(self, steps: int) -> None:
        for _ in range(steps):
            choose_many(self.env.games, RANDOM, self.keys, self.actions)
            self.ended |= bool(self.env.step(self.actions).truncated.any())


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_thousand_steps_leave_and_take_no_memory(threads: int) -> None:
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("one core only")
    loop = Loop(COUNT, threads)
    tracemalloc.start()
    try:
        loop(10)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        loop(1000)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert loop.ended
    assert after - before < COUNT / 4, "memory grows"
    assert peak - before < COUNT, "a step makes an array"


def test_that_an_array_would_show() -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        np.zeros(COUNT, np.bool_)
        assert tracemalloc.get_traced_memory()[1] - before >= COUNT
    finally:
        tracemalloc.stop()


def test_compiled_code_allocates_the_same_for_one_match_as_for_many() -> None:
    """The remaining allocations are numba's handles for the arguments of a call."""

    def allocations(loop: Loop) -> int:
        _nrt.memsys_enable_stats()
        try:
            before = rtsys.get_allocation_stats()
            loop(100)
            after = rtsys.get_allocation_stats()
        finally:
            _nrt.memsys_disable_stats()
        assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
        return int(after.alloc - before.alloc)

    few, many = Loop(1), Loop(COUNT)
    assert allocations(few) == allocations(many)
    assert many.ended
