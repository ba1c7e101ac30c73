"""Module and env runner of RLlib for self-play.

An env runner plays many matches in one `SelfPlayVectorEnv` and judges its own decisions (`_rollout`, `_credit`). It
sends a table of decisions with their advantages to the learner, half a kilobyte each, instead of episodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import SampleBatch
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import WEIGHTS_SEQ_NO

from fiveup_env.agents.network.torch_network import PolicyNetwork
from fiveup_env.envs.env_options import EnvOptions, action_space, observation_space
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import units

from ._mix import Mix, Seen
from ._network import masked, sample_actions
from ._rollout import Clock, Rollout, self_play_matches
from ._standing import Standing

OBSERVATION, MASK = "observation", "action_mask"
LEAGUE = "league"
Fragment = dict[str, np.ndarray]


class TeamModule(DefaultPPOTorchRLModule):
    """Policy of all seats: our network, with illegal actions masked in the logits that RLlib reads."""

    def setup(self) -> None:
        """Create the network without RLlib's catalog."""
        self.network = PolicyNetwork(**self.model_config["network"])

    def get_initial_state(self) -> dict[str, Any]:
        """Return no state: the policy is memoryless."""
        return {}

    def get_non_inference_attributes(self) -> list[str]:
        """Return no attributes: env runners judge their decisions, so they need the values too."""
        return []

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits, value = self.network(seen[OBSERVATION], seen[MASK])
        return {Columns.ACTION_DIST_INPUTS: masked(logits, seen[MASK]), Columns.EMBEDDINGS: value}

    _forward_train = _forward

    def compute_values(self, batch: dict[str, Any], embeddings: torch.Tensor | None = None) -> torch.Tensor:
        """Return values float [N], from `embeddings` if `_forward` has been called."""
        value: torch.Tensor = self._forward(batch)[Columns.EMBEDDINGS] if embeddings is None else embeddings
        return value


def module_spec(config: Any) -> RLModuleSpec:
    """Return RLlib's specification of the module for the config of a run."""
    sizes = config.network
    network = {"width": sizes.width, "blocks": sizes.blocks, "placements": sizes.placements}
    options = EnvOptions(num_players=config.players)
    return RLModuleSpec(
        module_class=TeamModule,
        observation_space=observation_space(options),
        action_space=action_space(),
        model_config={"network": {"num_players": config.players} | network},
    )


class TeamRunner(EnvRunner, Checkpointable):
    """Env runner that plays many native matches and returns judged decisions.

    The runner with index 0 lives in the process of the algorithm and does not play: it keeps the weights and the league
    for restarted runners.

    Args:
        config: RLlib's config, with the config of the run under `env_config["run"]`.
    """

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.run = run = self.config.env_config["run"]
        self.number, self._weights_seq_no = 0, 0
        self.mix = Mix(run)
        self.generator = torch.Generator()
        self.make_module()
        self.rollout: Rollout | None = None
        if self.worker_index:
            torch.set_num_threads(1)
            self.make_env()

    def make_env(self) -> None:
        """Create all matches of this runner; they are dealt when they are first played."""
        self.env = self_play_matches(self.run, belief=False)
        self.rollout = Rollout(self.env, self.run.ppo.steps, self.mix, Standing(self.env, self.run.reward))
        self._dealt, self._scale = False, (1 / units(self.run.players)).astype(np.float32)

    def make_module(self) -> None:
        """Create the module; the learner's weights replace its own."""
        self.module = module_spec(self.run).build()

    def assert_healthy(self) -> None:
        """Check that there is a module."""
        assert self.module is not None

    def get_spaces(self) -> dict[str, Any]:
        """Return the spaces of one decision."""
        return {DEFAULT_MODULE_ID: (self.module.observation_space, self.module.action_space)}

    def sample(self, *, number: int = 0, **kwargs: Any) -> tuple[int, Fragment, dict[str, float]]:
        """Continue all matches for one iteration, and judge the decisions.

        Args:
            number: number of the iteration; with the runner's index it sets the deals of a runner that starts.

        Returns:
            the runner's index, the decisions (see `packed_decisions`) and metrics (see the script).
        """
        assert self.rollout is not None, "the runner of the algorithm has no matches"
        if not self._dealt:
            seeds = np.random.SeedSequence((self.run.seed, self.worker_index, number)).generate_state(2, np.uint64)
            self.rollout.begin(int(seeds[0]))
            self.generator.manual_seed(int(seeds[1] >> np.uint64(1)))
            self._dealt = True
        figures = self.rollout.collect(self._act, self.generator, Clock())
        self.rollout.judge(self.run.ppo.gamma, self.run.ppo.gae_lambda)
        fragment = packed_decisions(self.rollout, self._scale)
        self.rollout.carry()
        return self.worker_index, fragment, figures

    def _act(self, seen: Seen, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        observation, mask, _ = seen
        with torch.inference_mode():
            found = self.module.forward_exploration({Columns.OBS: {OBSERVATION: observation, MASK: mask}})
            action, log_prob = sample_actions(found[Columns.ACTION_DIST_INPUTS], mask, self.generator)
        return action, log_prob, found[Columns.EMBEDDINGS].float()

    def get_metrics(self) -> Any:
        """Return RLlib's own metrics; `sample` returns ours."""
        return self.metrics.reduce()

    def take_snapshot(self) -> dict[str, Any]:
        """Add the current policy to the league; returns the league for the other runners."""
        self.mix.take_snapshot(self.module.network)
        return {LEAGUE: self.mix.state()}

    def get_state(self, components: Any = None, *, not_components: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Return weights and league, without the matches (see `checkpoint`)."""
        weights = {DEFAULT_MODULE_ID: self.module.get_state()}
        return {COMPONENT_RL_MODULE: weights, WEIGHTS_SEQ_NO: self._weights_seq_no, LEAGUE: self.mix.state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Set the given parts of the state."""
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            weights = ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights
            self.module.set_state(weights[DEFAULT_MODULE_ID])
            self._weights_seq_no = state.get(WEIGHTS_SEQ_NO, 0)
        if LEAGUE in state:
            self.mix.set_state(state[LEAGUE], self.module.network)

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments for another runner like this."""
        return (), {"config": self.config}

    def checkpoint(self) -> dict[str, Any] | None:
        """Return matches, open decisions and random state; None before the first deal."""
        if self.rollout is None or not self._dealt:
            return None
        return {"rollout": self.rollout.checkpoint(), "random": self.generator.get_state(), "index": self.worker_index}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        assert self.rollout is not None
        self.rollout.restore(state["rollout"])
        self.generator.set_state(state["random"])
        self._dealt = True


def packed_decisions(rollout: Rollout, scale: np.ndarray) -> Fragment:
    """Return the M decisions to learn from, in a compact lossless form.

    Returns:
        `codes` uint8 [M, F], the observation as codes; `mask` uint8 [M, 16], one bit per action; `action` uint8,
        `log_prob`, `advantage` and `target` (of the value) float32, all [M].
    """
    chosen = rollout.judged
    columns = {name: buffer.flatten(0, 1)[chosen].numpy() for name, buffer in rollout.buffers().items()}
    advantage = rollout.advantage.flatten()[chosen].numpy()
    return {
        "codes": np.rint(columns["observation"] * scale).astype(np.uint8),
        "mask": np.packbits(columns["mask"].view(np.bool_), axis=1),
        "action": columns["action"].astype(np.uint8),
        "log_prob": columns["log_prob"],
        "advantage": advantage,
        "target": advantage + columns["value"],
    }


def unpacked_decisions(fragments: list[Fragment], num_players: int, order: np.ndarray, normalize: bool) -> SampleBatch:
    """Return the decisions of all runners in the form of RLlib's learner.

    Args:
        fragments: see `packed_decisions`.
        num_players: 2, 3 or 4.
        order: int64 [M], permutation of the decisions.
        normalize: whether advantages are scaled to mean 0 and deviation 1.
    """
    joined = {name: np.concatenate([fragment[name] for fragment in fragments])[order] for name in fragments[0]}
    advantage = joined["advantage"]
    if normalize:
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    seen = {
        OBSERVATION: joined["codes"] * units(num_players),
        MASK: np.unpackbits(joined["mask"], axis=1, count=NUM_ACTIONS).view(np.int8),
    }
    return SampleBatch(
        {
            Columns.OBS: seen,
            Columns.ACTIONS: joined["action"].astype(np.int64),
            Columns.ACTION_LOGP: joined["log_prob"],
            Postprocessing.ADVANTAGES: advantage,
            Postprocessing.VALUE_TARGETS: joined["target"],
            # Required by PPO's loss, but used only in its KL penalty, which is off.
            Columns.ACTION_DIST_INPUTS: np.zeros((len(order), 1), np.float32),
        }
    )
