"""R5, R6 and R9: credits, exactly 61, and nothing but that ends a match."""

import pytest

from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import IllegalActionError, Match
from tests.rules.support import blocked, domino, lead, on_end, on_spinner, placement, play_all

# Hands with a tile to spare, so that nothing below is a domino, and a boneyard, so that nothing is a block.
SPARE, BONEYARD = (3, 3), [(2, 2)]


def led(tile, scores=None, num_players=2):
    """A match whose seat 0 has led `tile`, and the events."""
    others = [[(0, 0), (1, 1)], [(0, 1)], [(0, 2)]][: num_players - 1]
    match = Match.from_deal([[tile, SPARE], *others], BONEYARD, 0, scores)
    return match, match.play(lead(tile))


# ---- R5 ----


@pytest.mark.parametrize(
    ("tile", "credit"),
    [((4, 6), 10), ((5, 5), 10), ((1, 4), 5), ((0, 5), 5), ((2, 3), 5), ((5, 6), 0), ((6, 6), 0), ((4, 4), 0)],
)
def test_the_opening_placement_is_scored(tile, credit):
    """R5.1, R5.2: a positive multiple of 5 in raw points; 11, 12 and 8 credit nothing."""
    match, events = led(tile)
    assert events == ((placement(0, credit),) if credit else ())
    assert match.scores == (credit, 0)


def test_a_sum_of_zero_credits_nothing():
    """R5.2: the lone double blank sums to 0, which makes no event, not one of 0."""
    match = Match.from_deal([[(0, 0), (3, 3)], [(1, 1)]], [(2, 2)], 0)
    assert play_all(match, lead((0, 0))) == () and match.layout.end_sum == 0
    assert [end.value for end in match.layout.contributions] == [0]


def test_the_last_placement_is_scored():
    """R5.1, R7.1: seat 1's last tile leaves 5 + 0 = 5; with 9 + 4 = 13, so 15, in the other hand it brings 20."""
    match = Match.from_deal([[(0, 5), (4, 5), (0, 4)], [(0, 0)]], [], 0)
    assert play_all(match, lead((0, 5))) == (placement(0, 5),)
    assert play_all(match, on_end((0, 0), 0)) == (domino(1, 20),)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_a_placement_credit_is_one_event_of_the_side(num_players):
    """R5.3: seat 0 leads (0, 5) for 5; seat 1 lays (5, 5) on its 5, which leaves 0 + 10 for side 1."""
    others = [[(5, 5), (1, 1)], [(0, 1)], [(0, 2)]][: num_players - 1]
    match = Match.from_deal([[(0, 5), SPARE], *others], BONEYARD, 0)
    assert play_all(match, lead((0, 5))) == (placement(0, 5),)
    assert play_all(match, on_end((5, 5), 5)) == (placement(1, 10),)
    assert match.scores == (5, 10) + (0,) * (match.num_sides - 2)


@pytest.mark.parametrize(
    ("score", "events", "end"),
    [
        (0, (placement(0, 10), blocked(0, 10)), "blocked"),
        (295, (placement(0, 10),), "exact"),  # 305: no settlement follows
        (285, (placement(0, 10), blocked(0, 10)), "blocked"),  # 295, then 305 by the settlement
        (300, (placement(0, 10, False), blocked(0, 10, False)), "blocked"),
        (290, (placement(0, 10), blocked(0, 10, False)), "blocked"),  # 300, then 310 is too much
    ],
)
def test_a_blocking_tile_is_scored_first(score, events, end):
    """R5.3: (4, 6) leaves nobody able to lay and brings 10 before 1 is compared with 5 + 5 = 10 (9 gives 10)."""
    match = Match.from_deal([[(4, 6), (0, 1)], [(0, 5), (2, 3)]], [], 0, [score, 0])
    assert match.play(lead((4, 6))) == events
    assert match.last_round["end"] == end
    expected = score + sum(event.net for event in events if event.accepted)
    assert match.scores == (expected, 0)
    assert match.winner == (0 if expected == 305 else None)
    assert (match.last_round["hands"] is None) == (end == "exact")


# ---- R6 ----


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_overshoot_is_discarded_whole(num_players):
    """R6.1: 300 + 10 would be 310: the score stays, the tile lies, the next seat is to act."""
    sides = 3 if num_players == 3 else 2
    match, events = led((4, 6), [300] * sides, num_players)
    assert events == (placement(0, 10, accepted=False),)
    assert match.scores == (300,) * sides and match.winner is None
    assert match.layout.tiles == ((4, 6),) and match.layout.end_sum == 10
    assert match.turn == 1 and match.round_number == 1 and match.legal_actions() == [DRAW]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_exact_hit_in_mid_round(num_players):
    """R6.2: 295 + 10 = 305 wins at once; nobody may act and nothing is settled."""
    sides = 3 if num_players == 3 else 2
    match, events = led((4, 6), [295] * sides, num_players)
    assert events == (placement(0, 10),)
    assert match.scores == (305, *[295] * (sides - 1)) and match.winner == 0
    assert match.legal_actions() == [] and not match.action_mask().any()
    assert match.last_round == {"end": "exact", "winner": 0, "hands": None}
    with pytest.raises(IllegalActionError, match="the match is over, side 0 has won"):
        match.play(DRAW)


def test_a_partner_wins_for_both():
    """R6.2, R1.2: seat 2's 4 + 6 = 10 makes 305 for side 0, in mid-round."""
    hands = [[(0, 1), (3, 3)], [(0, 6), (5, 5)], [(1, 4), (2, 2)], [(0, 2)]]
    match = Match.from_deal(hands, [(2, 3)], 0, [295, 300])
    play_all(match, lead((0, 1)))  # 1
    assert play_all(match, on_end((0, 6), 0)) == ()  # 1 + 6 = 7
    assert play_all(match, on_end((1, 4), 1)) == (placement(0, 10),)  # 4 + 6
    assert match.scores == (305, 300) and match.winner == 0 and match.turn == 2


def test_exact_hit_by_a_domino_event():
    """R6.2, R7.4: 290 + (5 + 10) = 305, though 5 alone would not have been enough."""
    match = Match.from_deal([[(1, 4)], [(0, 5), (0, 3)]], [(6, 6)], 0, [290, 0])
    assert match.play(lead((1, 4))) == (domino(0, 15),)  # 5 + (8 gives 10)
    assert match.winner == 0 and match.scores == (305, 0)
    assert match.last_round == {"end": "domino", "winner": 0, "hands": ((), ((0, 3), (0, 5)))}


def test_a_discarded_domino_event_ends_the_round_all_the_same():
    """R6.1, R2.5: 300 + 15 is discarded; the next round is dealt and who went out opens it."""
    for seed in range(8):
        match = Match.from_deal([[(0, 5), (0, 3)], [(1, 4)]], [(6, 6)], 1, [0, 300], seed=seed)
        assert match.play(lead((1, 4))) == (domino(1, 15, accepted=False),)
        assert match.scores == (0, 300) and match.winner is None
        assert match.round_number == 2 and match.opener == match.turn == 1
        assert match.last_round["winner"] == 1


def test_the_first_accepted_hit_wins_though_others_are_near():
    """R6.2: an overshoot by one side does not keep the other from its exact hit."""
    match = Match.from_deal([[(4, 6), (3, 3)], [(4, 4), (1, 1)]], [(2, 2)], 0, [300, 300])
    assert match.play(lead((4, 6))) == (placement(0, 10, accepted=False),)
    assert match.play(on_end((4, 4), 4)) == ()  # 8 + 6 = 14
    match = Match.from_deal([[(0, 6), (3, 3)], [(5, 6), (1, 1)]], [(2, 2)], 0, [300, 300])
    assert play_all(match, lead((0, 6)), on_end((5, 6), 6)) == (placement(1, 5),)
    assert match.winner == 1 and match.scores == (300, 305)


# ---- R9 ----


def test_no_comparison_of_scores_ends_a_match():
    """R9.1: both at 300, the blocked round's 10 is too much for either; the match continues."""
    match = Match.from_deal([[(6, 6), (0, 5)], [(1, 4), (5, 5)]], [], 0, [300, 290])
    assert match.play(lead((6, 6))) == (blocked(0, 10, accepted=False),)  # 15 - 5
    assert match.winner is None and match.scores == (300, 290) and match.round_number == 2
    assert match.legal_actions() == sorted(lead(tile) for tile in match.hands[match.turn])


def test_a_match_ends_by_an_exact_hit_only():
    """R9.1, R6.2: whole matches from 300 : 300 : 300; many rounds pass in which only overshoots happen."""
    longest = 0
    for seed in range(60):
        match = Match(3, seed=seed, scores=[300, 300, 300])
        while match.winner is None:
            assert max(match.scores) < 305
            events = match.play(match.legal_actions()[-1])
        assert match.scores[match.winner] == 305 and sorted(match.scores)[1] < 305
        assert events[-1].accepted and events[-1].side == match.winner
        longest = max(longest, match.round_number)
    assert longest >= 3


def test_a_spinner_credit_near_the_target():
    """R6.1, R4.4, R4.5: (5, 5) alone and with a blank counts 10, too much at 300; inside it leaves 0 + 1."""
    match = Match.from_deal([[(5, 5), (3, 3), (1, 5)], [(0, 5), (1, 1), (2, 6)]], [(2, 2)], 0, [300, 300])
    assert match.play(lead((5, 5))) == (placement(0, 10, accepted=False),)
    assert match.play(on_spinner((0, 5), 5)) == (placement(1, 10, accepted=False),)  # 10 + 0
    assert match.play(on_spinner((1, 5), 5)) == ()  # 0 + 1
    assert match.scores == (300, 300) and match.layout.end_sum == 1
