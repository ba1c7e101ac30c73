"""`Episode`: a position of the game in extensive form, with chance as a player of its own.

Chance decides the lot (R2.3, R2.5), then the deal, tile by tile, and each drawn tile when it is drawn (R3.2), so that
the boneyard has no order before it matters. Everything else is `Match`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from fiveup_env.envs.transition import TERMINATED, step_rewards
from fiveup_env.extensive.deal_chance import Outcomes, evenly, next_tiles
from fiveup_env.extensive.episode_kernels import deal_round, draw_next
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW, describe
from fiveup_env.rules.match import IllegalActionError, Match
from fiveup_env.rules.record import BY_EXACT_HIT, MATCH_OVER, PLAYING, new_games
from fiveup_env.rules.tiles import NUM_TILES, tile_name
from fiveup_env.views.rewards import reward_index

DRAWN = 128
"""An event is an action, or for a draw this plus the tile."""


class Stage(Enum):
    """Who decides what next."""

    LOT = "lot"  # chance: the opener
    DEAL = "deal"  # chance: a tile for a hand
    PLAY = "play"  # the seat to act
    DRAWING = "drawing"  # chance: the tile that the seat to act draws
    OVER = "over"


class Round(NamedTuple):
    """A round as everybody at the table could write it down, had all seen everything.

    Attributes:
        opener: seat.
        scores: raw points per side before it.
        dealt: tiles, seat by seat, ascending in each hand.
        events: see `DRAWN`.
        shown: hands shown at the settlement as tile sets, one per seat (D5); None while the round goes on, and after
            an exact hit.
    """

    opener: int
    scores: tuple[int, ...]
    dealt: tuple[int, ...]
    events: tuple[int, ...]
    shown: tuple[int, ...] | None


class Episode:
    """A position; copies are cheap and share nothing that changes.

    Attributes:
        setup: which game.
        stage: who decides next.
        match: the match; while chance deals, its table is that of the round before.
        opener: seat that opens this round, -1 before the lot.
        dealt: tiles dealt in this round so far, seat by seat, ascending in each hand.
        events: what happened in this round since, see `DRAWN`.
        scores: raw points per side before this round.
        past: the rounds before.
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

    # what may come next

    @property
    def is_chance(self) -> bool:
        """Whether chance decides next."""
        return self.stage in (Stage.LOT, Stage.DEAL, Stage.DRAWING)

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow."""
        return self.stage is Stage.OVER

    def chance_outcomes(self) -> Outcomes:
        """Outcomes with their probabilities: seats for the lot, tiles for deal and draw; () where chance is not due."""
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

    # what comes next

    def apply(self, action: int) -> None:
        """Let the seat to act, or chance, decide.

        Raises:
            IllegalActionError: if that may not come next; nothing is changed.
        """
        if self.stage is Stage.PLAY:
            self._act(action)
        elif self.stage is Stage.OVER:
            raise IllegalActionError(f"the episode is over: nobody may {describe(action)}")
        elif action not in (possible := [outcome for outcome, _ in self.chance_outcomes()]):
            raise IllegalActionError(f"chance may not decide {action!r} ({self.stage.value}); possible: {possible}")
        elif self.stage is Stage.LOT:
            self._new_round(int(action))
        elif self.stage is Stage.DEAL:
            self._deal(int(action))
        else:
            self._drawn(int(action))

    def _act(self, action: int) -> None:
        if action == DRAW and self.match._mask[DRAW]:
            self.stage = Stage.DRAWING  # the match follows when chance has decided
            return
        self.match.play(action, deal=False)
        self.events = (*self.events, int(action))
        self._look_for_the_end()

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
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        phase = self.match._games["phase"][0]
        if phase == PLAYING:
            return
        if phase == MATCH_OVER or len(self.past) + 1 >= self.setup.num_rounds:
            self.stage = Stage.OVER
            return
        self.past = (*self.past, self.round)
        self._new_round(int(self.match._games["next_opener"][0]))

    # what happened

    @property
    def round(self) -> Round:
        """This round so far."""
        game = self.match._games[0]
        shown = None
        if game["phase"] != PLAYING and game["round_end"] != BY_EXACT_HIT:
            shown = tuple(game["revealed"][: self.match.num_players].tolist())
        return Round(self.opener, self.scores, self.dealt, self.events, shown)

    def utilities(self) -> list[float]:
        """What the episode was worth to every player; partners get the same. All zero before its end."""
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
        """A chance outcome for people."""
        if self.stage is Stage.LOT:
            return f"player_{outcome} opens"
        if not 0 <= outcome < NUM_TILES:
            return f"tile {outcome}"
        seat = len(self.dealt) // self.setup.variant.hand_size if self.stage is Stage.DEAL else self.match.turn
        return f"{self.stage.value} {tile_name(outcome)} to player_{seat}"
