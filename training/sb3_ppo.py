"""Training with MaskablePPO of sb3-contrib: one side of many parallel matches learns.

    fiveup train quickstart
    fiveup train configs/quickstart.yaml --out runs/mine --seed 3
    fiveup train configs/quickstart.yaml --out runs/mine --resume

With four players the learner plays both seats of a partnership with one policy. The opponents are a mix of named agents
and snapshots of the policy's own past (see `_opponents`). A run writes to its folder:

- `policy.zip`: the policy, usable wherever an agent is named
- `results.json`, `config.yaml`, `checkpoint.pt`, `tensorboard/`: see `_selfplay_loop`; on one thread a resumed run ends
  with the same bits as an uninterrupted one
"""

from __future__ import annotations

import io
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, model_validator
from rich.progress import Progress
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule

from fiveup_env.agents.network.sb3_checkpoint import MaskablePPOPolicy
from fiveup_env.envs.sb3 import FiveUpSB3VecEnv
from fiveup_env.evaluation import evaluate

from . import _config_parts as parts
from ._checkpoint import random_state, save_checkpoint, set_random_state, write_file
from ._config import ConfigSection, Count, with_defaults
from ._opponents import Opponents
from ._run import (
    agents_of,
    begin_folder,
    busy,
    check_agents,
    evaluated,
    final_evaluation,
    is_due,
    last_checkpoint,
    opened,
    progress_line,
    training_bar,
)

SB3Snapshots = with_defaults(parts.Snapshots, at_once=2)
SB3Evaluation = with_defaults(
    parts.Evaluation, opponents=["random", "greedy"], every=500_000, matches=400, final_matches=4000
)
SB3Defaults = with_defaults(parts.PPOSettings, learning_rate=2e-3, entropy=0.06, entropy_end=0.005, gae_lambda=0.5)


class Perceptrons(ConfigSection):
    """Two separate multilayer perceptrons over the observation vector."""

    policy: list[Count] = Field(default=[128, 128], description="widths of the policy's hidden layers")
    value: list[Count] = Field(default=[64, 64], description="widths of the value function's hidden layers")
    activation: Literal["relu", "tanh"] = Field(default="relu", description="activation between the layers")


class MaskablePPOSettings(SB3Defaults):
    """Settings of MaskablePPO."""

    batch: Count = Field(default=512, description="decisions per gradient step; must divide matches * steps")


class Config(parts.PPORunConfig):
    """Config of a run."""

    script: Literal["sb3_ppo"] = Field(description="this script")
    reward: Literal["equity", "points", "win"] = Field(default="points", description="see fiveup_env.views.rewards")
    opponents: dict[str, parts.Positive] = Field(
        default={"random": 1.0, "greedy": 4.0, "snapshots": 5.0},
        min_length=1,
        description=str(parts.PPORunConfig.model_fields["opponents"].description),
    )
    snapshots: SB3Snapshots = Field(default=SB3Snapshots(), description="pool of past policies")
    network: Perceptrons = Field(default=Perceptrons(), description="sizes of the networks")
    ppo: MaskablePPOSettings = Field(default=MaskablePPOSettings(), description="settings of PPO")
    evaluation: SB3Evaluation = Field(default=SB3Evaluation(), description="evaluation during and after training")
    checkpoint_seconds: parts.NotNegative = Field(default=15.0, description="minimal seconds between two checkpoints")

    @property
    def iteration(self) -> int:
        """Decisions per iteration."""
        return self.matches * self.ppo.steps

    @model_validator(mode="after")
    def _batches_fill_an_iteration(self) -> Config:
        if self.iteration % self.ppo.batch:
            raise ValueError(
                f"ppo.batch must divide matches * ppo.steps = {self.iteration}, which {self.ppo.batch} does not"
            )
        return self


def main(config_file: Path, *, out: str | None = None, resume: bool = False, seed: int | None = None) -> None:
    """Train, evaluate and print the result; for the arguments and errors see `_run.opened`."""
    folder, config, console = opened(config_file, Config, parts.MAY_CHANGE, out, resume, seed)
    state = last_checkpoint(folder, resume, console)
    torch.set_num_threads(config.threads)
    # Checking the arguments of distributions takes a tenth of the run; sampling still rejects non-finite values.
    torch.distributions.Distribution.set_default_validate_args(False)
    model, opponents = make_learner(config)
    begin_folder(folder, config)
    with busy(console, "compiling the game (the first time on a machine takes half a minute)"):
        compile_kernels(model)
    if state:
        restore(model, opponents, state)
        console.print(f"continuing from {model.num_timesteps:,} of {config.decisions:,} decisions")
    model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
    with training_bar(console, config.decisions) as bar:
        left = config.decisions - model.num_timesteps
        if left > 0:
            model.learn(left, Iterations(config, folder, opponents, bar), 1, reset_num_timesteps=not state)
            save_checkpoint(folder, checkpoint(model, opponents))
    write_file(folder / "policy.zip", policy_file(model))
    settings = config.evaluation
    opponents_to_evaluate = dict.fromkeys(settings.opponents, settings.final_matches)
    final_evaluation(folder, console, config, folder / "policy.zip", opponents_to_evaluate)


def make_learner(config: Config) -> tuple[MaskablePPO, Opponents]:
    """Return the untrained model over its environment, and its opponents."""
    env = FiveUpSB3VecEnv(
        config.matches,
        num_players=config.players,
        episode=config.episode,
        continue_match=config.episode == "round",
        reward=config.reward,
        draws="auto",
        skip_single=True,
    )
    with agents_of("opponents"):
        opponents = Opponents(env.env, config)
    check_agents(config.evaluation.opponents, config.players, "opponents")
    ppo, network = config.ppo, config.network
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=ppo.steps,
        batch_size=ppo.batch,
        n_epochs=ppo.epochs,
        learning_rate=LinearSchedule(ppo.learning_rate, ppo.learning_rate_end, 1.0),
        ent_coef=ppo.entropy,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": network.policy, "vf": network.value},
            "activation_fn": {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[network.activation],
        },
        stats_window_size=4 * config.matches,
        seed=config.seed,
        device="cpu",
    )
    return model, opponents


def compile_kernels(model: MaskablePPO) -> None:
    """Use all compiled code once, before the clock of the run starts; draws no random numbers of the run."""
    env = vector_env(model)
    observation, _ = env.reset(seed=0)
    env.step(observation["action_mask"].argmax(1))
    evaluate(MaskablePPOPolicy(model), "greedy", env.options.num_players, matches=1)


class Iterations(BaseCallback):
    """Callback of `MaskablePPO.learn`: schedules, snapshots, evaluations and checkpoints between iterations."""

    def __init__(self, config: Config, folder: Path, opponents: Opponents, bar: Progress) -> None:
        super().__init__()
        self.config, self.folder, self.opponents, self.bar = config, folder, opponents, bar
        self.returns: dict[str, list[float]] = defaultdict(list)

    @property
    def learner(self) -> MaskablePPO:
        """The model."""
        assert isinstance(self.model, MaskablePPO)
        return self.model

    def _on_training_start(self) -> None:
        self.saved = self.began = self.phase = time.monotonic()
        self.began_at = self.num_timesteps = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        """Work between two iterations, where a run can be resumed."""
        model, config, done = self.learner, self.config, self.num_timesteps
        self._note_phase("learn")
        if done > self.began_at and time.monotonic() - self.saved >= config.checkpoint_seconds:
            save_checkpoint(self.folder, checkpoint(model, self.opponents))
            self.saved = time.monotonic()
        if done // config.iteration % config.snapshots.every == 0:
            self.opponents.take_snapshot(model.policy)
        left = max(0.0, 1 - done / config.decisions)
        model.ent_coef = config.ppo.entropy_end + left * (config.ppo.entropy - config.ppo.entropy_end)
        model.logger.record("train/entropy_weight", model.ent_coef)
        if done and is_due(config.evaluation.every, done - config.iteration, done):
            self._evaluate()
        self.phase = time.monotonic()

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        for match in self.locals["dones"].nonzero()[0]:
            self.returns[self.opponents.names[match]].append(infos[match]["episode"]["r"])
        self.bar.update(self.bar.task_ids[0], completed=self.num_timesteps)
        return True

    def _on_rollout_end(self) -> None:
        self._note_phase("collect")
        for name, returns in self.returns.items():
            self.logger.record(f"rollout/return_against_{name}", sum(returns) / len(returns))
        self.returns.clear()

    def _note_phase(self, name: str) -> None:
        now = time.monotonic()
        self.logger.record(f"time/seconds_to_{name}", now - self.phase)
        self.phase = now

    def _evaluate(self) -> None:
        """Evaluate the current policy, for TensorBoard and as a line."""
        settings = self.config.evaluation
        policy = MaskablePPOPolicy(self.learner)
        metrics, wins = evaluated(policy, settings.opponents, self.config.players, settings)
        for name, value in metrics.items():
            self.logger.record(name, value)
        speed = (self.num_timesteps - self.began_at) / (time.monotonic() - self.began)
        entropy = -self.logger.name_to_value.get("train/entropy_loss", float("nan"))
        self.bar.console.print(progress_line(self.num_timesteps, f"{speed:,.0f}/s", entropy, wins))


def checkpoint(model: MaskablePPO, opponents: Opponents) -> dict[str, Any]:
    """Return everything that the rest of a run depends on, between two iterations."""
    return {
        "decisions": model.num_timesteps,
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "matches": {name: torch.from_numpy(array) for name, array in vector_env(model).state().items()},
        "episode_starts": torch.from_numpy(model._last_episode_starts),
        "opponents": opponents.state(),
        "random": random_state(),
    }


def restore(model: MaskablePPO, opponents: Opponents, state: dict[str, Any]) -> None:
    """Continue from a checkpoint."""
    model.num_timesteps = state["decisions"]
    model.policy.load_state_dict(state["policy"])
    model.policy.optimizer.load_state_dict(state["optimizer"])
    agents = opponents.set_state(state["opponents"], model.policy)
    matches = {name: tensor.numpy() for name, tensor in state["matches"].items()}
    observation, _ = vector_env(model).set_state(matches, agents)
    model._last_obs = observation["observation"].copy()
    model._last_episode_starts = state["episode_starts"].numpy()
    set_random_state(state["random"])  # last: creating networks draws random numbers


def vector_env(model: MaskablePPO) -> Any:
    """Return the vector env inside the model's."""
    assert isinstance(model.env, FiveUpSB3VecEnv)
    return model.env.env


def policy_file(model: MaskablePPO) -> bytes:
    """Return the model as written by `MaskablePPO.save`, without the state of the run."""
    buffer = io.BytesIO()
    model.save(buffer, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
    return buffer.getvalue()
