"""The view of one seat: a copy of the match record with everything erased that the seat cannot know.

Agents get nothing else, so they cannot leak hidden information.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import Tile
from fiveup_env.rules.layout import Layout
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MAX_PLAYERS, Game, copy_games
from fiveup_env.rules.tiles import NO_TILE, tiles_in
from fiveup_env.rules.turn import write_mask
from fiveup_env.views.history import write_history
from fiveup_env.views.observation import observation_size, split
from fiveup_env.views.observation_kernels import may_hold, write_observation


@kernel
def hide(game: Game, seat: int) -> None:
    """Erase what `seat` cannot know: the other hands, the order of the boneyard, the seed (R2.2, D6)."""
    for other in range(MAX_PLAYERS):
        if other != seat:
            game.hands[other] = 0
    for i in range(28):
        game.boneyard[i] = NO_TILE
    game.seed = 0


@entry
def _hide_all(games: np.ndarray, seats: np.ndarray) -> None:
    for i in range(len(games)):
        hide(games[i], seats[i])


@entry
def _look(games: np.ndarray, seats: np.ndarray, out: np.ndarray, masks: np.ndarray) -> None:
    for i in range(len(games)):
        game, seat = games[i], int64(seats[i])
        write_observation(game, seat, out[i])
        if seat == game.turn:
            write_mask(game, masks[i])


@entry
def _history(games: np.ndarray, seats: np.ndarray, out: np.ndarray, masks: np.ndarray) -> None:
    for i in range(len(games)):
        write_history(games[i], int64(seats[i]), out[i], masks[i])


@entry
def _may_hold(games: np.ndarray, seat: int, other: int) -> int:
    return may_hold(games[0], seat, other)


class Views:
    """Views of many matches with one number of players, one seat each.

    Attributes:
        games: records [N] (dtype `GAME`), hidden fields erased.
        seats: the seat that looks, int64 [N].
    """

    def __init__(self, games: np.ndarray, seats: Sequence[int] | np.ndarray) -> None:
        """Copy the records and erase hidden fields."""
        self.games = copy_games(games)
        self.seats = np.array(seats, np.int64)
        _hide_all(self.games, self.seats)

    def __len__(self) -> int:
        return len(self.games)

    def __getitem__(self, i: int) -> View:
        return View(self.games[i], int(self.seats[i]))

    @property
    def num_players(self) -> int:
        """Number of seats of these matches."""
        return int(self.games["num_players"][0]) if len(self.games) else MAX_PLAYERS

    def observe(self, dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray]:
        """Return observations [N, F] in `dtype` (float32, or uint8 for bare codes) and masks, int8 [N, 121].

        The mask of a seat that is not to act is all zero.
        """
        n = self.num_players
        out: np.ndarray = np.zeros((len(self), observation_size(n)), dtype)
        masks = np.zeros((len(self), 121), np.int8)
        _look(self.games, self.seats, out, masks)
        return out, masks

    def history(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Return public events, int16 [N, length, 3], and their mask, int8 [N, length]; see `write_history`."""
        out = np.zeros((len(self), length, 3), np.int16)
        masks = np.zeros((len(self), length), np.int8)
        _history(self.games, self.seats, out, masks)
        return out, masks


class View:
    """View of one seat of a match.

    `game` is the record with hidden fields erased: other hands are empty (their sizes are in `hand_sizes`), and so are
    the order of the boneyard and the seed.
    """

    def __init__(self, game: Game, seat: int) -> None:
        """Copy the record and erase hidden fields."""
        if not 0 <= seat < int(game["num_players"]):
            raise ValueError(f"seat must be from 0 to {int(game.num_players) - 1}, not {seat!r}")
        self.seat = seat
        self._match = Match.of(game)
        _hide_all(self._match._games, np.array([seat]))

    @classmethod
    def of(cls, match: Match, seat: int | None = None) -> View:
        """Return the view of `seat` (default: the seat to act) of a match."""
        return cls(match.game, match.turn if seat is None else seat)

    @property
    def game(self) -> Game:
        """The record with hidden fields erased."""
        return self._match.game

    @property
    def views(self) -> Views:
        """This view as a batch of one."""
        return Views(self._match._games, [self.seat])

    @property
    def num_players(self) -> int:
        """Number of seats."""
        return self._match.num_players

    @property
    def turn(self) -> int:
        """Seat to act."""
        return self._match.turn

    @property
    def hand(self) -> tuple[Tile, ...]:
        """Own tiles."""
        return self._match.hands[self.seat]

    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """Tiles held by each seat, by absolute seat (D6)."""
        return tuple(int(size) for size in self.game.hand_sizes[: self.num_players])

    @property
    def boneyard_size(self) -> int:
        """Tiles left to draw (D6)."""
        return int(self.game.boneyard_end) - int(self.game.boneyard_next)

    @property
    def scores(self) -> tuple[int, ...]:
        """Raw points per side."""
        return self._match.scores

    @property
    def layout(self) -> Layout:
        """Layout of the tiles on the table."""
        return self._match.layout

    @property
    def history(self) -> tuple[tuple[int, int], ...]:
        """This round's actions as (seat, action); a draw does not show its tile (D6)."""
        return self._match.history

    @property
    def round_number(self) -> int:
        """1 in the first round."""
        return self._match.round_number

    @property
    def last_round(self) -> dict[str, object] | None:
        """Result of the last settled round, with the hands then shown (D5); see `Match.last_round`."""
        return self._match.last_round

    def may_hold(self, other: int) -> tuple[Tile, ...]:
        """Tiles that another seat may hold as far as this seat can tell (a cheap bound)."""
        return tiles_in(_may_hold(self._match._games, self.seat, other))

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions; empty if this seat is not to act."""
        return self._match.legal_actions() if self.turn == self.seat else []

    def action_mask(self) -> np.ndarray:
        """Mask of the legal actions, int8 [121]; all zero if this seat is not to act."""
        mask = self._match.action_mask()
        return mask if self.turn == self.seat else np.zeros_like(mask)

    def observation(self) -> np.ndarray:
        """Observation vector, float32 [F]."""
        return self.views.observe()[0][0]

    def sections(self) -> dict[str, np.ndarray]:
        """Observation by section name."""
        return split(self.observation(), self.num_players)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented
        return self.seat == other.seat and self._match == other._match

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        tiles = " ".join(f"[{low}|{high}]" for low, high in self.hand)
        return f"<View of player_{self.seat}: {tiles}; {self._match!r}>"
