"""What share of a training iteration the environment takes: MaskablePPO of sb3-contrib over the native VecEnv."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

NETWORK = (128, 128)
EPOCHS = 4
BATCH = 2048
PARTS = ("environment", "network", "rest of the collection", "training")


@dataclass(frozen=True)
class Shares:
    """Where the time of an iteration goes.

    Attributes:
        matches, steps: size of a rollout.
        seconds: part -> seconds of an iteration, one value each; parts: stepping the environment and fetching masks,
            the network's forward passes, what SB3 does beside these while it collects, and the training.
    """

    matches: int
    steps: int
    seconds: dict[str, list[float]]

    @property
    def whole(self) -> list[float]:
        """Seconds of every iteration."""
        return [sum(parts) for parts in zip(*self.seconds.values(), strict=True)]

    def share(self, *parts: str) -> float:
        """Median share of an iteration that these parts take."""
        summed = [sum(taken) for taken in zip(*(self.seconds[part] for part in parts), strict=True)]
        return median(part / whole for part, whole in zip(summed, self.whole, strict=True))

    @property
    def samples_per_second(self) -> float:
        """Median speed of whole iterations."""
        return median(self.matches * self.steps / whole for whole in self.whole)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        return {
            "matches": self.matches,
            "steps": self.steps,
            "network": list(NETWORK),
            "epochs": EPOCHS,
            "batch": BATCH,
            "shares": {part: self.share(part) for part in self.seconds},
            "collection without network": self.share("environment", "rest of the collection"),
            "samples per second": self.samples_per_second,
            "seconds": self.seconds,
        }


class Stopwatch:
    """Adds up the time that functions take."""

    def __init__(self) -> None:
        self.taken = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        def timed(*given: Any, **named: Any) -> Any:
            begun = perf_counter()
            result = function(*given, **named)
            self.taken += perf_counter() - begun
            return result

        return timed

    def read(self) -> float:
        """Seconds since the last reading."""
        taken, self.taken = self.taken, 0.0
        return taken


def measure_shares(num_players: int = 4, matches: int = 1024, steps: int = 16, iterations: int = 3) -> Shares:
    """Train for some iterations and time the parts; one torch thread, the first iteration does not count.

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
    watches = {name: Stopwatch() for name in ("environment", "network", "collection", "training")}
    env.step_wait = watches["environment"].around(env.step_wait)
    env.env_method = watches["environment"].around(env.env_method)
    for name in ("forward", "predict_values"):
        setattr(model.policy, name, watches["network"].around(getattr(model.policy, name)))
    model.collect_rollouts = watches["collection"].around(model.collect_rollouts)
    model.train = watches["training"].around(model.train)
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}
    for iteration in range(iterations + 1):
        model.learn(matches * steps, reset_num_timesteps=iteration == 0)
        taken = {name: watch.read() for name, watch in watches.items()}
        if iteration:
            rest = taken["collection"] - taken["environment"] - taken["network"]
            for part, value in zip(
                PARTS, (taken["environment"], taken["network"], rest, taken["training"]), strict=True
            ):
                seconds[part].append(value)
    return Shares(matches, steps, seconds)
