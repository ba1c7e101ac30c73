"""RLlib: a multi-agent environment that lists only the seat to act, and an RLModule that masks illegal actions.

    config = (
        PPOConfig()
        .environment(FiveUpMultiAgentEnv, env_config={"num_players": 4, "draws": "auto"})
        .multi_agent(policies={"team"}, policy_mapping_fn=lambda agent, *_, **__: "team")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedPPOModule))
    )

Each match is one Python object. `training/rllib_selfplay.py` is faster: its env runners play native matches in batches.
Requires the extra `ray`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
from fiveup_env.rules.match import IllegalActionError
from fiveup_env.system.optional import library

with library("ray"):
    import torch
    from gymnasium import spaces
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.multi_agent_env import MultiAgentEnv

Dicts = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]


class FiveUpMultiAgentEnv(MultiAgentEnv):
    """The AEC environment for RLlib: every step takes the action of the one seat listed.

    Observations are those of `FiveUpAEC` for the seat to act, and at the end of an episode for all seats, with empty
    masks. Every step returns the reward of its side to every seat (R1.2). RLlib sums them until the seat is listed
    again, so a seat is credited from one of its decisions to the next. An illegal action ends the episode with -1 for
    the acting seat and 0 for the others, as in `fiveup_v0.env`.

    Args:
        config: RLlib's `env_config`, options by name (see `EnvOptions`); None for the defaults.

    Raises:
        TypeError, ValueError: see `FiveUpAEC`.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self.env = FiveUpAEC(**dict(config or {}))
        self.possible_agents = self.agents = list(self.env.possible_agents)
        self.observation_spaces = {agent: self.env.observation_space(agent) for agent in self.agents}
        self.action_spaces = {agent: self.env.action_space(agent) for agent in self.agents}
        self._over = True
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal a new episode; see `FiveUpAEC.reset`."""
        self.env.reset(seed, options)
        self._over = False
        agent = self.env.agent_selection
        return {agent: self.env.observe(agent)}, {agent: self.env.infos[agent]}

    def step(self, action_dict: Mapping[str, Any]) -> Dicts:
        """Apply the action of the seat to act.

        Raises:
            ValueError: if it is missing, not an action id, or other seats are given.
            RuntimeError: if no episode is in progress.
        """
        env = self.env
        if self._over:
            raise RuntimeError("no episode is in progress: call reset() first")
        if list(action_dict) != [env.agent_selection]:
            given = ", ".join(map(str, action_dict)) or "nobody"
            raise ValueError(f"it is {env.agent_selection} to act, not {given}")
        try:
            env.step(action_dict[env.agent_selection])
        except IllegalActionError:
            return self._ended({agent: -float(agent == env.agent_selection) for agent in self.possible_agents}, True)
        if any(env.terminations.values()) or any(env.truncations.values()):
            return self._ended(env.rewards, any(env.terminations.values()))
        agent = env.agent_selection
        return (
            {agent: env.observe(agent)},
            dict(env.rewards),
            {"__all__": False},
            {"__all__": False},
            {agent: env.infos[agent]},
        )

    def _ended(self, rewards: Mapping[str, float], terminated: bool) -> Dicts:
        """Result of the last step of an episode."""
        self._over = True
        seen = {agent: self.env.observe(agent) for agent in self.possible_agents}
        for observation in seen.values():
            observation["action_mask"][:] = 0
        infos = {agent: self.env.infos[agent] | {"action_mask": seen[agent]["action_mask"]} for agent in seen}
        return seen, dict(rewards), {"__all__": terminated}, {"__all__": not terminated}, infos

    def render(self) -> Any:
        """See `FiveUpAEC.render`."""
        return self.env.render()


class MaskedPPOModule(DefaultPPOTorchRLModule):
    """RLlib's default networks over the observation vector, with illegal actions masked.

    For environments whose observations have the keys `observation` (a vector) and `action_mask`.
    """

    def __init__(self, *, observation_space: spaces.Dict, **kwargs: Any) -> None:
        # the networks read the vector, the module receives the dictionary
        super().__init__(observation_space=observation_space["observation"], **kwargs)
        self.observation_space = observation_space

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._masked(super()._forward, batch)

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._masked(super()._forward_train, batch)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Values float [N]."""
        return super().compute_values(batch | {Columns.OBS: batch[Columns.OBS]["observation"]}, embeddings)

    def _masked(self, forward: Any, batch: dict[str, Any]) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        found: dict[str, Any] = forward(batch | {Columns.OBS: seen["observation"]})
        logits = found[Columns.ACTION_DIST_INPUTS]
        # a finite value, because no action is legal at the end of an episode
        found[Columns.ACTION_DIST_INPUTS] = torch.where(seen["action_mask"] != 0, logits, np.float32(-1e9).item())
        return found
