"""Policy over a MaskablePPO checkpoint of sb3-contrib.

A checkpoint is a pickle and can run code: load only trusted files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.agents.protocol import AgentError, Policy, drawn
from fiveup_env.belief.belief_section import BELIEF_WRITERS, EXACT, beliefs_of
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import Views

if TYPE_CHECKING:
    from gymnasium import spaces
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

# These parts serve only further training and are not unpickled: they may come from another Python version.
_NOT_NEEDED = {"learning_rate": 0.0, "lr_schedule": lambda _: 0.0, "clip_range": lambda _: 0.0, "clip_range_vf": None}


class MaskablePPOPolicy(Policy):
    """Masked policy network: the most likely legal action, or a sample.

    Accepts networks trained on the flat vector (float32, or uint8 codes), or on a Dict with the key `observation` and
    any of `action_mask`, `history`, `history_mask` and `belief`. Outputs for batches of different sizes may differ in
    their last bits; two actions with equal logits may then swap.

    Args:
        source: path of a file that `MaskablePPO.save` wrote, a model, or a model's `policy`.
        sample: sample from the policy instead of taking its most likely action.
        device: torch device.
        belief: the option `belief` of the training environment, "exact" or "likely", if observations have `belief`.

    Attributes:
        num_players: number of players, from the length of the observations.

    Raises:
        AgentError: if the libraries are not installed, the file is not a valid checkpoint, or its spaces do not fit.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | MaskablePPO | MaskableActorCriticPolicy,
        *,
        sample: bool = False,
        device: str = "cpu",
        belief: str = EXACT,
    ) -> None:
        if not isinstance(sample, bool):
            raise AgentError(f"sample must be true or false, not {sample!r}")
        if belief not in BELIEF_WRITERS:
            raise AgentError(f"belief must be one of {', '.join(BELIEF_WRITERS)}, not {belief!r}")
        self._belief = belief
        if isinstance(source, str | os.PathLike):
            what = os.fspath(source)
            self._policy: Any = _load(Path(what), device).policy
            self.name = Path(what).stem
        else:
            what = self.name = type(source).__name__
            self._policy = getattr(source, "policy", source)
        self.sample = sample
        self._inputs = _input_spaces(self._policy, what)
        self.num_players = _players(self._inputs["observation"].shape, what)

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N]; see `Policy.act_many`."""
        probabilities = self.opinion(views)[0]
        if not self.sample:
            return probabilities.argmax(1)
        return drawn(probabilities, keys)

    def opinion(self, views: Views) -> tuple[np.ndarray, None]:
        """Return probabilities of all actions, float64 [N, 121], and no values: their scale depends on the training."""
        if len(views) and views.num_players != self.num_players:
            raise AgentError(
                f"policy {self.name} plays matches of {self.num_players} players, not of {views.num_players}"
            )
        observation, masks = views.observe(self._inputs["observation"].dtype.type)
        return self._probabilities(self._observations(views, observation, masks), masks) * masks, None

    def _observations(self, views: Views, observation: np.ndarray, masks: np.ndarray) -> Any:
        if self._inputs["observation"] is self._policy.observation_space:
            return observation
        known = {"observation": observation, "action_mask": masks}
        if "history" in self._inputs:
            known["history"], known["history_mask"] = views.history(self._inputs["history"].shape[0])
        if "belief" in self._inputs:
            known["belief"] = beliefs_of(views, self._belief)
        return {key: known[key] for key in self._inputs}

    def _probabilities(self, inputs: Any, masks: np.ndarray) -> np.ndarray:
        """Return the probability of every action, float64 [N, 121]."""
        import torch

        self._policy.set_training_mode(False)
        tensors, _ = self._policy.obs_to_tensor(inputs)
        with torch.no_grad():
            distribution = self._policy.get_distribution(tensors, action_masks=masks)
        return distribution.distribution.probs.cpu().numpy().astype(np.float64)


def _load(path: Path, device: str) -> MaskablePPO:
    try:
        from sb3_contrib import MaskablePPO
    except ImportError as error:
        raise AgentError(
            f"{path} needs stable-baselines3, sb3-contrib and torch ({error}): pip install 'fiveup-env[train]'"
        ) from error
    try:
        return MaskablePPO.load(path, device=device, custom_objects=dict(_NOT_NEEDED))
    except Exception as error:  # a damaged file fails in zipfile, json, pickle or torch
        cause = " ".join(str(error).split())[:200]
        raise AgentError(
            f"{path} is broken or not a checkpoint of MaskablePPO ({type(error).__name__}: {cause})"
        ) from error


def _input_spaces(policy: Any, what: str) -> dict[str, spaces.Box]:
    """Return the input spaces by key; a single vector is `observation`."""
    from gymnasium import spaces

    space = policy.observation_space
    named: dict[str, Any] = dict(space.spaces) if isinstance(space, spaces.Dict) else {"observation": space}
    ours = set(named) <= {"observation", "action_mask", "history", "history_mask", "belief"} and "observation" in named
    if (
        not ours
        or ("history_mask" in named and "history" not in named)
        or not isinstance(named["observation"], spaces.Box)
    ):
        raise AgentError(f"{what} was trained on observations that are not this game's: {space}")
    if getattr(policy.action_space, "n", None) != NUM_ACTIONS:
        raise AgentError(f"{what} was trained on other actions than the game's {NUM_ACTIONS}: {policy.action_space}")
    return named


def _players(shape: tuple[int, ...], what: str) -> int:
    sizes = {(observation_size(n),): n for n in (2, 3, 4)}
    if shape not in sizes:
        lengths = ", ".join(f"{size} ({n} players)" for (size,), n in sizes.items())
        raise AgentError(f"{what} was trained on observations of shape {shape}; this version's lengths are {lengths}")
    return sizes[shape]
