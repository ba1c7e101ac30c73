"""The generator of deals and lots, against the published algorithms in plain integers."""

import numpy as np
import pytest

from fiveup_env.jit.compilation import entry
from fiveup_env.rules.random import below, mix, stream

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@entry
def draw_below(states: np.ndarray, n: int) -> int:
    """`below`; the next state replaces states[0]."""
    drawn, state = below(states[0], n)
    states[0] = state
    return drawn


@entry
def mix_and_stream(words: np.ndarray, seed: int, index: int) -> None:
    """`mix` of words[0] in place, `stream` into words[1]."""
    words[0] = mix(words[0])
    words[1] = stream(seed, index)


def mixed(value):
    """The output function of SplitMix64 (Steele, Lea, Flood, 2014)."""
    value = (value ^ value >> 30) * FACTORS[0] & MASK
    value = (value ^ value >> 27) * FACTORS[1] & MASK
    return value ^ value >> 31


def unmixed(value):
    """Its inverse."""
    for shift, factor in ((31, FACTORS[1]), (27, FACTORS[0]), (30, 1)):
        whole = value
        for _ in range(64 // shift):
            whole = value ^ whole >> shift
        value = whole * pow(factor, -1, 2**64) & MASK
    return value


def drawn_below(state, n):
    """Lemire's exact integers below n (2019) from the upper halves; also the state behind the last one used."""
    while True:
        state = (state + GOLDEN) & MASK
        product = (mixed(state) >> 32) * n
        if product % 2**32 >= 2**32 % n:
            return product >> 32, state


def test_splitmix64():
    """The first numbers of SplitMix64 from state 0, as published; streams are mixed twice."""
    assert [mixed(GOLDEN), mixed(2 * GOLDEN & MASK)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    for value in (0, 1, GOLDEN, MASK, 123456789):
        assert unmixed(mixed(value)) == value
        words = np.array([value, 0], np.uint64)
        mix_and_stream(words, np.uint64(value), np.uint64(7))
        assert words.tolist() == [mixed(value), mixed((mixed((value + GOLDEN) & MASK) + 7 * GOLDEN) & MASK)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 27, 28, 2**31 - 1])
def test_integers_below(n):
    """R2.1, R2.3: the same numbers and the same next states."""
    states, state = np.array([n], np.uint64), n
    for _ in range(200):
        wanted, state = drawn_below(state, n)
        assert draw_below(states, n) == wanted < n
        assert int(states[0]) == state


@pytest.mark.parametrize("n", [3, 7, 28])
def test_the_few_numbers_that_would_make_it_uneven_are_skipped(n):
    """R2.1, R2.3: a draw whose upper half is 0 is one too many for 0 below n, so the next one counts."""
    assert 2**32 % n > 0
    before = (unmixed(n) - GOLDEN) & MASK  # mixes to n, of which the upper half is 0
    states = np.array([before], np.uint64)
    wanted, state = drawn_below(before, n)
    assert draw_below(states, n) == wanted
    assert int(states[0]) == state == (before + 2 * GOLDEN) & MASK
