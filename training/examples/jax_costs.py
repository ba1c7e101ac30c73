"""Cost of running the rules on the host for JAX users: three ways to play the same random legal actions.

    python -m training.examples.jax_costs

All draw masked actions with `jax.random.categorical`; `SelfPlayVectorEnv.step` alone is measured for comparison. The
ways alternate. The output is the median number of match steps per CPU second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from ._example import PLAYERS, needs

with needs("jax"):
    import jax
    import jax.numpy as jnp

    from fiveup_env.adapters.jax import FiveUpJax

from fiveup_env import SelfPlayVectorEnv

MATCHES, STEPS, TURNS = 1024, 20, 5
OPTIONS = {"num_players": PLAYERS, "draws": "auto", "skip_single": True}


def drawn(key: jax.Array, mask: jax.Array) -> jax.Array:
    """Return a random legal action per row."""
    return jax.random.categorical(key, jnp.where(mask != 0, 0.0, -jnp.inf))


def ways() -> dict[str, Callable[[], object]]:
    """Return functions that play `STEPS` steps of all matches, by name."""
    plain, pure = SelfPlayVectorEnv(MATCHES, **OPTIONS), FiveUpJax(MATCHES, **OPTIONS)
    choose, keys = jax.jit(drawn), jax.random.split(jax.random.key(0), STEPS)

    def alone() -> None:
        step = plain.reset(0)
        for _ in range(STEPS):
            step = plain.step(step.action_mask.argmax(1))

    def loop() -> None:
        step = plain.reset(0)
        for key in keys:
            step = plain.step(np.asarray(choose(key, step.action_mask)))

    @jax.jit
    def scanned() -> jax.Array:
        def one(carry: tuple, key: jax.Array) -> tuple:
            state, now = carry
            after = pure.step(state, drawn(key, now.mask))
            return after, after[1].rewards

        return jax.lax.scan(one, pure.reset(0), keys)[1]

    def stepped() -> None:
        state, now = pure.reset(0)
        for key in keys:
            state, now = pure.step(state, choose(key, now.mask))
        jax.block_until_ready(now)

    return {
        "the vector env alone (first legal action)": alone,
        "a loop on the host, jitted choice": loop,
        "`FiveUpJax` in one jitted scan": lambda: jax.block_until_ready(scanned()),
        "`FiveUpJax` step by step": stepped,
    }


def main() -> None:
    """Measure and print."""
    played, times = ways(), dict[str, list[float]]()
    for turn in range(1 + TURNS):
        for name, play in played.items():
            began = time.process_time()
            play()
            if turn:  # the first compiles
                times.setdefault(name, []).append(time.process_time() - began)
    for name, seconds in times.items():
        print(f"| {name} | {MATCHES * STEPS / median(seconds):,.0f} |")


if __name__ == "__main__":
    main()
