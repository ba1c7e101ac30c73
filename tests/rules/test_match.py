"""`Match` as a value: copies, pickles, equality; what it says; what it refuses."""

import copy
import pickle
import random

import numpy as np
import pytest

from fiveup_env.rules.actions import DRAW, NUM_ACTIONS, PASS, describe
from fiveup_env.rules.match import Event, IllegalActionError, Match
from fiveup_env.rules.record import GAME, Variant, new_games
from tests.rules.support import (
    PLAYERS,
    any_choice,
    blocked,
    domino,
    lead,
    on_end,
    on_spinner,
    play_all,
    positions,
    record_bytes,
    scaled,
)

# ---- value semantics ----


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize(
    "duplicate",
    [Match.copy, copy.copy, copy.deepcopy, lambda match: pickle.loads(pickle.dumps(match))],
    ids=["copy", "copy.copy", "deepcopy", "pickle"],
)
def test_duplicates_at_every_ply(num_players, duplicate):
    """Equal to the last bit, independent, with the same future: hands, later deals, lots, masks, events."""
    for match in positions(num_players, seed=5, matches=scaled(4, 0.25)):
        other = duplicate(match)
        assert other is not match and type(other) is Match
        assert other == match and record_bytes(other) == record_bytes(match)
        assert (other.legal_actions(), other.events, other.history) == (
            match.legal_actions(),
            match.events,
            match.history,
        )
        before = record_bytes(match)
        if match.winner is None:
            action = match.legal_actions()[-1]
            events = other.play(action)
            assert record_bytes(match) == before and other != match
            follower = Match.of(match.game)
            assert follower.play(action) == events and follower == other


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_duplicate_deals_the_same_rounds(num_players):
    """A copy taken in the first round plays the whole match out as the original does."""
    rng = random.Random(3)
    match = Match(num_players, seed=17, scores=[250] * (3 if num_players == 3 else 2))
    for _ in range(7):
        match.play(any_choice(rng, match, match.legal_actions(), 0))
    twins = [pickle.loads(pickle.dumps(match)), copy.deepcopy(match)]
    while match.winner is None:
        action = any_choice(rng, match, match.legal_actions(), 0.2)
        events = match.play(action)
        assert all(twin.play(action) == events and twin == match for twin in twins)
    assert match.round_number > 1


def test_pickles_are_small_and_checked():
    """A pickle holds one record; one of another version is refused by its size, not misread."""
    match = Match(4, seed=1)
    assert len(pickle.dumps(match)) < GAME.itemsize + 200
    rebuild, (data,) = match.__reduce__()
    with pytest.raises(ValueError, match=f"holds {len(data) - 1} bytes, this version needs {len(data)}"):
        rebuild(data[:-1])


def test_equality():
    """By all that decides what follows; other types are simply different; no hash, as matches change."""
    assert Match(4, seed=1) == Match(4, seed=1)
    assert Match(4, seed=1) != Match(4, seed=2)
    assert Match(4, seed=1) != Match(4, seed=1, scores=[5, 0])
    assert Match(4, seed=1) != Match(4, seed=1, target=62)
    assert Match(4, seed=1) != "a match" and Match(2, seed=1) != 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Match(2, seed=1))


def test_of_copies_a_record():
    games = new_games(3, Variant(3))
    games[1] = Match(3, seed=4).game
    match = Match.of(games[1])
    assert match == Match(3, seed=4)
    match.play(match.legal_actions()[0])
    assert games[1].num_laid == 0


def test_seeds():
    """None draws one; every 64-bit seed is taken as it is."""
    assert Match(2).seed != Match(2).seed
    assert Match(2, seed=2**64 - 1).seed == 2**64 - 1
    assert Match(2, seed=np.uint64(7)) == Match(2, seed=7)


# ---- refused actions ----

NO_ACTIONS = [
    *(True, False, np.True_, 0.0, 1.0, np.float32(3), float("nan"), None, "0", "draw", b"1", (), [5]),
    *(-1, NUM_ACTIONS, 2**70, -(2**70), np.int64(-1), np.uint8(200), np.array([5]), np.array(True), object()),
]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=lambda action: f"{type(action).__name__} {action}"[:24])
def test_what_is_no_action(action):
    """The message names the value and what would be right; the match stays bit-identical."""
    match = Match(3, seed=8)
    before = record_bytes(match)
    with pytest.raises(ValueError, match=r"^an action is an integer from 0 to 120, not ") as caught:
        match.play(action)
    assert not isinstance(caught.value, IllegalActionError)
    assert record_bytes(match) == before


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64, np.intp, lambda x: np.array(x), int])
def test_integers_of_any_kind_are_actions(kind):
    match = Match(2, seed=8)
    plain = match.copy()
    action = match.legal_actions()[0]
    assert match.play(kind(action)) == plain.play(action) and match == plain


@pytest.mark.parametrize("num_players", PLAYERS)
def test_masked_actions(num_players):
    """R3.2: at every ply, every action outside the mask is refused and changes nothing."""
    rng = random.Random(num_players)
    for match in positions(num_players, seed=6, matches=scaled(2, 0.5)):
        legal = set(match.legal_actions())
        before = record_bytes(match)
        illegal = [action for action in range(NUM_ACTIONS) if action not in legal]
        for action in rng.sample(illegal, 3) + [a for a in (DRAW, PASS) if a in illegal]:
            with pytest.raises(IllegalActionError) as caught:
                match.play(action)
            assert describe(action) in str(caught.value)
            assert match.winner is not None or f"player_{match.turn} may not" in str(caught.value)
        assert record_bytes(match) == before


def test_the_message_lists_what_is_legal():
    match = Match.from_deal([[(1, 4), (0, 0)], [(4, 5), (2, 3)]], [(1, 1)], 0)
    match.play(lead((1, 4)))
    message = r"player_1 may not draw a tile \(action 119\); legal: \d+ \(lay \[4\|5\] by its 4 on an end\)$"
    with pytest.raises(IllegalActionError, match=message):
        match.play(DRAW)


# ---- refused matches ----

BAD_OPTIONS = [
    *({"num_players": value} for value in (1, 5, 0, -2, True, 2.0, "2", None, np.True_, float("nan"))),
    *({"hand_size": value} for value in (0, 8, -1, 5.0, "5", None, True)),  # 4 * 8 tiles are more than 28
    *({"target": value} for value in (0, 6001, 61.0, None, False)),
    *({"max_pip": value} for value in (0, 7, 6.0, "6", True)),
]


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_bad_variants(options):
    (name,) = options
    for make in (Variant, Match):
        with pytest.raises(ValueError, match=rf"{name} must be an integer from \d+ to \d+, not |do not fit into"):
            make(**options)


def test_a_set_too_small_for_the_hands():
    with pytest.raises(ValueError, match="4 hands of 3 tiles do not fit into the 10 tiles of a double-3 set"):
        Variant(4, hand_size=3, max_pip=3)
    assert Variant(2, hand_size=5, max_pip=3).num_tiles == 10


def test_variants_take_numpy_integers():
    variant = Variant(np.int64(3), np.uint8(4), np.int16(20), np.int32(5))
    assert variant == Variant(3, 4, 20, 5) and type(variant.hand_size) is int
    assert variant.num_sides == 3 and variant.num_tiles == 21


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True, np.float64(1), [1]], ids=str)
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match=r"a seed is an integer from 0 to 2\*\*64 - 1, not "):
        Match(2, seed=seed)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        *(([score, 0], "a score is a multiple of 5 below 305") for score in (305, 310, 1, -3, -30005, 10**30)),
        *((s, "scores are 2 integers") for s in ([0], [0, 0, 0], 5, "00", [None, 0], [0.5, 0], [float("inf"), 0])),
    ],
    ids=str,
)
def test_bad_scores(scores, message):
    for make in (lambda: Match(2, seed=0, scores=scores), lambda: deal(scores=scores)):
        with pytest.raises(ValueError, match=message):
            make()


def deal(hands=((((0, 0)),), ((1, 1),)), boneyard=((2, 2),), opener=0, **rest):
    return Match.from_deal(hands, boneyard, opener, **rest)


@pytest.mark.parametrize(
    ("hands", "boneyard", "message"),
    [
        ([[(0, 0)], [(0, 0)]], [], r"tile \(0, 0\) is named twice"),
        ([[(0, 1)], [(0, 2), (1, 0)]], [], r"tile \(1, 0\) is named twice"),
        ([[(0, 0)], [(1, 1)]], [(1, 1)], r"tile \(1, 1\) is named twice"),
        ([[(0, 0)], []], [], "every hand needs at least one tile"),
        ([], [], "num_players must be an integer from 2 to 4, not 0"),
        ([[(0, 0)]] * 5, [], "num_players must be an integer from 2 to 4, not 5"),
        ([[(0, 0)], [(0, 7)]], [], r"a tile has pip counts from 0 to 6, not \(0, 7\)"),
        ([[(0, 0)], [(-1, 1)]], [], r"a tile has pip counts from 0 to 6, not \(-1, 1\)"),
        ([[(0, 0)], [(1, 2, 3)]], [], r"a tile is a pair of pip counts such as \(1, 4\), not \(1, 2, 3\)"),
        ([[(0, 0)], [(1.5, 2)]], [], r"a tile is a pair of pip counts"),
        ([[(0, 0)], ["12"]], [], r"a tile is a pair of pip counts"),
        ([[(0, 0)], [12]], [], r"a tile is a pair of pip counts"),
        ([(0, 0), (1, 1)], [], r"a tile is a pair of pip counts .* not 0"),
        (5, [], "hands are one list of tiles per seat"),
        ([[(0, 0)], [(1, 1)]], 5, "the boneyard is a list of tiles"),
    ],
)
def test_bad_deals(hands, boneyard, message):
    """R1.1, R2.1: every tile at most once, and only tiles of the set."""
    with pytest.raises(ValueError, match=message):
        deal(hands, boneyard)


@pytest.mark.parametrize("opener", [-1, 2, 1.0, None, "0", True, np.True_], ids=str)
def test_bad_openers(opener):
    with pytest.raises(ValueError, match="opener must be a seat from 0 to 1, not "):
        deal(opener=opener)


def test_tiles_of_a_smaller_set():
    with pytest.raises(ValueError, match=r"a double-3 set has no tile \(4, 5\)"):
        deal([[(0, 0)], [(4, 5)]], hand_size=2, max_pip=3)


def test_a_deal_takes_iterables_of_pairs_in_any_order():
    """Halves in either order, iterators, NumPy integers; the boneyard keeps its order."""
    match = deal(iter([iter([(4, 1)]), {(np.int8(6), np.int8(0))}]), iter([[3, 2], (0, 0)]), np.int64(1))
    assert match.hands == (((1, 4),), ((0, 6),)) and match.boneyard == ((2, 3), (0, 0)) and match.opener == 1


# ---- what it says ----


def test_repr_and_str():
    """Display points, the layout, every hand, and who is to act."""
    hands = [[(1, 4), (0, 0)], [(4, 4), (3, 5)], [(4, 6), (2, 2)], [(5, 6), (3, 3)]]
    match = Match.from_deal(hands, [(1, 1)], 0, scores=[100, -15])
    play_all(match, lead((1, 4)), on_end((4, 4), 4), on_spinner((4, 6), 4))
    assert repr(match) == "<Match 4 players, 21 : -3, round 1, player_3 to act>"
    assert str(match).splitlines() == [
        "Match 4 players, 21 : -3, round 1, player_3 to act",
        "  [1|4]-[4|4]-[4|6]",
        "  ends sum to 7, boneyard 1",
        "  player_0  [0|0]",
        "  player_1  [3|5]",
        "  player_2  [2|2]",
        "  player_3* [3|3] [5|6]",
    ]
    over = Match.from_deal([[(1, 4), (0, 0)], [(4, 4)]], [(1, 1)], 0, scores=[300, 0])
    over.play(lead((1, 4)))
    assert repr(over) == "<Match 2 players, 61 : 0, round 1, side 0 has won>"
    assert "(empty)" in str(Match(2, seed=0))


def test_history():
    """Seat and action of this round: a draw keeps the turn, every other action passes it on."""
    match = Match.from_deal([[(6, 6), (0, 6), (1, 1)], [(2, 3)], [(3, 4)]], [(4, 5)], 0)
    assert match.history == ()
    play_all(match, lead((6, 6)), DRAW, PASS, PASS)
    assert match.history == ((0, lead((6, 6))), (1, DRAW), (1, PASS), (2, PASS))


def test_last_round_stays_until_the_next_settlement():
    match = Match.from_deal([[(0, 1)], [(5, 5), (0, 2)]], [], 0, seed=3)
    assert match.last_round is None
    match.play(lead((0, 1)))
    settled = {"end": "domino", "winner": 0, "hands": ((), ((0, 2), (5, 5)))}
    assert match.last_round == settled
    while match.round_number == 2:
        assert match.last_round == settled
        match.play(match.legal_actions()[0])
    assert match.last_round != settled


def test_events_of_the_last_step():
    """The same events that `play` returned; none after a step that scored nothing."""
    match = Match.from_deal([[(1, 2)], [(0, 5), (3, 3)]], [(4, 4)], 0)
    assert match.events == ()
    assert match.play(lead((1, 2))) == match.events == (domino(0, 10),)
    assert Event("blocked", 1, 5, True) == blocked(1, 5) != domino(1, 5)
    rng = random.Random(1)
    for match in positions(4, seed=9, matches=1):
        if match.winner is None:
            other = match.copy()
            assert other.play(any_choice(rng, other, other.legal_actions(), 0)) == other.events


def test_action_mask_is_a_copy():
    match = Match(2, seed=1)
    mask = match.action_mask()
    assert mask.dtype == np.int8 and mask.shape == (121,)
    assert np.flatnonzero(mask).tolist() == match.legal_actions()
    mask[:] = 1
    assert match.action_mask().sum() == 5
