"""Parts of the examples that learn with torch: a network with two hidden layers, and its policy as an agent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from fiveup_env.adapters.policy_function import ScoringPolicy

from ._example import PLAYERS


def perceptron(inputs: int, outputs: int, *, flat: bool = False) -> nn.Sequential:
    """Return a network with two hidden layers; with `flat`, its initial outputs do not depend on the input."""
    layers = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, outputs))
    if flat:
        nn.init.zeros_(layers[-1].weight)
    return layers


def agent_of(logits: Callable[[torch.Tensor], torch.Tensor], name: str) -> ScoringPolicy:
    """Return the agent that plays the legal action with the highest logit; `logits` maps observations to [N, 121]."""

    @torch.no_grad()
    def scores(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return logits(torch.from_numpy(observation)).numpy()

    return ScoringPolicy(scores, PLAYERS, name=name)
