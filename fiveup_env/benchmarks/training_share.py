"""Share of a training iteration that the environment takes: MaskablePPO of sb3-contrib on the native VecEnv."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

NETWORK = (128, 128)
EPOCHS = 4
BATCH = 2048
PARTS = ("environment", "network", "rest of the collection", "training")
"""Stepping the environment and fetching masks, forward passes, other work of SB3 during collection, and training."""


@dataclass(frozen=True)
class Shares:
    """Time of training iterations by part.

    Attributes:
        matches, steps: size of a rollout.
        seconds: part (see `PARTS`) -> seconds, one value per iteration.
    """

    matches: int
    steps: int
    seconds: dict[str, list[float]]

    @property
    def whole(self) -> list[float]:
        """Seconds of every iteration."""
        return [sum(parts) for parts in zip(*self.seconds.values(), strict=True)]

    def share(self, *parts: str) -> float:
        """Median share of these parts in an iteration."""
        summed = [sum(taken) for taken in zip(*(self.seconds[part] for part in parts), strict=True)]
        return median(part / whole for part, whole in zip(summed, self.whole, strict=True))

    def rows(self) -> dict[str, float]:
        """Share of every part, and of the collection without the network."""
        found = {part: self.share(part) for part in self.seconds}
        return found | {"collection without network": self.share("environment", "rest of the collection")}

    @property
    def samples_per_second(self) -> float:
        """Median speed of whole iterations."""
        return median(self.matches * self.steps / whole for whole in self.whole)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        rows = self.rows()
        return {
            "matches": self.matches,
            "steps": self.steps,
            "network": list(NETWORK),
            "epochs": EPOCHS,
            "batch": BATCH,
            "shares": {part: rows[part] for part in self.seconds},
            "collection without network": rows["collection without network"],
            "samples per second": self.samples_per_second,
            "seconds": self.seconds,
        }


def measure_shares(num_players: int = 4, matches: int = 1024, steps: int = 16, iterations: int = 3) -> Shares:
    """Train with one torch thread and time the parts of each iteration; one more iteration warms up.

    Raises:
        ImportError: if torch, stable-baselines3 or sb3-contrib is missing.
    """
    import torch
    from sb3_contrib import MaskablePPO

    from fiveup_env.envs.sb3 import FiveUpSB3VecEnv

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        env = FiveUpSB3VecEnv(matches, seed=0, num_players=num_players, draws="auto", reward="equity")
        model = MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=steps,
            batch_size=BATCH,
            n_epochs=EPOCHS,
            policy_kwargs={"net_arch": list(NETWORK)},
            device="cpu",
            seed=0,
        )
        return _timed(model, env, matches, steps, iterations)
    finally:
        torch.set_num_threads(threads)


def _timed(model: Any, env: Any, matches: int, steps: int, iterations: int) -> Shares:
    taken: dict[str, float] = {}

    def time(owner: Any, method: str, part: str) -> None:
        function = getattr(owner, method)

        def timed(*given: Any, **named: Any) -> Any:
            begun = perf_counter()
            result = function(*given, **named)
            taken[part] = taken.get(part, 0.0) + perf_counter() - begun
            return result

        setattr(owner, method, timed)

    time(env, "step_wait", "environment")
    time(env, "env_method", "environment")
    time(model.policy, "forward", "network")
    time(model.policy, "predict_values", "network")
    time(model, "collect_rollouts", "collection")
    time(model, "train", "training")
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}
    for iteration in range(iterations + 1):
        taken.clear()
        model.learn(matches * steps, reset_num_timesteps=iteration == 0)
        taken["rest of the collection"] = taken["collection"] - taken["environment"] - taken["network"]
        for part in PARTS:
            seconds[part] += [taken[part]] if iteration else []
    return Shares(matches, steps, seconds)
