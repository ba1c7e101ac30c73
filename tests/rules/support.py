"""Shared by the tests of the rules: counts that fit the run, names of actions, choices of play, hand-made deals."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.actions import DRAW, PASS, Lay, Lead, decode, encode
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.record import TERMINAL
from fiveup_env.rules.tiles import TILES
from tests.oracle import Oracle

PLAYERS = (2, 3, 4)
FULL_SET = frozenset((low, high) for low in range(7) for high in range(low, 7))


def scaled(count: int, share: float = 0.05) -> int:
    """`count`, or that share of it where kernels run as plain Python, an order of magnitude slower."""
    return max(1, round(count * share)) if JIT_DISABLED else count


def lead(tile: tuple[int, int]) -> int:
    """Id of leading a tile."""
    return encode(Lead(tile))


def on_end(tile: tuple[int, int], pip: int) -> int:
    """Id of laying a tile by its half with `pip` on a single end."""
    return encode(Lay(tile, pip, "end"))


def on_spinner(tile: tuple[int, int], pip: int) -> int:
    """Id of laying a tile by its half with `pip` on the spinner of that pip."""
    return encode(Lay(tile, pip, "spinner"))


def play_all(match: Match, *actions: int) -> tuple[Event, ...]:
    """Play the actions in turn; the events of the last one."""
    events: tuple[Event, ...] = ()
    for action in actions:
        events = match.play(action)
    return events


def deal_both(hands, boneyard, opener, scores=None) -> tuple[Match, Oracle]:
    """The same first round for the engine and the oracle."""
    match = Match.from_deal(hands, boneyard, opener, scores)
    return match, Oracle(match.num_players, hands, list(boneyard), opener, scores)


def lead_both(hands, boneyard, opener, tile, scores=None) -> tuple[Match, tuple[Event, ...]]:
    """Lead a tile that ends the round, in engine and oracle, which must agree; returns the match and its events."""
    match, oracle = deal_both(hands, boneyard, opener, scores)
    events, theirs = match.play(lead(tile)), oracle.play(("lead", tile))
    assert [vars(event) for event in events] == [vars(event) for event in theirs]
    assert match.scores == tuple(oracle.scores) and match.winner == oracle.winner
    last = match.last_round
    assert last is not None and (last["end"], last["winner"]) == (oracle.round_end, oracle.round_winner)
    assert [set(hand) for hand in last["hands"]] == oracle.revealed
    assert oracle.moves() == [] and oracle.round_over == (match.winner is None)
    return match, events


def placement(side: int, net: int, accepted: bool = True) -> Event:
    return Event("placement", side, net, accepted)


def domino(side: int, net: int, accepted: bool = True) -> Event:
    return Event("domino", side, net, accepted)


def blocked(side: int, net: int, accepted: bool = True) -> Event:
    return Event("blocked", side, net, accepted)


def sum_after(match: Match, action: int) -> int:
    """The end sum a legal placement would leave, by the table of D7 (R4.4, R4.5, R5.1)."""
    named, total = decode(action), int(match.game.end_sum)
    if isinstance(named, Lead):
        return sum(named.tile)
    assert isinstance(named, Lay)
    other = sum(named.tile) - named.pip
    if named.onto == "spinner":
        return total + other - (2 * named.pip if match.game.spinners[named.pip] == TERMINAL else 0)
    return total - named.pip + (2 * other if named.tile[0] == named.tile[1] else other)


def greedy_choice(match: Match, legal: Sequence[int]) -> int:
    """The legal action of most points now that do not overshoot; draws and passes are forced anyway."""
    if legal[0] in (DRAW, PASS):
        return legal[0]
    score = match.scores[match.turn % match.num_sides]
    room = 5 * match.variant.target - score

    def worth(action: int) -> int:
        total = sum_after(match, action)
        return -1 if total > room and total % 5 == 0 else total if total % 5 == 0 else 0

    return max(legal, key=worth)


def any_choice(rng: random.Random, match: Match, legal: Sequence[int], greed: float) -> int:
    """Greedy with probability `greed`, else uniformly random."""
    if greed and rng.random() < greed:
        return greedy_choice(match, legal)
    return legal[int(rng.random() * len(legal))]


def starting_scores(rng: random.Random, num_sides: int, target: int = 305) -> list[int]:
    """Zero, anything, or close to the target, where overshoots and exact hits are common."""
    kind = rng.random()
    if kind < 0.3:
        return [0] * num_sides
    if kind < 0.4:
        return [5 * rng.randrange(-20, target // 5) for _ in range(num_sides)]
    return [target - 5 * rng.randint(1, min(12, target // 5)) for _ in range(num_sides)]


def positions(num_players: int, seed: int, matches: int = 1, greed: float = 0.3) -> Iterator[Match]:
    """The live Match before every ply of random matches, and once after each match has ended."""
    rng = random.Random(f"{num_players}/{seed}")
    for _ in range(matches):
        scores = starting_scores(rng, 3 if num_players == 3 else 2)
        match = Match(num_players, seed=rng.getrandbits(64), scores=scores)
        while match.winner is None:
            yield match
            match.play(any_choice(rng, match, match.legal_actions(), greed))
        yield match


def uneven_deal(rng: random.Random, num_players: int) -> Match:
    """A first round of any hand sizes from any part of the set, as `from_deal` allows."""
    tiles = rng.sample(TILES, rng.randint(num_players, len(TILES)))
    sizes = [rng.randint(1, max(1, len(tiles) // num_players)) for _ in range(num_players)]
    hands = [[tiles.pop() for _ in range(size)] for size in sizes]
    scores = starting_scores(rng, 3 if num_players == 3 else 2)
    return Match.from_deal(hands, tiles, rng.randrange(num_players), scores, seed=rng.getrandbits(64))


def record_bytes(match: Match) -> bytes:
    """Everything there is to a match, for bit-identity."""
    return match.game.tobytes() + match.action_mask().tobytes()
