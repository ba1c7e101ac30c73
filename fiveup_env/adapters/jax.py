"""Self-play of many matches as pure functions for JAX, usable inside `jit`, `scan` and `while_loop`.

The matches run on the host; `jax.pure_callback` transfers the state as bytes. docs/libraries.md compares the cost with
stepping the vector environment between jitted calls.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv, StepArrays
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.system.optional import library

with library("jax"):
    import jax


class State(NamedTuple):
    """State of all matches as bytes, uint8 [N, ...] each (see `SelfPlayVectorEnv.state`)."""

    games: jax.Array
    rows: jax.Array


class TimeStep(NamedTuple):
    """Result of a step; N matches, F observation values, S sides.

    Attributes:
        observation: float32 [N, F], of the seat to move.
        mask: bool [N, 121], legal actions of that seat.
        seat, side: int8 [N], the seat to move and its side.
        rewards: float32 [N, S], reward of each side.
        terminated, truncated: bool [N], whether the episode ended in this step; a new one has been dealt.
    """

    observation: jax.Array
    mask: jax.Array
    seat: jax.Array
    side: jax.Array
    rewards: jax.Array
    terminated: jax.Array
    truncated: jax.Array


class FiveUpJax:
    """N matches of `SelfPlayVectorEnv` as two pure functions.

    The same state and actions always give the same result. An illegal action raises an error, which JAX wraps in its
    own error type. `vmap` is not supported: the N matches are the batch.

    Args:
        num_matches: N.
        options: see `SelfPlayVectorEnv`, without beliefs.

    >>> env = FiveUpJax(64, num_players=4, draws="auto")
    >>> state, now = env.reset(0)
    >>> state, now = jax.jit(env.step)(state, now.mask.argmax(1))
    """

    def __init__(self, num_matches: int, **options: Any) -> None:
        if options.get("belief", "none") != "none" or options.get("final_observation"):
            raise ValueError("FiveUpJax supports neither belief nor final_observation")
        self.env = SelfPlayVectorEnv(num_matches, **options)
        self._lock = threading.Lock()  # JAX may call from several threads
        shown = _timestep(self.env.reset(0))
        state = State(**self.env.state())
        self._shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), (state, shown))

    @property
    def num_actions(self) -> int:
        """121."""
        return NUM_ACTIONS

    def reset(self, seed: jax.Array | int) -> tuple[State, TimeStep]:
        """Deal all matches; `seed` is an integer (below 2**32 unless JAX has 64-bit integers enabled)."""
        result: tuple[State, TimeStep] = jax.pure_callback(self._reset, self._shapes, seed)
        return result

    def step(self, state: State, actions: jax.Array) -> tuple[State, TimeStep]:
        """Apply one action per match, integers [N]."""
        result: tuple[State, TimeStep] = jax.pure_callback(self._step, self._shapes, state, actions)
        return result

    def _reset(self, seed: Any) -> tuple[State, TimeStep]:
        with self._lock:
            shown = _timestep(self.env.reset(int(seed)))
            return State(**self.env.state()), shown

    def _step(self, state: State, actions: Any) -> tuple[State, TimeStep]:
        with self._lock:
            self.env.set_state({name: np.asarray(part) for name, part in state._asdict().items()})
            shown = _timestep(self.env.step(np.asarray(actions, np.int64)))
            return State(**self.env.state()), shown


def _timestep(step: StepArrays) -> TimeStep:
    """Copy the arrays, because the environment reuses them while JAX still reads."""
    return TimeStep(
        step.observation.copy(),
        step.action_mask != 0,
        step.seat.copy(),
        step.side.copy(),
        step.rewards.copy(),
        step.terminated.copy(),
        step.truncated.copy(),
    )
