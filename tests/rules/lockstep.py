"""Engine and oracle side by side: every step is taken by both and everything that the rules fix is compared."""

from __future__ import annotations

import random
from collections import Counter

from fiveup_env.rules.actions import NAMED, Draw, Lay, Lead
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import set_size
from tests.oracle import Oracle, merged
from tests.rules.support import any_choice, starting_scores, uneven_deal


def _key(action: object) -> tuple:
    """The oracle's name of an action up to D7."""
    if isinstance(action, Lead):
        return ("lead", action.tile)
    if isinstance(action, Lay):
        return ("lay", action.tile, action.pip, action.onto)
    return ("draw",) if isinstance(action, Draw) else ("pass",)


KEYS = [_key(action) for action in NAMED]


class Lockstep:
    """One match played by both; a difference is an AssertionError.

    With `mirror` the oracle lays on the very place that the engine chose, and the graphs must be identical.
    Without, it lays on any place that D7 calls the same, and all that follows must be the same.
    """

    def __init__(self, match: Match, rng: random.Random, *, greed: float, mirror: bool, every: int) -> None:
        self.match, self.rng = match, rng
        self.greed, self.mirror, self.every = greed, mirror, every
        self.oracle = Oracle(match.num_players, *self._deal(), list(match.scores), target=5 * match.variant.target)
        self.seen: Counter[object] = Counter()

    def _deal(self) -> tuple:
        return self.match.hands, self.match.boneyard, self.match.opener

    def run(self, max_rounds: int = 400) -> Counter[object]:
        """Play to the end of the match, or for `max_rounds` rounds; counts what happened."""
        self.compare_tables()
        while self.oracle.winner is None and self.oracle.round_number < max_rounds:
            self.step()
            self.seen["steps"] += 1
            if self.seen["steps"] % self.every == 0 or self.oracle.winner is not None:
                self.compare_tables()
                self.compare_layouts()
        assert self.match.winner is None or self.match.legal_actions() == self.oracle.moves() == []
        self.seen["matches"] += 1
        return self.seen

    def step(self) -> None:
        match, oracle = self.match, self.oracle
        legal, moves = match.legal_actions(), oracle.moves()
        keys = {merged(oracle, move) for move in moves}
        assert keys == {KEYS[action] for action in legal} and len(keys) == len(legal)
        action = any_choice(self.rng, match, legal, self.greed)
        twins = [move for move in moves if merged(oracle, move) == KEYS[action]]
        before = list(oracle.scores)
        events = match.play(action)
        move = self._same_place(twins) if self.mirror and len(twins) > 1 else None
        oracle_events = oracle.play(move or self.rng.choice(twins))
        assert [vars(event) for event in events] == [vars(event) for event in oracle_events]
        self._count(KEYS[action][0], events, before)
        if oracle.round_end is not None:
            self.compare_settlement()
        assert match.scores == tuple(oracle.scores)
        assert match.turn == oracle.turn and match.game.end_sum == oracle.end_sum()

    def _same_place(self, twins: list[tuple]) -> tuple | None:
        """The concrete move that the engine's newest join is; None if the engine has dealt the next round."""
        if not self.match.layout.joins or self.oracle.round_number != self.match.round_number:
            return None
        parent = self.match.layout.joins[-1].parent
        (move,) = [move for move in twins if move[3] == (parent.tile, parent.port)]
        return move

    def compare_tables(self) -> None:
        """Hands, boneyard, opener, winner, round (R1 to R3, R6)."""
        match, oracle = self.match, self.oracle
        assert match.opener == oracle.opener
        assert match.round_number == oracle.round_number
        assert match.winner == oracle.winner
        assert [set(hand) for hand in match.hands] == oracle.hands
        assert list(match.boneyard) == oracle.boneyard

    def compare_layouts(self) -> None:
        """Joins, free places, contributions and their sum (R3 to R5)."""
        layout, oracle = self.match.layout, self.oracle
        free, counted = layout.free_places, layout.contributions
        assert layout.end_sum == oracle.end_sum()
        assert sorted(layout.tiles) == sorted(oracle.layout.nodes)
        if self.mirror:
            assert list(layout.joins) == oracle.joins()
            assert sorted(free) == sorted((p.tile, p.port, p.pip) for p in oracle.free_places())
            assert sorted(counted) == sorted(oracle.contributions())
        else:
            assert sorted(p.pip for p in free) == sorted(p.pip for p in oracle.free_places())
            assert sorted(end.value for end in counted) == sorted(value for _, value in oracle.contributions())

    def compare_settlement(self) -> None:
        """End, winner and shown hands of the round (R8.5, D5, D8), and the next opener (R2.5)."""
        match, oracle = self.match, self.oracle
        last = match.last_round
        assert last is not None and last["end"] == oracle.round_end
        if oracle.round_end == "exact":
            assert last["hands"] is None and oracle.revealed is None
            assert last["winner"] == match.winner
        else:
            assert oracle.revealed is not None
            assert [set(hand) for hand in last["hands"]] == oracle.revealed
            assert last["winner"] == oracle.round_winner
        if match.winner is None:
            hands, boneyard, opener = self._deal()
            assert oracle.next_opener is None or opener == oracle.next_opener
            variant = match.variant
            assert [len(hand) for hand in hands] == [variant.hand_size] * variant.num_players
            tiles = {tile for hand in hands for tile in hand} | set(boneyard)
            assert len(tiles) == set_size(variant.max_pip) and max(map(max, tiles)) == variant.max_pip
            oracle.start_round(hands, boneyard, opener)
            self.compare_tables()

    def _count(self, move: str, events: tuple, before: list[int]) -> None:
        seen, ended = self.seen, self.oracle.round_end
        seen[move] += 1
        seen.update((event.kind, event.accepted) for event in events)
        if ended is None:
            return
        seen[ended] += 1
        if ended == "blocked":
            seen["blocked by a draw"] += move == "draw"
            seen["tied round"] += self.oracle.round_winner is None
            flags = [event.accepted for event in events if event.kind == "blocked"]
            seen["accepted after discarded"] += [False, True] in [flags[i : i + 2] for i in range(len(flags))]
        if ended != "exact" and self.oracle.winner is not None:
            seen["won by settlement"] += 1
        seen["net below zero"] += any(event.net < 0 for event in events)
        seen["score below zero"] += min(self.match.scores) < 0 <= min(before)


def run_matches(num_players: int, seed: str, matches: int, every: int = 1) -> Counter[object]:
    """Random matches of the real game; every tenth begins with uneven hands from a part of the set."""
    rng = random.Random(f"lockstep/{num_players}/{seed}")
    seen: Counter[object] = Counter()
    for i in range(matches):
        if i % 10 == 9:
            match = uneven_deal(rng, num_players)
        else:
            scores = starting_scores(rng, 3 if num_players == 3 else 2)
            match = Match(num_players, seed=rng.getrandbits(64), scores=scores)
        greed = rng.choice((0, 0, 0.5, 0.9))
        seen += Lockstep(match, rng, greed=greed, mirror=i % 2 == 0, every=every).run()
    return seen


def run_variant(variant: dict[str, int], seed: str, matches: int, every: int = 1) -> Counter[object]:
    """Random matches of a small variant, at most 400 rounds each."""
    rng = random.Random(f"lockstep/{sorted(variant.items())}/{seed}")
    sides = 3 if variant["num_players"] == 3 else 2
    seen: Counter[object] = Counter()
    for i in range(matches):
        scores = starting_scores(rng, sides, 5 * variant["target"])
        match = Match(seed=rng.getrandbits(64), scores=scores, **variant)
        greed = rng.choice((0, 0.5))
        seen += Lockstep(match, rng, greed=greed, mirror=i % 2 == 0, every=every).run()
    return seen
