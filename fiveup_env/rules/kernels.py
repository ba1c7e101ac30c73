"""The one way this package compiles: `kernel` wraps `numba.njit` with an on-disk cache that notices edits.

numba's own cache looks at the file that holds a function, not at the kernels that it calls from other files.
Here the cache directory is named after a hash of every source file that may hold kernels, so an edit anywhere
starts a new one. `NUMBA_CACHE_DIR`, if the user sets it, is left alone. `NUMBA_DISABLE_JIT=1` runs the same
source as plain Python (for debuggers and coverage).
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
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
def _pdep(typing_context: Any, source: Any, places: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(function, args)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _bswap(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.int64(types.int64), generate


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any, element: Any) -> Any:
    """Pointer to item `at` of a contiguous array, as one to `element`."""
    size = kind.dtype.bitwidth // 8
    data = context.make_array(kind)(context, builder, array).data
    return cgutils.pointer_add(builder, data, builder.mul(at, at.type(size)), return_type=element.as_pointer())


@intrinsic
def _load_word(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], args[0], args[1], ir.IntType(64)), align=1)

    return types.int64(array, types.int64), generate


@intrinsic
def _store_eight(typing_context: Any, row: Any, at: Any, codes: Any, values: Any, index: Any) -> Any:
    floats = isinstance(row.dtype, types.Float)
    vector = ir.VectorType(ir.FloatType() if floats else ir.IntType(8), 8)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = 3 if floats else 2
        start = builder.shl(args[4], args[4].type(3))
        eight = builder.load(_place(context, builder, signature.args[table], args[table], start, vector), align=1)
        builder.store(eight, _place(context, builder, row, args[0], args[1], vector), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, codes, values, types.int64), generate


@intrinsic
def _store_codes(typing_context: Any, row: Any, at: Any, word: Any, unit: Any) -> Any:
    floats = isinstance(row.dtype, types.Float)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, at, eight, unit = args
        if floats:
            wide, real = ir.VectorType(ir.IntType(32), 8), ir.VectorType(ir.FloatType(), 8)
            codes = builder.bitcast(eight, ir.VectorType(ir.IntType(8), 8))
            first = builder.insert_element(ir.Constant(real, ir.Undefined), unit, ir.IntType(32)(0))
            splat = builder.shuffle_vector(first, ir.Constant(real, ir.Undefined), ir.Constant(wide, [0] * 8))
            eight = builder.fmul(builder.sitofp(builder.zext(codes, wide), real), splat)
        builder.store(eight, _place(context, builder, row, array, at, eight.type), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64, types.float32), generate


@intrinsic
def _store_code(typing_context: Any, row: Any, at: Any, code: Any, unit: Any) -> Any:
    floats = isinstance(row.dtype, types.Float)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, at, code, unit = args
        value = builder.trunc(code, ir.IntType(8))
        if floats:
            value = builder.fmul(builder.sitofp(code, ir.FloatType()), unit)
        builder.store(value, _place(context, builder, row, array, at, value.type), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64, types.float32), generate


@intrinsic
def _prefetch(typing_context: Any, array: Any, at: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
        )
        place = cgutils.pointer_add(builder, _place(context, builder, array, args[0], args[1], ir.IntType(8)), args[2])
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


EIGHT = np.array([[bits >> i & 1 for i in range(8)] for bits in range(256)], np.uint8)
"""Set of eight bits -> eight values 0 or 1."""
EIGHT_FLOATS = EIGHT.astype(np.float32)

HAS_PDEP = platform.machine().lower() in ("x86_64", "amd64") and "bmi2" in get_host_cpu_features()

# The stores below write eight values at once into a contiguous row of 8-bit integers or of float32, wherever they
# start. They do not look at the row's end: the caller sees to it that there is room.

if JIT_DISABLED:

    def count_bits(bits: int) -> int:
        """Number of set bits of a non-negative integer."""
        return int(bits).bit_count()

    def lowest_bit(bits: int) -> int:
        """Index of the lowest set bit; `bits` must not be zero."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def newest_first(array: np.ndarray, count: int) -> int:
        """The last eight of the first `count` bytes as a word, the very last lowest; zero if there are fewer.

        All are below 128, and `array` is a field of a record with eight bytes or more before it.
        """
        return sum(int(byte) << 8 * i for i, byte in enumerate(array[max(0, count - 8) : count][::-1]))

    def store_eight(row: np.ndarray, at: int, codes: np.ndarray, values: np.ndarray, index: int) -> None:
        """Copy eight values from `codes` [n, 8] into a row of integers, or from `values` [n, 8] into one of floats."""
        row[at : at + 8] = (codes if row.itemsize == 1 else values)[index]

    def store_codes(row: np.ndarray, at: int, word: int, unit: float) -> None:
        """The eight bytes of a word, the lowest first; in a row of floats times `unit`."""
        codes = np.array([int(word) >> 8 * i & 255 for i in range(8)], np.uint8)
        row[at : at + 8] = codes if row.itemsize == 1 else codes * np.float32(unit)

    def store_field(row: np.ndarray, at: int, field: np.ndarray, unit: float) -> None:
        """A record's field of 28 bytes; in a row of floats times `unit`. Four values behind it are spoilt."""
        row[at : at + 28] = field if row.itemsize == 1 else field * np.float32(unit)

    def store_code(row: np.ndarray, at: int, code: int, unit: float) -> None:
        """One value, 0 to 255; in a row of floats times `unit`."""
        row[at] = code if row.itemsize == 1 else code * np.float32(unit)

    def borrowed(array: Any) -> Any:
        """The same array (or None); compiled code counts no references to it and its slices.

        An entry's arguments live until it returns, and counting is an atomic operation for every slice.
        """
        return array

    def prefetch(array: np.ndarray, at: int, size: int) -> None:
        """Begin to fetch `size` bytes from item `at` of a contiguous array on, which may lie behind its end."""

    def nth_bit(bits: int, n: int) -> int:
        """Index of the n-th set bit (n = 0 is the lowest); there must be more than n of them."""
        bits = int(bits)
        for _ in range(n):
            bits &= bits - 1
        return lowest_bit(bits)

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

    @kernel(inline=True)
    def count_bits(bits: int) -> int:
        """Number of set bits of a non-negative integer."""
        return _ctpop(np.int64(bits))

    @kernel(inline=True)
    def lowest_bit(bits: int) -> int:
        """Index of the lowest set bit; `bits` must not be zero."""
        return _cttz(np.int64(bits))

    @kernel(inline=True)
    def newest_first(array: np.ndarray, count: int) -> int:
        """The last eight of the first `count` bytes as a word, the very last lowest; zero if there are fewer.

        All are below 128, and `array` is a field of a record with eight bytes or more before it.
        """
        word = _bswap(_load_word(array, np.int64(count) - 8))
        return word if count >= 8 else word & (1 << 8 * count) - 1

    @kernel(inline=True)
    def store_eight(row: np.ndarray, at: int, codes: np.ndarray, values: np.ndarray, index: int) -> None:
        """Copy eight values from `codes` [n, 8] into a row of integers, or from `values` [n, 8] into one of floats."""
        _store_eight(row, np.int64(at), codes, values, np.int64(index))

    @kernel(inline=True)
    def store_codes(row: np.ndarray, at: int, word: int, unit: float) -> None:
        """The eight bytes of a word, the lowest first; in a row of floats times `unit`."""
        _store_codes(row, np.int64(at), np.int64(word), np.float32(unit))

    @kernel(inline=True)
    def store_field(row: np.ndarray, at: int, field: np.ndarray, unit: float) -> None:
        """A record's field of 28 bytes; in a row of floats times `unit`. Four values behind it are spoilt."""
        for word in range(4):
            _store_codes(row, np.int64(at + 8 * word), _load_word(field, np.int64(8 * word)), np.float32(unit))

    @kernel(inline=True)
    def store_code(row: np.ndarray, at: int, code: int, unit: float) -> None:
        """One value, 0 to 255; in a row of floats times `unit`."""
        _store_code(row, np.int64(at), np.int64(code), np.float32(unit))

    if HAS_PDEP:

        @kernel(inline=True)
        def nth_bit(bits: int, n: int) -> int:
            """Index of the n-th set bit (n = 0 is the lowest); there must be more than n of them."""
            return _cttz(_pdep(np.int64(1) << np.int64(n), np.int64(bits)))

    else:

        @kernel
        def nth_bit(bits: int, n: int) -> int:
            """Index of the n-th set bit (n = 0 is the lowest); there must be more than n of them."""
            bits = int(bits)
            for _ in range(n):
                bits &= bits - 1
            return lowest_bit(bits)


@kernel(inline=True)
def store_bits(row: np.ndarray, at: int, bits: int) -> None:
    """Eight values 0 or 1, those of a set of eight bits, the lowest first."""
    store_eight(row, at, EIGHT, EIGHT_FLOATS, bits)


@kernel(inline=True)
def store_set(row: np.ndarray, at: int, bits: int, groups: int) -> None:
    """The same for so many groups of eight bits."""
    for group in range(groups):
        store_bits(row, at + 8 * group, bits >> 8 * group & 255)
