"""Self-play with RLlib: env runners on the CPUs of a Ray cluster, each with many native matches.

    fiveup train rllib                                    # on this machine, with its own Ray
    RAY_ADDRESS=auto fiveup train rllib --out runs/mine   # on the cluster of this machine
    fiveup train rllib --out runs/mine --resume

It uses RLlib's new API stack: `_rllib_ppo` is PPO with our sampling; `_rllib_team` has the module (one policy for all
seats, with illegal actions masked) and the env runner. Credit (`_credit`), rewards (`_standing`) and opponents (`_mix`)
are those of `selfplay_ppo`. If an env runner or its node dies, its matches and its decisions of that iteration are
lost; the others continue, and RLlib restarts it when a CPU is free.

`_selfplay_loop` lists the files of a run and its metrics. With the learner in this process, the same number of runners
and no dead runner, a resumed run ends with the same bits as an uninterrupted one. The losses and `value/explained` are
those of the last minibatch. The phases are sample (env runners), learn and sync (weights). One more metric:

| metric          | meaning                                                             |
|-----------------|---------------------------------------------------------------------|
| rollout/runners | env runners that took part; fewer than `env_runners`: some are dead |
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import ray
import torch
from pydantic import Field, model_validator
from rich.console import Console

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.system.ray_cluster import LOCAL, ClusterError, connected
from fiveup_env.system.training_scripts import ConfigError

from . import _config_parts as parts
from ._config import Count, Positive, with_defaults
from ._mix import SELF, SNAPSHOTS
from ._rllib_ppo import SelfPlayPPO, algorithm_config
from ._run import begin_folder, check_agents, final_evaluation, last_checkpoint, opened
from ._selfplay_loop import SelfPlayLoop

ClusterDefaults = with_defaults(parts.SelfPlayConfig, matches=256, opponents={SELF: 6.0, SNAPSHOTS: 3.0, "greedy": 1.0})


class Config(ClusterDefaults):
    """Config of a run: keys of self-play, and their distribution over processes; `matches` is per env runner."""

    script: Literal["rllib_selfplay"] = Field(description="this script")
    env_runners: Count = Field(default=2, le=4096, description="processes that play, one CPU each")
    learners: int = Field(default=0, ge=0, le=64, description="processes that learn; 0 learns in this process")
    gpus_per_learner: int = Field(default=0, ge=0, le=1, description="1 for learners on GPUs")
    cluster: str | None = Field(
        default=None,
        description="address of the Ray cluster, `auto`, or `local` to start one; None: $RAY_ADDRESS, else `local`",
    )
    sample_seconds: Positive = Field(default=600.0, description="a slower runner is left out of the iteration")

    @model_validator(mode="after")
    def _keys_of_this_script(self) -> Config:
        sizes, ppo = self.network, self.ppo
        wrong = {
            "teacher": self.teacher != parts.Teacher(),
            "device": self.device != "auto",
            "mixed_precision": self.mixed_precision,
            "network.privileged_critic": sizes.privileged_critic,
            "network.belief": sizes.belief,
            "network.ignore": bool(sizes.ignore),
            "network.start_from": sizes.start_from is not None,
            "ppo.value_warmup": ppo.value_warmup > 0,
        }
        if given := [name for name, is_given in wrong.items() if is_given]:
            raise ValueError(f"{given[0]} is a key of selfplay_ppo; this script does not support it")
        return self

    @property
    def address(self) -> str:
        """Address of the cluster."""
        return self.cluster or os.environ.get("RAY_ADDRESS") or LOCAL


MAY_CHANGE = parts.MAY_CHANGE | {"env_runners", "learners", "gpus_per_learner", "cluster", "sample_seconds"}
"""Keys that may change when a run is resumed."""


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Train, evaluate and print the result; for the arguments see `_run.opened`.

    Raises:
        ConfigError: as `_run.opened`, and if the cluster cannot be reached or is too small.
    """
    folder, config, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    state = last_checkpoint(folder, resume, console)
    torch.set_num_threads(config.threads)
    logging.getLogger("ray").setLevel(logging.ERROR)  # `Run` reports dead runners in one line
    check_agents([*config.opponents, *config.evaluation.opponents], config.players, "opponents")
    begin_folder(folder, config)
    processes, policy = config.env_runners + config.learners, folder / "policy.safetensors"
    try:
        with connected(config.address, "this script", max(processes, os.cpu_count() or 1)):
            if (cpus := int(ray.cluster_resources().get("CPU", 0))) < processes:
                raise ConfigError(f"env_runners and learners need {processes} CPUs; the cluster has {cpus}")
            with console.status("starting env runners (the first time on a machine, the game is compiled)"):
                algorithm = algorithm_config(config).build_algo()
            try:
                Run(config, algorithm, state, console).train(folder, console)
            finally:
                algorithm.stop()  # frees its CPUs for the evaluation
                with suppress(OSError):
                    Path(algorithm.logdir).rmdir()  # RLlib creates an empty folder in the user's home
            final_evaluation(folder, console, config, policy, config.final_matches, config.address)
    except ClusterError as error:
        raise ConfigError(str(error)) from error


class Run(SelfPlayLoop):
    """State of a run between two iterations."""

    def __init__(self, config: Config, algorithm: SelfPlayPPO, state: dict[str, Any] | None, console: Console) -> None:
        super().__init__(config)
        self.algorithm, self.console, self.alive = algorithm, console, config.env_runners
        if state:
            algorithm.from_checkpoint(state["algorithm"])
            self.decisions, self.seconds, self.curve = algorithm.decisions, state["seconds"], state["curve"]
            console.print(f"continuing from {self.decisions:,} of {config.decisions:,} decisions")

    @property
    def network(self) -> PolicyNetwork:
        """The current network."""
        return self.algorithm.network

    def iteration(self) -> dict[str, float]:
        """Run one iteration of the algorithm, and report changes in the number of live runners."""
        algorithm, began = self.algorithm, time.monotonic()
        algorithm.train()
        self.seconds += time.monotonic() - began
        self.decisions = algorithm.decisions
        metrics: dict[str, float] = dict(algorithm.figures)
        if (alive := int(metrics["rollout/runners"])) != self.alive:
            self.console.print(f"{self.decisions:,} decisions: {alive} of {self.config.env_runners} env runners live")
            self.alive = alive
        if not alive:
            time.sleep(1)  # gives RLlib time to restart one
        return metrics

    def checkpoint(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on."""
        return {"algorithm": self.algorithm.to_checkpoint(), "seconds": self.seconds, "curve": self.curve}
