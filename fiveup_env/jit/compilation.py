"""The one way this package compiles: `kernel` wraps `numba.njit` with an on-disk cache that notices edits.

numba's own cache looks at the file that holds a function, not at the kernels that it calls from other files.
Here the cache directory is named after a hash of every source file that may hold kernels, so an edit anywhere
starts a new one. `NUMBA_CACHE_DIR`, if the user sets it, is left alone. `NUMBA_DISABLE_JIT=1` runs the same
source as plain Python (for debuggers and coverage).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic
from numba.misc.appdirs import AppDirs

if TYPE_CHECKING:
    # Inside kernels these are plain integers to whoever reads them; their width concerns the compiler.
    def int64(value: Any) -> int:
        """A signed integer of 64 bits."""

    def uint64(value: Any) -> int:
        """An unsigned integer of 64 bits."""
else:
    from numpy import int64 as int64
    from numpy import uint64 as uint64

F = TypeVar("F", bound=Callable[..., Any])

JIT_DISABLED = bool(numba_config.DISABLE_JIT)
PACKAGE = Path(__file__).resolve().parent.parent
LAYERS = ("jit", "rules", "views", "belief", "agents", "envs", "evaluation")
"""Folders with kernels; those of a folder call only kernels of it and of the folders before it.

Others (studies, benchmarks, tests) may call those of all these and of their own folder.
"""


@cache
def cache_directory(layer: str) -> str | None:
    """Folder for the compiled entries of a layer, or None where none can be written (then every process compiles anew).

    Its name is a hash of all sources that these entries may call or take constants from.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for folder in LAYERS[: LAYERS.index(layer) + 1] if layer in LAYERS else (*LAYERS, layer):
        for source in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(source.relative_to(PACKAGE).as_posix().encode() + source.read_bytes())
    folder_name = f"numba-{digest.hexdigest()[:16]}"
    path = Path(AppDirs("fiveup_env", appauthor=False).user_cache_dir) / folder_name
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(path) if os.access(path, os.W_OK) else None


@contextmanager
def _cache_folder(path: str) -> Iterator[None]:
    """numba reads its global setting while a function's cache is set up, and only then."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = path
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before


def kernel(function: F | None = None, *, inline: bool = False) -> Any:
    """Compile a building block: a function that only other kernels call.

    It gets no wrapper for Python and no cache of its own (it is part of the entries that use it), which halves the
    time a cold cache costs. `inline=True` makes LLVM paste it into its callers: for the hot path, where handing over
    arrays (seven words each) would cost more than the work.
    """
    if function is None:
        return lambda f: kernel(f, inline=inline)
    if JIT_DISABLED:
        # The random generator wraps around on purpose; plain NumPy scalars would warn about it.
        return np.errstate(over="ignore")(function)
    return numba.njit(
        forceinline=inline,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)


def entry(function: F | None = None, *, parallel: bool = False) -> Any:
    """Compile a function that Python calls, on first use, cached on disk.

    Args:
        function: takes arrays and numbers (a lone record is slow to pass: give the array and an index).
        parallel: let `numba.prange` use threads.
    """
    if function is None:
        return lambda f: entry(f, parallel=parallel)
    if JIT_DISABLED:
        return np.errstate(over="ignore")(function)
    compiled = numba.njit(parallel=parallel, error_model="numpy", nogil=True, no_cfunc_wrapper=True)(function)
    if numba_config.CACHE_DIR:
        compiled.enable_caching()
    elif (path := cache_directory(_layer_of(function))) is not None:
        with _cache_folder(path):
            compiled.enable_caching()
    return compiled


@contextmanager
def threads_used(count: int) -> Iterator[None]:
    """Let parallel entries use so many threads, and then as many as before."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _layer_of(function: Callable[..., Any]) -> str:
    """Folder of the package that a function comes from."""
    return function.__module__.removeprefix("fiveup_env.").split(".")[0]


def pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, element: Any) -> Any:
    """For intrinsics: pointer to item `at` of a contiguous array, as one to `element`."""
    size = kind.dtype.bitwidth // 8
    data = context.make_array(kind)(context, builder, array).data
    return cgutils.pointer_add(builder, data, builder.mul(at, at.type(size)), return_type=element.as_pointer())


@intrinsic
def _prefetch(typing_context: Any, array: Any, at: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
        )
        place = cgutils.pointer_add(builder, pointer(context, builder, array, args[0], args[1], ir.IntType(8)), args[2])
        builder.call(function, [place, word(0), word(3), word(1)])  # to be read, and kept in every cache; data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


@intrinsic
def _borrowed(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not isinstance(array, types.Array):
            return args[0]
        view = context.make_array(array)(context, builder, args[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


if JIT_DISABLED:

    def borrowed(array: Any) -> Any:
        """The same array (or None); compiled code counts no references to it and its slices.

        An entry's arguments live until it returns, and counting is an atomic operation for every slice.
        """
        return array

    def prefetch(array: np.ndarray, at: int, size: int) -> None:
        """Begin to fetch `size` bytes from item `at` of a contiguous array on, which may lie behind its end."""

else:

    @kernel(inline=True)
    def borrowed(array: Any) -> Any:
        """The same array (or None); compiled code counts no references to it and its slices.

        An entry's arguments live until it returns, and counting is an atomic operation for every slice.
        """
        return _borrowed(array)

    @kernel(inline=True)
    def prefetch(array: np.ndarray, at: int, size: int) -> None:
        """Begin to fetch `size` bytes from item `at` of a contiguous array on, which may lie behind its end."""
        for line in range((size + 63) // 64):
            _prefetch(array, np.int64(at), np.int64(64 * line))
