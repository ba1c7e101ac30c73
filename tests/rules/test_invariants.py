"""What must hold in every state of every match, recomputed from the tiles and the graph in plain Python."""

import random

import numpy as np
import pytest

from fiveup_env.rules.actions import DRAW, PASS, Lay, encode
from fiveup_env.rules.layout import is_double
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import ABSENT, ALONE, MATCH_OVER, MAX_HISTORY, PLAYING, TERMINAL, TWO_ARMS
from fiveup_env.rules.tiles import TILES, tile_index, tile_set
from tests.rules.support import FULL_SET, PLAYERS, any_choice, lead, positions, scaled, uneven_deal


def check_tiles(match, in_play):
    """R1.1, R2.1: every tile once: in a hand, on the table or still to be drawn."""
    game = match.game
    everywhere = [tile for hand in match.hands for tile in hand] + list(match.layout.tiles) + list(match.boneyard)
    assert len(everywhere) == len(set(everywhere)) and set(everywhere) == set(in_play)
    assert game.in_play == tile_set(in_play)
    assert game.table == tile_set(match.layout.tiles)
    sizes = [len(hand) for hand in match.hands]
    assert game.hand_sizes.tolist() == sizes + [0] * (4 - match.num_players)
    drawn = [sum(1 for who, action in match.history if (who, action) == (seat, DRAW)) for seat in range(4)]
    assert game.drawn.tolist() == drawn
    assert match.winner is not None or min(sizes) > 0  # who has no tile has gone out


def check_scores(match):
    """R1.1, R5.2, R6.1: multiples of 5, never above the target; 305 exactly with a winner (R6.2, R9.1)."""
    assert all(score % 5 == 0 and score <= 305 for score in match.scores)
    assert [side for side, score in enumerate(match.scores) if score == 305] == (
        [] if match.winner is None else [match.winner]
    )
    assert match.game.phase == (PLAYING if match.winner is None else MATCH_OVER)
    assert 0 <= match.turn < match.num_players and match.game.num_history <= MAX_HISTORY


def brute_force(match):
    """R2.4, R3.1, R3.2, D7: the legal actions by trying every tile on every free place."""
    if match.winner is not None:
        return set()
    hand, layout = match.hands[match.turn], match.layout
    if not layout.tiles:
        return {lead(tile) for tile in hand}
    lays = {
        encode(Lay(tile, place.pip, "spinner" if is_double(place.tile) else "end"))
        for place in layout.free_places
        for tile in hand
        if place.pip in tile
    }
    return lays or {DRAW if match.boneyard else PASS}


def check_mask(match):
    mask = match.action_mask()
    assert set(np.unique(mask)) <= {0, 1}
    assert set(match.legal_actions()) == set(np.flatnonzero(mask)) == brute_force(match)
    assert mask.any() == (match.winner is None)


def check_ends(match):
    """R4.4, R4.5, R5.1, D7: the running sums and sets against a recount of the graph."""
    game, layout = match.game, match.layout
    assert game.end_sum == layout.end_sum == sum(end.value for end in layout.contributions)
    assert len(set(layout.free_places)) == len(layout.free_places)
    singles = [place for place in layout.free_places if not is_double(place.tile)]
    doubles = [place for place in layout.free_places if is_double(place.tile)]
    assert game.end_pips == sum(1 << pip for pip in {place.pip for place in singles})
    assert game.spinner_pips == sum(1 << pip for pip in {place.pip for place in doubles})
    for pip in range(7):
        showing = {layout.tiles.index(place.tile) for place in singles if place.pip == pip}
        assert game.ends[pip] == sum(1 << index for index in showing)
        assert game.spinners[pip] == spinner_state(layout, (pip, pip))


def spinner_state(layout, double):
    """R4.1 to R4.5: how far the double is built around."""
    if double not in layout.tiles:
        return ABSENT
    taken = {end.port for join in layout.joins for end in join if end.tile == double}
    lines, arms = len(taken & {"line_a", "line_b"}), len(taken & {"arm_a", "arm_b"})
    assert arms == 0 or lines == 2  # R4.3
    return (ALONE, TERMINAL, TWO_ARMS)[lines] + arms


def check_graph(match):
    """R3.1: a tree in which every tile but the first lies on an earlier one, equal pips at each join."""
    game, layout = match.game, match.layout
    assert game.num_laid == len(layout.tiles)
    assert len(layout.joins) == max(0, len(layout.tiles) - 1)
    used = [end for join in layout.joins for end in join]
    assert len(set(used)) == len(used)
    for index, tile in enumerate(layout.tiles):
        assert game.laid[index] == tile_index(tile) and game.order[tile_index(tile)] == index + 1
        if index:
            parent, child = layout.joins[index - 1]
            assert child.tile == tile and layout.tiles.index(parent.tile) < index
            shown = [end.tile[1] if end.port == "big" else end.tile[0] for end in (parent, child)]
            assert shown[0] == shown[1]
    for index, tile in enumerate(TILES):
        if tile not in layout.tiles:
            assert game.order[index] == game.parent[index] == game.port[index] == 0


def check(match, in_play):
    check_tiles(match, in_play)
    check_scores(match)
    check_mask(match)
    check_ends(match)
    check_graph(match)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_invariants_of_the_real_game(num_players):
    """R1.1 to R6.2, D7: every state of random matches, before every ply and at the end."""
    for match in positions(num_players, seed=1, matches=scaled(16, 0.2)):
        check(match, FULL_SET)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_invariants_of_uneven_deals(num_players):
    """The same for first rounds of other hands from a part of the set, as `from_deal` takes them."""
    rng = random.Random(num_players)
    for _ in range(scaled(40, 0.1)):
        match = uneven_deal(rng, num_players)
        in_play = {tile for hand in (*match.hands, match.boneyard) for tile in hand}
        while match.winner is None and match.round_number == 1:
            check(match, in_play)
            match.play(any_choice(rng, match, match.legal_actions(), 0.3))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_long_rounds_fit_the_record(num_players):
    """R3.2: small hands and a boneyard of all the rest, played so that much is drawn and passed.

    No round is longer than 28 placements, 24 draws by four hands of one tile, and three passes after each placement
    but the last: 28 + 24 + 81 = 133 actions, while the history of a record has room for 136.
    """
    rng, longest = random.Random(0), 0
    for _ in range(scaled(150, 0.1)):
        tiles = rng.sample(TILES, 28)
        hands = [[tiles.pop()] for _ in range(num_players - 1)] + [[tiles.pop(), tiles.pop()]]
        match = Match.from_deal(hands, tiles, num_players - 1)
        while match.winner is None and match.round_number == 1:
            longest = max(longest, len(match.history))
            # Play the lowest id, so that much stays in the hands.
            match.play(match.legal_actions()[0])
    assert scaled(20, 0.4) < longest < MAX_HISTORY
