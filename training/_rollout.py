"""Collecting decisions: T steps of N matches into buffers that the env writes to itself, and what is open at their end.

A slot of time holds one decision of every match. In front of the T slots of an iteration are S more, one per side, for
the decisions of the last iteration whose outcome was still open then (see `_credit`).
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
"""What the policy sees of N decisions, global state [N, G] or None -> actions, log-probabilities, values, all [N]."""


def self_play_matches(config: Any, belief: bool) -> SelfPlayVectorEnv:
    """The matches that a config of self-play (`_selfplay_config.Config`) asks for, with what is likely or without."""
    return SelfPlayVectorEnv(
        config.matches,
        num_players=config.players,
        reward="win" if config.reward == TABLE else config.reward,
        episode=config.episode,
        continue_match=config.episode == "round",
        draws="auto",
        skip_single=True,
        validate=False,  # what is sampled under the mask is legal
        belief=LIKELY if belief else "none",
        **config.variant.model_dump(),
    )


class Clock:
    """Seconds per phase since the last `read`."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Count the time of a `with` block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[phase] += time.perf_counter() - began

    def read(self) -> dict[str, float]:
        """The seconds so far; begins anew."""
        seconds = dict(self._seconds)
        self._seconds.clear()
        return seconds


class Rollout:
    """The buffers of an iteration; L = S + T slots, N matches, F and G the sizes of observation and global state.

    Args:
        env: the matches, with draws="auto" and skip_single=True.
        steps: T.
        mix: who plays beside the learner.
        standing: the rewards.
        privileged: also keep the global states.
        playouts: and with them, as G's last S values, what `Standing.outlook` says.

    Attributes:
        observation: float32 [L + 1, N, F]; the last slot is where the next iteration begins. The buffers of
            decisions below are as long as that too, and mean nothing there.
        mask: int8 [L + 1, N, 121].
        belief: float32 [L + 1, N, n, 28], None unless the env has it.
        state: float32 [L + 1, N, G], None unless `privileged`.
        action: int64; log_prob, value: float32, as the acting network had them.
        advantage: float32 [L, N].
        judged: int64 [M]: flat places (slot * N + match) of the decisions to learn from.
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
        """Play T steps; returns figures of the matches for people (see `METRICS` of the script)."""
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
        """Find the advantages; leaves `advantage` and `judged`."""
        end = self._end
        credit = side_advantages(
            self._side[:end],
            self._decides[:end],
            self.value[:end].numpy(),
            self._reward,
            self._ended,
            gamma,
            gae_lambda,
        )
        self._open_slot, self._open_gain = credit.open_slot, credit.open_gain
        self.advantage = torch.from_numpy(credit.advantage)
        self.judged = torch.from_numpy(credit.judged.reshape(-1).nonzero()[0])

    def carry(self) -> None:
        """Move open decisions to the front, and the matches as they stand behind them."""
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
        """What is kept of every decision, by name, each [L + 1, N, ...]."""
        named = {
            "observation": self.observation,
            "mask": self.mask,
            "action": self.action,
            "log_prob": self.log_prob,
            "value": self.value,
        }
        maybe = {"belief": self.belief, "state": self.state}
        return named | {name: buffer for name, buffer in maybe.items() if buffer is not None}

    def _figures(self) -> dict[str, float]:
        """Returns of the learner's sides per episode and block of the mix, and the length of rounds."""
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

    # checkpoints

    def checkpoint(self) -> dict[str, Any]:
        """All that later iterations depend on; to be asked for after `carry`."""
        front = slice(0, self._first)
        return {
            "matches": {name: torch.from_numpy(array) for name, array in self._env.state().items()},
            "decides": torch.from_numpy(self._decides[front].copy()),
            "reward": torch.from_numpy(self._reward[front].copy()),
            "open": {name: buffer[front].clone() for name, buffer in self.buffers().items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `checkpoint` gave."""
        front = slice(0, self._first)
        self._env.set_state({name: tensor.numpy() for name, tensor in state["matches"].items()}, out=self._outs[0])
        self._standing.begin()
        self._decides[front], self._reward[front] = state["decides"].numpy(), state["reward"].numpy()
        for name, buffer in self.buffers().items():
            buffer[front] = state["open"][name]
