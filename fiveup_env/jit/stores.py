"""Stores of eight values at once into a contiguous row of 8-bit integers or float32, at any offset.

They do not check the end of the row: the caller provides room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fiveup_env.jit.bits import load_word
from fiveup_env.jit.compilation import compiled_as, kernel, pointer

EIGHT = np.array([[bits >> i & 1 for i in range(8)] for bits in range(256)], np.uint8)
"""Set of eight bits -> eight values 0 or 1."""
EIGHT_FLOATS = EIGHT.astype(np.float32)


@intrinsic
def _store_eight(typing_context: Any, row: Any, at: Any, codes: Any, values: Any, index: Any) -> Any:
    floats = isinstance(row.dtype, types.Float)
    vector = ir.VectorType(ir.FloatType() if floats else ir.IntType(8), 8)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = 3 if floats else 2
        start = builder.shl(args[4], args[4].type(3))
        eight = builder.load(pointer(context, builder, signature.args[table], args[table], start, vector), align=1)
        builder.store(eight, pointer(context, builder, row, args[0], args[1], vector), align=1)
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
        builder.store(eight, pointer(context, builder, row, array, at, eight.type), align=1)
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
        builder.store(value, pointer(context, builder, row, array, at, value.type), align=1)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64, types.float32), generate


@compiled_as(
    lambda row, at, codes, values, index: _store_eight(row, np.int64(at), codes, values, np.int64(index)),
)
def store_eight(row: np.ndarray, at: int, codes: np.ndarray, values: np.ndarray, index: int) -> None:
    """Copy eight values: `codes[index]`, [n, 8], into a row of integers, or `values[index]`, [n, 8], into floats."""
    row[at : at + 8] = (codes if row.itemsize == 1 else values)[index]


@compiled_as(lambda row, at, word, unit: _store_codes(row, np.int64(at), np.int64(word), np.float32(unit)))
def store_codes(row: np.ndarray, at: int, word: int, unit: float) -> None:
    """Store the eight bytes of a word, lowest first; in a row of floats times `unit`."""
    codes = np.array([int(word) >> 8 * i & 255 for i in range(8)], np.uint8)
    row[at : at + 8] = codes if row.itemsize == 1 else codes * np.float32(unit)


def _store_field(row: np.ndarray, at: int, field: np.ndarray, unit: float) -> None:
    for word in range(4):
        _store_codes(row, np.int64(at + 8 * word), load_word(field, np.int64(8 * word)), np.float32(unit))


@compiled_as(_store_field)
def store_field(row: np.ndarray, at: int, field: np.ndarray, unit: float) -> None:
    """Store a record's field of 28 bytes; in a row of floats times `unit`. Overwrites four more values."""
    row[at : at + 28] = field if row.itemsize == 1 else field * np.float32(unit)


@compiled_as(lambda row, at, code, unit: _store_code(row, np.int64(at), np.int64(code), np.float32(unit)))
def store_code(row: np.ndarray, at: int, code: int, unit: float) -> None:
    """Store one value, 0 to 255; in a row of floats times `unit`."""
    row[at] = code if row.itemsize == 1 else code * np.float32(unit)


@kernel(inline=True)
def store_bits(row: np.ndarray, at: int, bits: int) -> None:
    """Store eight values 0 or 1: the lowest eight bits of a set, lowest first."""
    store_eight(row, at, EIGHT, EIGHT_FLOATS, bits)


@kernel(inline=True)
def store_set(row: np.ndarray, at: int, bits: int, groups: int) -> None:
    """Store `groups` times eight values 0 or 1: the bits of a set, lowest first."""
    for group in range(groups):
        store_bits(row, at + 8 * group, bits >> 8 * group & 255)
