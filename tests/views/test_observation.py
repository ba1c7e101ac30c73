"""The observation: its table, its dtypes and bounds, and every section against a plain computation."""

import numpy as np
import pytest

from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MATCH_OVER, PLAYING, ROUND_OVER
from fiveup_env.views.observation import observation_size, offsets, sections, split, units, upper_bounds
from fiveup_env.views.view import View, Views
from tests.rules.support import PLAYERS, lead, on_end, play_all, positions, scaled
from tests.views.reference import rows, stack, states
from tests.views.view_kernels import masks

SIZES = {2: 385, 3: 436, 4: 453}
SHAPES = {
    "hand": lambda n, sides: (28,),
    "laid": lambda n, sides: (28,),
    "ends": lambda n, sides: (3, 7),
    "spinners": lambda n, sides: (5, 7),
    "end_sum": lambda n, sides: (1,),
    "end_sum_mod_5": lambda n, sides: (5,),
    "credits": lambda n, sides: (91,),
    "order": lambda n, sides: (28,),
    "parent": lambda n, sides: (28,),
    "port": lambda n, sides: (28,),
    "boneyard": lambda n, sides: (2,),
    "recent_seat": lambda n, sides: (8,),
    "recent_action": lambda n, sides: (8,),
    "may_hold": lambda n, sides: (n - 1, 28),
    "hand_sizes": lambda n, sides: (n, 4),
    "drawn": lambda n, sides: (n,),
    "points_to_go": lambda n, sides: (sides,),
    "fine_to_go": lambda n, sides: (sides, 16),
    "opener": lambda n, sides: (n,),
}


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_table(num_players):
    """Names, shapes and sizes; offsets are derived, without gap or overlap."""
    table = sections(num_players)
    sides = 3 if num_players == 3 else 2
    assert {section.name: section.shape for section in table} == {
        name: shape(num_players, sides) for name, shape in SHAPES.items()
    }
    assert len(table) == 19 and all(section.meaning for section in table)
    start = offsets(num_players)
    assert start[0] == 0 and start.tolist()[1:] == np.cumsum([section.size for section in table]).tolist()
    assert observation_size(num_players) == start[-1] == SIZES[num_players]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_units_are_powers_of_two(num_players):
    """So a float32 value is exactly its code times its unit; flags next to a count are plain 0 or 1."""
    unit = units(num_players)
    assert unit.dtype == np.float32 and unit.shape == (SIZES[num_players],)
    assert set(np.frexp(unit)[0]) == {0.5}
    by_name = split(unit, num_players)
    assert (by_name["hand_sizes"] == np.array([1 / 8, 1, 1, 1], np.float32)).all()
    assert by_name["boneyard"].tolist() == [1 / 16, 1]
    bounds = upper_bounds(num_players, codes=True)
    assert bounds.dtype == np.uint8
    assert (upper_bounds(num_players) == bounds * unit).all()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_split_gives_views(num_players):
    """Sections of a batch are views into it, in C order, and cover it."""
    batch = np.arange(3 * SIZES[num_players]).reshape(3, -1)
    by_name = split(batch, num_players)
    assert all(np.shares_memory(batch, part) for part in by_name.values())
    joined = np.concatenate([part.reshape(3, -1) for part in by_name.values()], axis=1)
    assert (joined == batch).all()
    assert by_name["may_hold"].shape == (3, num_players - 1, 28)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_section_from_every_seat(num_players):
    """R1 to R6, D6: all states of random matches, also those of a round that is over, seen by all seats."""
    matches, expected = [], []
    for match, memory in states(num_players, seed=11, matches=scaled(10, 0.2)):
        matches.append(match)
        expected.append(rows(match, memory))
    seats = np.tile(np.arange(num_players), len(matches))
    views = Views(np.repeat(stack(matches), num_players), seats)
    found, _ = views.observe(np.uint8)
    expected = np.concatenate(expected)
    for i in np.flatnonzero((found != expected).any(axis=1)):
        pairs = zip(split(found[i], num_players).items(), split(expected[i], num_players).values(), strict=True)
        for (name, part), wanted in pairs:
            assert part.tolist() == wanted.tolist(), (name, seats[i], str(matches[i // num_players]))
    floats, _ = views.observe()
    assert floats.dtype == np.float32 and found.dtype == np.uint8
    assert (floats == found * units(num_players)).all()
    assert (found <= upper_bounds(num_players, codes=True)).all()
    assert (floats >= 0).all() and (floats <= upper_bounds(num_players)).all()
    assert set(views.games["phase"]) == {PLAYING, ROUND_OVER, MATCH_OVER}


@pytest.mark.parametrize("num_players", PLAYERS)
def test_views_one_by_one(num_players):
    """`View` and a row of `Views` are the same; the seat's mask only when it is to act."""
    for match in positions(num_players, seed=12, matches=scaled(1)):
        views = Views(stack([match] * num_players), range(num_players))
        observed, seat_masks = views.observe()
        for seat in range(num_players):
            view = View.of(match, seat)
            assert view == views[seat] and view.game.tobytes() == views.games[seat].tobytes()
            assert (view.observation() == observed[seat]).all()
            wanted = match.action_mask() if seat == match.turn else np.zeros(121, np.int8)
            assert (seat_masks[seat] == wanted).all() and (view.action_mask() == wanted).all()
            assert view.legal_actions() == (match.legal_actions() if seat == match.turn else [])
            for name, part in view.sections().items():
                assert (part == split(observed[seat], num_players)[name]).all()


def test_extreme_counts_stay_in_bounds():
    """A hand of 27 tiles, scores far below zero, a far target: bounds hold, far scores look alike."""
    tiles = [(low, high) for low in range(7) for high in range(low, 7)]
    match = Match.from_deal([tiles[:-1], tiles[-1:]], [], 0, [-30000, 300], target=6000)
    for seat in (0, 1):
        view = View.of(match, seat)
        values = view.views.observe(np.uint8)[0][0]
        assert (values <= upper_bounds(2, codes=True)).all()
        assert (view.observation() <= upper_bounds(2)).all()
        assert sorted(view.sections()["points_to_go"]) == [255 / 64, 255 / 64]
        assert 27 / 8 in view.sections()["hand_sizes"][:, 0]
        assert not view.sections()["fine_to_go"].any()


def test_numbers_worked_out_on_paper():
    """R5.2, R6.1: at 300 points, 5 more is worth one point and 10 more is worth nothing."""
    hands = [[(2, 6), (0, 0)], [(3, 6), (2, 3), (4, 6), (5, 5)], [(1, 1)], [(0, 1)]]
    match = Match.from_deal(hands, [(3, 3)], 0, scores=[100, 300])
    play_all(match, lead((2, 6)))
    seen = View.of(match, 1).sections()
    points = {int(i) + 28: value * 8 for i, value in enumerate(seen["credits"]) if value}
    # (3, 6) on the 6: 2 + 3 = 5, one point. (2, 3) on the 2: 3 + 6 = 9. (4, 6) on the 6: 2 + 4 = 6.
    assert points == {on_end((3, 6), 6): 1}
    assert (seen["points_to_go"] * 64).tolist() == [1, 41]
    assert seen["fine_to_go"].tolist() == [[1] + [0] * 15, [0] * 16]
    assert seen["opener"].tolist() == [0, 0, 0, 1] and (seen["recent_seat"] * 4).tolist() == [4] + [0] * 7
    assert (seen["end_sum"] * 64).tolist() == [8] and seen["end_sum_mod_5"].tolist() == [0, 0, 0, 1, 0]
    assert (seen["hand_sizes"][:, 0] * 8).tolist() == [4, 1, 1, 1]
    # (4, 4) on the 4 of (2, 4): 2 + 8 = 10, two points at 295, none at 300.
    for score, points in ((295, 2 / 8), (300, 0)):
        match = Match.from_deal([[(2, 4), (0, 0)], [(4, 4), (5, 5)]], [(3, 3)], 0, scores=[0, score])
        play_all(match, lead((2, 4)))
        assert View.of(match, 1).sections()["credits"].max() == points


def test_masks_are_written_in_their_place():
    """The packed stores of the mask touch its 121 bytes and nothing else."""
    for match in positions(4, seed=13, matches=1):
        out = np.full((1, 140), 7, np.int8)
        masks(match._games, out, 9)
        assert (out[0, :9] == 7).all() and (out[0, 130:] == 7).all()
        assert (out[0, 9:130] == match.action_mask()).all()


def test_rows_are_written_in_their_place():
    """Observations of a batch do not spill into each other, whatever the order."""
    games = stack(match.copy() for match in positions(3, seed=14, matches=1))
    seats = np.arange(len(games)) % 3
    together = Views(games, seats).observe(np.uint8)
    backwards = Views(games[::-1], seats[::-1]).observe(np.uint8)
    for forward, backward in zip(together, backwards, strict=True):
        assert (forward == backward[::-1]).all()


def test_an_empty_batch():
    observed, seat_masks = Views(np.zeros(0, Match(2, seed=0)._games.dtype), []).observe()
    assert observed.shape[0] == seat_masks.shape[0] == 0
