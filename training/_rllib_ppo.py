"""RLlib's PPO with our sampling, its config and its checkpoints."""

from __future__ import annotations

import time
from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.policy.sample_batch import MultiAgentBatch
from ray.rllib.utils.metrics import LEARNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from fiveup_env.agents.network.torch_network import PolicyNetwork

from ._rllib_team import LEAGUE, TeamRunner, module_spec, unpacked_decisions
from ._rollout import Clock


def algorithm_config(config: Any) -> PPOConfig:
    """Return RLlib's config for the config of a run."""
    ppo, end = config.ppo, config.decisions
    spec = module_spec(config)
    return (
        PPOConfig(algo_class=SelfPlayPPO)
        .environment(
            observation_space=spec.observation_space,
            action_space=spec.action_space,
            env_config={"run": config},
        )
        .env_runners(env_runner_cls=TeamRunner, num_env_runners=config.env_runners)
        .learners(num_learners=config.learners, num_gpus_per_learner=config.gpus_per_learner)
        .rl_module(rl_module_spec=spec)
        .training(
            lr=[[0, ppo.learning_rate], [end, ppo.learning_rate_end]],
            entropy_coeff=[[0, ppo.entropy], [end, ppo.entropy_end]],
            clip_param=ppo.clip,
            vf_loss_coeff=ppo.value_weight / 2,  # RLlib's error is not halved
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
            num_epochs=ppo.epochs,
            minibatch_size=ppo.minibatch,
            train_batch_size=max(ppo.minibatch, config.env_runners * config.matches * ppo.steps),
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=config.seed, log_level="ERROR")
    )


class SelfPlayPPO(PPO):
    """RLlib's PPO on decisions that the env runners have already judged.

    Attributes:
        decisions: number learned from so far.
        number: number of the iteration.
        figures: metrics of the last iteration (see the script).
    """

    decisions, number, figures = 0, 0, {}

    @property
    def run(self) -> Any:
        """Config of the run."""
        run: Any = self.config.env_config["run"]
        return run

    @property
    def network(self) -> PolicyNetwork:
        """The network after the last update."""
        network: PolicyNetwork = self.env_runner.module.network
        return network

    def training_step(self) -> None:
        """Run one iteration: snapshots, decisions from all live env runners, update, new weights for the runners."""
        began, clock, group = time.perf_counter(), Clock(), self.env_runner_group
        if self.number % self.run.snapshots.every == 0:
            league = ray.put(self.env_runner.take_snapshot())
            group.foreach_env_runner("set_state", kwargs={"state": league}, local_env_runner=False)
        with clock("sample"):
            found = group.foreach_env_runner(
                partial(TeamRunner.sample, number=self.number),
                local_env_runner=False,
                timeout_seconds=self.run.sample_seconds,
            )
        self.number += 1
        self.figures = {"rollout/runners": float(len(found))}
        count = sum(len(fragment["action"]) for _, fragment, _ in found)
        if not count:
            return
        with clock("learn"):
            self.figures |= self._learn([fragment for _, fragment, _ in sorted(found, key=lambda one: one[0])], count)
        with clock("sync"):
            group.sync_weights(
                from_worker_or_learner_group=self.learner_group, policies=[DEFAULT_MODULE_ID], inference_only=True
            )
        self.decisions += count
        self.figures |= mean_figures([figures for _, _, figures in found])
        seconds = time.perf_counter() - began
        self.figures |= clock.shares(seconds) | {"speed/samples": count / seconds}

    def _learn(self, fragments: list[dict[str, np.ndarray]], count: int) -> dict[str, float]:
        """Update on all decisions, in an order that depends on the seed; returns metrics."""
        ppo = self.run.ppo
        order = np.random.default_rng((self.run.seed, self.number)).permutation(count)
        batch = unpacked_decisions(fragments, self.run.players, order, ppo.normalize_advantages)
        minibatch = -(-count // max(1, round(count / ppo.minibatch)))
        results = self.learner_group.update(
            batch=MultiAgentBatch({DEFAULT_MODULE_ID: batch}, count),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.decisions + count},
            num_epochs=ppo.epochs,
            minibatch_size=-(-minibatch // max(1, self.run.learners)),
            shuffle_batch_per_epoch=True,
        )
        self.metrics.aggregate(results, key=LEARNER_RESULTS)
        names = {
            "policy/entropy": "entropy",
            "policy/loss": "policy_loss",
            "value/loss": "vf_loss",
            "value/explained": "vf_explained_var",
            "gradient/norm": "gradients_default_optimizer_global_norm",
            "schedule/learning_rate": "default_optimizer_learning_rate",
            "schedule/entropy_weight": "curr_entropy_coeff",
        }
        peek = self.metrics.peek
        return {ours: float(peek((LEARNER_RESULTS, DEFAULT_MODULE_ID, theirs))) for ours, theirs in names.items()}

    def to_checkpoint(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on, as tensors, numbers, text and dictionaries."""
        learner = self.learner_group.get_state()["learner"]
        runners = self.env_runner_group.foreach_env_runner("checkpoint", local_env_runner=False)
        return {
            "progress": {"decisions": self.decisions, "number": self.number},
            "learner": as_tensors({key: learner[key] for key in ("rl_module", "optimizer")}),
            "league": self.env_runner.mix.state(),
            "runners": {state["index"]: state for state in runners if state},
        }

    def from_checkpoint(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        vars(self).update(state["progress"])
        group, decisions = self.env_runner_group, self.decisions
        self.learner_group.set_state({"learner": as_arrays(state["learner"])})
        self.learner_group.foreach_learner(
            lambda learner: learner.after_gradient_based_update(timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: decisions})
        )
        group.sync_weights(from_worker_or_learner_group=self.learner_group, inference_only=True)
        self.env_runner.set_state({LEAGUE: state["league"]})
        league = ray.put({LEAGUE: state["league"]})
        group.foreach_env_runner("set_state", kwargs={"state": league}, local_env_runner=False)
        for index, runner in state["runners"].items():
            if index <= self.run.env_runners:
                group.foreach_env_runner(
                    "restore", kwargs={"state": runner}, local_env_runner=False, remote_worker_ids=[index]
                )


def mean_figures(all_figures: list[dict[str, float]]) -> dict[str, float]:
    """Return the means over env runners; a metric may be missing from some."""
    sums: dict[str, list[float]] = defaultdict(list)
    for figures in all_figures:
        for name, value in figures.items():
            sums[name].append(value)
    return {name: float(np.mean(values)) for name, values in sums.items()}


def as_tensors(state: Any) -> Any:
    """Convert arrays in nested dictionaries and lists to tensors, which a checkpoint may hold."""
    return _converted(state, np.ndarray | np.generic, lambda array: torch.from_numpy(np.array(array)))


def as_arrays(state: Any) -> Any:
    """Convert tensors in nested dictionaries and lists to arrays."""
    return _converted(state, torch.Tensor, lambda tensor: tensor.numpy())


def _converted(state: Any, kind: Any, convert: Any) -> Any:
    if isinstance(state, dict):
        return {key: _converted(value, kind, convert) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [_converted(value, kind, convert) for value in state]
    return convert(state) if isinstance(state, kind) else state
