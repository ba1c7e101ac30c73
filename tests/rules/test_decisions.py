"""D5 to D8 and D10, where they are not at home with the rules that they complete (D1 to D4, D9: R7 and R8)."""

import pytest

from fiveup_env.rules.actions import DRAW, describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import ABSENT, ALONE, CLOSED, ONE_ARM, TERMINAL, TWO_ARMS
from tests.rules.support import domino, lead, on_end, on_spinner, placement, play_all


def test_a_win_in_mid_round_settles_nothing():
    """D5, R6.2: hands stay hidden and count nothing, those of an earlier round are not shown any more."""
    match = Match.from_deal([[(0, 1)], [(0, 0), (0, 2)]], [(5, 5)], 0, [0, 0])
    assert match.play(lead((0, 1))) == (domino(0, 0),)  # 2 pips give 0
    assert match.last_round["hands"] == ((), ((0, 0), (0, 2)))
    match = Match.from_deal([[(1, 4), (6, 6)], [(0, 0), (0, 2)]], [(5, 5)], 0, [300, 300])
    match.play(lead((1, 4)))
    assert match.scores == (305, 300) and match.last_round["hands"] is None
    assert not match.game.revealed.any()


def test_a_draw_shows_who_not_what():
    """D6: the history says that seat 1 drew twice; hand and boneyard sizes are counted, no tile is named."""
    match = Match.from_deal([[(1, 2), (0, 0)], [(3, 4), (5, 5)]], [(0, 6), (2, 3), (4, 6)], 0)
    play_all(match, lead((1, 2)), DRAW, DRAW)
    assert match.history == ((0, lead((1, 2))), (1, DRAW), (1, DRAW))
    assert match.game.hand_sizes.tolist() == [1, 4, 0, 0] and match.game.drawn.tolist() == [0, 2, 0, 0]
    assert len(match.boneyard) == 1


def test_equal_single_ends_are_one_action():
    """D7: (0, 5) fits the 5 of either tile: one action; the earliest laid end is taken, then the other."""
    match = Match.from_deal([[(1, 3), (0, 5), (6, 6)], [(1, 5), (1, 1)], [(3, 5), (4, 4)]], [(2, 2)], 0)
    play_all(match, lead((1, 3)), on_end((1, 5), 1))
    assert play_all(match, on_end((3, 5), 3)) == (placement(2, 10),)  # ends 5 and 5
    assert sum(place.pip == 5 for place in match.layout.free_places) == 2
    assert match.legal_actions() == [on_end((0, 5), 5)]
    assert play_all(match, on_end((0, 5), 5)) == (placement(0, 5),)
    assert match.layout.joins[-1].parent == ((1, 5), "big")


def test_line_sides_of_a_lone_double_and_arms_are_one_action():
    """D7: two line sides, then two arms, are one action each; "onto the spinner" is what they are called."""
    hands = [[(5, 5), (2, 5), (3, 5), (6, 6)], [(1, 5), (4, 5), (0, 0)]]
    match = Match.from_deal(hands, [(2, 2)], 0)
    play_all(match, lead((5, 5)))
    assert match.legal_actions() == sorted([on_spinner((1, 5), 5), on_spinner((4, 5), 5)])
    play_all(match, on_spinner((1, 5), 5), on_spinner((2, 5), 5))
    assert len(match.layout.free_places) == 4
    assert match.legal_actions() == [on_spinner((4, 5), 5)]


def test_the_table_that_decides_what_follows():
    """D7: single ends per pip, and for each double whether it is absent, terminal or inside."""
    hands = [[(1, 5), (2, 5), (6, 6)], [(5, 5), (4, 4)], [(1, 1), (3, 4)], [(1, 6), (0, 0)]]
    match = Match.from_deal(hands, [(2, 2)], 0)
    play_all(match, lead((1, 5)), on_end((5, 5), 5), on_end((1, 1), 1), on_spinner((1, 6), 1))
    # (5, 5) is terminal with one line side taken, (1, 1) inside with two arms left, 6 a single end: 10 + 6.
    assert match.layout.end_sum == 16
    assert match.legal_actions() == sorted([on_spinner((2, 5), 5), on_end((6, 6), 6)])
    assert match.game.spinners.tolist() == [ABSENT, TWO_ARMS, ABSENT, ABSENT, ABSENT, TERMINAL, ABSENT]
    assert [int(ends).bit_count() for ends in match.game.ends] == [0, 0, 0, 0, 0, 0, 1]


def test_spinner_states():
    """D7: absent, alone, terminal with one line side taken, inside with 2, 1, 0 side arms left."""
    hands = [[(3, 3), (0, 3), (2, 3), (6, 6)], [(1, 3), (3, 4), (5, 5)]]
    match = Match.from_deal(hands, [(2, 2)], 0)
    states = [int(match.game.spinners[3])]
    for action in (
        lead((3, 3)),
        on_spinner((1, 3), 3),
        on_spinner((0, 3), 3),
        on_spinner((3, 4), 3),
        on_spinner((2, 3), 3),
    ):
        match.play(action)
        states.append(int(match.game.spinners[3]))
    assert states == [ABSENT, ALONE, TERMINAL, TWO_ARMS, ONE_ARM, CLOSED]
    assert (3, 3) not in {place.tile for place in match.layout.free_places}


@pytest.mark.parametrize("through", ["end", "spinner"])
def test_both_ways_to_lay_the_same_half(through):
    """D7: with a 5 on an end and a spinner of 5s, (2, 5) has two actions with different sums."""
    hands = [[(1, 5), (2, 5), (6, 6)], [(5, 5), (2, 3)], [(1, 4), (3, 3)], [(0, 0), (0, 6)]]
    match = Match.from_deal(hands, [(4, 5)], 0)
    play_all(match, lead((1, 5)), on_end((5, 5), 5), on_end((1, 4), 1), DRAW)
    play_all(match, on_end((4, 5), 4))
    # Ends: 5 of (4, 5) and (5, 5) with one line side taken: 5 + 10 = 15.
    assert match.layout.end_sum == 15 and match.turn == 0
    assert match.legal_actions() == sorted([on_end((2, 5), 5), on_spinner((2, 5), 5)])
    match.play(on_end((2, 5), 5) if through == "end" else on_spinner((2, 5), 5))
    # On the end: 2 + 10; on the spinner: 5 + 2.
    assert match.layout.end_sum == (12 if through == "end" else 7)


def test_who_went_out_won_the_round():
    """D8: for statistics, also with a net below zero or discarded."""
    hands = [[(1, 2)], [(0, 0)], [(6, 6)], [(1, 1)]]
    match = Match.from_deal(hands, [(2, 2)], 0)
    assert match.play(lead((1, 2))) == (domino(0, -10),)
    assert match.last_round["winner"] == 0


def test_a_double_on_an_arm_is_a_spinner_like_any_other():
    """D10, R4.1: (2, 2) on the arm of (4, 4) gets line sides and arms, and stops counting inside."""
    hands = [[(4, 4), (0, 4), (2, 2), (2, 5)], [(1, 4), (2, 4), (2, 3), (6, 6)]]
    match = Match.from_deal(hands, [(5, 5)], 0)
    play_all(match, lead((4, 4)), on_spinner((1, 4), 4), on_spinner((0, 4), 4), on_spinner((2, 4), 4))
    assert match.layout.end_sum == 1 + 0 + 2
    play_all(match, on_end((2, 2), 2))
    assert match.layout.end_sum == 1 + 0 + 4
    play_all(match, on_spinner((2, 3), 2))
    assert match.layout.end_sum == 1 + 0 + 3
    arms = [place for place in match.layout.free_places if place.tile == (2, 2)]
    assert [(place.port, place.pip) for place in arms] == [("arm_a", 2), ("arm_b", 2)]
    assert on_spinner((2, 5), 2) in match.legal_actions()
    assert describe(on_spinner((2, 5), 2)) == "lay [2|5] by its 2 on the spinner [2|2]"
