"""Any function of observations as an agent: what a library has learned, to be evaluated and played against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.views.view import Views

Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Observations float32 [N, F] and masks int8 [N, 121] -> logits (or values) of the actions, float [N, 121]."""


class ScoringPolicy(Policy):
    """Plays the legal action with the highest score, or samples from the softmax of the scores.

    Whatever the function says of illegal actions does not matter: the mask is applied here.

    Args:
        scores: see `Scores`; called for up to some thousand rows at a time.
        num_players: of the matches it was made for; None for any.
        sample: take scores as logits and draw, instead of the highest.
        name: what tables call it.
    """

    def __init__(
        self, scores: Scores, num_players: int | None = None, *, sample: bool = False, name: str = "policy"
    ) -> None:
        self.scores, self.num_players, self.sample, self.name = scores, num_players, sample, name

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`.

        Raises:
            AgentError: if the function returns another shape, or something that is not a number.
        """
        observation, mask = views.observe()
        scores = np.asarray(self.scores(observation, mask), np.float64)
        if scores.shape != mask.shape:
            raise AgentError(f"policy {self.name} gave scores {list(scores.shape)}, not {list(mask.shape)}")
        legal = np.where(mask != 0, scores, -np.inf)
        if np.isnan(legal).any():
            raise AgentError(f"policy {self.name} gave scores that are not numbers")
        if not self.sample:
            return legal.argmax(1)
        return drawn(np.exp(legal - legal.max(1, keepdims=True)), keys)
