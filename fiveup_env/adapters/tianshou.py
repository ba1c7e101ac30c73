"""Tianshou's vector environment over the native one, without a Python object per match."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.system.optional import library

with library("tianshou"):
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv


class FiveUpTianshouEnv(BaseVectorEnv):
    """N matches of `FiveUpVectorEnv` as a Tianshou `BaseVectorEnv`, for its collectors.

    Observations are a `Batch` of `obs` float32 [N, F] and `mask` bool [N, 121], the names that Tianshou's Q-learning
    expects (and `belief`, if enabled). Each row is a decision of the learner's side, and its reward covers the time
    until the next one, so n-step returns and advantages are correct. Infos contain `env_id` and the observing `seat`.
    Collectors reset finished matches.

    Args:
        num_envs: number of matches.
        seed: seed of the first `reset` without one; None draws a seed.
        options: see `FiveUpVectorEnv`; `autoreset_mode` is always DISABLED.
    """

    def __init__(self, num_envs: int, *, seed: int | None = None, **options: Any) -> None:
        # super().__init__ would start a worker per match
        self.env = FiveUpVectorEnv(num_envs, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.env_num = num_envs
        self.is_async, self.is_closed = False, False
        self.waiting_id: list[int] = []
        self._seed: int | np.ndarray | None = seed
        self._started = False

    def get_env_attr(self, key: str, id: int | list[int] | np.ndarray | None = None) -> list[Any]:
        """Attribute of the requested matches, one item per match; spaces are those of a single match."""
        name = f"single_{key}" if key.endswith("_space") else key
        return [getattr(self.env, name)] * len(self._wrap_id(id))

    def set_env_attr(self, key: str, value: Any, id: int | list[int] | np.ndarray | None = None) -> None:
        """Raise AttributeError: single matches have no attributes."""
        raise AttributeError(f"matches of the native vector env have no attribute {key!r} to set")

    def reset(self, env_id: int | list[int] | np.ndarray | None = None, **kwargs: Any) -> tuple[Batch, np.ndarray]:
        """Deal a new episode in these matches (default: all); return their observations and infos.

        Args:
            env_id: indices of matches.
            kwargs: `seed`, see `FiveUpVectorEnv.reset`.
        """
        rows = np.asarray(self._wrap_id(env_id))
        chosen = np.zeros(self.env_num, np.bool_)
        # the first reset deals all matches
        chosen[rows if self._started else slice(None)] = True
        seed = kwargs.get("seed", self._seed)
        seen, info = self.env.reset(seed=seed, options={"reset_mask": chosen})
        self._seed, self._started = None, True
        return self._shown(seen, rows), self._infos(info, rows)

    def step(
        self, action: np.ndarray | None, id: int | list[int] | np.ndarray | None = None
    ) -> tuple[Batch, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Apply one action per match; return observations, rewards float32, two flags and infos, all [N].

        Raises:
            ValueError: unless there is one action for each of the N matches.
            IllegalActionError: if an action is illegal; no match is moved.
        """
        rows = np.asarray(self._wrap_id(id))
        if action is None or len(rows) != self.env_num or len(set(rows.tolist())) != self.env_num:
            raise ValueError(
                f"the native vector env steps all its {self.env_num} matches together, not {len(rows)} of them: "
                "collect a number of steps instead of episodes"
            )
        ordered = np.empty(self.env_num, np.int64)
        ordered[rows] = np.asarray(action)
        seen, rewards, terminated, truncated, info = self.env.step(ordered)
        results = (rewards.astype(np.float32)[rows], terminated[rows], truncated[rows])
        return self._shown(seen, rows), *results, self._infos(info, rows)

    @staticmethod
    def _shown(seen: dict[str, np.ndarray], rows: np.ndarray) -> Batch:
        named = {"observation": "obs", "action_mask": "mask"}
        shown = {named.get(name, name): part[rows] for name, part in seen.items()}
        shown["mask"] = shown["mask"].astype(np.bool_)
        return Batch(shown)

    @staticmethod
    def _infos(info: dict[str, Any], rows: np.ndarray) -> np.ndarray:
        return np.array([{"env_id": int(i), "seat": int(info["seat"][i])} for i in rows])

    def seed(self, seed: int | list[int] | None = None) -> list[list[int] | None]:
        """Seed of the next `reset`."""
        self._seed = seed if seed is None or isinstance(seed, int) else np.asarray(seed, np.uint64)
        return [None if seed is None else [int(s)] for s in np.broadcast_to(np.asarray(seed), self.env_num)]

    def close(self) -> None:
        """Mark the environment as closed."""
        self.is_closed = True
