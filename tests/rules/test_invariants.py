"""Invariants of every state of every match, and the longest rounds that fit the record.

The invariants are recomputed from the tiles and the graph (`tests.soak.invariants`); `Match.layout` recounts the same.
"""

import random

import numpy as np
import pytest

from fiveup_env.rules.layout import is_double
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MATCH_OVER, MAX_HISTORY, PLAYING, TERMINAL
from fiveup_env.rules.tiles import TILES
from tests.rules.support import PLAYERS, any_choice, positions, scaled, uneven_deal
from tests.soak.invariants import INVARIANTS, all_broken


def check_layout(match):
    """R3.1, R4.3 to R4.5, R5.1: the graph that `Match.layout` shows, against the running sums and sets."""
    game, layout = match.game, match.layout
    assert game.end_sum == layout.end_sum == sum(end.value for end in layout.contributions)
    assert len(layout.joins) == max(0, len(layout.tiles) - 1)
    assert [TILES[tile] for tile in game.laid[: int(game.num_laid)]] == list(layout.tiles)
    assert len(set(layout.free_places)) == len(layout.free_places)
    for double, pips in ((False, game.end_pips), (True, game.spinner_pips)):
        assert pips == sum(1 << pip for pip in {p.pip for p in layout.free_places if is_double(p.tile) == double})
    for pip in range(7):
        terminal = [end for end in layout.contributions if end.tile == (pip, pip)]
        assert (len(terminal) == 1) == (0 < game.spinners[pip] <= TERMINAL)


def check(matches):
    """Check copies of states: R1.1 to R6.2, D7."""
    broken = all_broken(np.concatenate([match._games for match in matches]))
    assert not broken.any(), [(INVARIANTS[what], match) for what, match in zip(broken, matches, strict=True) if what]
    for match in matches:
        check_layout(match)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_invariants_of_the_real_game(num_players):
    """R1.1 to R6.2, D7: every state of random matches, before every ply and at the end."""
    states = [match.copy() for match in positions(num_players, seed=1, matches=scaled(30, 0.1))]
    phases = [match.game.phase for match in states]
    assert MATCH_OVER in phases and phases.count(PLAYING) > scaled(1000)
    check(states)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_invariants_of_uneven_deals(num_players):
    """R2.1: the same for first rounds of other hands from a part of the set; tiles out of play are in no place."""
    rng, states = random.Random(num_players), []
    for _ in range(scaled(40, 0.1)):
        match = uneven_deal(rng, num_players)
        while match.winner is None and match.round_number == 1:
            states.append(match.copy())
            match.play(any_choice(rng, match, match.legal_actions(), 0.3))
    check(states)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_long_rounds_fit_the_record(num_players):
    """R3.2: small hands and a large boneyard, played so that there are many draws and passes.

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
            match.play(match.legal_actions()[0])  # the lowest id keeps many tiles in the hands
    assert scaled(20, 0.4) < longest < MAX_HISTORY
