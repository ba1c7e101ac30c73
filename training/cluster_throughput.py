"""CPU time per decision of the env runners and the learner of `rllib_selfplay`, and the resulting bound of the speed.

    python -m training.cluster_throughput --out docs/data/cluster.json

An iteration is sequential: play, send, learn, send weights. With s seconds of playing and l seconds of learning per
decision, n env runners and k learners reach at most 1 / (s / n + l / k) decisions per second, without the time for the
network. This bound is computed, not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import torch

from fiveup_env.system.ray_cluster import connected

from ._checkpoint import write_file
from ._rllib_ppo import SelfPlayPPO, algorithm_config
from .rllib_selfplay import Config

RUNNERS = (1, 2, 4, 8, 16, 64)
LEARNERS = (1, 4)


def measure_cluster(iterations: int, config: Config) -> dict[str, Any]:
    """Return CPU seconds and sent bytes per decision; the first iteration does not count."""
    with connected(config.address, "this script", config.env_runners):
        algorithm = algorithm_config(config).build_algo()
        try:
            algorithm.train()
            started, began = algorithm.decisions, _clocks(algorithm)
            for _ in range(iterations):
                algorithm.train()
            play, learn = (now - then for now, then in zip(_clocks(algorithm), began, strict=True))
            count = algorithm.decisions - started
            _, fragment, _ = algorithm.env_runner_group.foreach_env_runner(
                lambda runner: runner.sample(), local_env_runner=False
            )[0]
        finally:
            algorithm.stop()
    size = sum(array.nbytes for array in fragment.values()) / len(fragment["action"])
    return {
        "decisions": count,
        "play_seconds": play / count,
        "learn_seconds": learn / count,
        "bytes": size,
        "weights_bytes": 4 * sum(weight.numel() for weight in algorithm.network.parameters()),
        "network": config.network.model_dump(include={"width", "blocks", "placements"}),
        "bound": {
            f"{runners} env runners, {learners} learners": 1 / (play / count / runners + learn / count / learners)
            for learners in LEARNERS
            for runners in RUNNERS
        },
    }


def _clocks(algorithm: SelfPlayPPO) -> tuple[float, float]:
    """Return the CPU seconds so far of all env runners, and of this process."""
    theirs = algorithm.env_runner_group.foreach_env_runner(lambda _: time.process_time(), local_env_runner=False)
    return sum(theirs), time.process_time()


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--matches", type=int, default=512)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    config = Config(
        script="rllib_selfplay", decisions=10**9, env_runners=1, matches=given.matches, reward="table", cluster="local"
    )
    found = json.dumps(measure_cluster(given.iterations, config), indent=1)
    print(found)
    if given.out is not None:
        write_file(given.out, found.encode())


if __name__ == "__main__":
    main()
