"""`Episode`: a position of the game in extensive form, with chance as a separate player.

Chance decides the lot (R2.3, R2.5), then the deal tile by tile, and each drawn tile when it is drawn (R3.2), so the
boneyard has no order before a draw. Everything else is left to `Match`.

Tiles are dealt seat by seat, and to each seat in ascending order of their index, because a hand has no order. The
probability of a tile is the share of the possible hands whose next tile it is. Dealing in any order would reach every
deal (hand size)! ** players times, at that cost to exact methods.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fiveup_env.envs.transition import TERMINATED, step_rewards
from fiveup_env.extensive.episode_kernels import deal_round, draw_next
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW, describe
from fiveup_env.rules.match import IllegalActionError, Match
from fiveup_env.rules.record import BY_EXACT_HIT, MATCH_OVER, PLAYING, new_games
from fiveup_env.rules.tiles import NUM_TILES, tile_name
from fiveup_env.views.rewards import reward_index

Outcomes = tuple[tuple[int, float], ...]
"""Chance outcomes with their probabilities, ascending."""

DRAWN = 128
"""Offset of draw events: an event is an action id, or for a draw this number plus the tile."""


@cache
def _shares(candidates: int, missing: int) -> tuple[float, ...]:
    """P(the first, second, ... of the candidates is the lowest of a random set of `missing` of them)."""
    ways = math.comb(candidates, missing)
    return tuple(math.comb(candidates - 1 - i, missing - 1) / ways for i in range(candidates - missing + 1))


def next_tiles(dealt: tuple[int, ...], hand_size: int, num_tiles: int) -> Outcomes:
    """Chance outcomes of the next dealt tile.

    Args:
        dealt: tiles dealt so far, seat by seat; the last hand may be incomplete.
        hand_size: tiles per seat.
        num_tiles: number of tiles in play; their indices are below it.
    """
    held = len(dealt) % hand_size
    lowest = dealt[-1] + 1 if held else 0
    candidates = [tile for tile in range(lowest, num_tiles) if tile not in dealt]
    return tuple(zip(candidates, _shares(len(candidates), hand_size - held), strict=False))


def evenly(outcomes: tuple[int, ...]) -> Outcomes:
    """The outcomes, all with the same probability."""
    return tuple((outcome, 1 / len(outcomes)) for outcome in outcomes)


class Stage(Enum):
    """The next thing to be decided, and by whom."""

    LOT = "lot"  # chance: the opener
    DEAL = "deal"  # chance: a tile for a hand
    PLAY = "play"  # the seat to act
    DRAWING = "drawing"  # chance: the tile that the seat to act draws
    OVER = "over"


class Round(NamedTuple):
    """Full record of a round, hidden tiles included.

    Attributes:
        opener: seat.
        scores: raw points per side before the round.
        dealt: tiles, seat by seat, ascending in each hand.
        events: see `DRAWN`.
        shown: hands shown at the settlement as tile sets, one per seat (D5); None during the round and after an exact
            hit.
    """

    opener: int
    scores: tuple[int, ...]
    dealt: tuple[int, ...]
    events: tuple[int, ...]
    shown: tuple[int, ...] | None


class Episode:
    """A position. Copies are cheap and share no mutable state.

    Attributes:
        setup: the game.
        stage: the next decision.
        match: the match; during a deal its table is that of the previous round.
        opener: seat that opens this round, -1 before the lot.
        dealt: tiles dealt in this round so far, seat by seat, ascending in each hand.
        events: events of this round, see `DRAWN`.
        scores: raw points per side before this round.
        past: previous rounds.
    """

    __slots__ = ("dealt", "events", "match", "opener", "past", "scores", "setup", "stage")

    def __init__(self, setup: Setup) -> None:
        games = new_games(1, setup.variant)
        scores = setup.options.scores
        games["scores"][0, : len(scores)] = scores
        self.setup = setup
        self.match = Match.of(games[0])
        self.past: tuple[Round, ...] = ()
        self._new_round(-1 if setup.opener is None else setup.opener)

    def _new_round(self, opener: int) -> None:
        self.opener = opener
        self.scores = self.match.scores
        self.dealt: tuple[int, ...] = ()
        self.events: tuple[int, ...] = ()
        self.stage = Stage.LOT if opener < 0 else Stage.DEAL

    def copy(self) -> Episode:
        """An independent copy."""
        other = Episode.__new__(Episode)
        other.setup, other.stage, other.match = self.setup, self.stage, self.match.copy()
        other.opener, other.dealt, other.events = self.opener, self.dealt, self.events
        other.scores, other.past = self.scores, self.past
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Episode:
        return self.copy()

    @property
    def is_chance(self) -> bool:
        """Whether chance decides next."""
        return self.stage in (Stage.LOT, Stage.DEAL, Stage.DRAWING)

    @property
    def is_over(self) -> bool:
        """Whether the episode is over."""
        return self.stage is Stage.OVER

    def chance_outcomes(self) -> Outcomes:
        """Seats (lot) or tiles (deal, draw) with their probabilities; () if chance does not decide next."""
        if self.stage is Stage.LOT:
            return evenly(tuple(range(self.match.num_players)))
        if self.stage is Stage.DEAL:
            return next_tiles(self.dealt, self.setup.variant.hand_size, self.setup.tiles)
        if self.stage is Stage.DRAWING:
            game = self.match._games[0]
            left = game["boneyard"][int(game["boneyard_next"]) : int(game["boneyard_end"])].tolist()
            return evenly(tuple(sorted(left)))
        return ()

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions of the seat to act, ascending; empty at chance nodes and at the end."""
        return self.match.legal_actions() if self.stage is Stage.PLAY else []

    def apply(self, action: int) -> None:
        """Apply an action of the seat to act, or an outcome of chance.

        Raises:
            IllegalActionError: if it is not possible here; the state is unchanged.
        """
        if self.stage is Stage.PLAY:
            self._act(action)
        elif self.stage is Stage.OVER:
            raise IllegalActionError(f"the episode is over: cannot {describe(action)}")
        elif action not in (possible := [outcome for outcome, _ in self.chance_outcomes()]):
            raise IllegalActionError(f"chance cannot choose {action!r} ({self.stage.value}); possible: {possible}")
        elif self.stage is Stage.LOT:
            self._new_round(int(action))
        elif self.stage is Stage.DEAL:
            self._deal(int(action))
        else:
            self._drawn(int(action))

    def _act(self, action: int) -> None:
        if action == DRAW and self.match._mask[DRAW]:
            self.stage = Stage.DRAWING  # the match plays the draw once chance has chosen the tile
            return
        self.match.play(action, deal=False)
        self.events = (*self.events, int(action))
        self._check_end()

    def _deal(self, tile: int) -> None:
        self.dealt = (*self.dealt, tile)
        size, players = self.setup.variant.hand_size, self.setup.variant.num_players
        if len(self.dealt) == size * players:
            hands = [sum(1 << t for t in self.dealt[size * seat : size * (seat + 1)]) for seat in range(players)]
            deal_round(self.match._games, self.opener, np.array(hands, np.int64), self.setup.tiles)
            self.match = Match.of(self.match.game)
            self.stage = Stage.PLAY

    def _drawn(self, tile: int) -> None:
        draw_next(self.match._games, tile)
        self.match.play(DRAW, deal=False)
        self.events = (*self.events, DRAWN + tile)
        self.stage = Stage.PLAY
        self._check_end()

    def _check_end(self) -> None:
        phase = self.match._games["phase"][0]
        if phase == PLAYING:
            return
        if phase == MATCH_OVER or len(self.past) + 1 >= self.setup.num_rounds:
            self.stage = Stage.OVER
            return
        self.past = (*self.past, self.round)
        self._new_round(int(self.match._games["next_opener"][0]))

    @property
    def round(self) -> Round:
        """The current round so far."""
        game = self.match._games[0]
        shown = None
        if game["phase"] != PLAYING and game["round_end"] != BY_EXACT_HIT:
            shown = tuple(game["revealed"][: self.match.num_players].tolist())
        return Round(self.opener, self.scores, self.dealt, self.events, shown)

    def utilities(self) -> list[float]:
        """Utility of the episode to every player, equal for partners; all zero before the end."""
        players, sides = self.match.num_players, self.match.num_sides
        if not self.is_over:
            return [0.0] * players
        options = self.setup.options
        before = (*map(int, options.scores), 0)[:3]
        by_side = step_rewards(
            self.match._games, before, TERMINATED, reward_index(options.reward), options.episode == "round"
        )
        return [by_side[seat % sides] for seat in range(players)]

    def chance_text(self, outcome: int) -> str:
        """Readable text of a chance outcome."""
        if self.stage is Stage.LOT:
            return f"player_{outcome} opens"
        if not 0 <= outcome < NUM_TILES:
            return f"tile {outcome}"
        seat = len(self.dealt) // self.setup.variant.hand_size if self.stage is Stage.DEAL else self.match.turn
        return f"{self.stage.value} {tile_name(outcome)} to player_{seat}"
