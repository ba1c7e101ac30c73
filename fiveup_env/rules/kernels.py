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
LAYERS = ("rules", "encoding", "agents", "envs")
"""Folders with kernels; those of a folder call only kernels of it and of the folders before it.

Others (evaluation, benchmarks, tests) may call those of all these and of their own folder.
"""


@cache
def cache_directory(layer: str) -> str | None:
    """Folder for the compiled entries of a layer, or None where none can be written (then every process compiles anew).

    Its name is a hash of all sources that these entries may call or take constants from.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for folder in LAYERS[: LAYERS.index(layer) + 1] if layer in LAYERS else (*LAYERS, layer):
        for source in sorted((PACKAGE / folder).glob("*.py")):
            digest.update(source.name.encode() + source.read_bytes())
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


def _layer_of(function: Callable[..., Any]) -> str:
    """Folder of the package that a function comes from."""
    return function.__module__.removeprefix("fiveup_env.").split(".")[0]


@intrinsic
def _ctpop(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def _cttz(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), generate


@intrinsic
def _store_word(typing_context: Any, array: Any, at: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = cgutils.pointer_add(builder, data, args[1], return_type=ir.IntType(64).as_pointer())
        builder.store(args[2], place).align = 1
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@intrinsic
def _copy_field(typing_context: Any, array: Any, at: Any, field: Any) -> Any:
    length = int(np.prod(field.shape))

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = context.make_array(signature.args[0])(context, builder, args[0]).data
        source = context.make_array(signature.args[2])(context, builder, args[2]).data
        place = cgutils.pointer_add(builder, row, args[1])
        cgutils.raw_memcpy(builder, place, source, context.get_constant(types.intp, length), 1)
        return context.get_dummy_value()

    return types.void(array, types.int64, field), generate


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


EIGHT = np.array([sum((bits >> i & 1) << 8 * i for i in range(8)) for bits in range(256)], np.uint64)
"""Set of eight bits -> eight bytes 0 or 1."""

if JIT_DISABLED:

    def count_bits(bits: int) -> int:
        """Number of set bits of a non-negative integer."""
        return int(bits).bit_count()

    def lowest_bit(bits: int) -> int:
        """Index of the lowest set bit; `bits` must not be zero."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def store_bits(row: np.ndarray, at: int, bits: int) -> None:
        """Write eight 0/1 bytes, the lowest bit first, at `row[at : at + 8]` (a contiguous row of bytes)."""
        row[at : at + 8] = [bits >> i & 1 for i in range(8)]

    def store_word(row: np.ndarray, at: int, word: int) -> None:
        """Write the eight bytes of a non-negative integer, the lowest first, at `row[at : at + 8]`."""
        row[at : at + 8] = [int(word) >> 8 * i & 255 for i in range(8)]

    def copy_field(row: np.ndarray, at: int, field: np.ndarray) -> None:
        """Copy an array of bytes that is a field of a record to `row[at : at + len(field)]`."""
        row[at : at + len(field)] = field

    def borrowed(array: Any) -> Any:
        """The same array (or None); compiled code counts no references to it and its slices.

        An entry's arguments live until it returns, and counting is an atomic operation for every slice.
        """
        return array

else:

    @kernel(inline=True)
    def borrowed(array: Any) -> Any:
        """The same array (or None); compiled code counts no references to it and its slices.

        An entry's arguments live until it returns, and counting is an atomic operation for every slice.
        """
        return _borrowed(array)

    @kernel
    def count_bits(bits: int) -> int:
        """Number of set bits of a non-negative integer."""
        return _ctpop(np.int64(bits))

    @kernel
    def lowest_bit(bits: int) -> int:
        """Index of the lowest set bit; `bits` must not be zero."""
        return _cttz(np.int64(bits))

    @kernel
    def store_bits(row: np.ndarray, at: int, bits: int) -> None:
        """Write eight 0/1 bytes, the lowest bit first, at `row[at : at + 8]` (a contiguous row of bytes)."""
        _store_word(row, np.int64(at), EIGHT[np.int64(bits)])

    @kernel
    def store_word(row: np.ndarray, at: int, word: int) -> None:
        """Write the eight bytes of a non-negative integer, the lowest first, at `row[at : at + 8]`."""
        _store_word(row, np.int64(at), np.uint64(word))

    @kernel
    def copy_field(row: np.ndarray, at: int, field: np.ndarray) -> None:
        """Copy an array of bytes that is a field of a record to `row[at : at + len(field)]`."""
        _copy_field(row, np.int64(at), field)


@kernel
def nth_bit(bits: int, n: int) -> int:
    """Index of the n-th set bit (n = 0 is the lowest); there must be more than n of them."""
    bits = int(bits)
    for _ in range(n):
        bits &= bits - 1
    return lowest_bit(bits)
