"""Learning from the labels of a search: cross-entropy to soft targets, and the value of the best action."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import torch
from pydantic import Field

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.views.observation import units

from ._config import ConfigSection, Count, NotNegative, Positive
from ._positions import Positions


class Learning(ConfigSection):
    """Loss and optimiser."""

    temperature: Positive = Field(
        default=0.01, description="targets are softmax(values / temperature); values are win probabilities"
    )
    value_weight: NotNegative = Field(default=2.0, description="weight of the squared error of the value head")
    batch: Count = Field(default=1024, description="positions per gradient step")
    weight_decay: NotNegative = Field(default=0.01, description="weight decay of AdamW")
    max_grad_norm: Positive = Field(default=1.0, description="maximal norm of the gradient")


class Batches:
    """Positions as tensors.

    Args:
        positions: see `_positions`.
        num_players: 2, 3 or 4.
        temperature: temperature of the targets.
    """

    def __init__(self, positions: Positions, num_players: int, temperature: float) -> None:
        self.codes, self.belief = torch.from_numpy(positions.codes), torch.from_numpy(positions.belief)
        self.values = torch.from_numpy(positions.values)
        self.value = torch.from_numpy(positions.value)
        self.units = torch.from_numpy(units(num_players).copy())
        self.temperature = temperature

    def __len__(self) -> int:
        return len(self.codes)

    def losses(self, network: PolicyNetwork, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return mean cross-entropy to the soft targets, mean squared error of the value, and regret [B].

        The regret is the loss of the most likely action by the teacher's estimates. Part of it is noise: the teacher's
        best action is the maximum of noisy means.
        """
        observation, belief = self.codes[rows].float() * self.units, self.belief[rows].float() / 255
        values, value = self.values[rows].float(), self.value[rows]
        legal = torch.isfinite(values)
        logits, guess = network(observation, legal, belief)
        logits = logits.masked_fill(~legal, -1e9)
        targets = torch.softmax(values / self.temperature, 1)
        cross_entropy = -(targets * torch.log_softmax(logits, 1)).sum(1).mean()
        regret = -values.gather(1, logits.argmax(1, keepdim=True))[:, 0]
        return cross_entropy, ((guess - value) ** 2).mean(), regret


def learn(
    network: PolicyNetwork,
    learned: Positions,
    measured: Positions,
    settings: Learning,
    epochs: int,
    learning_rate: float,
    progress: Callable[[int, int], None],
) -> Iterator[dict[str, float]]:
    """Train for some epochs; yields the figures of each.

    Args:
        network: network to train.
        learned, measured: positions to learn from, and to measure on.
        settings: loss and optimiser.
        epochs: passes over the positions.
        learning_rate: highest learning rate of AdamW.
        progress: called with the numbers of completed and of all gradient steps.
    """
    batches = Batches(learned, network.num_players, settings.temperature)
    held = Batches(measured, network.num_players, settings.temperature)
    per_epoch = max(1, len(batches) // settings.batch)
    steps = epochs * per_epoch
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=learning_rate, weight_decay=settings.weight_decay, foreach=True
    )
    warm = min(200, max(1, steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, step / steps)))
    )
    began, done = time.monotonic(), 0
    for epoch in range(1, epochs + 1):
        total = 0.0
        for rows in torch.randperm(len(batches))[: per_epoch * settings.batch].split(settings.batch):
            cross_entropy, error, _ = batches.losses(network, rows)
            loss = cross_entropy + settings.value_weight * error
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), settings.max_grad_norm)
            optimizer.step()
            schedule.step()
            total += loss.item()
            done += 1
            progress(done, steps)
        seconds = time.monotonic() - began
        figures = {"epoch": epoch, "seconds": round(seconds, 1), "loss": total / per_epoch}
        yield figures | held_out_figures(network, held)


def held_out_figures(network: PolicyNetwork, held: Batches) -> dict[str, float]:
    """Return the figures of the network on held-out positions."""
    sums = {"cross_entropy": 0.0, "value_error": 0.0, "regret": 0.0, "agreement": 0.0}
    with torch.inference_mode():
        for rows in torch.arange(len(held)).split(8192):
            cross_entropy, error, regret = held.losses(network, rows)
            sums["cross_entropy"] += cross_entropy.item() * len(rows)
            sums["value_error"] += error.item() * len(rows)
            sums["regret"] += regret.sum().item()
            sums["agreement"] += (regret == 0).sum().item()
    means = {name: total / len(held) for name, total in sums.items()}
    return means | {"value_error": math.sqrt(means["value_error"])}
