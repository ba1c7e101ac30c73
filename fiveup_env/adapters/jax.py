"""Self-play of many matches as pure functions for JAX: state in, state out, inside `jit`, `scan` or `while_loop`.

The matches are played by the compiled rules on the host; `jax.pure_callback` carries bytes there and back. What that
costs, beside a loop that steps the vector env between jitted calls, is measured in docs/libraries.md.
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
    """All that later steps depend on, as bytes: uint8 [N, ...] each (see `SelfPlayVectorEnv.state`)."""

    games: jax.Array
    rows: jax.Array


class TimeStep(NamedTuple):
    """What a step shows; N matches, F observation values, S sides.

    Attributes:
        observation: float32 [N, F] of the seat to move.
        mask: bool [N, 121]: its legal actions.
        seat, side: int8 [N]: who that is.
        rewards: float32 [N, S]: what the step brought every side.
        terminated, truncated: bool [N]: the episode ended in this step; the match has been dealt anew.
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

    The same state and actions give the same result whenever and however often JAX calls; an illegal action raises
    (JAX reports it as its own error, with our line in it). Not for `vmap`: the N matches are the batch.

    Args:
        num_matches: N.
        options: see `SelfPlayVectorEnv`, without beliefs.

    >>> env = FiveUpJax(64, num_players=4, draws="auto")
    >>> state, now = env.reset(0)
    >>> state, now = jax.jit(env.step)(state, now.mask.argmax(1))
    """

    def __init__(self, num_matches: int, **options: Any) -> None:
        if options.get("belief", "none") != "none" or options.get("final_observation"):
            raise ValueError("FiveUpJax shows neither beliefs nor final observations")
        self.env = SelfPlayVectorEnv(num_matches, **options)
        self._lock = threading.Lock()  # JAX may call from several threads, and there is one env
        shown = _timestep(self.env.reset(0))
        state = State(**self.env.state())
        self._shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), (state, shown))

    @property
    def num_actions(self) -> int:
        """121."""
        return NUM_ACTIONS

    def reset(self, seed: jax.Array | int) -> tuple[State, TimeStep]:
        """Deal all matches anew; `seed` is an integer (below 2**32 where JAX has no 64-bit integers)."""
        result: tuple[State, TimeStep] = jax.pure_callback(self._reset, self._shapes, seed)
        return result

    def step(self, state: State, actions: jax.Array) -> tuple[State, TimeStep]:
        """One action per match, integers [N], for the seats to move."""
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
    """Copies: JAX reads them while the env may be writing the next ones."""
    return TimeStep(
        step.observation.copy(),
        step.action_mask != 0,
        step.seat.copy(),
        step.side.copy(),
        step.rewards.copy(),
        step.terminated.copy(),
        step.truncated.copy(),
    )
