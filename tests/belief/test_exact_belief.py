"""The exact belief against trying every deal: counts and marginals, and that nothing hidden is read (R3.2, D5, D6)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fiveup_env.belief.deal_counts import BELIEF, new_beliefs, new_cells
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.belief.resample import resample
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, Variant
from fiveup_env.rules.tiles import tile_index
from fiveup_env.views.view import View
from tests.belief.belief_kernels import prepare_in
from tests.belief.brute_force import (
    Found,
    deals_to_try,
    positions,
    random_position,
    tiles_of,
    try_all,
    try_at_random,
    try_late,
)
from tests.rules.support import PLAYERS, lead, on_end, on_spinner, play_all, scaled

SMALL = [
    Variant(2, 2, max_pip=2),
    Variant(4, 1, max_pip=2),
    Variant(2, 3, max_pip=3),
    Variant(2, 2, max_pip=3),
    Variant(2, 4, max_pip=3),
    Variant(3, 2, max_pip=3),
    Variant(4, 2, max_pip=3),
    Variant(2, 5, max_pip=4),
    Variant(3, 4, max_pip=4),
]


def name(variant: Variant) -> str:
    return f"{variant.num_players} players, double-{variant.max_pip}, hand {variant.hand_size}"


def tangled(belief: Belief) -> bool:
    """Whether some other seat has laid tiles by choice that may come from more than one group."""
    record = belief.evidence[0]
    others = [seat for seat in range(belief.view.num_players) if seat != belief.view.seat]
    return any(record.num_chosen[o] and np.count_nonzero(record.slots[o, : record.num_groups[o]]) > 1 for o in others)


def assert_same(belief: Belief, found: Found, orders: int = 1) -> None:
    """Counts and marginals agree exactly; every deal found stands for `orders` orders of the boneyard."""
    assert found.count > 0
    assert belief.count == orders * found.count
    # place_counts / ways == places / count, without rounding
    left = belief.place_counts().astype(object) * found.count
    assert (left == found.places.astype(object) * belief.ways).all()


@pytest.mark.parametrize("variant", SMALL[:3] if JIT_DISABLED else SMALL, ids=name)
def test_counts_and_marginals_equal_brute_force(variant: Variant) -> None:
    left = scaled(60, 0.1)
    for position, seat in positions(variant, seed=1):
        if deals_to_try(position, seat) <= 50_000:
            belief = Belief(View(position.now[0], seat))
            assert_same(belief, try_all(position, seat))
            assert belief.log_count == pytest.approx(math.log(belief.count))
            left -= 1
        if left == 0:
            break


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("only_tangled", [False, True])
def test_late_in_the_real_game_too(num_players: int, only_tangled: bool) -> None:
    left = 20
    for position, seat in positions(Variant(num_players), seed=2, earliest=0.5):
        belief = Belief(View(position.now[0], seat))
        if only_tangled and not tangled(belief):
            continue
        found = try_late(position, seat, limit=5_000)
        if found is not None:
            assert_same(belief, found, orders=math.factorial(position.boneyard_left))
            left -= 1
        if left == 0:
            break


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
def test_early_in_the_real_game_it_agrees_with_rejection_sampling(num_players: int) -> None:
    """5 sigma: one false alarm in a million for each of the some 100 free entries of a table."""
    tries, left = 400_000, 3
    for seed in range(100):
        position = random_position(Variant(num_players), seed, 0.2)
        seat = seed % num_players
        found = try_at_random(position, seat, 20_000, seed)
        if found.count < 50 or position.now[0].num_history < 3:
            continue
        found = try_at_random(position, seat, tries, seed)
        belief = Belief(View(position.now[0], seat))
        expected = belief.marginals()
        error = np.sqrt(expected * (1 - expected) / found.count)
        assert (np.abs(found.places / found.count - expected) <= 5 * error + 1e-12).all()
        share = belief.count / deals_to_try(position, seat)
        assert abs(found.count / tries - share) < 5 * math.sqrt(share * (1 - share) / tries)
        left -= 1
        if left == 0:
            return
    pytest.fail("too few early positions that rejection sampling can handle")


@pytest.mark.parametrize("num_players", PLAYERS)
def test_only_what_the_seat_sees_is_read(num_players: int) -> None:
    """A full record, the view's and one with everything hidden redrawn give the same belief to the last bit."""
    for seed in range(0, 60, 20 if JIT_DISABLED else 1):
        position = random_position(Variant(num_players), seed, seed / 60)
        seat = seed % num_players
        match = Match.of(position.now[0])
        first, *others = (
            prepared(games, seat)
            for games in (position.now, View.of(match, seat).views.games, resample(match, seat, seed)._games)
        )
        assert all(other == first for other in others)


def prepared(games: np.ndarray, seat: int) -> tuple[bytes, bytes]:
    """The belief's record and the used part of its table."""
    beliefs, cells = new_beliefs(1), new_cells()
    assert prepare_in(games, seat, beliefs, cells)
    used = (int(beliefs["num_tiles"][0]) + 1) * int(beliefs["num_states"][0])
    return beliefs.tobytes(), cells[:used].tobytes()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_marginals_add_up(num_players: int) -> None:
    """Each unlaid tile is somewhere, each seat holds as many tiles as everyone sees (D6), laid tiles are nowhere."""
    for position, seat in positions(Variant(num_players), seed=3):
        view = View(position.now[0], seat)
        marginals = Belief(view).marginals()
        game = position.now[0]
        unlaid = [int(game.in_play) & ~int(game.table) >> tile & 1 for tile in range(28)]
        sizes = [*np.roll(view.hand_sizes, -seat), view.boneyard_size]
        assert marginals.sum(axis=0) == pytest.approx(unlaid)
        assert marginals.sum(axis=1) == pytest.approx(sizes)
        assert set(tiles_of(int(game.hands[seat]))) == set(np.flatnonzero(marginals[0] == 1))
        if game.num_history > 20:
            break


def test_a_small_table_is_refused_and_a_larger_one_fits() -> None:
    position = random_position(Variant(4), 1, 0.3)
    beliefs = new_beliefs(1)
    expected = prepared(position.now, 0)
    record = np.frombuffer(expected[0], BELIEF)[0]
    needed = (int(record.num_tiles) + 3) * int(record.num_states)  # two more rows for the marginals
    assert not prepare_in(position.now, 0, beliefs, new_cells(needed - 1))
    cells = new_cells(needed)
    assert prepare_in(position.now, 0, beliefs, cells)
    assert cells.tobytes().startswith(expected[1])


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_settled_round_leaves_only_the_boneyard_open(num_players: int) -> None:
    """D5: all remaining hands are public at the settlement."""
    for seed in range(10):
        position = random_position(Variant(num_players), seed, 1)
        game = position.now[0]
        assert game.phase != PLAYING
        belief = Belief(View(game, 0))
        expected = np.zeros((num_players + 1, 28))
        for seat in range(num_players):
            expected[seat, tiles_of(game.hands[seat])] = 1
        expected[num_players, game.boneyard[int(game.boneyard_next) : int(game.boneyard_end)]] = 1
        assert (belief.marginals() == expected).all()


def test_no_number_of_ways_can_overflow() -> None:
    """`ways` times the orders within groups and boneyard is at most f! for f hidden tiles: bound it for any variant.

    Groups after the first keep one tile less than their turn's draws (R3.2: the last one was laid), except the last
    turn of all and a pending draw.
    """
    largest = 0.0
    for tiles in (6, 10, 15, 21, 28):
        for num_players in PLAYERS:
            for hand in range(1, tiles // num_players + 1):
                largest = max(largest, _most_ways(num_players - 1, hand, tiles - num_players * hand))
    assert largest < 2**62


def _most_ways(others: int, hand: int, boneyard: int) -> float:
    """Largest f! / (product of the factorials of all groups and of the boneyard), over all courses of the draws."""
    least: dict[tuple[int, int], float] = {(boneyard, 0): others * math.lgamma(hand + 1)}
    for left in range(boneyard, 0, -1):
        for kept in range(boneyard + 1):
            if (left, kept) in least:
                for drawn in range(1, left + 1):
                    stays = drawn if drawn == left else drawn - 1
                    key = (left - drawn, kept + stays)
                    cost = least[left, kept] + math.lgamma(stays + 1)
                    least[key] = min(cost, least.get(key, math.inf))
    return max(
        math.exp(math.lgamma(others * hand + kept + left + 1) - cost - math.lgamma(left + 1))
        for (left, kept), cost in least.items()
    )


# hand-made rounds


def rows(belief: Belief, row: int, *tiles: tuple[int, int]) -> list[float]:
    return [float(belief.marginals()[row, tile_index(tile)]) for tile in tiles]


def test_who_draws_holds_nothing_that_fitted_but_a_tile_just_drawn_may_be_any() -> None:
    """R3.2, D6, with 6-6 led: seat 1 cannot hold a six after its draw, except the one just drawn."""
    match = Match.from_deal([[(6, 6), (0, 0)], [(1, 1), (2, 2)]], [(3, 3), (4, 6), (5, 6), (1, 2)], opener=0, seed=0)
    play_all(match, lead((6, 6)))
    assert rows(Belief(View.of(match, 0)), 1, (4, 6), (1, 2)) == pytest.approx([2 / 6, 2 / 6])
    play_all(match, DRAW)
    # dealt were two of the four tiles without a six; the drawn tile is any of the other four
    belief = Belief(View.of(match, 0))
    assert belief.count == math.comb(4, 2) * math.factorial(4)
    assert rows(belief, 1, (4, 6), (1, 2)) == pytest.approx([1 / 4, 1 / 2 + 1 / 2 * 1 / 4])
    play_all(match, DRAW)
    # the first drawn tile did not fit either
    belief = Belief(View.of(match, 0))
    assert belief.count == math.comb(4, 2) * 2 * math.factorial(3)
    assert rows(belief, 1, (4, 6)) == pytest.approx([1 / 3])
    play_all(match, on_spinner((4, 6), 6))
    # the tile laid at once is the second draw: it says nothing of the other three
    belief = Belief(View.of(match, 0))
    assert belief.count == math.comb(4, 2) * 2 * math.factorial(2)
    assert rows(belief, 1, (5, 6), (1, 2)) == pytest.approx([0, 3 / 4])


@pytest.fixture
def before_the_choice() -> Match:
    """Seat 1 was dry with 5, 6 open (it drew and laid 4-6), then with 4 open (it kept one tile and laid 3-4).

    Now 1 and 3 are open; to seat 0 its two dealt tiles, the one it kept and two of the boneyard are these five:
    0-2, 1-1, 1-6, 2-2, 3-3.
    """
    match = Match.from_deal(
        [[(5, 6), (4, 5), (1, 4), (0, 0)], [(1, 1), (2, 2)]],
        [(4, 6), (1, 6), (3, 4), (3, 3), (0, 2)],
        opener=0,
        seed=0,
    )
    play_all(match, lead((5, 6)), DRAW, on_end((4, 6), 6), on_end((4, 5), 5))
    play_all(match, DRAW, DRAW, on_end((3, 4), 4), on_end((1, 4), 4))
    return match


def test_a_chosen_tile_that_fitted_earlier_was_drawn_since(before_the_choice: Match) -> None:
    """1-6 would have fitted at the first dry turn: it is the tile that was kept, and the dealt ones are any two."""
    play_all(before_the_choice, on_end((1, 6), 1))
    belief = Belief(View.of(before_the_choice, 0))
    assert belief.count == math.comb(4, 2) * math.factorial(2)
    assert rows(belief, 1, (0, 2), (1, 1), (2, 2), (3, 3)) == pytest.approx([1 / 2] * 4)


def test_a_chosen_tile_of_unknown_origin_weighs_both(before_the_choice: Match) -> None:
    """1-1 was dealt (then 3 * 3 ways for the other dealt tile and the kept one) or kept (3 ways for the dealt ones)."""
    play_all(before_the_choice, on_end((1, 1), 1))
    belief = Belief(View.of(before_the_choice, 0))
    assert belief.count == (9 + 3) * math.factorial(2)
    assert rows(belief, 1, (1, 6), (2, 2)) == pytest.approx([3 / 12, 7 / 12])
    assert rows(belief, 2, (1, 6), (2, 2)) == pytest.approx([9 / 12, 5 / 12])


def test_an_empty_boneyard_and_a_round_that_goes_on_say_nothing_more() -> None:
    """D1: with the boneyard empty, what all others hold together is known, so is whether anyone can lay."""
    match = Match.from_deal([[(6, 6), (0, 0)], [(1, 1), (2, 2)], [(5, 6), (3, 3)]], [], opener=0, seed=0)
    play_all(match, lead((6, 6)))
    belief = Belief(View.of(match, 0))
    assert belief.count == math.comb(4, 2)
    assert rows(belief, 1, (5, 6), (1, 1)) == pytest.approx([1 / 2, 1 / 2])
    play_all(match, PASS)
    belief = Belief(View.of(match, 0))
    assert belief.count == math.comb(3, 2)
    assert rows(belief, 2, (5, 6), (1, 1)) == pytest.approx([1, 1 / 3])


@pytest.mark.parametrize("field", ["hands", "hand_sizes"])
def test_a_view_that_no_game_can_reach_is_refused(field: str) -> None:
    match = Match.from_deal([[(6, 6), (5, 6)], [(1, 1), (2, 2)]], [], opener=0, seed=0)
    play_all(match, lead((6, 6)), PASS)
    assert Belief(View.of(match, 0)).count == 1
    if field == "hands":
        match.game.hands[0] = 1 << tile_index((1, 1))  # so seat 1 would have passed with 5-6
    else:
        match.game.hand_sizes[1] = 1
    with pytest.raises(ValueError, match="no deal agrees with what player_0 has seen"):
        Belief(View.of(match, 0))
