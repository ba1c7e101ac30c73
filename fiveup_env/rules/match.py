"""`Match`: the object-oriented interface to one match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fiveup_env.jit.compilation import entry
from fiveup_env.rules import turn as rules
from fiveup_env.rules.actions import DRAW, Tile, checked_id, describe
from fiveup_env.rules.layout import Layout
from fiveup_env.rules.record import (
    GAME,
    MATCH_OVER,
    RAW_PER_POINT,
    ROUND_OVER,
    Game,
    Variant,
    clear_table,
    new_games,
    start_match,
    start_round,
)
from fiveup_env.rules.tiles import TILES, tile_index, tile_set, tiles_in

EventKind = Literal["placement", "domino", "blocked"]
EVENT_KINDS: tuple[EventKind, ...] = ("placement", "domino", "blocked")
ROUND_ENDS = (None, "domino", "blocked", "exact")


class IllegalActionError(ValueError):
    """An action that the rules do not allow now; the match is unchanged."""


@dataclass(frozen=True)
class Event:
    """One scoring event (R5.3, R7.4, R8.3).

    Attributes:
        kind: "placement", "domino" or "blocked".
        side: the side that scores.
        net: raw points.
        accepted: False if it would overshoot the target and was discarded whole (R6.1).
    """

    kind: EventKind
    side: int
    net: int
    accepted: bool


@entry
def _begin(games: np.ndarray, seed: int) -> None:
    start_match(games[0], seed)


@entry
def _clear(games: np.ndarray) -> None:
    clear_table(games[0])


@entry
def _step(games: np.ndarray, action: int, mask: np.ndarray, deal: bool) -> bool:
    """Take the action if it is legal and write the next mask; returns False, with no change, if it is not."""
    game = games[0]
    if action >= 0:
        if not rules.is_legal(game, action):
            return False
        rules.play(game, action)
        if deal and game.phase == ROUND_OVER:
            start_round(game)
    rules.write_mask(game, mask)
    return True


def checked_seed(seed: int | None) -> int:
    """Return a seed from 0 to 2**64 - 1; None draws one from the system.

    Raises:
        ValueError: for anything else.
    """
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed < 2**64:
        raise ValueError(f"a seed is an integer from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)


def checked_scores(scores: Sequence[int] | None, variant: Variant) -> tuple[int, ...]:
    """Return raw scores per side, all zero for None.

    Raises:
        ValueError: if there is not one multiple of 5 below the target for each side.
    """
    if scores is None:
        return (0,) * variant.num_sides
    target = variant.target * RAW_PER_POINT
    try:
        values = tuple(int(score) for score in scores)
        exact = all(value == score for value, score in zip(values, scores, strict=True))
    except (TypeError, ValueError, OverflowError):
        values, exact = (), False
    if not exact or len(values) != variant.num_sides:
        raise ValueError(f"scores are {variant.num_sides} integers (raw points per side), not {scores!r}")
    for value in values:
        if value % RAW_PER_POINT or not -30000 <= value < target:
            raise ValueError(f"a score is a multiple of 5 below {target} raw points, not {value}")
    return values


class Match:
    """A match of Exact 61 Five Up (or of a small variant), played action by action.

    Scores are raw points per side; 5 raw points are 1 display point, 305 raw points win (R1.1). When a round ends the
    next one is dealt at once, from `seed` and the round number alone.

    Args:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        seed: decides every deal and lot; None draws one.
        scores: raw scores per side at the start.
        hand_size, target, max_pip: a small variant; the defaults are the real game (see `Variant`).

    Raises:
        ValueError: if an argument is out of range.

    >>> match = Match(num_players=4, seed=0)
    >>> events = match.play(match.legal_actions()[0])
    """

    __slots__ = ("_games", "_mask")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        num_players: int = 4,
        seed: int | None = None,
        *,
        scores: Sequence[int] | None = None,
        hand_size: int = 5,
        target: int = 61,
        max_pip: int = 6,
    ) -> None:
        variant = Variant(num_players, hand_size, target, max_pip)
        start = checked_scores(scores, variant)
        self._games = new_games(1, variant)
        self._mask = np.zeros(121, np.int8)
        _begin(self._games, np.uint64(checked_seed(seed)))
        self._games["scores"][0, : len(start)] = start
        self._refresh()

    @classmethod
    def from_deal(
        cls,
        hands: Sequence[Iterable[Tile]],
        boneyard: Iterable[Tile],
        opener: int,
        scores: Sequence[int] | None = None,
        *,
        seed: int = 0,
        hand_size: int = 5,
        target: int = 61,
        max_pip: int = 6,
    ) -> Match:
        """Return a match whose first round is the given deal; later rounds are dealt from `seed`.

        Args:
            hands: one hand per seat, each of at least one tile; sizes may differ.
            boneyard: tiles in drawing order. Tiles not given are out of play in this round, and all seats know it.
            opener: the seat that leads (R2.4).
            scores: raw scores per side.

        Raises:
            ValueError: if a tile occurs twice or is not in the set, a hand is empty, or there is no seat `opener`.
        """
        try:
            dealt, rest = [list(hand) for hand in hands], list(boneyard)
        except TypeError:
            raise ValueError("hands are one list of tiles per seat, the boneyard is a list of tiles") from None
        match = cls(len(dealt), seed, scores=scores, hand_size=hand_size, target=target, max_pip=max_pip)
        match._lay_out_deal(dealt, rest, opener)
        return match

    def _lay_out_deal(self, hands: list[list[Tile]], boneyard: list[Tile], opener: int) -> None:
        variant = self.variant
        in_play = tile_set([tile for hand in (*hands, boneyard) for tile in hand])
        if in_play >> variant.num_tiles:
            raise ValueError(f"a double-{variant.max_pip} set has no tile {tiles_in(in_play)[-1]}")
        if any(not hand for hand in hands):
            raise ValueError("every hand needs at least one tile")
        if isinstance(opener, bool) or not hasattr(opener, "__index__") or opener not in range(variant.num_players):
            raise ValueError(f"opener must be a seat from 0 to {variant.num_players - 1}, not {opener!r}")
        _clear(self._games)
        game = self.game
        game.in_play = in_play
        game.opener = game.turn = int(opener)
        for seat, hand in enumerate(hands):
            game.hands[seat] = tile_set(hand)
            game.hand_sizes[seat] = len(hand)
        game.boneyard[:] = 0
        game.boneyard[: len(boneyard)] = [tile_index(tile) for tile in boneyard]
        game.boneyard_next, game.boneyard_end = 0, len(boneyard)
        self._refresh()

    @classmethod
    def of(cls, game: Game) -> Match:
        """Return a match on a copy of a record (of dtype `GAME`), for example one of a vector env."""
        match = cls.__new__(cls)
        match._games = np.zeros(1, GAME)  # equality compares padding bytes too
        match._games[0] = game
        match._mask = np.zeros(121, np.int8)
        match._refresh()
        return match

    def _refresh(self) -> None:
        _step(self._games, -1, self._mask, True)

    # state

    @property
    def game(self) -> Game:
        """The live record of this match (dtype `fiveup_env.rules.record.GAME`)."""
        return self._games[0]

    @property
    def variant(self) -> Variant:
        """Players, hand size, target and set."""
        game = self.game
        target = int(game.target) // RAW_PER_POINT
        return Variant(int(game.num_players), int(game.hand_size), target, int(game.max_pip))

    @property
    def num_players(self) -> int:
        """Number of seats."""
        return int(self.game.num_players)

    @property
    def num_sides(self) -> int:
        """Number of sides that score (R1.2)."""
        return int(self.game.num_sides)

    @property
    def scores(self) -> tuple[int, ...]:
        """Raw points per side."""
        return tuple(int(score) for score in self.game.scores[: self.num_sides])

    @property
    def hands(self) -> tuple[tuple[Tile, ...], ...]:
        """Tiles of every seat as (low, high) pairs."""
        return tuple(tiles_in(hand) for hand in self.game.hands[: self.num_players])

    @property
    def boneyard(self) -> tuple[Tile, ...]:
        """Tiles left to draw, in drawing order."""
        game = self.game
        return tuple(TILES[t] for t in game.boneyard[int(game.boneyard_next) : int(game.boneyard_end)])

    @property
    def turn(self) -> int:
        """Seat to act; after the match, the seat that acted last."""
        return int(self._games["turn"][0])  # many times faster than the record's attribute

    @property
    def opener(self) -> int:
        """Seat that opened this round (R2.3, R2.5)."""
        return int(self.game.opener)

    @property
    def round_number(self) -> int:
        """1 in the first round."""
        return int(self.game.round_number)

    @property
    def winner(self) -> int | None:
        """Side that reached the target exactly (R6.2), None before."""
        return None if self.game.winner < 0 else int(self.game.winner)

    @property
    def seed(self) -> int:
        """Seed of the deals."""
        return int(self.game.seed)

    @property
    def layout(self) -> Layout:
        """Layout of the tiles on the table."""
        return Layout.of(self.game)

    @property
    def history(self) -> tuple[tuple[int, int], ...]:
        """This round's actions in order, each as (seat, action)."""
        game, seat, acted = self.game, self.opener, []
        for action in game.history[: int(game.num_history)]:
            acted.append((seat, int(action)))
            if action != DRAW:
                seat = (seat + 1) % self.num_players
        return tuple(acted)

    @property
    def last_round(self) -> dict[str, Any] | None:
        """Result of the last settled round, None in the first round.

        Keys: `end` ("domino", "blocked", "exact" for a match won in mid-round), `winner` (side, None for a tie; R8.5,
        D8), `hands` (shown at the settlement, D5; None after an exact hit in mid-round).
        """
        game = self.game
        end = ROUND_ENDS[int(game.round_end)]
        if end is None:
            return None
        return {
            "end": end,
            "winner": None if game.round_winner < 0 else int(game.round_winner),
            "hands": None if end == "exact" else tuple(tiles_in(hand) for hand in game.revealed[: self.num_players]),
        }

    # play

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions, ascending; empty after the match."""
        return [int(action) for action in np.flatnonzero(self._mask)]

    def action_mask(self) -> np.ndarray:
        """Mask of the legal actions, int8 [121]; all zero after the match."""
        return self._mask.copy()

    def play(self, action: int, *, deal: bool = True) -> tuple[Event, ...]:
        """Take one action for the seat to act; returns the scoring events of that step in order.

        Args:
            action: a legal action.
            deal: deal the next round at once if this one ends. With False its table stays, and no further action is
                legal.

        Raises:
            ValueError: if `action` is not an integer from 0 to 120.
            IllegalActionError: if the action is not legal now, or the match is over. Nothing is changed.
        """
        number = checked_id(action)
        if not _step(self._games, number, self._mask, deal):
            raise IllegalActionError(self._why_not(number))
        return self.events

    @property
    def events(self) -> tuple[Event, ...]:
        """Scoring events of the last step, in order."""
        game = self.game
        return tuple(
            Event(
                EVENT_KINDS[game.event_kind[i]],
                int(game.event_side[i]),
                int(game.event_net[i]),
                bool(game.event_accepted[i]),
            )
            for i in range(int(game.num_events))
        )

    def _why_not(self, action: int) -> str:
        if self.game.phase == ROUND_OVER:
            return f"the round is over and the next one is not dealt: nobody may {describe(action)}"
        if self.game.phase == MATCH_OVER:
            return f"the match is over, side {self.winner} has won: nobody may {describe(action)}"
        legal = ", ".join(f"{i} ({describe(i)})" for i in self.legal_actions())
        return f"player_{self.turn} may not {describe(action)} (action {action}); legal: {legal}"

    # value semantics

    def copy(self) -> Match:
        """An independent copy."""
        return Match.of(self.game)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Match:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self._games.tobytes(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return self._games.tobytes() == other._games.tobytes()

    def __repr__(self) -> str:
        points = " : ".join(f"{score / RAW_PER_POINT:g}" for score in self.scores)
        state = f"player_{self.turn} to act" if self.winner is None else f"side {self.winner} has won"
        return f"<Match {self.num_players} players, {points}, round {self.round_number}, {state}>"

    def __str__(self) -> str:
        rows = [repr(self)[1:-1], *(f"  {line}" for line in self.layout.lines())]
        rows.append(f"  ends sum to {self.layout.end_sum}, boneyard {len(self.boneyard)}")
        for seat, hand in enumerate(self.hands):
            tiles = " ".join(f"[{low}|{high}]" for low, high in hand)
            rows.append(f"  player_{seat}{'*' if seat == self.turn else ' '} {tiles}")
        return "\n".join(rows)


def _from_bytes(data: bytes) -> Match:
    games = new_games(1)
    if len(data) != games.nbytes:
        raise ValueError(f"this pickle of a Match holds {len(data)} bytes, this version needs {games.nbytes}")
    return Match.of(np.frombuffer(data, games.dtype)[0])
