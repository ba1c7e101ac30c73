"""Random matches: invariants of the oracle, checked against second formulas that share no code with it."""

import copy
import os
import random
from collections import Counter

import pytest

from tests.oracle import Oracle, merged
from tests.oracle.selfplay import FULL_SET, new_match, next_round

MATCHES = int(os.environ.get("ORACLE_FUZZ_MATCHES", "25"))


def rounded(points):
    return 5 * ((points + 2) // 5)


def side_of(seat, num_players):
    return seat % 2 if num_players == 4 else seat


class Shadow:
    """The D7 table, kept up move by move: single ends per pip count and joins per double, and the end sum."""

    def __init__(self):
        self.singles = Counter()
        self.doubles = {}  # pip -> how many of its four places are taken
        self.total = 0

    def add_tile(self, tile, joined_half):
        low, high = tile
        if low == high:
            self.doubles[low] = 0 if joined_half is None else 1
            self.total += 2 * low
            return
        for half in [low, high] if joined_half is None else [low + high - joined_half]:
            self.singles[half] += 1
            self.total += half

    def play(self, key):
        if key[0] == "lead":
            self.add_tile(key[1], None)
        elif key[0] == "lay":
            _, tile, pip, where = key
            if where == "end":
                self.singles[pip] -= 1
                self.total -= pip
            else:
                self.doubles[pip] += 1
                if self.doubles[pip] == 2:  # both line sides taken: it counts no more (R4.5)
                    self.total -= 2 * pip
            self.add_tile(tile, pip)

    def keys(self, hand):
        """The legal lays of a hand, merged."""
        found = set()
        for tile in hand:
            for pip in set(tile):
                if self.singles[pip] > 0:
                    found.add(("lay", tile, pip, "end"))
                if self.doubles.get(pip, 4) < 4:
                    found.add(("lay", tile, pip, "spinner"))
        return found

    def free_places(self):
        arms_or_lines = sum((2 - taken) if taken < 2 else (4 - taken) for taken in self.doubles.values())
        return sum(self.singles.values()) + arms_or_lines


def check_events(oracle, events, seat, credit, before, hands):
    """R5.3 to R8.4 from the outcome: recompute every event from the hands and the scores before."""
    players = oracle.num_players
    sums = [sum(map(sum, hand)) for hand in hands]
    own = side_of(seat, players)
    expected = []
    if oracle.round_end == "domino":
        assert not hands[seat]
        opposing = sum(sums[other] for other in range(players) if side_of(other, players) != own)
        partner = sums[(seat + 2) % 4] if players == 4 else 0
        expected.append(("domino", own, credit + rounded(opposing) - rounded(partner)))
    elif credit:
        expected.append(("placement", own, credit))
    if oracle.round_end == "blocked":
        for _, other in sorted((sums[other], other) for other in range(players)):
            side = side_of(other, players)
            foes = [foe for foe in range(players) if side_of(foe, players) != side]
            gain = sum(max(0, sums[foe] - sums[other]) for foe in foes)
            if rounded(gain):
                expected.append(("blocked", side, rounded(gain)))
        best = {side_of(other, players) for other in range(players) if sums[other] == min(sums)}
        assert oracle.round_winner == (min(best) if len(best) == 1 else None)
    scores = before[:]
    won = None
    for index, (kind, side, net) in enumerate(expected):
        event = events[index]
        assert (event.kind, event.side, event.net) == (kind, side, net)
        assert event.accepted == (scores[side] + net <= oracle.target)
        scores[side] += net if event.accepted else 0
        if scores[side] == oracle.target:
            won = side
            expected = expected[: index + 1]
            break
    assert len(events) == len(expected)
    assert scores == oracle.scores and won == oracle.winner


def play_and_check(rng, oracle, set_of_tiles, seen):
    """Play a match at random to its end (or 400 rounds) and check every step."""
    players = oracle.num_players
    while oracle.winner is None and oracle.round_number < 400:
        if oracle.round_over:
            assert oracle.moves() == [] and oracle.revealed == oracle.hands
            deal_round(rng, oracle, set_of_tiles)
            assert not oracle.round_over
        shadow = Shadow()
        laid = []
        while not oracle.round_over and oracle.winner is None:
            seat, before, hand = oracle.turn, oracle.scores[:], set(oracle.hands[oracle.turn])
            moves = oracle.moves()
            assert len(set(moves)) == len(moves) > 0
            if laid:
                keys = shadow.keys(hand)
                assert {merged(oracle, move) for move in moves} == (
                    keys or ({("draw",)} if oracle.boneyard else {("pass",)})
                )
            move = rng.choice(moves)
            if rng.random() < 0.02:
                check_merge(oracle, moves, move)
            shadow.play(merged(oracle, move))
            events = oracle.play(move)
            seen[move[0]] += 1

            # every tile once, in one of hands, boneyard, layout
            if move[0] in ("lead", "lay"):
                laid.append(move[1])
            everywhere = laid + oracle.boneyard + [tile for hand in oracle.hands for tile in hand]
            assert sorted(everywhere) == sorted(set_of_tiles)
            assert oracle.layout.walk() and set(oracle.layout.walk()) == set(laid)
            assert len(oracle.joins()) == len(laid) - 1
            # the ends
            assert oracle.end_sum() == shadow.total == sum(value for _, value in oracle.contributions())
            assert len(oracle.free_places()) == len(set(oracle.free_places())) == shadow.free_places()
            # the scores
            assert all(score % 5 == 0 and score <= oracle.target for score in oracle.scores)
            placed = move[0] in ("lead", "lay")
            credit = shadow.total if placed and shadow.total > 0 and shadow.total % 5 == 0 else 0
            check_events(oracle, events, seat, credit, before, oracle.hands)
            seen.update((event.kind, event.accepted) for event in events)
            # the state of the round
            stuck = not oracle.boneyard and not any(shadow.keys(hand) for hand in oracle.hands)
            out = placed and not oracle.hands[seat]
            exact = not out and (oracle.winner is not None and events[-1].kind == "placement")
            end = "domino" if out else "exact" if exact else "blocked" if stuck else None
            assert oracle.round_end == end
            assert (oracle.revealed is None) == (end in (None, "exact"))
            assert oracle.round_over == (end is not None and oracle.winner is None)
            moves_on = end is None and move != ("draw",)
            assert oracle.turn == ((seat + 1) % players if moves_on else seat)
            assert oracle.next_opener == (seat if end == "domino" and oracle.winner is None else None)
            seen[end] += 1
    assert oracle.winner is None or oracle.moves() == []


def check_merge(oracle, moves, move):
    """D7: another concrete move of the same key leads to the same events and the same table."""
    twins = [other for other in moves if merged(oracle, other) == merged(oracle, move)]
    results = []
    for twin in (twins[0], twins[-1]):
        other = copy.deepcopy(oracle)
        events = other.play(twin)
        results.append(
            (
                events,
                other.end_sum(),
                other.scores,
                other.turn,
                other.round_end,
                other.winner,
                {merged(other, follow_up) for follow_up in other.moves()},
            )
        )
    assert results[0] == results[1]


def deal_round(rng, oracle, set_of_tiles):
    if len(set_of_tiles) == 28:
        next_round(rng, oracle)
        return
    hands, boneyard = deal_small(rng, oracle.num_players, set_of_tiles)
    seat = oracle.next_opener
    oracle.start_round(hands, boneyard, rng.randrange(oracle.num_players) if seat is None else seat)


def deal_small(rng, num_players, set_of_tiles):
    """Hands of any size, not all the same, and the rest as boneyard."""
    tiles = rng.sample(set_of_tiles, len(set_of_tiles))
    hands = []
    for _ in range(num_players):
        size = rng.randint(1, max(1, len(set_of_tiles) // num_players))
        hands.append([tiles.pop() for _ in range(size)])
    return hands, tiles


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_random_matches(num_players):
    seen = Counter()
    rng = random.Random(1000 + num_players)
    for _ in range(MATCHES):
        oracle = new_match(rng, num_players)
        play_and_check(rng, oracle, FULL_SET, seen)
        assert oracle.winner is not None
    for item in [
        "lead",
        "lay",
        "draw",
        "pass",
        "domino",
        "blocked",
        ("placement", True),
        ("placement", False),
        ("domino", True),
        ("blocked", True),
    ]:
        assert seen[item] > 0, item


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_random_small_variants(num_players):
    """Parts of the set, uneven hands and a near target: all the ways a match and a round can end."""
    seen = Counter()
    rng = random.Random(2000 + num_players)
    for _ in range(5 * MATCHES):
        tiles = rng.sample(FULL_SET, rng.randint(num_players, 20))
        hands, boneyard = deal_small(rng, num_players, tiles)
        sides = 2 if num_players == 4 else num_players
        scores = [5 * rng.randint(-5, 10) for _ in range(sides)]
        oracle = Oracle(num_players, hands, boneyard, rng.randrange(num_players), scores, target=55)
        play_and_check(rng, oracle, tiles, seen)
    for item in ["exact", "domino", "blocked"] + [
        (kind, accepted) for kind in ("placement", "domino", "blocked") for accepted in (True, False)
    ]:
        assert seen[item] > 0, item
