"""A policy by self-play with RLlib: env runners on the CPUs of a Ray cluster, each over many native matches.

    fiveup train rllib                                    # on this machine, with a Ray of its own
    RAY_ADDRESS=auto fiveup train rllib --out runs/mine   # the same on the cluster that this machine belongs to
    fiveup train rllib --out runs/mine --resume

RLlib's new API stack: `_rllib_ppo` is its PPO with our way of sampling, `_rllib_team` has the module (all seats play by
it; illegal actions are masked) and the env runner. Credit, rewards and the league of frozen policies are those of
`selfplay_ppo`: rewards between a side's own decisions (`_credit`), opponents drawn from snapshots of the past and from
agents by name (`_mix`). An env runner that dies, or whose node does, costs its matches and the decisions of that
iteration; the others go on, and RLlib starts it anew as soon as there is a CPU for it. What a run leaves in its folder:

- `policy.safetensors`: the network, written at every evaluation and at the end, for `fiveup evaluate`
- `curve.json`: every evaluation, with the decisions and seconds before it
- `results.json`: the evaluation that ends the run, spread over the cluster
- `config.yaml`: the config as it was used
- `checkpoint.pt` (and the one before it): everything that `--resume` needs; where no runner died, and there are as many
  as before, a resumed run with the learner in this process ends with the same bits as one that was never stopped
- `tensorboard/`: `tensorboard --logdir runs`

What TensorBoard shows, by decisions learned from:

| metric                        | what, and what to look for                                                          |
|-------------------------------|-------------------------------------------------------------------------------------|
| policy/entropy                | mean entropy of the choices in nats; near 0 long before the end: too little bonus   |
| policy/loss                   | the clipped surrogate of the last minibatch                                         |
| value/loss                    | squared error of the values, likewise                                               |
| value/explained               | share of the returns' variance that the values explain, likewise                    |
| gradient/norm                 | before clipping, likewise                                                           |
| schedule/learning_rate        | as scheduled                                                                        |
| schedule/entropy_weight       | as scheduled                                                                        |
| rollout/runners               | env runners that this iteration's decisions are from; below `env_runners`: some died |
| rollout/decisions_per_episode | real choices of all seats in an episode                                             |
| rollout/return_against_NAME   | mean return of the learner's side per episode in that block of the mix              |
| evaluation/win_rate_against_NAME         | taking the most likely action always, on the same deals always           |
| evaluation/points_per_round_against_NAME | the same matches: own points less the others' mean                       |
| speed/samples                 | decisions learned from per second, all included but evaluation                      |
| speed/share_PHASE             | of an iteration: sample (env runners), learn, sync (weights), rest                  |
"""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import ray
import torch
from pydantic import Field, model_validator
from torch.utils.tensorboard import SummaryWriter

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import MatchUp, evaluate
from fiveup_env.system.ray_cluster import LOCAL, ClusterError, connected
from fiveup_env.system.training_scripts import ConfigError

from . import _selfplay_config as selfplay
from ._checkpoint import save_checkpoint, write_file
from ._config import Count, Positive
from ._mix import SELF, SNAPSHOTS, NetworkPolicy
from ._network import save_weights
from ._rllib_ppo import SelfPlayPPO, algorithm_config
from ._run import begin_folder, final_evaluation, opened, progress_bar

# ---------------------------------------------------------------------------------------------- config


class Config(selfplay.Config):
    """A training run: keys of `selfplay_ppo` (`_selfplay_config.Config`), and how it is spread."""

    script: Literal["rllib_selfplay"] = Field(description="this script")
    matches: Count = Field(default=256, le=262_144, description="played side by side by every env runner")
    opponents: dict[str, Positive] = Field(
        default={SELF: 6.0, SNAPSHOTS: 3.0, "greedy": 1.0},
        min_length=1,
        description="share of the matches by who else plays: `self`, `snapshots` of the past, agents by name (`_mix`)",
    )
    env_runners: Count = Field(default=2, le=4096, description="processes that play, one CPU each")
    learners: int = Field(default=0, ge=0, le=64, description="processes that learn; 0 learns in this one")
    gpus_per_learner: int = Field(default=0, ge=0, le=1, description="1 for learners on GPUs")
    cluster: str | None = Field(
        default=None,
        description="address of the Ray cluster, `auto`, or `local` for one of its own; None: $RAY_ADDRESS, else local",
    )
    sample_seconds: Positive = Field(default=600.0, description="a runner that takes longer is left out once")

    @model_validator(mode="after")
    def _only_what_there_is(self) -> Config:
        sizes, ppo = self.network, self.ppo
        wrong = {
            "teacher": self.teacher != selfplay.Teacher(),
            "device": self.device != "auto",
            "mixed_precision": self.mixed_precision,
            "network.privileged_critic": sizes.privileged_critic,
            "network.belief": sizes.belief,
            "network.ignore": bool(sizes.ignore),
            "network.start_from": sizes.start_from is not None,
            "ppo.value_warmup": ppo.value_warmup > 0,
        }
        if given := [name for name, is_given in wrong.items() if is_given]:
            raise ValueError(f"{given[0]} is a key of selfplay_ppo, which this script does without")
        return self

    @property
    def address(self) -> str:
        """Of the cluster."""
        return self.cluster or os.environ.get("RAY_ADDRESS") or LOCAL


MAY_CHANGE = selfplay.MAY_CHANGE | {"env_runners", "learners", "gpus_per_learner", "cluster", "sample_seconds"}
"""Keys that may differ from the first part of a run when it is resumed."""


# ------------------------------------------------------------------------------------------------- run


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Train as the config says, evaluate, and print the result.

    Args:
        config_file: see `Config`.
        out: folder of the run; default `runs/<name of the config>`.
        resume: go on from the last checkpoint in that folder.
        seed: in place of the config's.

    Raises:
        ConfigError: if the config is wrong, the folder has a run that is not to be resumed or none that can be, or the
            cluster cannot be reached or is too small.
    """
    folder, config, state, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    torch.set_num_threads(config.threads)
    logging.getLogger("ray").setLevel(logging.ERROR)  # a dead runner is told of in one line, below
    try:
        for name in {*config.opponents, *config.evaluation.opponents} - {SELF, SNAPSHOTS}:
            make_agent(name, config.players)
    except AgentError as error:
        raise ConfigError(f"opponents: {error}") from error
    begin_folder(folder, config)
    processes, policy = config.env_runners + config.learners, folder / "policy.safetensors"
    try:
        with connected(config.address, "this script", max(processes, os.cpu_count() or 1)):
            if (cpus := int(ray.cluster_resources().get("CPU", 0))) < processes:
                raise ConfigError(f"env_runners and learners need {processes} CPUs; the cluster has {cpus}")
            with console.status("starting env runners (the first time on a machine, the game is compiled)"):
                algorithm = algorithm_config(config).build_algo()
            try:
                Run(config, folder, algorithm, state, console).train()
            finally:
                algorithm.stop()  # its CPUs are free for the evaluation
                with suppress(OSError):
                    Path(algorithm.logdir).rmdir()  # RLlib makes a folder in the user's home, and writes nothing there
            final_evaluation(
                folder,
                console,
                config.evaluation.opponents if config.variant == selfplay.Variant() else [],
                partial(match_up, config, policy, config.evaluation.final_matches, config.address),
            )
    except ClusterError as error:
        raise ConfigError(str(error)) from error


def match_up(config: Config, policy: Any, matches: int, cluster: str | None, name: str) -> MatchUp:
    """The policy (an agent, or its file) against an agent; on a cluster, or None for here."""
    return evaluate(policy, name, config.players, matches, config.evaluation.seed, ray=cluster)


class Run:
    """The loop, and what is written down."""

    def __init__(
        self, config: Config, folder: Path, algorithm: SelfPlayPPO, state: dict[str, Any] | None, console: Any
    ) -> None:
        self.config, self.folder, self.algorithm, self.console = config, folder, algorithm, console
        self.seconds, self.curve, self.alive = 0.0, [], config.env_runners
        if state:
            algorithm.from_checkpoint(state["algorithm"])
            self.seconds, self.curve = state["seconds"], state["curve"]
            console.print(f"going on from {algorithm.decisions:,} of {config.decisions:,} decisions")

    def train(self) -> None:
        """Iterate to the end."""
        config, algorithm, saved = self.config, self.algorithm, time.monotonic()
        writer = SummaryWriter(str(self.folder / "tensorboard"), purge_step=algorithm.decisions)
        with writer, progress_bar(self.console, config.decisions) as bar:
            while algorithm.decisions < config.decisions:
                metrics = self.iteration()
                for name, value in metrics.items():
                    writer.add_scalar(name, value, algorithm.decisions)
                speed = f"{metrics.get('speed/samples', 0):,.0f}/s"
                bar.update(bar.task_ids[0], completed=algorithm.decisions, speed=speed)
                if algorithm.decisions >= config.decisions or time.monotonic() - saved >= config.checkpoint_seconds:
                    state = {"algorithm": algorithm.to_checkpoint(), "seconds": self.seconds, "curve": self.curve}
                    save_checkpoint(self.folder, state)
                    saved = time.monotonic()
        self.save()

    def iteration(self) -> dict[str, float]:
        """One iteration of the algorithm, and the evaluation that may be due."""
        algorithm, before, began = self.algorithm, self.algorithm.decisions, time.monotonic()
        algorithm.train()
        self.seconds += time.monotonic() - began
        metrics: dict[str, float] = dict(algorithm.figures)
        if (alive := int(metrics["rollout/runners"])) != self.alive:
            self.console.print(
                f"{algorithm.decisions:,} decisions: {alive} of {self.config.env_runners} env runners live"
            )
            self.alive = alive
        if not alive:
            time.sleep(1)  # until RLlib has started one anew
        every = self.config.evaluation.every
        if algorithm.decisions // every > before // every:
            metrics |= self.evaluate()
            self.save()
        return metrics

    def evaluate(self) -> dict[str, float]:
        """The policy as it is now, in this process, on the same deals as always; no evaluation of small variants."""
        metrics, entry = {}, {"decisions": self.algorithm.decisions, "seconds": round(self.seconds, 1)}
        settings, policy = self.config.evaluation, NetworkPolicy(self.algorithm.network)
        for name in settings.opponents if self.config.variant == selfplay.Variant() else []:
            result = match_up(self.config, policy, settings.matches, None, name)
            metrics[f"evaluation/win_rate_against_{name}"] = entry[name] = result.win_rate.value
            metrics[f"evaluation/points_per_round_against_{name}"] = result.points_per_round.value
        self.curve.append(entry)
        wins = ", ".join(f"{name} {100 * entry[name]:.1f}%" for name in settings.opponents if name in entry)
        rate = self.algorithm.figures.get("speed/samples", 0)
        self.console.print(f"{self.algorithm.decisions:>11,} decisions, {rate:,.0f}/s, wins: {wins}")
        return metrics

    def save(self) -> None:
        """The network and the curve so far."""
        facts = {"config": self.config.model_dump(), "decisions": self.algorithm.decisions}
        save_weights(self.folder / "policy.safetensors", self.algorithm.network, facts)
        write_file(self.folder / "curve.json", json.dumps(self.curve, indent=1).encode())
