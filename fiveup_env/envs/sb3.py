"""Stable-Baselines3's `VecEnv` over the native vector env, with `action_masks` for sb3-contrib's MaskablePPO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.system.optional import library

with library("train"):
    from stable_baselines3.common.vec_env import VecEnv

Shown: TypeAlias = np.ndarray | dict[str, np.ndarray]


class FiveUpSB3VecEnv(VecEnv):
    """N matches of `FiveUpVectorEnv` as one SB3 VecEnv, without one Python object per match.

    Observations are float32 vectors [N, F]; with a belief a dict of `observation` [N, F] and `belief` float32
    [N, n, 28]. `env_method("action_masks")` returns the masks, as sb3-contrib expects. The next episode is dealt in the
    step that ends one; its infos hold `terminal_observation`, `episode` (`r`, `l`, `t`, as by SB3's Monitor),
    `is_success` and `TimeLimit.truncated`. Matches with nothing to report share one empty info: do not write to it.

    Args:
        num_envs: number of matches.
        seed: of all episodes; None draws one.
        options: see `FiveUpVectorEnv`.

    Attributes:
        seats: the seats that decide after `reset` or a step, int8 [N].
    """

    def __init__(self, num_envs: int, *, seed: int | None = None, **options: Any) -> None:
        self.env = FiveUpVectorEnv(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        space = self.env.single_observation_space
        assert isinstance(space, spaces.Dict)
        self.render_mode = None  # VecEnv.__init__ asks for it
        shown = {name: part for name, part in space.items() if name != "action_mask"}
        self._names = tuple(shown)
        observed = spaces.Dict(shown) if len(shown) > 1 else space["observation"]
        super().__init__(num_envs, observed, self.env.single_action_space)
        self._seed = seed
        self.seats: np.ndarray = np.zeros(num_envs, np.int8)
        self._pending: np.ndarray | None = None
        self._nothing: dict[str, Any] = {}
        self._steps = 0

    def _shown(self, seen: Mapping[str, np.ndarray]) -> Shown:
        """Copies of the observed arrays."""
        if len(self._names) > 1:
            return {name: seen[name].copy() for name in self._names}
        return seen["observation"].copy()

    def reset(self) -> Shown:
        """Deal new episodes. The seed is used once; later resets continue its streams."""
        observation, info = self.env.reset(seed=self._seed)
        self._seed, self.seats = None, info["seat"].copy()
        self._reset_seeds()
        self._reset_options()
        return self._shown(observation)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._pending = actions

    def step_wait(self) -> tuple[Shown, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Return observations, rewards float32 [N], dones bool [N] and infos."""
        assert self._pending is not None, "call step_async() first"
        self._steps += 1
        observation, rewards, terminated, truncated, info = self.env.step(self._pending)
        self.seats = info["seat"].copy()
        done = terminated | truncated
        infos = [self._nothing] * self.num_envs
        for i in np.flatnonzero(done):
            final = info["final_info"]
            infos[i] = {
                "terminal_observation": self._shown(info["final_obs"][i]),
                "TimeLimit.truncated": bool(truncated[i]),
                "episode": {"r": float(final["return"][i]), "l": int(final["length"][i]), "t": self._steps},
                "is_success": bool(final["is_success"][i]),
            }
        return self._shown(observation), rewards.astype(np.float32), done, infos

    def action_masks(self) -> np.ndarray:
        """Legal actions, bool [N, 121]."""
        return self.env.action_masks()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next `reset`."""
        self._seed = seed
        return [seed] * self.num_envs

    def close(self) -> None:
        """Do nothing."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the matches have an attribute or method, such as `action_masks`."""
        return hasattr(self, attr_name) or hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once per requested match."""
        owner = self if attr_name == "render_mode" or not hasattr(self.env, attr_name) else self.env
        return [getattr(owner, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise an AttributeError: single matches have no attributes to set."""
        raise AttributeError(f"matches of the native vector env have no attribute {attr_name!r} to set")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks` per match; `set_opponents` and other methods of the vector env once for all."""
        if method_name == "action_masks":
            masks = self.action_masks()
            return list(masks) if indices is None else [masks[i] for i in self._get_indices(indices)]
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Claim a Monitor, because infos report episode statistics, and no other wrapper."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._get_indices(indices)]
