"""R3: joining equal pips, forced play, drawing, passing, and when a round is blocked."""

import pytest

from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import IllegalActionError, Match
from tests.rules.support import blocked, lead, on_end, on_spinner, placement, play_all


def test_a_half_goes_on_a_place_of_its_pip():
    """R3.1: on 1 and 4 go the tiles that show a 1 or a 4, by that half."""
    match = Match.from_deal([[(1, 4), (0, 0)], [(4, 4), (1, 1), (4, 5), (2, 3), (1, 6)]], [(6, 6)], 0)
    play_all(match, lead((1, 4)))
    fitting = [on_end((4, 4), 4), on_end((1, 1), 1), on_end((4, 5), 4), on_end((1, 6), 1)]
    assert match.legal_actions() == sorted(fitting)
    with pytest.raises(IllegalActionError):
        match.play(on_end((2, 3), 2))
    match.play(on_end((4, 5), 4))
    (join,) = match.layout.joins
    assert join == (((1, 4), "big"), ((4, 5), "small"))


@pytest.mark.parametrize(
    ("opening", "tile", "pip", "events"),
    [
        ((1, 4), (4, 4), 4, ()),  # a double: 1 + 8 = 9
        ((3, 6), (6, 6), 6, (placement(1, 15),)),  # a scoring double: 3 + 12
        ((1, 4), (4, 6), 4, ()),  # 1 + 6 = 7
        ((1, 2), (2, 4), 2, (placement(1, 5),)),  # scoring: 1 + 4
    ],
)
def test_a_placement_ends_the_turn(opening, tile, pip, events):
    """R3.1: no extra turn for a double or for scoring."""
    match = Match.from_deal([[opening, (0, 0)], [tile, (0, 5)]], [(5, 5)], 0)
    play_all(match, lead(opening))
    assert match.turn == 1
    assert match.play(on_end(tile, pip)) == events and match.turn == 0


def test_who_can_lay_may_not_draw_or_pass():
    """R3.2: seat 1 holds one tile that fits; it is all it may do."""
    match = Match.from_deal([[(1, 4), (0, 0)], [(4, 5), (2, 3), (2, 2)]], [(1, 1)], 0)
    play_all(match, lead((1, 4)))
    assert match.legal_actions() == [on_end((4, 5), 4)]
    for action in (DRAW, PASS):
        with pytest.raises(IllegalActionError, match=r"player_1 may not (draw a tile|pass)"):
            match.play(action)


def test_drawing_stops_at_the_first_tile_that_fits():
    """R3.2: it is laid at once, its places are the player's choice, older tiles and draws are not."""
    match = Match.from_deal([[(1, 2), (0, 0)], [(2, 5), (0, 3)]], [(3, 4), (1, 5), (6, 6)], 0)
    play_all(match, lead((1, 2)), on_end((2, 5), 2))  # ends 1 and 5; seat 0 has only (0, 0)
    assert match.legal_actions() == [DRAW]
    assert match.play(DRAW) == () and match.turn == 0 and (3, 4) in match.hands[0]
    assert match.legal_actions() == [DRAW]
    assert match.play(DRAW) == () and match.turn == 0 and (1, 5) in match.hands[0]
    assert match.legal_actions() == sorted([on_end((1, 5), 1), on_end((1, 5), 5)])
    with pytest.raises(IllegalActionError):
        match.play(DRAW)
    assert match.play(on_end((1, 5), 1)) == (placement(0, 10),)  # 5 + 5
    assert match.turn == 1 and match.boneyard == ((6, 6),)


@pytest.mark.parametrize("num_players", [3, 4])
def test_pass_when_the_boneyard_is_empty(num_players):
    """R3.2: a seat that cannot lay passes, one after the other, as long as somebody can."""
    others = [[(2, 3)], [(1, 3)], [(3, 4)]][: num_players - 1]
    match = Match.from_deal([[(6, 6), (0, 6), (1, 1)], *others], [], 0)
    play_all(match, lead((6, 6)))
    for seat in range(1, num_players):
        assert match.turn == seat and match.legal_actions() == [PASS]
        for action in (DRAW, on_spinner((0, 6), 6)):
            with pytest.raises(IllegalActionError):
                match.play(action)
        assert match.play(PASS) == ()
    assert match.turn == 0 and match.legal_actions() == [on_spinner((0, 6), 6)]
    assert match.history == ((0, lead((6, 6))), *((seat, PASS) for seat in range(1, num_players)))


def test_pass_after_drawing_the_last_tile():
    """R3.2: boneyard empty after the draw and still nothing to lay: pass. Seat 0 can still lay (0, 6)."""
    match = Match.from_deal([[(6, 6), (0, 6), (1, 1)], [(2, 3)]], [(4, 5)], 0)
    play_all(match, lead((6, 6)))
    assert match.legal_actions() == [DRAW] and match.play(DRAW) == ()
    assert match.turn == 1 and match.legal_actions() == [PASS]
    assert match.play(PASS) == () and match.turn == 0


def test_no_block_while_the_boneyard_holds_tiles():
    """R3.3: after (6, 6) nobody can lay, but a tile is left: seat 1 draws."""
    match = Match.from_deal([[(6, 6), (1, 1)], [(2, 3)]], [(4, 5), (5, 6)], 0)
    assert play_all(match, lead((6, 6))) == () and match.round_number == 1
    assert match.legal_actions() == [DRAW]


def test_no_block_while_anybody_can_lay():
    """R3.3: only seat 2 of three can lay; after its tile nobody can."""
    match = Match.from_deal([[(6, 6), (1, 1)], [(2, 3)], [(5, 6), (0, 4)]], [], 0)
    assert play_all(match, lead((6, 6))) == () and match.turn == 1
    assert play_all(match, PASS) == () and match.turn == 2
    # Ends 6 (the spinner) and 5: sum 12 + 5 = 17. Hands 2, 5, 4: seat 0 gets 3 + 2 = 5, seat 2 gets 1, so 0.
    assert play_all(match, on_spinner((5, 6), 6)) == (blocked(0, 5),)
    assert match.last_round["end"] == "blocked" and match.scores == (5, 0, 0)
