"""An agent from any function of observations and masks, such as a policy trained with another library."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.views.view import Views

Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Observations float32 [N, F] and masks int8 [N, 121] -> logits (or values) of the actions, float [N, 121]."""


class ScoringPolicy(Policy):
    """Play the legal action with the highest score, or sample from the softmax of the scores.

    The mask is applied here; scores of illegal actions are ignored.

    Args:
        scores: see `Scores`; called with up to some thousand rows.
        num_players: the number of players it supports; None for any.
        sample: sample with the scores as logits.
        name: name shown in tables.
    """

    def __init__(
        self, scores: Scores, num_players: int | None = None, *, sample: bool = False, name: str = "policy"
    ) -> None:
        self.scores, self.num_players, self.sample, self.name = scores, num_players, sample, name

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`.

        Raises:
            AgentError: if the function returns another shape, or NaN for a legal action.
        """
        observation, mask = views.observe()
        scores = np.asarray(self.scores(observation, mask), np.float64)
        if scores.shape != mask.shape:
            raise AgentError(
                f"policy {self.name} returned scores of shape {list(scores.shape)}; expected {list(mask.shape)}"
            )
        legal = np.where(mask != 0, scores, -np.inf)
        if np.isnan(legal).any():
            raise AgentError(f"policy {self.name} returned NaN scores")
        if not self.sample:
            return legal.argmax(1)
        return drawn(np.exp(legal - legal.max(1, keepdims=True)), keys)
