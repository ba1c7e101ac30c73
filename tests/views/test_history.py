"""The tensor of public events, and the global state."""

import random

import numpy as np
import pytest

from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MAX_HISTORY
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.observation import observation_size, state_size, state_units
from fiveup_env.views.view import Views
from tests.rules.support import PLAYERS, any_choice, lead, on_end, play_all, scaled
from tests.views.reference import rows, stack, states
from tests.views.view_kernels import global_states

MATCHES = scaled(4, 0.25)


def expected_history(memory, me, players, length):
    events = [
        ((seat - me) % players, action, total)
        for (seat, action), total in zip(memory.actions, memory.sums, strict=True)
    ][-length:]
    return events + [(-1, -1, -1)] * (length - len(events)), [1] * len(events) + [0] * (length - len(events))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_history(num_players):
    """R5.1, D6: relative seat, action, end sum; the latest events, oldest first, the rest padded with -1."""
    matches, wanted = [], {1: [], 7: [], MAX_HISTORY: []}
    for match, memory in states(num_players, seed=21, matches=MATCHES):
        matches.append(match)
        for length, expected in wanted.items():
            for seat in range(num_players):
                expected.append(expected_history(memory, seat, num_players, length))
    seats = np.tile(np.arange(num_players), len(matches))
    views = Views(np.repeat(stack(matches), num_players), seats)
    for length, expected in wanted.items():
        events, mask = views.history(length)
        assert events.dtype == np.int16 and events.shape == (len(views), length, 3)
        assert mask.dtype == np.int8 and mask.shape == (len(views), length)
        assert (events == np.array([rows for rows, _ in expected])).all()
        assert (mask == np.array([flags for _, flags in expected])).all()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_sums_by_replay(num_players):
    """R4.4, R4.5, R5.1: the third column is what `Match.layout` says when the round is played again."""
    rng = random.Random(num_players)
    match = Match(num_players, seed=5)
    start = (match.hands, match.boneyard, match.opener)
    rounds = 0
    while rounds < scaled(25, 0.2) and match.winner is None:
        events, mask = Views(match._games, [match.turn]).history(MAX_HISTORY)
        replay = Match.from_deal(*start)
        for (seat, action), event in zip(match.history, events[0][mask[0] == 1], strict=True):
            assert replay.turn == seat
            replay.play(action)
            assert event.tolist() == [(seat - match.turn) % num_players, action, replay.layout.end_sum]
        number = match.round_number
        match.play(any_choice(rng, match, match.legal_actions(), 0.3))
        if match.round_number != number:
            start = (match.hands, match.boneyard, match.opener)
            rounds += 1


def test_history_worked_out_on_paper():
    """R5.1, D6: 1 + 4; two draws of which nothing is seen; (1, 1) on the 1: 2 + 4."""
    match = Match.from_deal([[(1, 4), (0, 0)], [(2, 3)]], [(5, 5), (1, 1), (6, 6)], 0)
    play_all(match, lead((1, 4)), DRAW, DRAW, on_end((1, 1), 1))
    for seat in (0, 1):
        events, mask = Views(match._games, [seat]).history(6)
        other = 1 - seat
        assert events[0].tolist() == [
            [seat, lead((1, 4)), 5],
            [other, DRAW, 5],
            [other, DRAW, 5],
            [other, on_end((1, 1), 1), 6],
            [-1, -1, -1],
            [-1, -1, -1],
        ]
        assert mask[0].tolist() == [1, 1, 1, 1, 0, 0]
    short, mask = Views(match._games, [0]).history(2)
    assert short[0].tolist() == [[1, DRAW, 5], [1, on_end((1, 1), 1), 6]] and mask.tolist() == [[1, 1]]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_global_state(num_players):
    """All hands by relative seat, places in the drawing order, then what the seat to act observes."""
    matches, wanted = [], []
    for match, memory in states(num_players, seed=22, matches=MATCHES):
        me = match.turn
        hands = [[tile in match.hands[(me + k) % num_players] for tile in TILES] for k in range(num_players)]
        order = [match.boneyard.index(tile) + 1 if tile in match.boneyard else 0 for tile in TILES]
        matches.append(match)
        wanted.append(np.concatenate([np.ravel(hands), order, rows(match, memory)[me]]))
    size = state_size(num_players)
    assert size == 28 * (num_players + 1) + observation_size(num_players)
    unit = state_units(num_players)
    assert unit.shape == (size,) and unit.dtype == np.float32
    out = np.full((len(matches), size), -1, np.float32)
    global_states(stack(matches), out)
    assert (out == np.array(wanted) * unit).all()
