"""R1 and R2: the set, the sides, the deal, the lot, whose turn it is."""

from collections import Counter
from itertools import pairwise

import pytest

from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from tests.rules.statistics import assert_independent, assert_uniform, chi_square_limits
from tests.rules.support import (
    FULL_SET,
    PLAYERS,
    domino,
    lead,
    on_spinner,
    placement,
    play_all,
    scaled,
)

DEALS = scaled(5_600, 0.1)
SEATS = [(num_players, seat) for num_players in PLAYERS for seat in range(num_players)]


def test_28_tiles_and_305_raw_points():
    """R1.1: a double-six set, 305 raw points are 61 on the board, 5 raw are one."""
    match = Match(4, seed=1)
    tiles = [tile for hand in match.hands for tile in hand] + list(match.boneyard)
    assert len(tiles) == 28 and set(tiles) == FULL_SET
    assert match.variant.target == 61 and match.game.target == 305
    # 59 on the board is 295 raw; leading (4, 6) brings 10, so 61.
    match = Match.from_deal([[(4, 6), (0, 0)], [(1, 1)]], [], 0, scores=[295, 15])
    assert "59 : 3" in repr(match)
    assert play_all(match, lead((4, 6))) == (placement(0, 10),)
    assert match.scores == (305, 15) and match.winner == 0 and "61 : 3" in repr(match)


@pytest.mark.parametrize(("num_players", "sides"), [(2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 0, 1))])
def test_sides(num_players, sides):
    """R1.2: two or three play each for themselves, four as partnerships 0 and 2 against 1 and 3."""
    others = [(0, 0), (1, 1), (2, 2), (3, 3)]
    for seat in range(num_players):
        hands = [[others[i]] for i in range(num_players)]
        hands[seat].append((1, 4))
        match = Match.from_deal(hands, [(6, 6)], seat)
        assert match.num_sides == len(match.scores) == max(sides) + 1
        assert play_all(match, lead((1, 4))) == (placement(sides[seat], 5),)
        assert match.scores == tuple(5 if side == sides[seat] else 0 for side in range(match.num_sides))


@pytest.mark.parametrize(("num_players", "left"), [(2, 18), (3, 13), (4, 8)])
def test_five_tiles_each(num_players, left):
    """R2.1: five tiles to each player, every other tile is the boneyard."""
    for seed in range(20):
        match = Match(num_players, seed=seed)
        assert [len(hand) for hand in match.hands] == [5] * num_players and len(match.boneyard) == left
        assert {tile for hand in (*match.hands, match.boneyard) for tile in hand} == FULL_SET


def test_the_whole_boneyard_can_be_drawn():
    """R2.1: no tile is held back. Seat 1 has no 6, and the first 16 of 18 tiles have none either."""
    sixes = [(6, 6), (0, 6), (1, 6), (2, 6), (3, 6)]
    rest = sorted(FULL_SET - set(sixes) - {(4, 6), (5, 6)})
    match = Match.from_deal([sixes, rest[:5]], [*rest[5:], (4, 6), (5, 6)], 0)
    assert len(match.boneyard) == 18
    play_all(match, lead((6, 6)))
    for drawn in range(17):
        assert match.legal_actions() == [DRAW] and len(match.boneyard) == 18 - drawn
        match.play(DRAW)
    assert match.legal_actions() == [on_spinner((4, 6), 6)] and match.boneyard == ((5, 6),)
    # And the last one: seat 0 lays its sixes, seat 1 has none left.
    play_all(match, on_spinner((4, 6), 6), on_spinner((0, 6), 6))
    while match.legal_actions() != [DRAW]:
        match.play(match.legal_actions()[0])
    match.play(DRAW)
    assert match.boneyard == ()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_shuffle_is_uniform(num_players):
    """R2.1: every tile is equally likely at every place of the shuffled set, seed after seed."""
    counts = [[0] * 28 for _ in range(28)]
    for seed in range(DEALS):
        order = Match(num_players, seed=seed).game.boneyard.tolist()
        assert sorted(order) == list(range(28))
        for place, tile in enumerate(order):
            counts[place][tile] += 1
    expected = DEALS / 28
    # Rows and columns of a sum of permutations are fixed, hence (28 - 1)**2 degrees and the factor 27/28.
    value = 27 / 28 * sum((count - expected) ** 2 / expected for row in counts for count in row)
    low, high = chi_square_limits(27**2)
    assert low <= value <= high, value


@pytest.mark.parametrize("num_players", PLAYERS)
def test_neighbours_in_the_shuffle_are_independent(num_players):
    """R2.1: which tile follows which is uniform too, over the rounds of few seeds and over pairs of rounds."""
    follows = Counter()
    for seed in range(DEALS // 8):
        order = Match(num_players, seed=seed << 32).game.boneyard.tolist()
        follows.update(pairwise(order))
    assert_uniform(follows[a, b] for a in range(28) for b in range(28) if a != b)


def test_hands_are_shown_at_the_settlement_only():
    """R2.2: before it there is nothing to see, then all hands as they were left."""
    match = Match.from_deal([[(1, 2)], [(0, 5), (3, 3)]], [(4, 4)], 0)
    assert match.last_round is None
    assert play_all(match, lead((1, 2))) == (domino(0, 10),)  # 5 + 6 = 11 gives 10
    assert match.last_round == {"end": "domino", "winner": 0, "hands": ((), ((3, 3), (0, 5)))}


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_first_opener_is_drawn_by_lot(num_players):
    """R2.3: uniform over the seats, and who holds the double six has nothing to do with it."""
    table = [[0] * (num_players + 1) for _ in range(num_players)]
    for seed in range(DEALS):
        match = Match(num_players, seed=seed)
        holder = [seat for seat, hand in enumerate(match.hands) if (6, 6) in hand]
        table[match.opener][(holder or [num_players])[0]] += 1
    assert_uniform(map(sum, table))
    assert_independent(table)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_opener_may_lead_any_tile(num_players):
    """R2.4: every tile of the hand, and nothing else."""
    for seed in range(50):
        match = Match(num_players, seed=seed)
        assert match.turn == match.opener
        assert match.legal_actions() == sorted(lead(tile) for tile in match.hands[match.opener])


@pytest.mark.parametrize(("num_players", "opener"), SEATS)
def test_turns_go_clockwise(num_players, opener):
    """R2.4: seat + 1, and from the last seat to seat 0. Everybody lays a tile on the double blank."""
    hands = [[(0, seat + 1), (6, 6 - seat)] for seat in range(num_players)]
    hands[opener].append((0, 0))
    match = Match.from_deal(hands, [(1, 1)], opener)
    order = [match.turn]
    play_all(match, lead((0, 0)))
    for _ in range(num_players):
        order.append(match.turn)
        match.play(on_spinner((0, match.turn + 1), 0))
    assert order == [(opener + k) % num_players for k in range(num_players + 1)]


@pytest.mark.parametrize(("num_players", "seat"), SEATS)
def test_who_goes_out_opens_the_next_round(num_players, seat):
    """R2.5: the seat that makes domino, whatever the seed would have drawn."""
    for seed in range(12):
        hands = [[(0, other)] for other in range(num_players)]
        match = Match.from_deal(hands, [(5, 6)], seat, seed=seed)
        events = match.play(lead((0, seat)))
        assert [event.kind for event in events] == ["domino"]
        assert match.round_number == 2 and match.opener == match.turn == seat


# Leading (6, 6) blocks: nobody holds a 6 and there is no boneyard. The hand left with the opener comes first.
LEFT = {
    "opener lightest": [(0, 0), (5, 5), (4, 5), (4, 4)],
    "opener heaviest": [(5, 5), (0, 1), (0, 2), (1, 1)],
    "tied": [(0, 5), (1, 4), (2, 3), (5, 5)],
}


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_after_a_block_the_lot_decides(num_players, left):
    """R2.5: uniform over the seats after a blocked round whatever its result, independent of the first lot."""
    table = [[0] * num_players for _ in range(num_players)]
    for seed in range(DEALS // 4):
        hands = [[tile] for tile in left[:num_players]]
        hands[0].append((6, 6))
        match = Match.from_deal(hands, [], 0, seed=seed)
        play_all(match, lead((6, 6)))
        assert match.last_round["end"] == "blocked" and match.round_number == 2
        table[Match(num_players, seed=seed).opener][match.opener] += 1
    assert_uniform(map(sum, zip(*table, strict=True)))
    assert_independent(table)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_deal_depends_on_seed_and_round_only(num_players):
    """R2.1: whatever is played in the first round, the second has the same deal; another seed has another."""
    second = set()
    for choice in (0, -1):
        match = Match(num_players, seed=99)
        while match.round_number == 1:
            match.play(match.legal_actions()[choice])
        second.add((match.hands, match.boneyard))
    assert len(second) == 1
    assert len({Match(num_players, seed=seed).hands for seed in range(200)}) == 200
