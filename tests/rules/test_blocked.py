"""R8: the settlement of a blocked round, hand by hand.

Nobody but the opener holds a 6 and there is no boneyard: leading (6, 6), a sum of 12, blocks at once.
"""

import pytest

from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import Match
from tests.rules.support import blocked, lead, lead_both, on_spinner, placement, play_all

# Pip sums and hands without a 6 that have them; no tile twice in one row of four.
FOUR = {
    "4 12 20 9": [[(0, 4)], [(5, 5), (0, 2)], [(4, 4), (1, 5), (2, 4)], [(4, 5)]],
    "4 6 20 9": [[(0, 4)], [(1, 5)], [(5, 5), (4, 4), (0, 2)], [(4, 5)]],
    "4 7 10 7": [[(0, 4)], [(2, 5)], [(5, 5)], [(3, 4)]],
    "5 9 5 10": [[(0, 5)], [(4, 5)], [(1, 4)], [(5, 5)]],
    "5 5 8 10": [[(0, 5)], [(1, 4)], [(3, 5)], [(5, 5)]],
    "9 5 5 5": [[(4, 5)], [(0, 5)], [(1, 4)], [(2, 3)]],
}


def block(hands, scores=None, opener=0):
    """The opener holds (6, 6) besides its hand, leads it, and the round is blocked."""
    hands = [list(hand) for hand in hands]
    hands[opener].append((6, 6))
    match, events = lead_both(hands, [], opener, (6, 6), scores)
    assert match.last_round["end"] == "blocked"
    return match, events


@pytest.mark.parametrize("opener", range(4))
def test_every_hand_takes_its_turn(opener):
    """R8.1, R8.2: sums 4, 6, 20, 9, lightest first, for any opener.

    Seat 0: 2 + 5 = 7 gives 5. Seat 1: 14 gives 15, its partner's 9 is not compared. Seat 3: 11 gives 10.
    Seat 2, the heaviest, has nobody to compare with.
    """
    match, events = block(FOUR["4 6 20 9"], opener=opener)
    assert events == (blocked(0, 5), blocked(1, 15), blocked(1, 10))
    assert match.scores == (5, 25) and match.last_round["winner"] == 0


def test_differences_are_rounded_once():
    """R8.2: sums 4, 7, 10, 7: seat 0 gets 3 + 3 = 6, so 5, where each apart would be 5 + 5."""
    _, events = block(FOUR["4 7 10 7"])
    assert events == (blocked(0, 5), blocked(1, 5), blocked(1, 5))


def test_only_strictly_heavier_hands_count():
    """R8.2: three players with 9, 5, 5: the equal hands compare with 9 alone: 4 gives 5 for each."""
    match, events = block(FOUR["9 5 5 5"][:3])
    assert events == (blocked(1, 5), blocked(2, 5)) and match.scores == (0, 5, 5)


def test_partners_are_ranked_apart():
    """R8.1, R8.2: sums 5, 9, 5, 10: seats 0 and 2 each get 4 + 5 = 9, so 10; seat 1's 9 has none heavier."""
    match, events = block(FOUR["5 9 5 10"])
    assert events == (blocked(0, 10), blocked(0, 10)) and match.scores == (20, 0)


def test_credits_that_round_to_zero_make_no_event():
    """R8.3: sums 1, 2, 0, 2: seat 2's 2 + 2 = 4 gives 5, seat 0's 1 + 1 = 2 gives 0. Then 1 against 2 alone."""
    match, events = block([[(0, 1)], [(0, 2)], [(0, 0)], [(1, 1)]])
    assert events == (blocked(0, 5),) and match.scores == (5, 0)
    match, events = block([[(0, 1)], [(0, 2)]])
    assert events == () and match.scores == (0, 0) and match.round_number == 2
    assert match.last_round["winner"] == 0


def test_a_discarded_event_does_not_stop_later_ones():
    """R8.3: sums 4, 12, 20, 9. Side 0's 8 + 5 = 13, so 15, is too much at 295; side 1 gets 10 and 10."""
    match, events = block(FOUR["4 12 20 9"], [295, 0])
    assert events == (blocked(0, 15, accepted=False), blocked(1, 10), blocked(1, 10))
    assert match.scores == (295, 20) and match.winner is None


def test_a_discarded_event_of_a_side_does_not_stop_its_next():
    """R8.3: sums 2, 15, 12, 14: seat 0's 13 + 12 = 25 is too much at 290; seat 2's 3 + 2 = 5 is not."""
    match, events = block([[(0, 2)], [(0, 5), (5, 5)], [(2, 5), (1, 4)], [(4, 4), (2, 4)]], [290, 0])
    assert events == (blocked(0, 25, accepted=False), blocked(0, 5))
    assert match.scores == (295, 0)


def test_an_exact_hit_stops_later_events():
    """R8.4: sums 4, 12, 20, 9 at 290 : 295. Side 0's 15 wins; side 1's 10, also exact, comes too late."""
    match, events = block(FOUR["4 12 20 9"], [290, 295])
    assert events == (blocked(0, 15),)
    assert match.scores == (305, 295) and match.winner == 0 and match.legal_actions() == []
    assert [set(hand) for hand in match.last_round["hands"]] == [set(hand) for hand in FOUR["4 12 20 9"]]


def test_discarded_then_exact_then_nothing():
    """R8.3, R8.4: the same hands at 300 : 295: 15 is discarded, seat 3's 10 wins, seat 1's is not applied."""
    match, events = block(FOUR["4 12 20 9"], [300, 295])
    assert events == (blocked(0, 15, accepted=False), blocked(1, 10))
    assert match.scores == (300, 305) and match.winner == 1


@pytest.mark.parametrize("opener", range(3))
def test_equal_hands_go_in_seat_order_from_seat_0(opener):
    """R8.3, D2: 5, 5 and 9 at 300 each: both get 4, so 5, an exact hit; seat 0 is first for any opener."""
    match, events = block([[(0, 5)], [(1, 4)], [(4, 5)]], [300, 300, 300], opener)
    assert events == (blocked(0, 5),) and match.winner == 0
    match, events = block([[(4, 5)], [(0, 5)], [(1, 4)]], [300, 300, 300], opener)
    assert events == (blocked(1, 5),) and match.winner == 1


def test_the_lightest_hand_wins_the_round():
    """R8.5: 9, 4 and 10: seat 1, though seat 0 blocked."""
    match, events = block([[(4, 5)], [(0, 4)], [(5, 5)]])
    assert match.last_round["winner"] == 1
    assert events == (blocked(1, 10),)  # 5 + 6 = 11 gives 10; seat 0's 1 gives 0


def test_a_lighter_hand_is_settled_before_a_lower_seat():
    """R8.1, R8.4: sums 5, 1, 20: seat 1 gets 4 + 19 = 23, so 25, exactly; seat 0's exact 15 is too late."""
    _, events = block([[(0, 5)], [(0, 1)], [(5, 5), (4, 4), (0, 2)]], [290, 280, 0])
    assert events == (blocked(1, 25),)


@pytest.mark.parametrize(
    ("scores", "first", "second", "winner"),
    [
        ([0, 0, 0], True, True, None),
        ([280, 290, 0], True, None, 0),  # R8.4: seat 1 would also hit exactly, but later
        ([285, 290, 0], False, True, 1),  # R8.3: a discarded event does not stop the later ones
        ([285, 295, 0], False, False, None),
    ],
)
def test_order_of_the_events(scores, first, second, winner):
    """R8.2 to R8.4: sums 1, 5, 20: seat 0 gets 4 + 19 = 23, so 25; seat 1 gets 15; the heaviest gets nothing."""
    match, events = block([[(0, 1)], [(0, 5)], [(5, 5), (4, 4), (0, 2)]], scores)
    assert events == (blocked(0, 25, first), *([] if second is None else [blocked(1, 15, second)]))
    assert match.winner == winner and match.last_round["winner"] == 0


@pytest.mark.parametrize(
    ("hands", "winner"),
    [
        ([[(0, 5)], [(1, 4)]], None),  # two players, 5 and 5
        ([[(0, 5)], [(5, 5)], [(1, 4)]], None),  # three players, seats 0 and 2
        ([[(4, 5)], [(0, 5)], [(1, 4)]], None),
        (FOUR["5 5 8 10"], None),  # opposing partnerships
        (FOUR["9 5 5 5"], None),  # 1 and 3 share it with 2
        (FOUR["5 9 5 10"], 0),  # within a partnership
        ([[(4, 5)], [(0, 5)], [(5, 5)], [(1, 4)]], 1),
        (FOUR["4 7 10 7"], 0),  # a tie above the lowest sum
    ],
)
def test_ties(hands, winner):
    """R8.5: a lowest sum shared by opposing sides ties the round; within one partnership it wins."""
    match, _ = block(hands)
    assert match.last_round["winner"] == winner


def test_a_tied_round_still_pays():
    """R8.2, R8.5: sums 5, 5, 8, 10: seat 0: 5 gives 5; seat 1: 3 gives 5; seat 2: 2 gives 0. Nobody wins it."""
    match, events = block(FOUR["5 5 8 10"])
    assert events == (blocked(0, 5), blocked(1, 5)) and match.scores == (5, 5)
    assert match.last_round["winner"] is None


def test_all_hands_equal():
    """R8.2, R8.3: nothing is strictly heavier: no event at all, and the next round is dealt."""
    match, events = block([[(0, 5)], [(1, 4)], [(2, 3)]])
    assert events == () and match.last_round["winner"] is None and match.round_number == 2


def test_hands_are_shown_and_the_table_is_cleared():
    """D5: at the settlement all remaining hands are public."""
    match, _ = block([[(4, 5)], [(0, 4)], [(5, 5)]])
    assert match.last_round["hands"] == (((4, 5),), ((0, 4),), ((5, 5),))
    assert match.layout.tiles == () and match.history == ()


def test_block_right_after_the_last_draw():
    """D1, R3.3: seat 1 draws the last tile, it fits nowhere, seat 0 has nothing: settled at once, no passes."""
    match = Match.from_deal([[(6, 6), (0, 1)], [(2, 3)]], [(2, 4), (4, 5)], 0)
    play_all(match, lead((6, 6)), DRAW)
    assert match.round_number == 1
    # Sums 1 and 5 + 6 + 9 = 20: 19 gives 20.
    assert match.play(DRAW) == (blocked(0, 20),)
    assert match.round_number == 2 and match.last_round["hands"] == (((0, 1),), ((2, 3), (2, 4), (4, 5)))


def test_block_right_after_a_placement():
    """D1: the last 6 is laid on the last place for it; nobody is asked to pass first."""
    match = Match.from_deal([[(6, 6), (0, 6), (1, 1)], [(2, 3)]], [], 0)
    play_all(match, lead((6, 6)), PASS)
    # Ends 12 and 0: 12, no credit; sums 2 and 5: 3 gives 5.
    assert match.play(on_spinner((0, 6), 6)) == (blocked(0, 5),)
    assert match.round_number == 2


def test_no_block_after_the_last_draw_if_another_seat_can_lay():
    """D1, R3.3: the drawn (4, 5) is no use, but seat 0 holds (1, 6): seat 1 passes."""
    match = Match.from_deal([[(6, 6), (1, 6), (1, 1)], [(2, 3)]], [(4, 5)], 0)
    assert play_all(match, lead((6, 6)), DRAW) == () and match.legal_actions() == [PASS]


def test_a_blocking_placement_may_score_and_then_settle():
    """R5.3, R8.2: (5, 5) brings 10, then 1 against 3 + 4 and 2: 6 + 1 = 7 gives 5; seat 2's 5 gives 5."""
    match = Match.from_deal([[(5, 5), (0, 1)], [(3, 4)], [(0, 2)]], [], 0)
    assert match.play(lead((5, 5))) == (placement(0, 10), blocked(0, 5), blocked(2, 5))
    assert match.scores == (15, 0, 5)
