"""The settlement of a blocked round, against cases worked out on paper.

In most of them nobody but the opener holds a 6 and the boneyard is empty, so leading (6, 6) blocks at once.
"""

import pytest

from tests.oracle import Event, Oracle
from tests.oracle.handmade import lay, lead


def test_tie_across_partnerships():
    """R8.2, R8.5, D2: sums 5, 5, 7, 10.

    Seat 0: only 10 is heavier, 5 gives 5. Seat 1: 7 - 5 = 2 gives no event. Seat 2: 10 - 7 = 3 gives 5.
    The lowest sum is shared by opposing sides: a tied round.
    """
    oracle, events = lead(4, [[(6, 6), (0, 5)], [(1, 4)], [(3, 4)], [(5, 5)]], [])
    assert events == [Event("blocked", 0, 5, True), Event("blocked", 0, 5, True)]
    assert oracle.scores == [10, 0] and oracle.round_winner is None and oracle.round_end == "blocked"
    assert oracle.round_over and oracle.next_opener is None and oracle.turn == 0
    assert oracle.revealed == [{(0, 5)}, {(1, 4)}, {(3, 4)}, {(5, 5)}]


WITHIN = [[(6, 6), (0, 3)], [(2, 3), (0, 4)], [(1, 2)], [(5, 5)]]  # sums 3, 9, 3, 10


def test_tie_within_a_partnership():
    """R8.2, R8.5: seats 0 and 2 each 6 + 7 = 13, rounded once to 15 (apart: 5 + 5). Their side wins."""
    oracle, events = lead(4, WITHIN, [])
    assert events == [Event("blocked", 0, 15, True)] * 2
    assert oracle.scores == [30, 0] and oracle.round_winner == 0


def test_exact_hit_stops_later_events():
    """R8.4: the first 15 wins; the partner's 15 is not applied and makes no event."""
    oracle, events = lead(4, WITHIN, [], scores=[290, 100])
    assert events == [Event("blocked", 0, 15, True)]
    assert oracle.scores == [305, 100] and oracle.winner == 0 and not oracle.round_over
    assert oracle.round_end == "blocked" and oracle.round_winner == 0 and oracle.moves() == []


THREE = [[(6, 6), (0, 1)], [(0, 5)], [(5, 5), (4, 4), (0, 2)]]  # sums 1, 5, 20


@pytest.mark.parametrize(
    ("scores", "first", "second", "winner"),
    [
        ([0, 0, 0], True, True, None),
        ([280, 290, 0], True, None, 0),  # R8.4: seat 1 would also hit exactly, but later
        ([285, 290, 0], False, True, 1),  # R8.3: a discarded event does not stop the later ones
        ([285, 295, 0], False, False, None),
    ],
)
def test_order_of_the_blocked_events(scores, first, second, winner):
    """R8.2 to R8.4: seat 0 has 4 + 19 = 23, gives 25; seat 1 has 15; the heaviest has no event."""
    oracle, events = lead(3, THREE, [], scores=scores)
    expected = [Event("blocked", 0, 25, first)]
    if second is not None:
        expected.append(Event("blocked", 1, 15, second))
    assert events == expected and oracle.winner == winner and oracle.round_winner == 0
    assert oracle.scores == [scores[0] + (25 if first else 0), scores[1] + (15 if second else 0), 0]


def test_discarded_event_does_not_stop_the_partners():
    """R8.3: sums 3, 9, 8, 10. Seat 0: 6 + 7 = 13, 15, discarded. Seat 2: 1 + 2 = 3, 5: exact. Seat 1: 0."""
    hands = [[(6, 6), (0, 3)], [(2, 3), (0, 4)], [(3, 5)], [(5, 5)]]
    oracle, events = lead(4, hands, [], scores=[300, 300])
    assert events == [Event("blocked", 0, 15, False), Event("blocked", 0, 5, True)]
    assert oracle.scores == [305, 300] and oracle.winner == 0


def test_equal_hands_are_settled_from_seat_0():
    """R8.3, D2: sums 4, 4, 11; both lighter hands get 7, so 5, an exact hit. Seat 1 opened; seat 0 wins."""
    oracle = Oracle(3, [[(0, 4)], [(6, 6), (1, 3)], [(5, 5), (0, 1)]], [], opener=1, scores=[300, 300, 0])
    assert oracle.play(("lead", (6, 6))) == [Event("blocked", 0, 5, True)]
    assert oracle.scores == [305, 300, 0] and oracle.winner == 0 and oracle.round_winner is None


def test_lighter_hand_is_settled_before_a_lower_seat():
    """R8.1, R8.4: sums 5, 1, 20. Seat 1 is first: 4 + 19 = 23, 25, exact. Seat 0's exact 15 is too late."""
    hands = [[(6, 6), (0, 5)], [(0, 1)], [(5, 5), (4, 4), (0, 2)]]
    oracle, events = lead(3, hands, [], scores=[290, 280, 0])
    assert events == [Event("blocked", 1, 25, True)] and oracle.winner == 1


def test_lightest_hand_need_not_be_the_one_that_blocked():
    """R8.1, R8.5: sums 10, 2, 10. Seat 1: 8 + 8 = 16, 15. The tied heavier hands get nothing."""
    oracle, events = lead(3, [[(6, 6), (5, 5)], [(1, 1)], [(4, 4), (0, 2)]], [])
    assert events == [Event("blocked", 1, 15, True)] and oracle.round_winner == 1 and oracle.turn == 0


def test_all_hands_equal_make_no_event():
    """R8.3, R8.5: sums 5 and 5."""
    oracle, events = lead(2, [[(6, 6), (0, 5)], [(1, 4)]], [])
    assert events == [] and oracle.round_over
    assert oracle.round_winner is None and oracle.round_end == "blocked"


@pytest.mark.parametrize(("score", "placement", "blocked"), [(0, True, True), (295, True, None), (300, False, False)])
def test_credit_of_the_blocking_tile_comes_first(score, placement, blocked):
    """R5.3: (5, 5) scores 10 and may win; otherwise 1 against 12: 11 gives 10 by the settlement."""
    oracle, events = lead(2, [[(5, 5), (0, 1)], [(2, 3), (3, 4)]], [], scores=[score, 0])
    expected = [Event("placement", 0, 10, placement)]
    if blocked is None:
        assert oracle.round_end == "exact" and oracle.winner == 0 and oracle.revealed is None
    else:
        expected.append(Event("blocked", 0, 10, blocked))
        assert oracle.round_end == "blocked" and oracle.round_over
    assert events == expected


def test_block_right_after_the_last_draw():
    """D1: the last boneyard tile fits nowhere and nobody can lay. 1 against 5 + 9 = 14: 13 gives 15."""
    oracle, events = lead(2, [[(6, 6), (0, 1)], [(2, 3)]], [(4, 5)])
    assert events == [] and not oracle.round_over
    assert oracle.moves() == [("draw",)]
    assert oracle.play(("draw",)) == [Event("blocked", 0, 15, True)]
    assert oracle.round_over and oracle.turn == 1 and oracle.moves() == []
    assert oracle.revealed == [{(0, 1)}, {(2, 3), (4, 5)}]


def test_no_block_if_the_last_drawn_tile_fits():
    """R3.3: (5, 6) fits the lone (6, 6) on either line side."""
    oracle, _ = lead(2, [[(6, 6), (0, 1)], [(2, 3)]], [(5, 6)])
    assert oracle.play(("draw",)) == [] and not oracle.round_over
    assert [move[3].port for move in oracle.moves()] == ["line_a", "line_b"]


def test_no_block_if_an_unstarted_arm_fits():
    """R4.5: an arm that counts nothing is still a place, so nothing is blocked while a 6 is left."""
    hands = [[(6, 6), (2, 6), (3, 3)], [(1, 6), (4, 6), (5, 5)]]
    oracle, _ = lead(2, hands, [])
    lay(oracle, (1, 6), (6, 6), "line_a")
    assert lay(oracle, (2, 6), (6, 6), "line_b") == []  # ends 1 + 2; only (4, 6) on an arm is left
    assert not oracle.round_over and [move[3].port for move in oracle.moves()] == ["arm_a", "arm_b"]
    # 1 + 2 + 4 = 7; then nobody can lay: 6 against 10: 4 gives 5.
    assert lay(oracle, (4, 6), (6, 6), "arm_a") == [Event("blocked", 0, 5, True)]
