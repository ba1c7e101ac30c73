"""R2.2, D6: nothing that a seat sees depends on what it cannot know; and what it can know does show.

Three ways to look: any reshuffle of the hidden tiles, worlds in which the same round could really have been played,
and every world of a tiny variant at once.
"""

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env.rules.match import Match
from fiveup_env.rules.record import BY_EXACT_HIT, MAX_HISTORY, PLAYING
from fiveup_env.rules.tiles import TILES, tile_index
from fiveup_env.views.view import View, Views
from tests.rules.support import any_choice, scaled, starting_scores, uneven_deal
from tests.views.reference import play_through, stack
from tests.views.worlds import deal_of, hidden_tiles, possible_world, reshuffled

EXAMPLES = scaled(16, 0.25)
seeds = st.integers(0, 2**32)
players = st.integers(2, 4)


def tensors(matches, seats):
    """Everything that is made of matches for seats, as bytes by name."""
    views = Views(stack(matches), seats)
    floats, mask = views.observe()
    codes, _ = views.observe(np.uint8)
    events, rows = views.history(MAX_HISTORY)
    latest, latest_rows = views.history(5)
    return {
        "record": views.games,
        "observation": floats,
        "codes": codes,
        "mask": mask,
        "history": events,
        "history mask": rows,
        "latest": latest,
        "latest mask": latest_rows,
    }


def assert_alike(matches, others, seats):
    """Equal to the last bit, row by row."""
    mine, theirs = tensors(matches, seats), tensors(others, seats)
    for name, array in mine.items():
        assert array.tobytes() == theirs[name].tobytes(), name


def assert_views_alike(match, other, seat):
    """The same through `View`, everything that it answers."""
    a, b = View.of(match, seat), View.of(other, seat)
    assert a == b and repr(a) == repr(b)
    for name in ("hand", "hand_sizes", "boneyard_size", "scores", "layout", "history", "round_number", "last_round"):
        assert getattr(a, name) == getattr(b, name), name
    assert a.legal_actions() == b.legal_actions()
    assert all(a.may_hold(who) == b.may_hold(who) for who in range(a.num_players) if who != seat)
    assert a.observation().tobytes() == b.observation().tobytes()


def hidden(match):
    """Whether hands are hidden: during play and after an exact hit in mid-round, but not once settled (D5)."""
    return match.game.phase == PLAYING or match.game.round_end == BY_EXACT_HIT


def start(num_players, rng):
    if rng.random() < 0.25:
        return uneven_deal(rng, num_players)
    scores = starting_scores(rng, 3 if num_players == 3 else 2)
    return Match(num_players, seed=rng.getrandbits(64), scores=scores)


# ---- any reshuffle of what is hidden ----


@settings(max_examples=EXAMPLES)
@given(players, seeds)
def test_reshuffling_what_is_hidden_changes_nothing(num_players, seed):
    """R2.2, D6: at every step of a match, for every seat, bit for bit."""
    rng = random.Random(seed)
    matches, others, seats = [], [], []
    for match, _ in play_through(start(num_players, rng), rng, rng.choice((0, 0.5))):
        if not hidden(match):
            continue
        for seat in range(num_players):
            matches.append(match)
            others.append(reshuffled(match, seat, rng))
            seats.append(seat)
    assert_alike(matches, others, seats)
    for i in rng.sample(range(len(matches)), min(len(matches), 12)):
        assert_views_alike(matches[i], others[i], seats[i])


# ---- worlds with the same course of the round ----


@settings(max_examples=4 * EXAMPLES)
@given(players, seeds)
def test_possible_worlds_look_the_same(num_players, seed):
    """R2.2, R3.2, D6: other deals under which every seat could do what it did, seen along the whole round."""
    rng = random.Random(seed)
    match = start(num_players, rng)
    deal, scores, plies = deal_of(match), match.scores, rng.randint(1, 30)
    for _ in range(plies):
        before = match.copy()
        match.play(any_choice(rng, match, match.legal_actions(), 0.2))
        if match.round_number != 1 or match.winner is not None:
            match = before
            break
    seat = rng.randrange(num_players)
    mine, _ = possible_world(match, deal, scores, seat, rng, swaps=0)
    theirs, _ = possible_world(match, deal, scores, seat, rng, swaps=12)
    assert len(mine) == len(theirs) == len(match.history) + 1
    assert_alike(mine, theirs, [seat] * len(mine))
    assert_views_alike(mine[-1], theirs[-1], seat)


def test_possible_worlds_differ():
    """The test above compares different worlds: most swaps of hidden tiles are possible."""
    rng, kept = random.Random(0), 0
    for number in range(scaled(30, 0.3)):
        match = Match(2 + number % 3, seed=number)
        deal = deal_of(match)
        for _ in range(8):
            match.play(match.legal_actions()[0])
        states, swaps = possible_world(match, deal, match.scores, match.turn, rng, swaps=12)
        kept += swaps > 0 and hidden_tiles(states[-1], match.turn) != hidden_tiles(match, match.turn)
    assert kept >= scaled(30, 0.3) * 0.8


# ---- what a seat knows does show ----


@settings(max_examples=EXAMPLES)
@given(players, seeds)
def test_the_own_hand_shows(num_players, seed):
    """R2.2: one own tile for a hidden one, and the seat's view and observation are others."""
    rng = random.Random(seed)
    matches, others, seats = [], [], []
    for match, _ in play_through(start(num_players, rng), rng, 0):
        for seat in range(num_players):
            unseen = hidden_tiles(match, seat)
            if not hidden(match) or not match.hands[seat] or not unseen:
                continue
            other = match.copy()
            mine, theirs = rng.choice(match.hands[seat]), rng.choice(unseen)
            swap_tiles(other, mine, theirs)
            matches.append(match)
            others.append(Match.of(other.game))
            seats.append(seat)
    found, changed = tensors(matches, seats), tensors(others, seats)
    for name in ("codes", "observation"):
        assert (found[name] != changed[name]).any(axis=1).all()
    assert (found["record"] != changed["record"]).all()


def swap_tiles(match, a, b):
    """Two tiles change places, wherever they are."""
    game, places = match.game, {tile_index(a): tile_index(b), tile_index(b): tile_index(a)}
    for seat in range(match.num_players):
        game.hands[seat] = sum(1 << places.get(t, t) for t in range(28) if int(game.hands[seat]) >> t & 1)
    game.boneyard[:] = [places.get(int(t), int(t)) for t in game.boneyard]


def test_public_changes_show():
    """Scores, the opener, who is to act, and what was drawn, are in every seat's view and observation."""
    match = Match(3, seed=4)
    match.play(match.legal_actions()[0])
    for name, index, value in (
        ("scores", 1, 5),
        ("opener", None, (match.opener + 1) % 3),
        ("hand_sizes", 2, 4),
        ("boneyard_next", None, 16),
        ("drawn", 0, 1),
    ):
        other = match.copy()
        if index is None:
            other.game[name] = value
        else:
            other.game[name][index] = value
        for seat in range(3):
            assert View.of(match, seat) != View.of(other, seat)
            assert (View.of(match, seat).observation() != View.of(other, seat).observation()).any(), name


# ---- every world of a tiny variant ----


def all_states(match):
    """Every state of the first round that some sequence of legal actions reaches."""
    stack_of = [match]
    while stack_of:
        now = stack_of.pop()
        yield now
        for action in now.legal_actions():
            after = now.copy()
            after.play(action)
            if after.round_number == 1 and after.winner is None:
                stack_of.append(after)


def all_deals(num_players, tiles, hand_size):
    """Every deal of the set: hands, and the boneyard in every order."""

    def hands_of(rest, count):
        if count == 0:
            yield (), rest
            return
        for hand in itertools.combinations(rest, hand_size):
            left = tuple(tile for tile in rest if tile not in hand)
            for others, remaining in hands_of(left, count - 1):
                yield (hand, *others), remaining

    for hands, rest in hands_of(tiles, num_players):
        for order in itertools.permutations(rest):
            yield hands, order


def information(match, seat):
    """The knowledge of a seat in a tiny variant: its tiles, and the public events."""
    return seat, match.opener, match.hands[seat], match.history


@pytest.mark.parametrize(
    ("num_players", "max_pip", "hand_size", "share"),
    [(2, 1, 1, 1), (3, 1, 1, 1), (2, 2, 1, 0.5), (2, 2, 2, 1), (3, 2, 1, 0.5), (4, 2, 1, 1)],
)
def test_one_information_set_one_tensor(num_players, max_pip, hand_size, share):
    """D6, and perfect recall of what is public: states that a seat cannot tell apart give the same bytes, and those
    that it can tell apart (own tiles, who did what in which order) give different ones.

    What the seat's own earlier draws were, in which order, is not kept: nothing that follows depends on it.
    """
    tiles = TILES[: (max_pip + 1) * (max_pip + 2) // 2]
    rng = random.Random(num_players * 10 + max_pip)
    share = share if max_pip == 1 else share * scaled(100, 0.2) / 100
    by_information, by_bytes, count = defaultdict(set), defaultdict(set), 0
    for hands, boneyard in all_deals(num_players, tiles, hand_size):
        if rng.random() > share:
            continue
        options = {"hand_size": hand_size, "max_pip": max_pip, "target": 11}
        match = Match.from_deal(hands, boneyard, rng.randrange(num_players), **options)
        states = list(all_states(match))
        for seat in range(num_players):
            found = tensors(states, [seat] * len(states))
            for i, state in enumerate(states):
                key = information(state, seat)
                data = b"".join(found[name][i].tobytes() for name in ("codes", "mask", "history"))
                by_information[key].add((data, found["record"][i].tobytes()))
                by_bytes[seat, data].add(key)
                count += 1
    assert count > len(by_information) > 0
    assert {len(seen) for seen in by_information.values()} == {1}
    assert {len(keys) for keys in by_bytes.values()} == {1}
