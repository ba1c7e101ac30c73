"""The oracle against cases worked out on paper; `tests/rules` plays the source's positions in engine and oracle."""

import pytest

from tests.oracle import Event, Oracle, Place, merged
from tests.oracle.handmade import lay, lead

# ---- placing and moving ----


def test_opening_double_has_two_line_sides_then_two_arms():
    """R4.1 to R4.5 for an opening double and a double on an arm."""
    oracle = Oracle(2, [[(5, 5), (2, 5), (3, 3), (0, 0)], [(1, 5), (3, 5), (0, 1)]], [(6, 6)], opener=0)
    assert oracle.play(("lead", (5, 5))) == [Event("placement", 0, 10, True)]
    assert {p.port for p in oracle.free_places()} == {"line_a", "line_b"}
    assert lay(oracle, (1, 5), (5, 5), "line_b") == []  # 10 + 1 = 11
    assert oracle.end_sum() == 11
    assert ((5, 5), "arm_a") not in oracle.free_places()
    lay(oracle, (2, 5), (5, 5), "line_a")  # 1 + 2 = 3: the spinner no longer counts
    assert oracle.end_sum() == 3
    assert sorted(oracle.free_places()) == [
        ((1, 5), "small"),
        ((2, 5), "small"),
        ((5, 5), "arm_a"),
        ((5, 5), "arm_b"),
    ]
    lay(oracle, (3, 5), (5, 5), "arm_b")  # 1 + 2 + 3 = 6
    assert oracle.end_sum() == 6
    lay(oracle, (3, 3), (3, 5), "small")  # 1 + 2 + 6 = 9, a terminal double on an arm
    assert oracle.end_sum() == 9
    assert oracle.joins()[-1] == (((3, 5), "small"), ((3, 3), "line_a"))
    assert ((3, 3), "line_b") in oracle.free_places() and ((3, 3), "arm_a") not in oracle.free_places()


def test_moves_are_concrete_and_merge():
    """D7: two line sides of a lone opening double are two moves with one key."""
    oracle, _ = lead(2, [[(2, 2), (0, 0)], [(1, 2), (2, 4), (0, 1)]], [(6, 6)])
    moves = oracle.moves()
    assert moves == [
        ("lay", (1, 2), "big", ((2, 2), "line_a")),
        ("lay", (1, 2), "big", ((2, 2), "line_b")),
        ("lay", (2, 4), "small", ((2, 2), "line_a")),
        ("lay", (2, 4), "small", ((2, 2), "line_b")),
    ]
    assert {merged(oracle, move) for move in moves} == {
        ("lay", (1, 2), 2, "spinner"),
        ("lay", (2, 4), 2, "spinner"),
    }


def test_own_half_is_part_of_the_move():
    """R3.1: a tile that fits two different pip counts has a move for each."""
    oracle, _ = lead(2, [[(1, 4), (0, 0)], [(4, 6), (1, 1), (1, 6)]], [(3, 3)])
    lay(oracle, (4, 6), (1, 4), "big")  # ends 1 and 6
    oracle.play(("draw",))  # (3, 3): cannot be laid, R3.2
    oracle.play(("pass",))
    moves = oracle.moves()
    assert moves == [
        ("lay", (1, 1), "line_a", ((1, 4), "small")),
        ("lay", (1, 6), "small", ((1, 4), "small")),
        ("lay", (1, 6), "big", ((4, 6), "big")),
    ]
    assert {merged(oracle, move) for move in moves} == {
        ("lay", (1, 1), 1, "end"),
        ("lay", (1, 6), 1, "end"),
        ("lay", (1, 6), 6, "end"),
    }


def test_who_can_lay_may_not_draw_and_a_drawn_tile_that_fits_is_laid_at_once():
    """R3.2."""
    oracle, _ = lead(2, [[(1, 2), (0, 0)], [(3, 4), (5, 5)]], [(0, 6), (2, 3), (4, 6)])
    assert oracle.moves() == [("draw",)]
    for illegal in [("pass",), ("lead", (3, 4)), ("lay", (3, 4), "small", Place((1, 2), "big"))]:
        with pytest.raises(ValueError, match="illegal move"):
            oracle.play(illegal)
    assert oracle.play(("draw",)) == [] and oracle.turn == 1
    assert oracle.moves() == [("draw",)]
    oracle.play(("draw",))
    assert oracle.moves() == [("lay", (2, 3), "small", ((1, 2), "big"))]
    with pytest.raises(ValueError, match="illegal move"):
        oracle.play(("draw",))
    oracle.play(("lay", (2, 3), "small", ((1, 2), "big")))
    assert oracle.turn == 0 and oracle.boneyard == [(4, 6)]


def test_pass_when_the_boneyard_is_empty():
    """R3.2, R3.3: no block while somebody else can lay. Then the block right after a placement (D1)."""
    oracle, events = lead(2, [[(6, 6), (0, 6), (1, 1)], [(2, 3)]], [])
    assert events == [] and oracle.end_sum() == 12
    assert oracle.turn == 1 and oracle.moves() == [("pass",)]
    assert oracle.play(("pass",)) == []
    assert oracle.turn == 0 and len(oracle.moves()) == 2
    # 12 + 0 counts nothing; ends 6 and 0 fit nobody; 2 against 5: 3 rounds up to 5.
    assert lay(oracle, (0, 6), (6, 6), "line_a") == [Event("blocked", 0, 5, True)]
    assert oracle.end_sum() == 12
    assert oracle.round_over and oracle.round_end == "blocked" and oracle.round_winner == 0
    assert oracle.moves() == [] and oracle.next_opener is None


# ---- exactly 61 ----


def test_overshoot_is_discarded_and_play_goes_on():
    """R6.1: 300 + 10 is over 305."""
    oracle, events = lead(2, [[(4, 6), (0, 0)], [(1, 1)]], [(2, 2)], scores=[300, 0])
    assert events == [Event("placement", 0, 10, False)]
    assert oracle.scores == [300, 0] and oracle.turn == 1 and oracle.round_end is None
    assert oracle.moves() == [("draw",)] and oracle.end_sum() == 10


def test_exact_hit_in_mid_round():
    """R6.2, D5: 300 + 5; nothing is settled."""
    oracle, events = lead(2, [[(1, 4), (0, 0)], [(1, 1)]], [(2, 2)], scores=[300, 0])
    assert events == [Event("placement", 0, 5, True)]
    assert oracle.scores == [305, 0] and oracle.winner == 0 and oracle.round_end == "exact"
    assert oracle.turn == 0 and oracle.moves() == []
    assert not oracle.round_over and oracle.revealed is None and oracle.round_winner is None
    with pytest.raises(ValueError, match="illegal move"):
        oracle.play(("pass",))
    with pytest.raises(ValueError, match="round is not over"):
        oracle.start_round([[(0, 0)], [(1, 1)]], [], 0)


# ---- settlements (`tests/rules` plays its worked ones in engine and oracle) ----


def test_domino_of_three_players():
    """R1.2, R7.2 without partner: seat 1 lays (1, 4) on (1, 1): 2 + 4 = 6, no credit; 9 + 4 = 13 gives 15."""
    oracle, _ = lead(3, [[(1, 1), (4, 5)], [(1, 4)], [(2, 2)]], [(6, 6)])
    assert lay(oracle, (1, 4), (1, 1), "line_b") == [Event("domino", 1, 15, True)]
    assert oracle.scores == [0, 15, 0] and oracle.next_opener == 1 and oracle.round_winner == 1
    assert oracle.turn == 1


def test_next_round():
    """R2.5: who made domino opens; after a block any seat may."""
    oracle, _ = lead(2, [[(5, 5)], [(6, 6)]], [])
    with pytest.raises(ValueError, match="opens the next round"):
        oracle.start_round([[(0, 0)], [(1, 1)]], [], 1)
    oracle.start_round([[(6, 6), (0, 1)], [(5, 5)]], [], 0)
    assert oracle.round_number == 2 and oracle.scores == [20, 0] and not oracle.round_over
    assert oracle.revealed is None and oracle.joins() == [] and oracle.opener == oracle.turn == 0
    assert oracle.play(("lead", (6, 6))) == [Event("blocked", 0, 10, True)]  # 1 against 10: 9 gives 10
    oracle.start_round([[(0, 0)], [(1, 1)]], [], 1)
    assert oracle.round_number == 3 and oracle.turn == 1


def test_block_right_after_the_last_draw():
    """D1: the last boneyard tile fits nowhere and nobody can lay. 1 against 5 + 9 = 14: 13 gives 15."""
    oracle, events = lead(2, [[(6, 6), (0, 1)], [(2, 3)]], [(4, 5)])
    assert events == [] and not oracle.round_over
    assert oracle.moves() == [("draw",)]
    assert oracle.play(("draw",)) == [Event("blocked", 0, 15, True)]
    assert oracle.round_over and oracle.turn == 1 and oracle.moves() == []


def test_no_block_if_the_last_drawn_tile_fits():
    """R3.3: (5, 6) fits the lone (6, 6) on either line side."""
    oracle, _ = lead(2, [[(6, 6), (0, 1)], [(2, 3)]], [(5, 6)])
    assert oracle.play(("draw",)) == [] and not oracle.round_over
    assert [move[3].port for move in oracle.moves()] == ["line_a", "line_b"]


def test_no_block_if_an_unstarted_arm_fits():
    """R4.5: an arm that counts nothing is still a place, so nothing is blocked while a 6 is left."""
    oracle, _ = lead(2, [[(6, 6), (2, 6), (3, 3)], [(1, 6), (4, 6), (5, 5)]], [])
    lay(oracle, (1, 6), (6, 6), "line_a")
    assert lay(oracle, (2, 6), (6, 6), "line_b") == []  # ends 1 + 2; only (4, 6) on an arm is left
    assert not oracle.round_over and [move[3].port for move in oracle.moves()] == ["arm_a", "arm_b"]
    # 1 + 2 + 4 = 7; then nobody can lay: 6 against 10: 4 gives 5.
    assert lay(oracle, (4, 6), (6, 6), "arm_a") == [Event("blocked", 0, 5, True)]


# ---- arguments ----


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((1, [[(0, 0)]], [], 0), "two to four players"),
        ((2, [[(0, 0)], [(0, 0)]], [], 0), "twice"),
        ((2, [[(0, 0)], [(0, 1)]], [(0, 1)], 0), "twice"),
        ((2, [[(0, 0)], [(1, 0)]], [], 0), "low, high"),
        ((2, [[(0, 0)], [(0, 7)]], [], 0), "low, high"),
        ((2, [[(0, 0)], []], [], 0), "at least one tile"),
        ((2, [[(0, 0)], [(0, 1)], [(0, 2)]], [], 0), "every player"),
        ((2, [[(0, 0)], [(0, 1)]], [], 2), "not a seat"),
        ((2, [[(0, 0)], [(0, 1)]], [], 0, [0]), "one score per side"),
        ((2, [[(0, 0)], [(0, 1)]], [], 0, [305, 0]), "already won"),
    ],
)
def test_bad_arguments(args, reason):
    with pytest.raises(ValueError, match=reason):
        Oracle(*args)
