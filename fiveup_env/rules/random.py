"""Counter-based random numbers for deals: a round depends on (seed, round number) alone.

Round k of a match has the same shuffle and the same lot whatever was played before, as duplicate deals and common
random numbers require. The mixer is SplitMix64 (Steele, Lea, Flood, 2014); integers below n are exact (Lemire, 2019).
Policies have their own random numbers.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.jit.compilation import entry, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
TWO_32 = 1 << 32
LOW_32 = TWO_32 - 1


@kernel
def mix(value: int) -> int:
    """Scramble 64 bits (the output function of SplitMix64)."""
    value = np.uint64(value)
    value = (value ^ (value >> S30)) * MIX_1
    value = (value ^ (value >> S27)) * MIX_2
    return value ^ (value >> S31)


@kernel
def stream(seed: int, index: int) -> int:
    """Start state of stream `index` of `seed`; in practice streams of one seed do not overlap."""
    return mix(mix(np.uint64(seed) + GOLDEN) + np.uint64(index) * GOLDEN)


@kernel
def below(state: int, n: int) -> tuple[int, int]:
    """Return a uniform integer from 0 to n - 1 (n up to 2**31) and the next state."""
    threshold = -1
    while True:
        state = np.uint64(state) + GOLDEN
        product = np.int64(mix(state) >> S32) * np.int64(n)
        rest = product & LOW_32
        if rest >= n:
            return product >> 32, state
        if threshold < 0:
            threshold = (TWO_32 - n) % n
        if rest >= threshold:
            return product >> 32, state


@entry
def _write_streams(seed: int, first: int, seeds: np.ndarray) -> None:
    for i in range(len(seeds)):
        seeds[i] = stream(seed, first + i)


def spread_seeds(seed: int, count: int, first: int = 0) -> np.ndarray:
    """Return the streams `first` to `first + count - 1` of a seed as independent seeds, uint64 [count]."""
    seeds = np.empty(count, np.uint64)
    _write_streams(np.uint64(seed), first, seeds)
    return seeds
