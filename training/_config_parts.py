"""Config parts of all training scripts: run, network, algorithm, snapshots and evaluation, each key with its default.

`docs/training.md` gives the measurements behind the defaults.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fiveup_env.views.observation import sections

from ._config import ConfigSection, Count, NotNegative, Positive, Share
from ._mix import SELF
from ._standing import TABLE

# ------------------------------------------------------------------------------------------- shared parts


class Snapshots(ConfigSection):
    """Pool of past policies among the opponents."""

    every: Count = Field(default=20, description="iterations between two snapshots")
    keep: Count = Field(default=8, description="snapshots in the pool; the oldest is removed first")
    at_once: Count = Field(default=4, description="snapshots that play at a time: the newest, the others at random")


class Evaluation(ConfigSection):
    """Matches of the policy (most likely action) against named agents on duplicate deals."""

    opponents: list[str] = Field(default=["greedy"], description="names of the agents")
    every: Count = Field(default=1_000_000, description="decisions between two evaluations during training")
    matches: Count = Field(default=1000, description="matches per opponent during training")
    final_matches: Count = Field(default=10_000, description="matches per opponent after training")
    seed: int = Field(default=1, ge=0, lt=2**64, description="seed of the deals, the same for every evaluation")


class StageEvaluation(ConfigSection):
    """Matches of the policy (most likely action) on duplicate deals, for training in stages."""

    opponents: dict[str, Count] = Field(default={"greedy": 4000}, description="matches per named agent after training")
    curve: int = Field(default=2000, ge=0, description="matches against `greedy` after every stage; 0 for none")
    seed: int = Field(default=1, ge=0, lt=2**64, description="seed of the deals")


class ResidualNetwork(ConfigSection):
    """Sizes of a policy network, see `fiveup_env.agents.network.torch_network`."""

    width: Count = Field(default=256, description="width of all hidden layers")
    blocks: int = Field(default=1, ge=0, description="residual blocks of two layers")
    placements: int = Field(
        default=128, ge=0, description="width of the layers that score placements; 0 for one output per action id"
    )
    belief: bool = Field(default=False, description="whether the likely places of the hidden tiles are an input")


class PPOSettings(ConfigSection):
    """PPO with the same learning rate and entropy schedule in all scripts: linear from start to end."""

    steps: Count = Field(default=32, description="decisions per match and iteration")
    epochs: Count = Field(default=1, description="passes over the decisions of an iteration")
    learning_rate: Positive = Field(default=1e-3, description="initial learning rate of Adam")
    learning_rate_end: Positive = Field(default=1e-4, description="final learning rate of Adam")
    entropy: NotNegative = Field(default=0.03, description="initial weight of the entropy bonus")
    entropy_end: NotNegative = Field(default=0.01, description="final weight of the entropy bonus")
    gamma: Share = Field(default=1.0, description="discount per decision of a side; 1 because episodes are short")
    gae_lambda: Share = Field(default=0.9, description="factor per decision of a side by which earlier credit fades")
    clip: Positive = Field(default=0.2, description="clip range of the probability ratio")
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss")
    max_grad_norm: Positive = Field(default=0.5, description="maximal norm of the gradient")


class RunConfig(ConfigSection):
    """Keys of every training run."""

    script: str = Field(description="name of the training script")
    players: Literal[2, 3, 4] = Field(default=4, description="seats; four are two partnerships (R1.2)")
    seed: int = Field(default=0, ge=0, lt=2**32, description="seed of the run; exact to the last bit on one thread")
    threads: Count = Field(default=1, description="threads of torch")


class PPORunConfig(RunConfig):
    """Keys of every training run with PPO. Only decisions of the learner count as decisions."""

    decisions: Count = Field(description="decisions to learn from, rounded up to whole iterations")
    matches: Count = Field(default=256, le=262_144, description="parallel matches")
    episode: Literal["round", "match"] = Field(
        default="round", description="span of the returns; matches continue to exactly 61 points in both cases"
    )
    opponents: dict[str, Positive] = Field(
        min_length=1,
        description="share of the matches per opponent: an agent name, `snapshots` (past policies of the run) or, in "
        "self-play, `self`",
    )
    snapshots: Snapshots = Field(default=Snapshots(), description="pool of past policies")
    evaluation: Evaluation = Field(default=Evaluation(), description="evaluation during and after training")
    checkpoint_seconds: NotNegative = Field(default=30.0, description="minimal seconds between two checkpoints")


MAY_CHANGE = frozenset({"decisions", "threads", "evaluation", "checkpoint_seconds"})
"""Keys that may change when a run is resumed."""

# ---------------------------------------------------------------------------------------------- self-play


class GameVariant(ConfigSection):
    """A small game for experiments; the default is the real game."""

    hand_size: Count = Field(default=5, description="tiles dealt to each player")
    target: Count = Field(default=61, description="display points that win a match")
    max_pip: Count = Field(default=6, description="highest pip count of the set")


class SelfPlayNetwork(ResidualNetwork):
    """Sizes of the policy network and of the critic."""

    privileged_critic: bool = Field(default=False, description="advantages from a separate network that sees all hands")
    critic_playouts: bool = Field(
        default=False, description="give the critic the result for every side if `greedy` plays the round to its end"
    )
    critic_width: Count = Field(default=256, description="width of the critic's hidden layers")
    ignore: list[str] = Field(default=[], description="sections of the observation hidden from the network")
    start_from: str | None = Field(
        default=None, description="weights file (.safetensors) to start from; its sizes replace the ones given here"
    )


class SelfPlayPPOSettings(PPOSettings):
    """PPO of self-play."""

    minibatch: Count = Field(default=1024, description="approximate number of decisions per gradient step")
    normalize_advantages: bool = Field(
        default=True, description="scale advantages to mean 0 and deviation 1 in every iteration"
    )
    value_warmup: int = Field(
        default=0, ge=0, description="initial decisions that train the values alone; for networks without useful values"
    )


class Teacher(ConfigSection):
    """A policy to stay close to: weight * KL(policy || teacher) is added to the loss."""

    weights: str | None = Field(default=None, description="weights file of the teacher; None: `network.start_from`")
    weight: NotNegative = Field(default=0.0, description="initial weight; no teacher if both weights are 0")
    weight_end: NotNegative = Field(default=0.0, description="final weight")


class SelfPlayConfig(PPORunConfig):
    """Keys of every self-play run."""

    variant: GameVariant = Field(default=GameVariant(), description="a small game instead of the real one")
    device: str = Field(default="auto", description="torch device; auto: a GPU if there is one")
    mixed_precision: bool = Field(default=False, description="bfloat16 autocast; faster on GPUs, not on most CPUs")
    matches: Count = Field(default=1024, le=262_144, description="parallel matches")
    reward: Literal["equity", "table", "points", "win"] = Field(default="equity", description="see `_standing`")
    opponents: dict[str, Positive] = Field(
        default={SELF: 1.0}, min_length=1, description=str(PPORunConfig.model_fields["opponents"].description)
    )
    network: SelfPlayNetwork = Field(default=SelfPlayNetwork(), description="sizes of the networks")
    ppo: SelfPlayPPOSettings = Field(default=SelfPlayPPOSettings(), description="settings of PPO")
    teacher: Teacher = Field(default=Teacher(), description="a policy to stay close to")

    @property
    def opponents_to_evaluate(self) -> list[str]:
        """Opponents of the evaluation; agents of the real game do not play small variants."""
        return self.evaluation.opponents if self.variant == GameVariant() else []

    @property
    def final_matches(self) -> dict[str, int]:
        """Matches after training by opponent."""
        return dict.fromkeys(self.opponents_to_evaluate, self.evaluation.final_matches)

    @model_validator(mode="after")
    def _parts_fit(self) -> SelfPlayConfig:
        real = self.variant == GameVariant()
        if self.reward == TABLE and (self.episode != "round" or not real):
            raise ValueError("reward: table needs episode: round and the real game")
        if self.reward == "win" and self.episode != "match":
            raise ValueError("reward: win needs episode: match (a round does not win anything)")
        if self.network.critic_playouts and not (self.network.privileged_critic and self.episode == "round"):
            raise ValueError("network.critic_playouts needs network.privileged_critic and episode: round")
        known = [section.name for section in sections(self.players)]
        if unknown := [name for name in self.network.ignore if name not in known]:
            raise ValueError(f"network.ignore: there is no section {unknown[0]!r}; there are {', '.join(known)}")
        teacher, start = self.teacher, self.network.start_from
        if (teacher.weight or teacher.weight_end) and teacher.weights is None and start is None:
            raise ValueError("a teacher needs teacher.weights or network.start_from")
        return self
