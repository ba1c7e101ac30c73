"""Views computed in plain Python from `Match`, its layout and a memory of the public events."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from fiveup_env.rules.actions import DRAW, PASS, Lay, decode
from fiveup_env.rules.layout import Join, Layout, Port, is_double
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import GAME, MATCH_OVER, PLAYING, ROUND_OVER
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.observation import sections
from tests.rules.support import any_choice, starting_scores, uneven_deal
from tests.views.view_kernels import deal, play_on

PORTS = ("small", "big", "line_a", "line_b", "arm_a", "arm_b")


@dataclass
class Memory:
    """Public events of this round: seats and actions, the end sum after each, and what they revealed."""

    tiles: frozenset[tuple[int, int]]
    actions: list[tuple[int, int]] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    drawn: list[int] = field(default_factory=lambda: [0] * 4)
    missing: list[set[int]] = field(default_factory=lambda: [set() for _ in range(4)])
    drawing: int | None = None

    @classmethod
    def of(cls, match: Match) -> Memory:
        """At the start of a round."""
        return cls(frozenset(tile for hand in (*match.hands, match.boneyard) for tile in hand))

    def note(self, before: Match, action: int, after: Match) -> None:
        """Take in one action of the seat to act (D6: a draw shows no tile)."""
        seat = before.turn
        self.actions.append((seat, action))
        self.sums.append(after.layout.end_sum)
        self.drawing = seat if action == DRAW else None
        free = {place.pip for place in before.layout.free_places}
        if action == DRAW:
            # R3.2: nothing held before fits. What was known earlier does not hold for tiles drawn since.
            self.missing[seat] = free
            self.drawn[seat] += 1
        elif action == PASS:
            self.missing[seat] = self.missing[seat] | free


def play_through(match: Match, rng: random.Random, greed: float) -> Iterator[tuple[Match, Memory]]:
    """Every state of a match with its memory, including rounds that are over and not yet followed by the next."""
    games = match._games.copy()
    while True:
        before = Match.of(games[0])
        memory = Memory.of(before)
        yield before, memory
        while before.game.phase == PLAYING:
            action = any_choice(rng, before, before.legal_actions(), greed)
            play_on(games, action)
            after = Match.of(games[0])
            memory.note(before, action, after)
            yield after, memory
            before = after
        if before.game.phase == MATCH_OVER:
            return
        assert before.game.phase == ROUND_OVER
        deal(games)


def states(num_players: int, seed: int, matches: int) -> Iterator[tuple[Match, Memory]]:
    """States of random matches; every fourth begins with an uneven deal of a part of the set."""
    rng = random.Random(f"states/{num_players}/{seed}")
    for number in range(matches):
        if number % 4 == 3:
            match = uneven_deal(rng, num_players)
        else:
            scores = starting_scores(rng, 3 if num_players == 3 else 2)
            match = Match(num_players, seed=rng.getrandbits(64), scores=scores)
        yield from play_through(match, rng, rng.choice((0, 0.5)))


def table_codes(match: Match) -> dict[str, object]:
    """The bare codes of the sections that are the same for all seats."""
    layout = match.layout
    return {
        "laid": _tiles(layout.tiles),
        "ends": _ends(layout),
        "spinners": [[_spinner(layout, pip) == state for pip in range(7)] for state in range(1, 6)],
        "end_sum": [layout.end_sum],
        "end_sum_mod_5": [layout.end_sum % 5 == rest for rest in range(5)],
        "order": [layout.tiles.index(tile) + 1 if tile in layout.tiles else 0 for tile in TILES],
        "parent": _joined(layout, lambda join: TILES.index(join.parent.tile) + 1),
        "port": _joined(layout, lambda join: PORTS.index(join.parent.port) + 1),
        "boneyard": [len(match.boneyard), not match.boneyard],
    }


def seat_codes(match: Match, memory: Memory, me: int) -> dict[str, object]:
    """The bare codes of the sections that depend on who looks."""
    n, sides, hands = match.num_players, match.num_sides, match.hands
    around = [(me + k) % n for k in range(n)]
    to_go = [(5 * match.variant.target - match.scores[(me + k) % sides]) // 5 for k in range(sides)]
    return {
        "hand": _tiles(hands[me]),
        "may_hold": [_tiles(may_hold(match, memory, me, other)) for other in around[1:]],
        "credits": _credits(match, me),
        "hand_sizes": [[len(hands[seat]), *(len(hands[seat]) == k for k in (1, 2, 3))] for seat in around],
        "drawn": [memory.drawn[seat] for seat in around],
        "points_to_go": [min(points, 255) for points in to_go],
        "fine_to_go": [[points == k for k in range(1, 17)] for points in to_go],
        "opener": [seat == match.opener for seat in around],
        "recent_seat": _recent([(seat - me) % n + 1 for seat, _ in memory.actions]),
        "recent_action": _recent([action + 1 for _, action in memory.actions]),
    }


def rows(match: Match, memory: Memory) -> np.ndarray:
    """Observation of every seat, as bare codes in the order of the table, uint8 [n, F]."""
    shared, found = table_codes(match), []
    for seat in range(match.num_players):
        codes = shared | seat_codes(match, memory, seat)
        found.append(np.concatenate([np.ravel(codes[part.name]) for part in sections(match.num_players)]))
    return np.array(found, np.uint8)


def stack(matches: Iterable[Match]) -> np.ndarray:
    """The records of matches as one array [N], byte by byte (NumPy would leave garbage in the padding)."""
    return np.frombuffer(bytearray(b"".join(match._games.tobytes() for match in matches)), GAME)


def _tiles(tiles: object) -> list[bool]:
    return [tile in tiles for tile in TILES]


def may_hold(match: Match, memory: Memory, me: int, other: int) -> set[tuple[int, int]]:
    """Unseen tiles without those that the other seat's last draws and passes rule out (R3.2)."""
    unseen = memory.tiles - set(match.layout.tiles) - set(match.hands[me])
    if memory.drawing == other:
        return unseen
    return {tile for tile in unseen if not memory.missing[other] & set(tile)}


def _ends(layout: Layout) -> list[list[bool]]:
    singles = [place.pip for place in layout.free_places if not is_double(place.tile)]
    return [[singles.count(pip) > k for pip in range(7)] for k in range(3)]


def _spinner(layout: Layout, pip: int) -> int:
    """R4: 0 absent, 1 alone, 2 one line side taken, 3 to 5 inside with 2, 1, 0 arms left."""
    if (pip, pip) not in layout.tiles:
        return 0
    return 1 + sum(end.tile == (pip, pip) for join in layout.joins for end in join)


def _joined(layout: Layout, value: object) -> list[int]:
    by_tile = {join.child.tile: value(join) for join in layout.joins}
    return [by_tile.get(tile, 0) for tile in TILES]


def _recent(values: list[int]) -> list[int]:
    return (values[::-1] + [0] * 8)[:8]


def _credits(match: Match, me: int) -> list[int]:
    """R5.2, R6.1: display points of each placement that is legal now, none for one that overshoots."""
    points = [0] * 91
    if me != match.turn:
        return points
    room = 5 * match.variant.target - match.scores[me % match.num_sides]
    for action in match.legal_actions():
        if 28 <= action < DRAW:
            total = laid_by(match.layout, action).end_sum
            points[action - 28] = total // 5 if total % 5 == 0 and total <= room else 0
    return points


def laid_by(layout: Layout, action: int) -> Layout:
    """The layout after a placement, as a separate graph."""
    named = decode(action)
    assert isinstance(named, Lay)
    place = next(
        place
        for place in layout.free_places
        if place.pip == named.pip and is_double(place.tile) == (named.onto == "spinner")
    )
    half = "small" if named.tile[0] == named.pip else "big"
    own = Port(named.tile, "line_a" if is_double(named.tile) else half)
    join = Join(Port(place.tile, place.port), own)
    return Layout((*layout.tiles, named.tile), (*layout.joins, join))
