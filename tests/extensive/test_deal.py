"""Chance reaches every deal once, with equal probability (R2.1)."""

from __future__ import annotations

import math

import pytest

from fiveup_env.extensive.episode import evenly, next_tiles


def deals(dealt: tuple[int, ...], size: int, players: int, tiles: int, weight: float = 1.0):
    if len(dealt) == size * players:
        yield dealt, weight
        return
    for tile, share in next_tiles(dealt, size, tiles):
        yield from deals((*dealt, tile), size, players, tiles, weight * share)


@pytest.mark.parametrize(("size", "players", "tiles"), [(2, 2, 6), (3, 2, 6), (1, 3, 6), (2, 3, 8), (2, 4, 8)])
def test_every_deal_comes_up_once_with_the_same_probability(size: int, players: int, tiles: int) -> None:
    found = list(deals((), size, players, tiles))
    hands = {tuple(frozenset(d[size * s : size * (s + 1)]) for s in range(players)) for d, _ in found}
    expected = math.prod(math.comb(tiles - size * s, size) for s in range(players))
    assert len(found) == len(hands) == expected
    assert all(weight == pytest.approx(1 / expected) for _, weight in found)


def test_probabilities_sum_to_one_and_outcomes_ascend_in_the_real_game() -> None:
    dealt: tuple[int, ...] = ()
    for step in range(20):
        outcomes = next_tiles(dealt, 5, 28)
        assert sum(p for _, p in outcomes) == pytest.approx(1, abs=1e-12)
        assert [t for t, _ in outcomes] == sorted({t for t, _ in outcomes} - set(dealt))
        dealt = (*dealt, outcomes[(7 * step) % len(outcomes)][0])


def test_evenly() -> None:
    assert evenly((3, 5)) == ((3, 0.5), (5, 0.5))
