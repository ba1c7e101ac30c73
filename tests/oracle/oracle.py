"""The naive rules oracle: one match of Exact 61 Five Up, driven move by move."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tests.oracle.layout import Layout, Place, Tile, own_port, pips


@dataclass(frozen=True)
class Event:
    """One scoring event (R5.3, R7.4, R8.3), accepted or discarded as a whole (R6.1)."""

    kind: str  # "placement" | "domino" | "blocked"
    side: int
    net: int  # raw points
    accepted: bool


def nearest_five(points: int) -> int:
    """R7.2: remainder 1 or 2 goes down, 3 or 4 goes up."""
    remainder = points % 5
    return points - remainder if remainder <= 2 else points - remainder + 5


def placement_credit(end_sum: int) -> int:
    """R5.2: a positive multiple of 5 is credited, anything else is not."""
    return end_sum if end_sum > 0 and end_sum % 5 == 0 else 0


class Oracle:
    """A match of 2 to 4 players; hands of any size (>= 1) and any part of the set are allowed.

    Moves are ``("lead", tile)``, ``("lay", tile, own_port, Place(node_tile, port))``, ``("draw",)`` and
    ``("pass",)``. After a settlement and after the match is won ``turn`` stays at the seat that acted and
    ``moves()`` is empty.

    Attributes to read:

    - ``scores`` raw points per side; ``hands`` one set of tiles per seat; ``boneyard`` in drawing order.
    - ``turn``, ``opener`` seats; ``round_number`` from 1; ``winner`` the side that won the match, or None.
    - ``round_over`` the round is settled and the match is not won: ``start_round`` is due.
    - ``next_opener`` the seat that R2.5 names after a domino; None after a block (a lot is due) and in any
      other state.
    - ``round_end`` None while the round runs, then "domino", "blocked", or "exact" for a match won in
      mid-round. A match won by the settlement itself leaves "domino" or "blocked".
    - ``round_winner`` the side (R8.5, D8); None for a tie, for "exact" and while the round runs.
    - ``revealed`` a copy of the hands at the settlement (D5); None while the round runs and for "exact".
    """

    def __init__(
        self,
        num_players: int,
        hands: Sequence[Sequence[Tile]],
        boneyard: Sequence[Tile],
        opener: int,
        scores: Sequence[int] | None = None,
        target: int = 305,
    ) -> None:
        if num_players not in (2, 3, 4):
            raise ValueError("two to four players (R1.2)")
        self.num_players = num_players
        self.num_sides = 2 if num_players == 4 else num_players
        self.target = target
        self.scores = [0] * self.num_sides if scores is None else list(scores)
        if len(self.scores) != self.num_sides:
            raise ValueError("one score per side (R1.2)")
        if max(self.scores) >= target:
            raise ValueError("the match is already won (R6.2)")
        self.winner: int | None = None
        self.round_number = 0
        self._set_up_round(hands, boneyard, opener)

    def start_round(self, hands: Sequence[Sequence[Tile]], boneyard: Sequence[Tile], opener: int) -> None:
        """Deal the next round; after a domino the opener is fixed (R2.5)."""
        if not self.round_over:
            raise ValueError("the round is not over")
        if self.next_opener is not None and opener != self.next_opener:
            raise ValueError("who made domino opens the next round (R2.5)")
        self._set_up_round(hands, boneyard, opener)

    def _set_up_round(self, hands: Sequence[Sequence[Tile]], boneyard: Sequence[Tile], opener: int) -> None:
        tiles = [tile for hand in hands for tile in hand] + list(boneyard)
        if len(set(tiles)) != len(tiles):
            raise ValueError("a tile occurs twice")
        if any(not 0 <= low <= high <= 6 for low, high in tiles):
            raise ValueError("a tile is (low, high) with pips 0 to 6 (R1.1)")
        if len(hands) != self.num_players or not all(hands):
            raise ValueError("every player needs a hand of at least one tile")
        if opener not in range(self.num_players):
            raise ValueError("the opener is not a seat")
        self.hands: list[set[Tile]] = [set(hand) for hand in hands]
        self.boneyard: list[Tile] = list(boneyard)
        self.layout = Layout()
        self.opener = opener
        self.turn = opener
        self.round_number += 1
        self.round_over = False
        self.round_end: str | None = None
        self.round_winner: int | None = None
        self.next_opener: int | None = None
        self.revealed: list[set[Tile]] | None = None
        self._legal: list[tuple] | None = None

    # ---- the table ----

    def side(self, seat: int) -> int:
        """R1.2: four play as partnerships, seats 0 and 2 against 1 and 3."""
        return seat % 2 if self.num_players == 4 else seat

    def end_sum(self) -> int:
        return self.layout.end_sum()

    def contributions(self) -> list[tuple[Tile, int]]:
        return self.layout.contributions()

    def free_places(self) -> list[Place]:
        return self.layout.free_places()

    def joins(self) -> list[tuple[Place, Place]]:
        return list(self.layout.joins)

    # ---- what can be done ----

    def moves(self) -> list[tuple]:
        """Every concrete legal move of the seat whose turn it is (R2.4, R3.2)."""
        if self._legal is None:  # kept until something is played
            self._legal = self._list_moves()
        return list(self._legal)

    def _list_moves(self) -> list[tuple]:
        if self.winner is not None or self.round_over:
            return []
        if self.layout.root is None:
            return [("lead", tile) for tile in sorted(self.hands[self.turn])]
        lays = self._lays(self.turn, self.free_places())
        if lays:
            return lays  # who can lay must lay; that also holds for a tile just drawn
        if self.boneyard:
            return [("draw",)]
        return [("pass",)]

    def _lays(self, seat: int, places: list[Place]) -> list[tuple]:
        return [
            ("lay", tile, own_port(tile, place.pip), place)
            for tile in sorted(self.hands[seat])
            for place in places
            if place.pip in tile
        ]

    def _blocked(self) -> bool:
        """R3.3: the boneyard is empty and no player can lay."""
        if self.boneyard:
            return False
        free_pips = {place.pip for place in self.free_places()}
        return not any(low in free_pips or high in free_pips for hand in self.hands for low, high in hand)

    # ---- playing ----

    def play(self, move: tuple) -> list[Event]:
        """Carry out one move of the seat whose turn it is; returns the scoring events it caused, in order."""
        legal = self.moves()
        if move not in legal:
            raise ValueError(f"illegal move {move!r}")
        move = legal[legal.index(move)]  # an equal one given with plain tuples will do
        self._legal = None
        if move[0] == "draw":
            return self._draw()
        if move[0] == "pass":
            self._next_turn()
            return []
        if move[0] == "lead":
            self.layout.lead(move[1])
        else:
            self.layout.lay(*move[1:])
        self.hands[self.turn].remove(move[1])
        return self._after_placement()

    def _next_turn(self) -> None:
        self.turn = (self.turn + 1) % self.num_players

    def _draw(self) -> list[Event]:
        """R3.2; the last drawn tile may block the round at once (D1)."""
        self.hands[self.turn].add(self.boneyard.pop(0))
        return self._settle_block() if self._blocked() else []

    def _after_placement(self) -> list[Event]:
        """Going out comes first (R7.0, D9), then the ordinary credit, then the block (R5.3, D1)."""
        credit = placement_credit(self.end_sum())
        if not self.hands[self.turn]:
            return self._settle_domino(credit)
        events = []
        if credit > 0:
            events.append(self._score("placement", self.side(self.turn), credit))
            if self.winner is not None:
                self.round_end = "exact"
                return events
        if self._blocked():
            return events + self._settle_block()
        self._next_turn()
        return events

    def _score(self, kind: str, side: int, net: int) -> Event:
        """R6.1: an event that would carry the side over the target is discarded whole. R6.2: a hit wins."""
        accepted = self.scores[side] + net <= self.target
        if accepted:
            self.scores[side] += net
            if self.scores[side] == self.target:
                self.winner = side
        return Event(kind, side, net, accepted)

    def _settle_domino(self, credit: int) -> list[Event]:
        """R7: one event of placement credit, opponents' credit and partner's deduction (D3, D4)."""
        own_side = self.side(self.turn)
        seats = range(self.num_players)
        opponents = [seat for seat in seats if self.side(seat) != own_side]
        partners = [seat for seat in seats if self.side(seat) == own_side and seat != self.turn]
        opponents_credit = nearest_five(sum(self._hand_sum(seat) for seat in opponents))
        partner_deduction = nearest_five(sum(self._hand_sum(seat) for seat in partners))
        event = self._score("domino", own_side, credit + opponents_credit - partner_deduction)
        self._end_round("domino", round_winner=own_side, next_opener=self.turn)
        return [event]

    def _settle_block(self) -> list[Event]:
        """R8: hand by hand in ascending order, equal hands in seat order from seat 0 (D2)."""
        sums = [self._hand_sum(seat) for seat in range(self.num_players)]
        events = []
        for seat in sorted(range(self.num_players), key=lambda seat: (sums[seat], seat)):
            heavier = [
                other
                for other in range(self.num_players)
                if self.side(other) != self.side(seat) and sums[other] > sums[seat]
            ]
            credit = nearest_five(sum(sums[other] - sums[seat] for other in heavier))
            if credit > 0:
                events.append(self._score("blocked", self.side(seat), credit))
                if self.winner is not None:
                    break  # R8.4
        lightest_sides = {self.side(seat) for seat in range(self.num_players) if sums[seat] == min(sums)}
        round_winner = lightest_sides.pop() if len(lightest_sides) == 1 else None  # R8.5
        self._end_round("blocked", round_winner=round_winner, next_opener=None)
        return events

    def _hand_sum(self, seat: int) -> int:
        return sum(pips(tile) for tile in self.hands[seat])

    def _end_round(self, round_end: str, round_winner: int | None, next_opener: int | None) -> None:
        self.round_end = round_end
        self.round_winner = round_winner
        self.revealed = [set(hand) for hand in self.hands]
        if self.winner is None:
            self.round_over = True
            self.next_opener = next_opener


def merged(oracle: Oracle, move: tuple) -> Hashable:
    """D7: the key under which moves count as the same.

    ``("lead", tile) | ("lay", tile, pip, "end" | "spinner") | ("draw",) | ("pass",)``. A spinner never offers
    line sides and side arms together (R4.3), so pip and "spinner" say which kind of place it is.
    """
    if move[0] != "lay":
        return move
    _, tile, _, place = move
    return ("lay", tile, place.pip, "spinner" if place.on_spinner else "end")
