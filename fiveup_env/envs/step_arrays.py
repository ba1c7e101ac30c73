"""What a step of `SelfPlayVectorEnv` returns: preallocated arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fiveup_env.belief.marginals import belief_shape
from fiveup_env.rules.actions import NUM_ACTIONS

FACTS = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("rewards", "f4", 3),
                ("final_rounds", "i4"),
                ("final_length", "i4"),
                ("final_scores", "i2", 3),
                ("seat", "i1"),
                ("side", "i1"),
                ("final_winner", "i1"),
                ("terminated", "?"),
                ("truncated", "?"),
            ],
            align=True,
        ),
    )
)
"""dtype of what a step reports of one match beside observation and mask."""

LARGE = ("observation", "action_mask", "final_observation", "belief", "final_belief")
"""The arrays that are none of these facts."""


@dataclass(frozen=True)
class StepArrays:
    """What a step returns, all arrays preallocated; N matches, n players, F observation values, S sides.

    Attributes:
        observation: [N, F] float32 (or uint8 bare codes): what the seat to move sees.
        action_mask: [N, 121] int8: its legal actions.
        seat: [N] int8: the seat to move.
        side: [N] int8: its side.
        rewards: [N, S] float32: what the step brought every side (see `views.rewards`).
        terminated: [N] bool: the episode ended by the rules. The match in this row has been dealt anew.
        truncated: [N] bool: it was cut off by `max_rounds`; dealt anew as well.
        final_scores: [N, S] int16 raw points at the end; meaningful where an episode ended.
        final_winner: [N] int8: side that won the match, with episode="round" the round, -1 for none; likewise.
        final_rounds: [N] int32: rounds of the ended episode; likewise.
        final_length: [N] int32: agent-steps of the ended episode; likewise.
        final_observation: [N, F] as `observation`, written where an episode ended; [0, F] if not asked for.
        belief: [N, n, 28] float32 with belief="exact" or "likely", else [0, n, 28]: the marginals that the seat to move
            may hold of every tile (see `Views.belief`); n is the largest number of players in the batch.
        final_belief: [N, n, 28] as `belief`, written where `final_observation` is; [0, n, 28] without either of them.
        facts: [N] records (dtype `FACTS`) that the small arrays above are views of: one pointer for the kernels.
    """

    observation: np.ndarray
    action_mask: np.ndarray
    seat: np.ndarray
    side: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_scores: np.ndarray
    final_winner: np.ndarray
    final_rounds: np.ndarray
    final_length: np.ndarray
    final_observation: np.ndarray
    belief: np.ndarray
    final_belief: np.ndarray
    facts: np.ndarray

    @classmethod
    def empty(
        cls,
        count: int,
        size: int,
        players: int,
        sides: int,
        dtype: type = np.float32,
        final_observation: bool = False,
        belief: bool = False,
    ) -> StepArrays:
        """Arrays for `count` matches of up to `size` observation values, `players` and `sides`."""
        finals = count if final_observation else 0
        shape = belief_shape(players)
        large: dict[str, np.ndarray] = {
            "observation": np.zeros((count, size), dtype),
            "action_mask": np.zeros((count, NUM_ACTIONS), np.int8),
            "final_observation": np.zeros((finals, size), dtype),
            "belief": np.zeros((count if belief else 0, *shape), np.float32),
            "final_belief": np.zeros((finals if belief else 0, *shape), np.float32),
        }
        return cls.over(np.zeros(count, FACTS), sides, large)

    @classmethod
    def over(cls, facts: np.ndarray, sides: int, large: Mapping[str, np.ndarray]) -> StepArrays:
        """The small arrays as views of `facts`, beside the `LARGE` ones by name."""
        return cls(
            seat=facts["seat"],
            side=facts["side"],
            rewards=facts["rewards"][:, :sides],
            terminated=facts["terminated"],
            truncated=facts["truncated"],
            final_scores=facts["final_scores"][:, :sides],
            final_winner=facts["final_winner"],
            final_rounds=facts["final_rounds"],
            final_length=facts["final_length"],
            facts=facts,
            **large,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied field by field, the small arrays would no longer be views of the facts.
        return StepArrays.over, (self.facts, self.rewards.shape[1], {name: getattr(self, name) for name in LARGE})

    def check_like(self, other: StepArrays) -> None:
        """Raise a ValueError unless the arrays have the shapes and dtypes of `other`'s and are laid out in C order."""
        for name in ("facts", *LARGE):
            given, wanted = getattr(self, name), getattr(other, name)
            if given.shape != wanted.shape or given.dtype != wanted.dtype or not given.flags.carray:
                raise ValueError(
                    f"out.{name} must be a writable C-contiguous array {list(wanted.shape)} of {wanted.dtype.name}, "
                    f"not {list(given.shape)} of {given.dtype.name} (take `arrays()` and replace what you own)"
                )

    @property
    def done(self) -> np.ndarray:
        """[N] bool: terminated or truncated (a new array)."""
        return self.terminated | self.truncated
