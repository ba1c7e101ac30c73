"""Definition of an extensive-form game, with bounds on its length and utilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fiveup_env.envs.env_options import EnvOptions, check_integer
from fiveup_env.rules.record import MAX_HISTORY, RAW_PER_POINT, Variant
from fiveup_env.rules.tiles import PIPS
from fiveup_env.views.rewards import POINTS_SCALE

MAX_ROUNDS = 100


@dataclass(frozen=True)
class Setup:
    """A finite game: one round, or a match with a maximum number of rounds.

    Attributes:
        options: players, variant, episode, reward, maximum number of rounds of a match (None becomes 100) and starting
            scores; other options are ignored.
        opener: seat that opens the first round; None for the lot (R2.3).
        num_tiles: number of tiles in play, the first ones by index (`rules.tiles`); it is public that the others are
            out of play. None for the whole set.

    Raises:
        ValueError: if a value is out of range, or utilities would not sum to zero.
    """

    options: EnvOptions
    opener: int | None = None
    num_tiles: int | None = None

    def __post_init__(self) -> None:
        variant = self.variant
        if self.opener is not None:
            check_integer("opener", self.opener, 0, variant.num_players - 1)
        if self.num_tiles is not None:
            check_integer("num_tiles", self.num_tiles, variant.num_players * variant.hand_size, variant.num_tiles)
        if self.options.reward == "equity" and variant.num_sides == 3:
            raise ValueError("reward 'equity' does not sum to zero over three players; use 'win' or 'points'")
        rounds = self.options.max_rounds or (MAX_ROUNDS if self.options.episode == "match" else None)
        known = replace(self.options, max_rounds=rounds, starting_scores=self.options.scores)
        object.__setattr__(self, "options", known)

    @classmethod
    def of(
        cls,
        num_players: int = 4,
        *,
        hand_size: int = 5,
        target: int = 61,
        max_pip: int = 6,
        episode: str = "match",
        reward: str = "win",
        max_rounds: int | None = None,
        scores: Sequence[int] | None = None,
        opener: int | None = None,
        num_tiles: int | None = None,
    ) -> Setup:
        """Create a setup from options by name; see `EnvOptions` and `Setup`."""
        options = EnvOptions(
            num_players,
            episode,
            reward,
            max_rounds=max_rounds,
            starting_scores=scores,
            hand_size=hand_size,
            target=target,
            max_pip=max_pip,
        )
        return cls(options, opener, num_tiles)

    @cached_property
    def variant(self) -> Variant:
        """Number of players, hand size, target and tile set."""
        return self.options.variant

    @cached_property
    def tiles(self) -> int:
        """Number of tiles in play; their indices are below it."""
        return self.num_tiles or self.variant.num_tiles

    @property
    def boneyard_size(self) -> int:
        """Number of tiles in the boneyard after a deal."""
        return self.tiles - self.variant.num_players * self.variant.hand_size

    @property
    def num_rounds(self) -> int:
        """Maximum number of rounds."""
        return 1 if self.options.episode == "round" else int(self.options.max_rounds or MAX_ROUNDS)

    @property
    def actions_per_round(self) -> int:
        """Upper bound: each tile is laid and drawn at most once, with fewer passes than players between placements."""
        return min(MAX_HISTORY, self.tiles * self.variant.num_players + self.boneyard_size)

    @property
    def chances_per_round(self) -> int:
        """Upper bound of the chance nodes of a round: the lot, every dealt tile, every drawn tile."""
        return 1 + self.tiles

    @property
    def utilities(self) -> tuple[float, float]:
        """Lower and upper bound of a player's utility."""
        if self.options.reward == "win":
            return (-0.5 if self.variant.num_sides == 3 else -1.0), 1.0
        if self.options.reward == "equity":
            return -2.0, 2.0
        lowest = min(*self.options.scores, 0)
        if self.variant.num_players == 4:  # a partner's hand may be deducted (R7.3, D3)
            lowest -= self.num_rounds * (int(PIPS[: self.tiles].sum()) + RAW_PER_POINT)
        # lead at the end minus lead at the start
        most = (self.variant.target * RAW_PER_POINT - lowest) + (max(self.options.scores) - lowest)
        return -most / POINTS_SCALE, most / POINTS_SCALE
