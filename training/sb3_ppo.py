"""A policy by self-play with MaskablePPO of sb3-contrib, on one side of many matches at once.

    fiveup train quickstart
    fiveup train configs/quickstart.yaml --out runs/mine --seed 3
    fiveup train configs/quickstart.yaml --out runs/mine --resume

With four players the learner has both seats of a partnership, which share the policy. The opponents are a mix of agents
by name and of snapshots of the policy's own past (see `_opponents`). What a run leaves in its folder:

- `policy.zip`: the policy, for `fiveup evaluate` and wherever an agent is named
- `results.json`: the evaluation that ends the run
- `config.yaml`: the config as it was used
- `checkpoint.pt` (and the one before it): everything that `--resume` needs; a resumed run on one thread ends with the
  same bits as one that was never stopped
- `tensorboard/`: `tensorboard --logdir runs`
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
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.envs.sb3 import FiveUpSB3VecEnv
from fiveup_env.evaluation import evaluate
from fiveup_env.system.training_scripts import ConfigError

from ._checkpoint import random_state, save_checkpoint, set_random_state, write_file
from ._config import Count, NotNegative, Positive, Section, Share
from ._opponents import Opponents
from ._run import begin_folder, busy, final_evaluation, opened, progress_bar

# ---------------------------------------------------------------------------------------------- config


class Snapshots(Section):
    """The pool of past policies among the opponents."""

    every: Count = Field(default=20, description="iterations from one snapshot to the next")
    keep: Count = Field(default=8, description="snapshots in the pool; the oldest goes first")
    at_once: Count = Field(
        default=2, description="how many play at the same time: the newest, and others drawn at random"
    )


class Network(Section):
    """Two separate multilayer perceptrons over the observation vector."""

    policy: list[Count] = Field(default=[128, 128], description="widths of the policy's hidden layers")
    value: list[Count] = Field(default=[64, 64], description="widths of the value function's hidden layers")
    activation: Literal["relu", "tanh"] = Field(default="relu", description="between the layers")


class PPO(Section):
    """The algorithm; names in parentheses are those of MaskablePPO."""

    steps: Count = Field(default=32, description="decisions per match and iteration (n_steps)")
    batch: Count = Field(default=512, description="decisions per gradient step (batch_size); divides matches * steps")
    epochs: Count = Field(default=1, description="passes over an iteration's decisions (n_epochs)")
    learning_rate: Positive = Field(default=2e-3, description="of Adam, at the start")
    learning_rate_end: Positive = Field(default=1e-4, description="and at the end, linearly in between")
    entropy: NotNegative = Field(default=0.06, description="weight of the entropy bonus (ent_coef), at the start")
    entropy_end: NotNegative = Field(default=0.005, description="and at the end, linearly in between")
    gamma: Share = Field(default=1.0, description="discount per decision; 1 because episodes are short and end")
    gae_lambda: Share = Field(
        default=0.5, description="credit further back than one decision fades by this factor (gae_lambda)"
    )
    clip: Positive = Field(default=0.2, description="clip range of the probability ratio (clip_range)")
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss (vf_coef)")
    max_grad_norm: Positive = Field(default=0.5, description="gradients are scaled down to this norm (max_grad_norm)")


class Evaluation(Section):
    """Matches of the policy, always taking its most likely action, against agents by name, on duplicate deals."""

    opponents: list[str] = Field(default=["random", "greedy"], description="against whom")
    every: Count = Field(default=500_000, description="decisions from one evaluation during training to the next")
    matches: Count = Field(default=400, description="matches per opponent then")
    final_matches: Count = Field(default=4000, description="matches per opponent when the run is over")
    seed: int = Field(default=1, ge=0, lt=2**64, description="of the deals, the same for every evaluation")


class Config(Section):
    """A training run. Counts of decisions are the learner's, where it has a choice."""

    script: Literal["sb3_ppo"] = Field(description="this script")
    players: Literal[2, 3, 4] = Field(default=4, description="seats; four are two partnerships (R1.2)")
    seed: int = Field(default=0, ge=0, lt=2**32, description="decides the run; on one thread to the last bit")
    decisions: Count = Field(description="how many to learn from, rounded up to whole iterations")
    threads: Count = Field(default=1, description="of torch; a second one pays for networks wider than these")
    matches: Count = Field(default=256, le=262_144, description="played side by side")
    episode: Literal["round", "match"] = Field(
        default="round", description="what returns add up over; matches go on to exactly 61 either way"
    )
    reward: Literal["equity", "points", "win"] = Field(default="points", description="see fiveup_env.views.rewards")
    opponents: dict[str, Positive] = Field(
        default={"random": 1.0, "greedy": 4.0, "snapshots": 5.0},
        min_length=1,
        description="share of the matches against each agent (by name), `snapshots` being the run's own past policies",
    )
    snapshots: Snapshots = Field(default=Snapshots(), description="the pool of them")
    network: Network = Field(default=Network(), description="sizes")
    ppo: PPO = Field(default=PPO(), description="the algorithm")
    evaluation: Evaluation = Field(default=Evaluation(), description="during and after training")
    checkpoint_seconds: NotNegative = Field(
        default=15.0, description="from one checkpoint to the next, at iteration ends"
    )

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


MAY_CHANGE = frozenset({"decisions", "threads", "evaluation", "checkpoint_seconds"})
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
        ConfigError: if the config is wrong, or the folder has a run that is not to be resumed, or none that can be.
    """
    folder, config, state, console = opened(config_file, Config, MAY_CHANGE, out, resume, seed)
    torch.set_num_threads(config.threads)
    # The checks of a distribution's arguments cost a tenth of the run; sampling still refuses what is not finite.
    torch.distributions.Distribution.set_default_validate_args(False)
    model, opponents = make_learner(config)
    begin_folder(folder, config)
    with busy(console, "compiling the game (the first time on a machine takes half a minute)"):
        compile_kernels(model)
    if state:
        restore(model, opponents, state)
        console.print(f"going on from {model.num_timesteps:,} of {config.decisions:,} decisions")
    model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
    with progress_bar(console, config.decisions) as bar:
        left = config.decisions - model.num_timesteps
        if left > 0:
            model.learn(left, Run(config, folder, opponents, bar), log_interval=1, reset_num_timesteps=not state)
            save_checkpoint(folder, checkpoint(model, opponents))
    write_file(folder / "policy.zip", policy_file(model))
    settings = config.evaluation
    final_evaluation(
        folder,
        console,
        settings.opponents,
        lambda name: evaluate(folder / "policy.zip", name, config.players, settings.final_matches, settings.seed),
    )


def make_learner(config: Config) -> tuple[MaskablePPO, Opponents]:
    """The environment, the untrained model, and who it plays against."""
    env = FiveUpSB3VecEnv(
        config.matches,
        num_players=config.players,
        episode=config.episode,
        continue_match=config.episode == "round",
        reward=config.reward,
        draws="auto",
        skip_single=True,
    )
    try:
        opponents = Opponents(env.env, config.opponents, config.snapshots.keep, config.snapshots.at_once, config.seed)
        for name in config.evaluation.opponents:
            make_agent(name, config.players)
    except AgentError as error:
        raise ConfigError(f"opponents: {error}") from error
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


class Run(BaseCallback):
    """What happens around the iterations of `MaskablePPO.learn`, which collects and learns."""

    def __init__(self, config: Config, folder: Path, opponents: Opponents, bar: Progress) -> None:
        super().__init__()
        self.config, self.folder, self.opponents, self.bar = config, folder, opponents, bar
        self.returns: dict[str, list[float]] = defaultdict(list)

    @property
    def learner(self) -> MaskablePPO:
        """The model, by its own type."""
        assert isinstance(self.model, MaskablePPO)
        return self.model

    def _on_training_start(self) -> None:
        self.saved = self.began = self.phase = time.monotonic()
        self.began_at = self.num_timesteps = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        """Between two iterations; here a run can be resumed."""
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
        if done and done // config.evaluation.every > (done - config.iteration) // config.evaluation.every:
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
        """The policy as it is now against the baselines: to TensorBoard, and a line for people."""
        config, settings = self.config, self.config.evaluation
        agent, shown = MaskablePPOPolicy(self.learner), []
        for name in settings.opponents:
            result = evaluate(agent, name, config.players, settings.matches, settings.seed)
            self.logger.record(f"evaluation/win_rate_against_{name}", result.win_rate.value)
            self.logger.record(f"evaluation/points_per_round_against_{name}", result.points_per_round.value)
            shown.append(f"{name} {100 * result.win_rate.value:.1f}%")
        speed = (self.num_timesteps - self.began_at) / (time.monotonic() - self.began)
        entropy = -self.logger.name_to_value.get("train/entropy_loss", float("nan"))
        self.bar.console.print(
            f"{self.num_timesteps:>11,} decisions, {speed:,.0f}/s, entropy {entropy:.2f}, wins: {', '.join(shown)}"
        )


# -------------------------------------------------------------------------------- checkpoints and results


def checkpoint(model: MaskablePPO, opponents: Opponents) -> dict[str, Any]:
    """All that the rest of a run depends on, between two iterations."""
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
    """Make model, opponents and matches what they were."""
    model.num_timesteps = state["decisions"]
    model.policy.load_state_dict(state["policy"])
    model.policy.optimizer.load_state_dict(state["optimizer"])
    agents = opponents.set_state(state["opponents"], model.policy)
    matches = {name: tensor.numpy() for name, tensor in state["matches"].items()}
    observation, _ = vector_env(model).set_state(matches, agents)
    model._last_obs = observation["observation"].copy()
    model._last_episode_starts = state["episode_starts"].numpy()
    set_random_state(state["random"])  # last: making networks draws random numbers


def vector_env(model: MaskablePPO) -> Any:
    """The native env under the model's."""
    assert isinstance(model.env, FiveUpSB3VecEnv)
    return model.env.env


def policy_file(model: MaskablePPO) -> bytes:
    """The model as `MaskablePPO.save` writes it, without what only a run needs."""
    buffer = io.BytesIO()
    model.save(buffer, exclude=["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"])
    return buffer.getvalue()
