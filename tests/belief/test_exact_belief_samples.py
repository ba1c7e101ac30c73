"""Samples of the exact belief are uniform over the deals that brute force finds, and they can be played on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest

from fiveup_env.belief.deal_counts import new_beliefs, new_cells
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import GAME, PLAYING, Variant
from fiveup_env.views.view import View
from tests.belief.belief_kernels import deal_all_ways, look_ahead
from tests.belief.brute_force import assert_fits, positions, random_position, try_all
from tests.rules.support import PLAYERS, scaled

SMALL = [Variant(2, 3, max_pip=3), Variant(3, 2, max_pip=3), Variant(4, 2, max_pip=3), Variant(2, 5, max_pip=4)]
MOST_DEALS = 20_000


def hands_of(worlds: np.ndarray) -> Counter[Hashable]:
    """Frequency of each set of hands."""
    return Counter(row.tobytes() for row in worlds["hands"])


def futures_of(worlds: np.ndarray) -> Counter[Hashable]:
    """The same for all that the rest of the round depends on: the hands, and the order of what is left to draw."""
    left = slice(int(worlds["boneyard_next"][0]), int(worlds["boneyard_end"][0]))
    rows = np.hstack([worlds["hands"], worlds["boneyard"][:, left].astype(np.uint32)])
    return Counter(row.tobytes() for row in rows)


@pytest.mark.parametrize("variant", SMALL[:1] if JIT_DISABLED else SMALL, ids=str)
def test_the_ways_are_the_deals(variant: Variant) -> None:
    """Samples are ways with a random number, so this shows them uniform: each hand-out has its share of the ways."""
    left = scaled(25, 0.1)
    for position, seat in positions(variant, seed=11):
        found = try_all(position, seat, keep=MOST_DEALS)
        if found.count > MOST_DEALS:
            continue
        belief = Belief(View(position.now[0], seat))
        worlds = np.repeat(belief.view.views.games, belief.ways)
        deal_all_ways(belief.evidence, belief._cells, worlds)
        ways, deals = hands_of(worlds), hands_of(found.worlds)
        assert {hands: n * found.count for hands, n in ways.items()} == {
            hands: n * belief.ways for hands, n in deals.items()
        }
        left -= 1
        if left == 0:
            break


@pytest.mark.jit
@pytest.mark.parametrize("variant", SMALL, ids=str)
def test_samples_are_uniform(variant: Variant) -> None:
    left = 8
    for position, seat in positions(variant, seed=12):
        found = try_all(position, seat, keep=MOST_DEALS)
        if found.count > MOST_DEALS:
            continue
        futures = futures_of(found.worlds)
        if not 1 < len(futures) < 400:
            continue
        number = 20_000
        seen = futures_of(Belief(View(position.now[0], seat)).sample(number, seed=left))
        assert_fits(seen, {future: n / found.count for future, n in futures.items()})
        left -= 1
        if left == 0:
            break


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
def test_samples_of_the_real_game_have_the_exact_marginals(num_players: int) -> None:
    number = 20_000
    for seed in range(10):
        position = random_position(Variant(num_players), 50 + seed, 0.1 + seed / 20)
        seat = seed % num_players
        belief = Belief(View(position.now[0], seat))
        worlds = belief.sample(number, seed)
        expected = belief.marginals()
        error = np.sqrt(expected * (1 - expected) / number)
        for relative in range(1, num_players):
            hands = worlds["hands"][:, (seat + relative) % num_players]
            share = (hands[:, None] >> np.arange(28, dtype=np.uint32) & 1).mean(axis=0)
            assert (np.abs(share - expected[relative]) <= 5 * error[relative] + 1e-12).all()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_sample_is_a_whole_game_that_the_seat_cannot_tell_from_its_own(num_players: int) -> None:
    for seed in range(0, 40, 10 if JIT_DISABLED else 1):
        position = random_position(Variant(num_players), seed, 0.9 * seed / 40)
        seat = seed % num_players
        view = View(position.now[0], seat)
        for world in Belief(view).sample(3, seed):
            assert View(world, seat) == view
            hands = [int(hand) for hand in world.hands]
            assert [hand.bit_count() for hand in hands] == list(world.hand_sizes)
            left = {int(t) for t in world.boneyard[int(world.boneyard_next) : int(world.boneyard_end)]}
            assert sum(hands) + sum(1 << tile for tile in left) == int(world.in_play) & ~int(world.table)
            match = Match.of(world)
            rng = np.random.default_rng(seed)
            while match.round_number == 1 and match.game.phase == PLAYING:
                match.play(int(rng.choice(match.legal_actions())))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_kernels_sample_and_play_on(num_players: int) -> None:
    """From a view's record alone, hundreds of worlds are dealt and played to the end of the round."""
    position = random_position(Variant(num_players), 9, 0.3)
    games = View(position.now[0], 0).views.games
    worlds, beliefs, cells = np.zeros(scaled(500, 0.02), GAME), new_beliefs(1), new_cells()
    assert look_ahead(games, 0, beliefs, cells, worlds, np.uint64(3))
    assert (worlds["phase"] != PLAYING).all()
    assert (worlds["revealed"].any(axis=1) | (worlds["winner"] >= 0)).all()
    assert len(np.unique(worlds["num_history"])) > 1
    assert not look_ahead(games, 0, beliefs, new_cells(10), worlds, np.uint64(3))


def test_the_seed_decides() -> None:
    belief = Belief(View(random_position(Variant(4), 5, 0.4).now[0], 1))
    first, again, other = (belief.sample(50, seed).tobytes() for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert belief.sample(50).tobytes() != belief.sample(50).tobytes()
    assert len(belief.sample(0, seed=1)) == 0


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, "1"])
def test_a_bad_seed_is_named(seed: object) -> None:
    belief = Belief(View(random_position(Variant(2), 5, 0.4).now[0], 1))
    with pytest.raises(ValueError, match="a seed is an integer from 0 to 2\\*\\*64 - 1"):
        belief.sample(1, seed)  # type: ignore[arg-type]
