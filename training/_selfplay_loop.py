"""Loop of self-play runs, used by `selfplay_ppo` and `rllib_selfplay`.

A run writes to its folder:

- `policy.safetensors`: the network, at every evaluation and at the end
- `curve.json`: every evaluation, with the decisions and seconds of learning before it
- `results.json`: the final evaluation
- `config.yaml`: the config of the run
- `checkpoint.pt` (and the previous one): everything that `--resume` needs
- `tensorboard/`: `tensorboard --logdir runs`

TensorBoard shows, by decisions learned from (each script names more metrics):

| metric                        | meaning, and values to expect                                                     |
|-------------------------------|-----------------------------------------------------------------------------------|
| policy/entropy                | mean entropy of the choices in nats; near 0 early on: raise the entropy bonus     |
| policy/loss                   | clipped surrogate; only its trend matters                                         |
| value/loss                    | squared error of the values against the returns                                   |
| value/explained               | share of the variance of the returns that the values explain; luck limits it      |
| gradient/norm                 | norm before clipping                                                              |
| schedule/learning_rate        | current value                                                                     |
| schedule/entropy_weight       | current value                                                                     |
| rollout/decisions_per_episode | decisions of all seats per episode                                                |
| rollout/return_against_NAME   | mean return of the learner's side per episode in that block of the mix            |
| evaluation/win_rate_against_NAME         | win rate with the most likely action, always on the same deals         |
| evaluation/points_per_round_against_NAME | the same matches: own display points minus the mean of the others      |
| speed/samples                 | decisions learned from per second, without evaluations                            |
| speed/share_PHASE             | share of an iteration that a phase takes; `rest` is the time outside all phases   |
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from fiveup_env.agents.network.torch_network import PolicyNetwork

from ._checkpoint import save_checkpoint, write_json
from ._config_parts import SelfPlayConfig
from ._mix import TorchPolicy
from ._network import save_weights
from ._run import evaluated, is_due, progress_line, training_bar


class SelfPlayLoop(ABC):
    """Loop of a self-play run: iterations, progress, evaluations, weights, TensorBoard and checkpoints.

    Attributes:
        config: config of the run.
        decisions: number learned from so far.
        seconds: time spent in iterations, without evaluations.
        curve: one entry per evaluation.
    """

    def __init__(self, config: SelfPlayConfig) -> None:
        self.config, self.decisions, self.seconds = config, 0, 0.0
        self.curve: list[dict[str, float]] = []

    @property
    @abstractmethod
    def network(self) -> PolicyNetwork:
        """The current network."""

    @abstractmethod
    def iteration(self) -> dict[str, float]:
        """Collect and learn once, and update `decisions` and `seconds`; returns the metrics."""

    @abstractmethod
    def checkpoint(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on."""

    def speed(self, metrics: dict[str, float]) -> str:
        """Return samples per second and the largest shares of the time, for progress lines."""
        shares = {name.removeprefix("speed/share_"): value for name, value in metrics.items() if "/share_" in name}
        parts = ", ".join(
            f"{name} {100 * shares[name]:.0f}" for name in ("collect", "infer", "learn") if name in shares
        )
        return f"{metrics.get('speed/samples', 0):,.0f}/s ({parts}%)"

    def train(self, folder: Path, console: Console) -> None:
        """Run iterations until `config.decisions` are reached."""
        config, saved = self.config, time.monotonic()
        writer = SummaryWriter(str(folder / "tensorboard"), purge_step=self.decisions)
        with writer, training_bar(console, config.decisions) as bar:
            while self.decisions < config.decisions:
                before = self.decisions
                metrics = self.iteration()
                if is_due(config.evaluation.every, before, self.decisions):
                    metrics |= self._evaluate(console, metrics)
                    self.save(folder)
                for name, value in metrics.items():
                    writer.add_scalar(name, value, self.decisions)
                bar.update(bar.task_ids[0], completed=self.decisions, speed=self.speed(metrics))
                if self.decisions >= config.decisions or time.monotonic() - saved >= config.checkpoint_seconds:
                    save_checkpoint(folder, self.checkpoint())
                    saved = time.monotonic()
        self.save(folder)

    def _evaluate(self, console: Console, metrics: dict[str, float]) -> dict[str, float]:
        """Evaluate the current policy, add to the curve and print a line; returns the metrics."""
        config = self.config
        policy, opponents = TorchPolicy(self.network), config.opponents_to_evaluate
        found, wins = evaluated(policy, opponents, config.players, config.evaluation)
        self.curve.append({"decisions": self.decisions, "seconds": round(self.seconds, 1)} | wins)
        entropy = metrics.get("policy/entropy", float("nan"))
        console.print(progress_line(self.decisions, self.speed(metrics), entropy, wins))
        return found

    def save(self, folder: Path) -> None:
        """Write the network and the curve."""
        facts = {"config": self.config.model_dump(), "decisions": self.decisions, "seconds": round(self.seconds, 1)}
        save_weights(folder / "policy.safetensors", self.network, facts)
        write_json(folder / "curve.json", self.curve)
