"""`FiveUpJax`: pure functions over the vector env."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'fiveup-env[jax]'")

import jax
import jax.numpy as jnp

from fiveup_env import SelfPlayVectorEnv
from fiveup_env.adapters.jax import FiveUpJax

OPTIONS = {"num_players": 4, "draws": "auto", "reward": "points", "episode": "round"}


def drawn(key: jax.Array, mask: jax.Array) -> jax.Array:
    return jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf))


def test_a_scan_plays_what_the_vector_env_plays() -> None:
    env, plain = FiveUpJax(8, **OPTIONS), SelfPlayVectorEnv(8, **OPTIONS)

    @jax.jit
    def play(seed: jax.Array) -> tuple:
        def one(carry: tuple, key: jax.Array) -> tuple:
            state, now = carry
            actions = drawn(key, now.mask)
            after = env.step(state, actions)
            return after, (now, actions, after[1].rewards, after[1].terminated)

        return jax.lax.scan(one, env.reset(seed), jax.random.split(jax.random.key(0), 60))[1]

    seen, actions, rewards, terminated = jax.device_get(play(jnp.uint32(7)))
    step = plain.reset(7)
    for t in range(60):
        assert np.array_equal(step.observation, seen.observation[t])
        assert np.array_equal(step.action_mask != 0, seen.mask[t]) and np.array_equal(step.seat, seen.seat[t])
        step = plain.step(actions[t])
        assert np.array_equal(step.rewards, rewards[t]) and np.array_equal(step.terminated, terminated[t])
    assert terminated.any() and (np.abs(rewards).sum((0, 1)) > 0).all()


def test_steps_are_pure() -> None:
    env = FiveUpJax(4, **OPTIONS)
    state, now = env.reset(3)
    first, second = now.mask.argmax(1), 120 - now.mask[:, ::-1].argmax(1)
    one = env.step(state, first)
    other = env.step(state, second)
    again = env.step(state, first)
    same = jax.tree.map(lambda a, b: bool((a == b).all()), one, again)
    assert all(jax.tree.leaves(same))
    assert not (one[0].games == other[0].games).all()


def test_what_is_wrong_is_said() -> None:
    env = FiveUpJax(4, **OPTIONS)
    state, _ = env.reset(3)
    with pytest.raises(Exception, match="no match was moved"):
        jax.block_until_ready(env.step(state, jnp.full(4, 120)))
    with pytest.raises(ValueError, match="neither belief"):
        FiveUpJax(4, belief="exact")
