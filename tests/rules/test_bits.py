"""Sets of bits in words, against plain Python; and the rules compiled for a processor without BMI2."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from fiveup_env.jit.bits import HAS_BMI2, gather_bits, nth_bit, repeats, spread_bits
from fiveup_env.jit.compilation import JIT_DISABLED, entry
from fiveup_env.rules import actions
from fiveup_env.rules.record import Variant, new_games
from fiveup_env.rules.turn import onto_ends, onto_spinners

PLAY = """
import hashlib
import numpy as np
from fiveup_env import SelfPlayVectorEnv
from fiveup_env.jit.bits import HAS_BMI2

env = SelfPlayVectorEnv(40, draws="auto")
step = env.reset(seed=7)
seen = hashlib.sha256()
for _ in range(120):
    step = env.step(step.action_mask.argmax(1))
    seen.update(step.observation.tobytes() + step.action_mask.tobytes())
print(HAS_BMI2, seen.hexdigest())
"""


@entry
def by_hand(hands, ends, spinners):
    for i in range(len(hands)):
        ends[i] = onto_ends(hands[i])
        spinners[i] = onto_spinners(hands[i])


@entry
def nth(words, ns, out):
    for i in range(len(words)):
        out[i] = nth_bit(words[i], ns[i])


@entry
def repeated(games, out):
    for i in range(len(games)):
        out[i] = repeats(games[i].ends)


@entry
def both(words, masks, gathered, spread):
    for i in range(len(words)):
        gathered[i] = gather_bits(words[i], masks[i])
        spread[i] = spread_bits(words[i], masks[i])


def places(word):
    return [i for i in range(64) if int(word) >> i & 1]


def test_placements_of_a_hand():
    """R3.1: what any hand could lay, against the tables by groups of seven tiles."""
    rng = np.random.default_rng(1)
    hands = np.concatenate([[0, (1 << 28) - 1], rng.integers(0, 1 << 28, 2000)])
    ends, spinners = np.zeros_like(hands), np.zeros_like(hands)
    by_hand(hands, ends, spinners)
    for found, table in ((ends, actions.HAND_END), (spinners, actions.HAND_SPINNER)):
        wanted = np.bitwise_or.reduce([table[group, hands >> 7 * group & 127] for group in range(4)])
        np.testing.assert_array_equal(found, wanted)


def test_nth_bit():
    rng = random.Random(2)
    words = np.array([rng.getrandbits(63) | 1 for _ in range(500)])
    ns = np.array([rng.randrange(len(places(word))) for word in words])
    out = np.zeros_like(words)
    nth(words, ns, out)
    assert out.tolist() == [places(word)[n] for word, n in zip(words, ns, strict=True)]


def test_repeats():
    rng = random.Random(3)
    games = new_games(300, Variant(4))
    for game in games:
        game["table"] = (1 << 28) - 1  # what stands behind must not count
        game["ends"] = [rng.getrandbits(28) & rng.getrandbits(28) & rng.getrandbits(28) for _ in range(7)]
    out = np.zeros(len(games), np.int64)
    repeated(games, out)
    for game, found in zip(games, out, strict=True):
        counts = [len(places(word)) for word in game["ends"]]
        assert found == sum((n > 1) << i | (n > 2) << 7 + i for i, n in enumerate(counts))


def test_gather_and_spread():
    rng = random.Random(4)
    words, masks = (np.array([rng.getrandbits(63) for _ in range(300)]) for _ in range(2))
    gathered, spread = np.zeros_like(words), np.zeros_like(words)
    both(words, masks, gathered, spread)
    for word, mask, found, back in zip(words, masks, gathered, spread, strict=True):
        at = places(mask)
        assert places(found) == [i for i, place in enumerate(at) if int(word) >> place & 1]
        assert places(back) == [place for i, place in enumerate(at) if int(word) >> i & 1]


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BMI2 or JIT_DISABLED, reason="compares with a processor that has BMI2")
def test_the_same_game_without_bmi2():
    found = {}
    for name, given in (("with", {}), ("without", {"NUMBA_CPU_NAME": "generic"})):
        run = subprocess.run(
            [sys.executable, "-c", PLAY], env=os.environ | given, capture_output=True, text=True, check=True
        )
        found[name] = run.stdout.split()
    assert found["with"][0] == "True"
    assert found["without"][0] == "False"
    assert found["with"][1] == found["without"][1]
