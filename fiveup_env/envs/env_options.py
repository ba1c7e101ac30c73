"""The options that all environments share, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from fiveup_env.belief.belief_section import BELIEF_WRITERS, belief_writer
from fiveup_env.belief.marginals import BeliefWriter
from fiveup_env.rules.match import checked_scores
from fiveup_env.rules.record import Variant
from fiveup_env.views.rewards import REWARDS, reward_index

EPISODES = ("match", "round")
OBSERVATIONS = ("flat", "dict")
DRAWS = ("explicit", "auto")
BELIEFS = ("none", *BELIEF_WRITERS)


@dataclass(frozen=True)
class EnvOptions:
    """What an episode is, what is observed and what is rewarded.

    Attributes:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        episode: "match" (to exactly 61, R6.2) or "round" (one deal; a match won in it ends it too).
        reward: "win", "points" or "equity" (see `fiveup_env.views.rewards`).
        observation: "flat" (one vector) or "dict" (named sections).
        draws: "explicit" (forced draws and passes are actions) or "auto" (resolved inside).
        max_rounds: truncate the episode when that many rounds are over without a winner; None never does.
        starting_scores: raw points per side at the start, None for zero.
        history_length: if positive, observations carry the latest public events of the round (see `write_history`).
        belief: "none"; "exact": observations carry the exact marginals `belief` (see `Views.belief`), which take about
            2, 4 and 18 µs a step with 2, 3 and 4 players; or "likely": marginals weighed by what the others chose, an
            approximation (see `approximation`), about 2 to 3 µs. A step of `SelfPlayVectorEnv` without takes 0.2 µs.
        hand_size, target, max_pip: a small variant; the defaults are the real game.

    Raises:
        ValueError: naming the option, the value given and what would be right.
    """

    num_players: int = 4
    episode: str = "match"
    reward: str = "win"
    observation: str = "flat"
    draws: str = "explicit"
    max_rounds: int | None = None
    starting_scores: Sequence[int] | None = None
    history_length: int = 0
    belief: str = "none"
    hand_size: int = 5
    target: int = 61
    max_pip: int = 6

    def __post_init__(self) -> None:
        checked_scores(self.starting_scores, self.variant)
        for name, choices in (
            ("episode", EPISODES),
            ("reward", REWARDS),
            ("observation", OBSERVATIONS),
            ("draws", DRAWS),
            ("belief", BELIEFS),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
        if self.max_rounds is not None:
            check_integer("max_rounds", self.max_rounds, 1, 2**31 - 1)
        check_integer("history_length", self.history_length, 0, 1000)

    @property
    def variant(self) -> Variant:
        """Players, hand size, target and set."""
        return Variant(self.num_players, self.hand_size, self.target, self.max_pip)

    @property
    def scores(self) -> tuple[int, ...]:
        """Raw points per side at the start."""
        return checked_scores(self.starting_scores, self.variant)

    def marginals(self, threads: int = 1) -> BeliefWriter | None:
        """What writes the section `belief` of observations, None if they have none."""
        return None if self.belief == "none" else belief_writer(self.belief, threads)

    @property
    def kernel_options(self) -> tuple[int, bool, bool, int]:
        """The options as `transition` wants them: reward scheme, auto draws, round episodes, max rounds (0: none)."""
        return (
            reward_index(self.reward),
            self.draws == "auto",
            self.episode == "round",
            self.max_rounds or 0,
        )


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError that names the option unless `value` is an integer in these bounds."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def checked_options(given: Mapping[str, Any]) -> EnvOptions:
    """The options that an environment was made with.

    Raises:
        TypeError: naming an option that does not exist, and those that do.
        ValueError: see `EnvOptions`.
    """
    known = [field.name for field in fields(EnvOptions)]
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: the options are {', '.join(known)}")
    return EnvOptions(**given)
