"""Bit sets in a 64-bit word, and words read from the fields of a record."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic

from fiveup_env.jit.compilation import compiled_as, pointer

SLOW_BMI2 = ("bdver4", "znver1", "znver2")
"""Processors that take tens to hundreds of cycles to gather or spread bits, by LLVM's names."""


def _has_bmi2() -> bool:
    """Whether the target of numba (NUMBA_CPU_FEATURES, NUMBA_CPU_NAME, else this machine) has fast BMI2."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    features = numba_config.CPU_FEATURES
    has = get_host_cpu_features().get("bmi2", False) if features is None else "+bmi2" in features.split(",")
    return has and (numba_config.CPU_NAME or get_host_cpu_name()) not in SLOW_BMI2


HAS_BMI2 = _has_bmi2()


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


def _by_mask(name: str) -> Any:
    """Intrinsic for a BMI2 instruction that takes a word and a mask."""

    @intrinsic
    def instruction(typing_context: Any, word: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.IntType(64)
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind, kind]), name)
            return builder.call(function, args)

        return types.int64(types.int64, types.int64), generate

    return instruction


_pdep, _pext = _by_mask("llvm.x86.bmi.pdep.64"), _by_mask("llvm.x86.bmi.pext.64")


@intrinsic
def _bswap(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.int64(types.int64), generate


@intrinsic
def load_word(typing_context: Any, array: Any, at: Any) -> Any:
    """Eight bytes of a contiguous array from item `at` (int64) as a word; in compiled code only."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(64)), align=1)

    return types.int64(array, types.int64), generate


@intrinsic
def _repeats(typing_context: Any, field: Any) -> Any:
    vector, word = ir.VectorType(ir.IntType(32), 8), ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left = builder.load(pointer(context, builder, field, args[0], word(0), vector), align=1)
        one, zero, found = ir.Constant(vector, [1] * 8), ir.Constant(vector, [0] * 8), word(0)
        for place in (0, 7):
            left = builder.and_(left, builder.sub(left, one))
            flags = builder.zext(builder.bitcast(builder.icmp_unsigned("!=", left, zero), ir.IntType(8)), word)
            found = builder.or_(found, builder.shl(builder.and_(flags, word(127)), word(place)))
        return found

    return types.int64(field), generate


@compiled_as(lambda bits: _ctpop(np.int64(bits)))
def count_bits(bits: int) -> int:
    """Number of set bits of a non-negative integer."""
    return int(bits).bit_count()


@compiled_as(lambda bits: _cttz(np.int64(bits)))
def lowest_bit(bits: int) -> int:
    """Index of the lowest set bit; `bits` must not be zero."""
    return (int(bits) & -int(bits)).bit_length() - 1


@compiled_as(lambda bits, n: _cttz(_pdep(np.int64(1) << np.int64(n), np.int64(bits))), when=HAS_BMI2)
def nth_bit(bits: int, n: int) -> int:
    """Index of the n-th set bit (n = 0 is the lowest); more than n bits must be set."""
    bits = int(bits)
    for _ in range(n):
        bits &= bits - 1
    return lowest_bit(bits)


@compiled_as(lambda bits, places: _pext(np.int64(bits), np.int64(places)), when=HAS_BMI2)
def gather_bits(bits: int, places: int) -> int:
    """Move the bits at the set bits of `places` together, to the lowest bits."""
    bits, places = int(bits), int(places)
    found, at = 0, 0
    while places:
        found |= (bits >> lowest_bit(places) & 1) << at
        places &= places - 1
        at += 1
    return found


@compiled_as(lambda bits, places: _pdep(np.int64(bits), np.int64(places)), when=HAS_BMI2)
def spread_bits(bits: int, places: int) -> int:
    """Move the lowest bits to the set bits of `places`; the inverse of `gather_bits`."""
    bits, places = int(bits), int(places)
    found, at = 0, 0
    while places:
        found |= (bits >> at & 1) << lowest_bit(places)
        places &= places - 1
        at += 1
    return found


def _newest_first(array: np.ndarray, count: int) -> int:
    word = _bswap(load_word(array, np.int64(count) - 8))
    return word if count >= 8 else word & (1 << 8 * count) - 1


@compiled_as(_newest_first)
def newest_first(array: np.ndarray, count: int) -> int:
    """The last eight of the first `count` bytes as a word, the last byte lowest; missing bytes are zero.

    All bytes are below 128, and `array` is a field of a record with at least eight bytes before it.
    """
    return sum(int(byte) << 8 * i for i, byte in enumerate(array[max(0, count - 8) : count][::-1]))


@compiled_as(lambda field: _repeats(field))
def repeats(field: np.ndarray) -> int:
    """Bit i if word i of a field, uint32 [7], has at least two set bits; bit 7 + i if at least three.

    Another word must follow the field.
    """
    counts = [int(word).bit_count() for word in field]
    return sum((count > 1) << i | (count > 2) << 7 + i for i, count in enumerate(counts))
