"""Compilation of kernels with an on-disk cache that notices every edit.

numba's own cache checks the file of a function, not the kernels it calls from other files. Here the cache directory is
named after a hash of all source files that may hold kernels, so any edit starts a new one. `NUMBA_CACHE_DIR` overrides
it. `NUMBA_DISABLE_JIT=1` runs the same source as plain Python (for debuggers and coverage).
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
    # For type checkers kernels work on plain integers; the width matters to the compiler alone.
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
"""Packages with kernels; each calls kernels of itself and of earlier packages only.

Other packages (studies, benchmarks, tests) may call kernels of all these and of themselves.
"""


@cache
def cache_directory(layer: str) -> str | None:
    """Folder for the compiled entries of a package, or None if none is writable (every process then compiles).

    The name is a hash of all sources, subpackages included, that these entries may call or take constants from.
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
    """Set numba's cache folder, which is read only while the cache of a function is set up."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = path
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before


def kernel(function: F | None = None, *, inline: bool = False) -> Any:
    """Compile a function that only other kernels call.

    It has no wrapper for Python and no cache (it is compiled into the entries that call it), which halves the time of
    a cold start. `inline=True` makes LLVM inline it: on the hot path, passing arrays (seven words each) costs more than
    the work.
    """
    if function is None:
        return lambda f: kernel(f, inline=inline)
    if JIT_DISABLED:
        # The random generator wraps around on purpose; NumPy scalars would warn.
        return np.errstate(over="ignore")(function)
    return numba.njit(
        forceinline=inline,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)


def entry(function: F | None = None, *, parallel: bool = False) -> Any:
    """Compile a function that Python calls: on first use, cached on disk.

    Args:
        function: takes arrays and numbers (a single record is slow to pass: pass the array and an index).
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


def compiled_as(compiled: Callable[..., Any], *, when: bool = True) -> Callable[[F], F]:
    """Decorate a plain function for kernels: `compiled` replaces it in compiled code, inlined.

    If `when` is false the plain function is compiled instead.
    """

    def choose(plain: F) -> F:
        if JIT_DISABLED:
            return plain
        return kernel(compiled, inline=True) if when else kernel(plain)

    return choose


@contextmanager
def threads_used(count: int) -> Iterator[None]:
    """Let parallel entries use `count` threads within the block."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _layer_of(function: Callable[..., Any]) -> str:
    """Subpackage in which a function is defined."""
    return function.__module__.removeprefix("fiveup_env.").split(".")[0]


def pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, element: Any) -> Any:
    """Pointer for intrinsics to item `at` of a contiguous array, cast to type `element`."""
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
        builder.call(function, [place, word(0), word(3), word(1)])  # for reading, keep in every cache, data
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


@compiled_as(lambda array: _borrowed(array))
def borrowed(array: Any) -> Any:
    """Return the same array (or None) without reference counting in compiled code.

    An entry's arguments live until it returns, and counting is an atomic operation for every slice.
    """
    return array


def _prefetch_lines(array: np.ndarray, at: int, size: int) -> None:
    for line in range((size + 63) // 64):
        _prefetch(array, np.int64(at), np.int64(64 * line))


@compiled_as(_prefetch_lines)
def prefetch(array: np.ndarray, at: int, size: int) -> None:
    """Start fetching `size` bytes from item `at` of a contiguous array, which may lie behind its end."""
