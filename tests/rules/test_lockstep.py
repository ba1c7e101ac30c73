"""The engine in lockstep with the independent oracle, over random matches: not one difference is allowed."""

import pytest

from tests.rules.lockstep import run_matches, run_variant
from tests.rules.support import PLAYERS, scaled

SMALL = [
    {"num_players": 2, "hand_size": 3, "target": 11, "max_pip": 3},
    {"num_players": 3, "hand_size": 3, "target": 11, "max_pip": 3},
    {"num_players": 2, "hand_size": 2, "target": 5, "max_pip": 2},
    {"num_players": 4, "hand_size": 2, "target": 9, "max_pip": 3},
    {"num_players": 4, "hand_size": 7, "target": 61, "max_pip": 6},
    {"num_players": 3, "hand_size": 1, "target": 20, "max_pip": 5},
]
# What has to have come up at least once for the comparison to mean something.
COMMON = (
    *("lead", "lay", "draw", "pass", "domino", "blocked", "exact", "won by settlement"),
    *((kind, accepted) for kind in ("placement", "domino", "blocked") for accepted in (True, False)),
)
RARE = ("blocked by a draw",)
PARTNERS = ("net below zero", "score below zero")
CHUNKS, PER_CHUNK = 10, 2_000


def missing(seen, wanted):
    return [item for item in wanted if not seen[item]]


def name(variant):
    return "-".join(f"{value}" for value in variant.values())


@pytest.mark.parametrize("num_players", PLAYERS)
def test_random_matches(num_players):
    """R1 to R9, D1 to D9: 300 matches a player count, all layouts in the first 50 and every fourth in the rest."""
    seen = run_matches(num_players, "every step", scaled(50, 0.1))
    seen += run_matches(num_players, "ordinary", scaled(250, 0.04), every=4)
    assert missing(seen, COMMON if seen["matches"] == 300 else COMMON[:6]) == []


@pytest.mark.parametrize("variant", SMALL, ids=name)
def test_small_variants(variant):
    """The same rules over smaller sets, other hands and other targets."""
    seen = run_variant(variant, "ordinary", scaled(60, 0.1))
    # A hand of one tile is a domino with its lead.
    assert missing(seen, ("lead", "domino", *(["lay"] if variant["hand_size"] > 1 else []))) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.jit
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("num_players", PLAYERS)
def test_many_random_matches(num_players, chunk):
    """R1 to R9, D1 to D9: 20,000 matches a player count; layouts at every fifth step."""
    seen = run_matches(num_players, f"slow {chunk}", PER_CHUNK, every=5)
    print(dict(sorted((str(item), count) for item, count in seen.items())))
    assert seen["matches"] == PER_CHUNK
    assert missing(seen, COMMON + RARE + (PARTNERS if num_players == 4 else ())) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.jit
@pytest.mark.parametrize("variant", SMALL, ids=name)
def test_many_small_variants(variant):
    """The same rules over smaller sets, 2,000 matches each."""
    assert run_variant(variant, "slow", 2_000, every=5)["matches"] == 2_000
