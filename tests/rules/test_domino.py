"""R7: going out."""

import pytest

from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from tests.rules.support import domino, lead, lead_both, on_end, on_spinner, placement, play_all


def go_out(hands, tile, scores=None, boneyard=((2, 2),), opener=0):
    """The opener holds `tile` alone and leads it."""
    hands = [list(hand) for hand in hands]
    hands.insert(opener, [tile])
    return lead_both(hands, list(boneyard), opener, tile, scores)


def test_out_though_tiles_are_left_to_draw():
    """R7.0: the boneyard holds tiles, the round is over all the same."""
    match, events = go_out([[(3, 4)]], (0, 1), boneyard=[(2, 2), (5, 5), (6, 6)])
    assert events == (domino(0, 5),)  # 7 gives 5
    assert match.round_number == 2 and match.last_round["end"] == "domino"


def test_a_drawn_tile_keeps_a_hand_in_play():
    """R7.0, R3.2: seat 1's drawn tile leaves its hand of one as it was; seat 0's last tile ends the round."""
    match = Match.from_deal([[(1, 1), (0, 0)], [(3, 4)]], [(0, 1), (1, 5)], 0)
    play_all(match, lead((1, 1)), DRAW)
    assert match.turn == 1 and match.play(on_spinner((0, 1), 1)) == ()  # 2 + 0, (3, 4) is left
    assert match.play(on_end((0, 0), 0)) == (domino(0, 5),)  # 2 + 0 = 2; 7 gives 5


def test_the_placement_is_not_credited_by_itself():
    """R7.1: 5 would hit 305 at once; as part of the event it is 5 + 10, which is too much."""
    match, events = go_out([[(4, 6)]], (1, 4), [300, 0])
    assert events == (domino(0, 15, accepted=False),)
    assert match.scores == (300, 0) and match.winner is None


def test_a_last_tile_without_credit():
    """R7.1, R5.2: 1 + 2 = 3 credits nothing, the opponent's 12 gives 10."""
    assert go_out([[(6, 6)]], (1, 2))[1] == (domino(0, 10),)


ROUNDED = [0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10]
LEFT = [(0, 0), (0, 1), (1, 1), (0, 3), (0, 4), (0, 5), (0, 6), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]


@pytest.mark.parametrize("pips", range(13))
def test_rounding(pips):
    """R7.2: remainders 1 and 2 go down, 3 and 4 go up."""
    assert sum(LEFT[pips]) == pips
    assert go_out([[LEFT[pips]]], (1, 2))[1] == (domino(0, ROUNDED[pips]),)


@pytest.mark.parametrize(
    ("hands", "net"),
    [
        ([[(0, 3)], [(1, 1), (0, 1)]], 5),  # 3 + 3 = 6 gives 5; each apart would be 5 + 5
        ([[(3, 5)], [(2, 6)]], 15),  # 8 + 8 = 16 gives 15; apart 10 + 10
        ([[(0, 2)], [(0, 1)]], 5),  # 2 + 1 = 3 gives 5; apart 0 + 0
    ],
)
def test_all_opponents_are_added_first(hands, net):
    """R7.2: three players: both other hands together, rounded once."""
    match, events = go_out(hands, (1, 2))
    assert events == (domino(0, net),) and match.scores == (net, 0, 0)


@pytest.mark.parametrize(
    ("left", "partner", "right", "net"),
    [
        ([(0, 5)], [(3, 4)], [(0, 3)], 5),  # 8 gives 10, 7 gives 5; pooled 8 - 7 = 1 would give 0
        ([(0, 3)], [(0, 4)], [(1, 5)], 5),  # 9 gives 10, 4 gives 5
        ([(1, 1)], [(6, 6)], [(0, 0)], -10),  # 2 gives 0, 12 gives 10
        ([(4, 6)], [(0, 1)], [(5, 5)], 20),  # 20, 1 gives 0
        ([(0, 3)], [(0, 5), (1, 5)], [(3, 5)], 0),  # 11 gives 10, 11 gives 10
    ],
)
@pytest.mark.parametrize("opener", range(4))
def test_partners_deduction(left, partner, right, net, opener):
    """R7.3, R7.4, D3, D4: rounded by itself and taken from the same side, also below zero."""
    hands = [None] * 4
    hands[opener] = [(1, 2)]  # 3: no credit
    hands[(opener + 1) % 4], hands[(opener + 2) % 4], hands[(opener + 3) % 4] = left, partner, right
    side = opener % 2
    match, events = lead_both(hands, [(2, 2)], opener, (1, 2))
    assert events == (domino(side, net),)
    assert match.scores == ((net, 0) if side == 0 else (0, net))
    assert match.last_round["winner"] == side  # D8, whatever the net


@pytest.mark.parametrize("score", [0, 295, 300])
def test_the_net_decides(score):
    """R7.4: 5 + 10 - 10 = 5. At 300 the parts alone would be too much; the net is an exact hit."""
    match, events = go_out([[(0, 5)], [(6, 6)], [(0, 3)]], (1, 4), [score, 0])
    assert events == (domino(0, 5),)
    assert match.scores == (score + 5, 0) and match.winner == (0 if score == 300 else None)


@pytest.mark.parametrize(("score", "accepted"), [(280, True), (285, True), (290, False), (300, False)])
def test_accepted_or_discarded_as_a_whole(score, accepted):
    """R7.4, R6.1: 10 + 15 - 5 = 20. At 290 the placement's 10 would fit, but nothing is applied."""
    match, events = go_out([[(4, 5)], [(1, 5)], [(0, 5)]], (4, 6), [score, 100])
    assert events == (domino(0, 20, accepted),)  # 9 + 5 = 14 gives 15; 6 gives 5
    assert match.scores == (score + 20 if accepted else score, 100)
    assert match.winner == (0 if score == 285 else None)


def test_a_score_below_zero_recovers():
    """R7.3, D3: -10 is a score like others; the next credit counts from there."""
    match, _ = go_out([[(1, 1)], [(6, 6)], [(0, 0)]], (1, 2))
    assert match.scores == (-10, 0) and match.turn == 0
    hands = [[(1, 4), (3, 3)], [(0, 0)], [(5, 5)], [(0, 1)]]
    match = Match.from_deal(hands, [(2, 2)], 0, scores=[-10, 0])
    assert match.play(lead((1, 4))) == (placement(0, 5),) and match.scores == (-5, 0)


def test_net_zero_is_applied_and_wins_nothing():
    """D4, R6.2: at 300 a net of zero is accepted and leaves 300; at -5 a loss is accepted too."""
    match, events = go_out([[(0, 1)], [(0, 2)], [(1, 1)]], (0, 3), [300, 300])
    assert events == (domino(0, 5),)  # 3 pips of the opponents give 5, the partner's 2 give 0
    match, events = go_out([[(0, 1)], [(0, 2)], [(0, 0)]], (0, 3), [300, 300])
    assert events == (domino(0, 0),) and match.scores == (300, 300) and match.winner is None
    match, events = go_out([[(0, 1)], [(6, 6)], [(0, 0)]], (0, 3), [-5, 300])
    assert events == (domino(0, -10),) and match.scores == (-15, 300)


def test_three_players():
    """R1.2, R7.2, R2.5: seat 2 of three goes out; there is no partner to deduct."""
    match = Match.from_deal([[(1, 1), (4, 5)], [(1, 6), (3, 4)], [(1, 4)]], [(2, 2)], 0)
    play_all(match, lead((1, 1)))  # 2
    assert match.play(on_spinner((1, 6), 1)) == ()  # 2 + 6
    assert match.play(on_spinner((1, 4), 1)) == (domino(2, 25),)  # 6 + 4 = 10; 9 + 7 = 16 gives 15
    assert match.scores == (0, 0, 25) and match.opener == 2


def test_domino_before_block():
    """D9: (5, 5) is the last tile and fits nobody's hand: a domino of 10 + (12 gives 10), not a block."""
    match, events = lead_both([[(5, 5)], [(6, 6)]], [], 0, (5, 5))
    assert events == (domino(0, 20),)
    assert match.last_round["end"] == "domino" and match.opener == 0
