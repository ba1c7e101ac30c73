"""The config of `selfplay_ppo`: everything there is to choose in self-play, each with its description.

Why the defaults are what they are, with the measurements, stands in `docs/training.md`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fiveup_env.views.observation import sections

from ._config import Count, NotNegative, Positive, Section, Share
from ._mix import SELF
from ._standing import TABLE


class Variant(Section):
    """A small game for experiments; the default is the real one."""

    hand_size: Count = Field(default=5, description="tiles dealt to each player")
    target: Count = Field(default=61, description="display points that win")
    max_pip: Count = Field(default=6, description="highest pip count of the set")


class Snapshots(Section):
    """The pool of past policies among the opponents."""

    every: Count = Field(default=20, description="iterations from one snapshot to the next")
    keep: Count = Field(default=8, description="snapshots in the pool; the oldest goes first")
    at_once: Count = Field(default=4, description="how many play at a time: the newest, and others drawn at random")


class Network(Section):
    """A residual multilayer perceptron over the observation vector (see `_network`)."""

    width: Count = Field(default=256, description="of all hidden layers")
    blocks: int = Field(default=1, ge=0, description="residual blocks of two layers behind the first layer")
    privileged_critic: bool = Field(
        default=False, description="values for the advantages from a network of its own that sees all hands"
    )
    placements: int = Field(
        default=128,
        ge=0,
        description="width of the layers that score placements; 0: an output per action id",
    )
    belief: bool = Field(
        default=False, description="whether it sees where tiles are likely to be, given what the others chose"
    )
    critic_playouts: bool = Field(
        default=False,
        description="it is also told what every side would get if `greedy` played the round out from here",
    )
    critic_width: Count = Field(default=256, description="of the privileged critic's hidden layers")
    ignore: list[str] = Field(
        default=[], description="sections of the observation that the network is not to see, for ablations"
    )
    start_from: str | None = Field(
        default=None, description="weights file (.safetensors) to begin with; its sizes are taken, those here not"
    )


class PPO(Section):
    """The algorithm."""

    steps: Count = Field(default=32, description="decisions per match and iteration")
    minibatch: Count = Field(default=1024, description="decisions per gradient step, about")
    epochs: Count = Field(default=1, description="passes over an iteration's decisions")
    learning_rate: Positive = Field(default=1e-3, description="of Adam, at the start")
    learning_rate_end: Positive = Field(default=1e-4, description="and at the end, linearly in between")
    entropy: NotNegative = Field(default=0.03, description="weight of the entropy bonus, at the start")
    entropy_end: NotNegative = Field(default=0.01, description="and at the end, linearly in between")
    gamma: Share = Field(default=1.0, description="discount per decision; 1 because episodes are short and end")
    gae_lambda: Share = Field(default=0.9, description="credit further back fades by this per decision of the side")
    normalize_advantages: bool = Field(default=True, description="to mean 0, deviation 1 in every iteration")
    clip: Positive = Field(default=0.2, description="clip range of the probability ratio")
    value_weight: NotNegative = Field(default=0.5, description="weight of the value loss")
    max_grad_norm: Positive = Field(default=0.5, description="gradients are scaled down to this norm")
    value_warmup: int = Field(
        default=0, ge=0, description="decisions at the start that teach values only; for networks without useful ones"
    )


class Teacher(Section):
    """A policy to stay close to: weight times KL(policy || teacher) is added to the loss."""

    weights: str | None = Field(default=None, description="its weights file; None is `network.start_from`")
    weight: NotNegative = Field(default=0.0, description="at the start; 0 throughout is no teacher")
    weight_end: NotNegative = Field(default=0.0, description="and at the end, linearly in between")


class Evaluation(Section):
    """Matches of the policy, always taking its most likely action, against agents by name, on duplicate deals."""

    opponents: list[str] = Field(default=["greedy"], description="against whom")
    every: Count = Field(default=1_000_000, description="decisions from one evaluation during training to the next")
    matches: Count = Field(default=1000, description="matches per opponent then")
    final_matches: Count = Field(default=10_000, description="matches per opponent when the run is over")
    seed: int = Field(default=1, ge=0, lt=2**64, description="of the deals, the same for every evaluation")


class Config(Section):
    """A training run. Counts of decisions are those learned from: real choices of the learner."""

    script: Literal["selfplay_ppo"] = Field(description="this script")
    players: Literal[2, 3, 4] = Field(default=4, description="seats; four are two partnerships (R1.2)")
    variant: Variant = Field(default=Variant(), description="a small game instead of the real one")
    seed: int = Field(default=0, ge=0, lt=2**32, description="decides the run; on one thread to the last bit")
    decisions: Count = Field(description="how many to learn from, rounded up to whole iterations")
    threads: Count = Field(default=1, description="of torch")
    device: str = Field(default="auto", description="torch's name of it; auto: a GPU if there is one")
    mixed_precision: bool = Field(default=False, description="bfloat16 autocast; pays on GPUs, not on most CPUs")
    matches: Count = Field(default=1024, le=262_144, description="played side by side")
    episode: Literal["round", "match"] = Field(
        default="round", description="what returns add up over; matches go on to exactly 61 either way"
    )
    reward: Literal["equity", "table", "points", "win"] = Field(default="equity", description="see `_standing`")
    opponents: dict[str, Positive] = Field(
        default={SELF: 1.0},
        min_length=1,
        description="share of the matches by who else plays: `self`, `snapshots` of the past, agents by name (`_mix`)",
    )
    snapshots: Snapshots = Field(default=Snapshots(), description="the pool of them")
    network: Network = Field(default=Network(), description="sizes")
    ppo: PPO = Field(default=PPO(), description="the algorithm")
    teacher: Teacher = Field(default=Teacher(), description="a policy to stay close to")
    evaluation: Evaluation = Field(default=Evaluation(), description="during and after training")
    checkpoint_seconds: NotNegative = Field(default=30.0, description="from one checkpoint to the next, at least")

    @model_validator(mode="after")
    def _parts_fit(self) -> Config:
        real = self.variant == Variant()
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


MAY_CHANGE = frozenset({"decisions", "threads", "device", "evaluation", "checkpoint_seconds"})
"""Keys that may differ from the first part of a run when it is resumed."""
