"""Shared parts of the examples: command line, measurements and final evaluation."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.evaluation import evaluate
from fiveup_env.system.optional import needs as needs

PLAYERS = 4
OPPONENTS = ("random", "greedy")

MATCHES, STEPS = 256, 32
"""Parallel matches, and decisions per match and iteration, of the examples on native environments."""

EPOCHS, MINIBATCH, MINIBATCHES = 4, 1024, 8
"""Passes over the decisions of an iteration; decisions per gradient step, or gradient steps per pass."""

SELF_PLAY: Mapping[str, Any] = MappingProxyType(
    {
        "num_players": PLAYERS,
        "episode": "round",
        "continue_match": True,
        "reward": "points",
        "draws": "auto",  # plays forced draws and passes
        "skip_single": True,
    }
)
"""Arguments of `SelfPlayVectorEnv` and its adapters in examples that learn all seats."""

AGAINST_GREEDY: Mapping[str, Any] = MappingProxyType({**SELF_PLAY, "opponents": "greedy"})
"""Arguments of `FiveUpVectorEnv` and its adapters in examples whose learner has one side."""


@dataclass
class Outcome:
    """Result of a run.

    Attributes:
        library: name of the library's distribution.
        policy: the learned policy as an agent; None if the example learns none.
        samples: decisions learned from.
        seconds, cpu_seconds: wall time and CPU time of learning, without compilation.
        losses: all reported losses.
        rewards: float64 [seats], sum of the absolute rewards of each seat.
    """

    library: str
    policy: Policy | None = None
    samples: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    losses: list[float] = field(default_factory=list)
    rewards: np.ndarray = field(default_factory=lambda: np.zeros(PLAYERS))

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Add the time of a `with` block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - wall
        self.cpu_seconds += time.process_time() - cpu

    def note_rewards(self, seats: Any, rewards: Any) -> None:
        """Add rewards [N] to the seats [N] that received them."""
        np.add.at(self.rewards, np.asarray(seats).reshape(-1), np.abs(np.asarray(rewards).reshape(-1)))

    def check(self) -> None:
        """Raise a ValueError unless there were losses, all finite, and every seat got rewards."""
        if not self.losses or not all(map(math.isfinite, self.losses)):
            raise ValueError(f"{self.library}: losses must be finite numbers: {self.losses[-5:]}")
        if not (self.rewards > 0).all():
            raise ValueError(f"{self.library}: a seat received no rewards: {self.rewards.tolist()}")

    def as_dict(self, matches: int, seed: int = 1) -> dict[str, Any]:
        """Return figures for JSON, with an evaluation against each of `OPPONENTS` on duplicate deals."""
        plain: dict[str, Any] = {"library": self.library, "version": version(self.library), "samples": self.samples}
        plain |= {"seconds": round(self.seconds, 2), "cpu_seconds": round(self.cpu_seconds, 2)}
        plain["wins"] = {}
        for name in OPPONENTS if self.policy is not None and matches else ():
            found = evaluate(self.policy, name, PLAYERS, matches, seed, strict=True)
            plain["wins"][name] = found.win_rate.as_dict()
        return plain


def start(train: Callable[[int, int], Outcome], samples: int, description: str | None) -> None:
    """Run the command line of an example: train, check, evaluate and print the result.

    Args:
        train: function of samples and seed.
        samples: default number of samples.
        description: description of the script.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--samples", type=positive, default=samples, help="decisions to learn from (%(default)s)")
    parser.add_argument("--seed", type=seed, default=1, help="0 to 2**31 - 1 (%(default)s)")
    parser.add_argument(
        "--matches", type=positive, default=1000, help="matches per opponent of the evaluation (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print a line of JSON instead")
    given = parser.parse_args()
    compile_kernels()
    outcome = train(given.samples, given.seed)
    outcome.check()
    result = outcome.as_dict(given.matches)
    print(json.dumps(result) if given.json else _sentence(result))


def matches_for(samples: int) -> int:
    """Return the number of parallel matches: fewer than `MATCHES` for short runs."""
    return min(MATCHES, -(-samples // STEPS))


def compile_kernels() -> None:
    """Use all compiled code once, to exclude compilation from the measurements."""
    playing = SelfPlayVectorEnv(2, draws="auto", skip_single=True)
    playing.step(playing.reset(0).action_mask.argmax(1))
    learning = FiveUpVectorEnv(2, opponents="greedy", draws="auto", skip_single=True)
    learning.step(learning.reset(seed=0)[0]["action_mask"].argmax(1))
    table = FiveUpAEC(draws="auto")
    table.reset(0)
    table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    table.state()


def positive(text: str) -> int:
    """Return a positive integer from the command line."""
    return _integer(text, lambda value: value >= 1, "a positive integer")


def seed(text: str) -> int:
    """Return a seed from the command line, in the range that all libraries accept."""
    return _integer(text, lambda value: 0 <= value < 2**31, "an integer from 0 to 2**31 - 1")


def _integer(text: str, fits: Callable[[int], bool], kind: str) -> int:
    with suppress(ValueError):
        if fits(value := int(text)):
            return value
    raise argparse.ArgumentTypeError(f"must be {kind}, not {text!r}")


def _sentence(result: dict[str, Any]) -> str:
    speed = result["samples"] / max(result["seconds"], 1e-9)
    wins = [f"{name} {100 * found['value']:.1f}%" for name, found in result["wins"].items()]
    return (
        f"{result['library']} {result['version']}: {result['samples']:,} samples in {result['seconds']:.0f} s "
        f"({speed:,.0f}/s); wins against {', '.join(wins)}"
    )
