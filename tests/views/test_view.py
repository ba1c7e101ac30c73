"""`View`: what it says, what it hides, what it knows about other hands."""

import numpy as np
import pytest

from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import NO_TILE
from fiveup_env.views.view import View
from tests.rules.support import PLAYERS, lead, on_end, play_all, positions, scaled
from tests.views.reference import may_hold, states


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_view_says_what_is_public(num_players):
    """D6: hand and boneyard sizes, scores, layout, history; the own hand and nobody else's (R2.2)."""
    for match in positions(num_players, seed=41, matches=scaled(2, 0.5)):
        for seat in range(num_players):
            view = View.of(match, seat)
            assert view.hand == match.hands[seat] and view.seat == seat
            assert view.hand_sizes == tuple(len(hand) for hand in match.hands)
            assert view.boneyard_size == len(match.boneyard)
            for name in ("num_players", "turn", "scores", "layout", "history", "round_number", "last_round"):
                assert getattr(view, name) == getattr(match, name), name
            game = view.game
            assert [bool(hand) for hand in game.hands] == [who == seat and bool(view.hand) for who in range(4)]
            assert game.seed == 0 and (game.boneyard == NO_TILE).all()
            assert " ".join(f"[{low}|{high}]" for low, high in view.hand) in repr(view)
        assert View.of(match) == View.of(match, match.turn)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_what_a_seat_may_hold(num_players):
    """R3.2: the bound as a plain computation gives it; the true hand is always within it."""
    bounded = 0
    for match, memory in states(num_players, seed=42, matches=scaled(5, 0.4)):
        for seat in range(num_players):
            view = View.of(match, seat)
            for other in range(num_players):
                if other == seat:
                    continue
                held = set(view.may_hold(other))
                assert set(match.hands[other]) <= held
                assert held == may_hold(match, memory, seat, other)
                unseen = memory.tiles - set(match.layout.tiles) - set(match.hands[seat])
                bounded += held < unseen
    assert bounded > scaled(100, 0.1)


def test_what_draws_and_passes_reveal():
    """R3.2: seat 1 drew twice on 1 and 4: it holds neither, but for a tile that it has just drawn."""
    hands = [[(1, 4), (0, 0), (3, 4)], [(2, 3), (5, 5)]]
    match = Match.from_deal(hands, [(2, 6), (1, 6), (1, 2)], 0)
    view = View.of(match, 0)
    everything = {(2, 3), (5, 5), (2, 6), (1, 6), (1, 2)}
    assert set(view.may_hold(1)) == everything
    play_all(match, lead((1, 4)), DRAW)
    assert set(View.of(match, 0).may_hold(1)) == everything  # the tile just drawn may be any
    play_all(match, DRAW)
    assert set(View.of(match, 0).may_hold(1)) == everything
    play_all(match, on_end((1, 6), 1))
    # Nothing that it held or drew before (1, 6) shows a 1 or a 4.
    assert set(View.of(match, 0).may_hold(1)) == {(2, 3), (5, 5), (2, 6)}
    assert set(View.of(match, 1).may_hold(0)) == {(0, 0), (3, 4), (1, 2)}  # seat 0 has never drawn


def test_what_passes_add_up_to():
    """R3.2: two passes on different ends; nothing is drawn in between, so both count."""
    hands = [[(1, 4), (4, 5), (2, 5), (0, 0)], [(3, 3), (0, 6)]]
    match = Match.from_deal(hands, [], 0)
    play_all(match, lead((1, 4)), PASS, on_end((4, 5), 4), PASS)
    seen_by_0 = View.of(match, 0)
    assert match.game.void[1] == 1 << 1 | 1 << 4 | 1 << 5
    assert set(seen_by_0.may_hold(1)) == {(3, 3), (0, 6)}


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_no_such_seat(num_players, beyond):
    seat = beyond if beyond < 0 else num_players + beyond
    with pytest.raises(ValueError, match=rf"seat must be from 0 to {num_players - 1}, not {seat}"):
        View.of(Match(num_players, seed=0), seat)


def test_equality():
    """The same seat of the same public state; other seats, matches and types differ."""
    match = Match(3, seed=1)
    assert View.of(match, 0) == View.of(match.copy(), 0) != View.of(match, 1)
    assert View.of(match, 0) != View.of(Match(3, seed=2), 0) and View.of(match, 0) != match
    with pytest.raises(TypeError, match="unhashable"):
        hash(View.of(match, 0))


def test_a_view_is_a_copy():
    """Neither the match moves with the view, nor the view with the match."""
    match = Match(2, seed=1)
    before = match.copy()
    view = View.of(match)
    mask = view.action_mask()
    mask[:] = 0
    view.game.scores[0] = 50
    view.observation()[:] = 3
    assert match == before and View.of(match) != view
    match.play(match.legal_actions()[0])
    assert view.layout.tiles == () and view.action_mask().sum() == 5
    assert np.array_equal(view.views.games, view.views.games)
