"""Collection of decisions: T steps of N matches, in buffers that the env writes directly.

A slot holds one decision of every match. Before the T slots of an iteration are S more slots, one per side, for open
decisions of the previous iteration (see `_credit`).
"""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from fiveup_env.belief.belief_section import LIKELY
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.views.observation import state_size
from fiveup_env.views.observation_kernels import write_states

from ._credit import side_advantages
from ._mix import SELF, Mix, Seen
from ._standing import TABLE, Standing

Act = Callable[[Seen, "torch.Tensor | None"], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]
"""(Inputs of N decisions, global state [N, G] or None) -> actions, log-probabilities and values, all [N]."""


def self_play_matches(config: Any, belief: bool) -> SelfPlayVectorEnv:
    """Return the matches of a `SelfPlayConfig`, with the likely places of the tiles if `belief`."""
    return SelfPlayVectorEnv(
        config.matches,
        num_players=config.players,
        reward="win" if config.reward == TABLE else config.reward,
        episode=config.episode,
        continue_match=config.episode == "round",
        draws="auto",
        skip_single=True,
        validate=False,  # sampled actions are legal
        belief=LIKELY if belief else "none",
        **config.variant.model_dump(),
    )


class Clock:
    """Seconds per phase of an iteration."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Add the time of a `with` block to a phase."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[phase] += time.perf_counter() - began

    def shares(self, seconds: float) -> dict[str, float]:
        """Return the metrics `speed/share_PHASE` of an iteration of this length, and reset the clock."""
        phases = dict(self._seconds)
        self._seconds.clear()
        phases["rest"] = seconds - sum(phases.values())
        return {f"speed/share_{phase}": spent / seconds for phase, spent in phases.items()}


class Rollout:
    """Buffers of an iteration: L = S + T slots, N matches, F values per observation, G per global state.

    Args:
        env: matches with draws="auto" and skip_single=True.
        steps: T.
        mix: opponents of the learner.
        standing: rewards.
        privileged: whether global states are kept.
        playouts: whether the last S values of a global state are `Standing.outlook`.

    Attributes:
        observation: float32 [L + 1, N, F]; the last slot is the start of the next iteration. The buffers below have
            the same length, and no meaning in that slot.
        mask: int8 [L + 1, N, 121].
        belief: float32 [L + 1, N, n, 28]; None unless the env writes it.
        state: float32 [L + 1, N, G]; None unless `privileged`.
        action: int64; log_prob, value: float32; all from the acting network.
        advantage: float32 [L, N].
        judged: int64 [M], flat indices (slot * N + match) of the decisions to learn from.
    """

    def __init__(
        self,
        env: SelfPlayVectorEnv,
        steps: int,
        mix: Mix,
        standing: Standing,
        privileged: bool = False,
        playouts: bool = False,
    ) -> None:
        self._env, self._mix, self._standing = env, mix, standing
        self._outlook = env.num_sides if playouts else 0
        self._first, self._end = env.num_sides, env.num_sides + steps
        slots, count = self._end + 1, env.num_matches
        self.observation = torch.zeros(slots, count, env.observation_size)
        self.mask = torch.zeros(slots, count, NUM_ACTIONS, dtype=torch.int8)
        first = env.arrays().belief
        self.belief = torch.zeros(slots, *first.shape) if len(first) else None
        size = state_size(env.options.num_players) + self._outlook
        self.state = torch.zeros(slots, count, size) if privileged else None
        self.action = torch.zeros(slots, count, dtype=torch.int64)
        self.log_prob, self.value = torch.zeros(slots, count), torch.zeros(slots, count)
        self.advantage = torch.zeros(self._end, count)
        self.judged = torch.zeros(0, dtype=torch.int64)
        self._side = np.zeros((slots, count), np.int64)
        self._side[: self._first] = np.arange(self._first)[:, None]
        self._decides = np.zeros((slots, count), np.bool_)
        self._reward = np.zeros((self._end, count, env.num_sides), np.float32)
        self._ended = np.zeros((self._end, count), np.bool_)
        self._outs = [
            dataclasses.replace(
                env.arrays(),
                observation=self.observation[t].numpy(),
                action_mask=self.mask[t].numpy(),
                belief=first if self.belief is None else self.belief[t].numpy(),
            )
            for t in range(self._first, slots)
        ]

    def begin(self, seed: int) -> None:
        """Deal all matches."""
        self._env.reset(seed, out=self._outs[0])
        self._standing.begin()

    def collect(self, act: Act, generator: torch.Generator, clock: Clock) -> dict[str, float]:
        """Play T steps; returns metrics of the matches (see the script)."""
        games = self._env.games
        for t in range(self._first, self._end):
            now, then = self._outs[t - self._first : t - self._first + 2]
            if self.state is not None:
                with clock("collect"):
                    write_states(games, self.state[t].numpy())
                    if self._outlook:
                        self.state[t, :, -self._outlook :] = torch.from_numpy(self._standing.outlook(now.side))
            with clock("infer"):
                seen = self.observation[t], self.mask[t], None if self.belief is None else self.belief[t]
                self.action[t], self.log_prob[t], self.value[t] = act(
                    seen, None if self.state is None else self.state[t]
                )
            actions = self.action[t].numpy()
            with clock("opponents"):
                self._mix.override(actions, games, now.side, seen, generator)
            with clock("collect"):
                self._side[t], self._decides[t] = now.side, self._mix.learns(now.side)
                then = self._env.step(actions, out=then)
                self._reward[t], self._ended[t] = self._standing.after(then), then.terminated
        return self._figures()

    def judge(self, gamma: float, gae_lambda: float) -> None:
        """Compute `advantage` and `judged`."""
        end = self._end
        decisions = self._side[:end], self._decides[:end], self.value[:end].numpy()
        credit = side_advantages(*decisions, self._reward, self._ended, gamma, gae_lambda)
        self._open_slot, self._open_gain = credit.open_slot, credit.open_gain
        self.advantage = torch.from_numpy(credit.advantage)
        self.judged = torch.from_numpy(credit.judged.reshape(-1).nonzero()[0])

    def carry(self) -> None:
        """Move open decisions to the first slots, and the current state of the matches behind them."""
        for side in range(self._first):
            rows = (self._open_slot[:, side] >= 0).nonzero()[0]
            self._decides[side] = False
            self._decides[side, rows] = True
            self._reward[side], self._ended[side] = 0.0, False
            self._reward[side, rows, side] = self._open_gain[rows, side]
            to, source = torch.from_numpy(rows), torch.from_numpy(self._open_slot[rows, side])
            for buffer in self.buffers().values():
                buffer[side, to] = buffer[source, to]
        begin, end = self._outs[0], self._outs[-1]
        begin.observation[:], begin.action_mask[:] = end.observation, end.action_mask
        begin.belief[:] = end.belief
        begin.facts[:] = end.facts

    def buffers(self) -> dict[str, torch.Tensor]:
        """Return the buffers of the decisions by name, each [L + 1, N, ...]."""
        names = ("observation", "mask", "action", "log_prob", "value", "belief", "state")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _figures(self) -> dict[str, float]:
        """Return decisions per episode, and the learner's return per episode and block of the mix."""
        steps = slice(self._first, self._end)
        ended, reward = self._ended[steps], self._reward[steps]
        figures = {"rollout/decisions_per_episode": ended.size / max(1, int(ended.sum()))}
        for name, block in self._mix.blocks.items():
            episodes = int(ended[:, block].sum())
            if name != SELF and episodes:
                rows = np.arange(block.start, block.stop)
                gained = reward[:, rows, self._mix.learner_side[rows]].sum()
                figures[f"rollout/return_against_{name}"] = float(gained) / episodes
        return figures

    def checkpoint(self) -> dict[str, Any]:
        """Return everything that later iterations depend on; call it after `carry`."""
        front = slice(0, self._first)
        return {
            "matches": {name: torch.from_numpy(array) for name, array in self._env.state().items()},
            "decides": torch.from_numpy(self._decides[front].copy()),
            "reward": torch.from_numpy(self._reward[front].copy()),
            "open": {name: buffer[front].clone() for name, buffer in self.buffers().items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        front = slice(0, self._first)
        self._env.set_state({name: tensor.numpy() for name, tensor in state["matches"].items()}, out=self._outs[0])
        self._standing.begin()
        self._decides[front], self._reward[front] = state["decides"].numpy(), state["reward"].numpy()
        for name, buffer in self.buffers().items():
            buffer[front] = state["open"][name]
