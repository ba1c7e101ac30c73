"""PPO by self-play with JAX: collecting is one jitted scan in which `FiveUpJax` plays the matches, learning is another.

    python -m training.examples.jax_ppo --samples 100000

Advantages are computed on the host, per side between two of its decisions (`training/_credit.py`). The cost of the
callback compared to a loop on the host: `python -m training.examples.jax_costs`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._example import EPOCHS, MINIBATCHES, PLAYERS, SELF_PLAY, STEPS, Outcome, matches_for, needs, start

with needs("jax"):
    import jax
    import jax.numpy as jnp
    import optax

    from fiveup_env.adapters.jax import FiveUpJax, State, TimeStep

from fiveup_env.adapters.policy_function import ScoringPolicy

from .._credit import side_advantages

CLIP, ENTROPY, VALUE = 0.2, 0.02, 0.5
GAMMA, LAMBDA = 1.0, 0.9

Weights = dict[str, jax.Array]


def first_weights(key: jax.Array, inputs: int, actions: int, width: int = 128) -> Weights:
    """Return weights of two hidden layers and two heads: policy (zero, initially uniform) and value."""
    one, two, three = jax.random.split(key, 3)
    scale = jax.nn.initializers.he_normal()
    return {
        "w1": scale(one, (inputs, width)),
        "b1": jnp.zeros(width),
        "w2": scale(two, (width, width)),
        "b2": jnp.zeros(width),
        "policy": jnp.zeros((width, actions)),
        "value": scale(three, (width, 1)),
    }


def judged(weights: Weights, observation: jax.Array, mask: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Log-probabilities [N, 121] with illegal actions at -1e9, values [N]."""
    hidden = jax.nn.relu(observation @ weights["w1"] + weights["b1"])
    hidden = jax.nn.relu(hidden @ weights["w2"] + weights["b2"])
    logits = jnp.where(mask, hidden @ weights["policy"], -1e9)
    return jax.nn.log_softmax(logits), (hidden @ weights["value"])[:, 0]


def loss(weights: Weights, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the PPO loss: clipped surrogate, squared error of the values and entropy bonus."""
    every, value = judged(weights, batch["observation"], batch["mask"])
    log_prob = jnp.take_along_axis(every, batch["action"][:, None], 1)[:, 0]
    ratio, gain = jnp.exp(log_prob - batch["log_prob"]), batch["gain"]
    surrogate = jnp.minimum(ratio * gain, ratio.clip(1 - CLIP, 1 + CLIP) * gain).mean()
    entropy = -(jnp.exp(every) * every).sum(1).mean()
    return 0.5 * VALUE * jnp.square(value - batch["returns"]).mean() - surrogate - ENTROPY * entropy


def train(samples: int, seed: int) -> Outcome:
    """Learn from at least `samples` decisions."""
    matches = matches_for(samples + STEPS)  # a few decisions are not used
    env = FiveUpJax(matches, **SELF_PLAY)
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))
    sides = np.arange(PLAYERS) % env.env.num_sides

    @jax.jit
    def collect(weights: Weights, state: State, now: TimeStep, key: jax.Array) -> tuple[Any, Any]:
        def one(carry: tuple[State, TimeStep], key: jax.Array) -> tuple[Any, Any]:
            state, now = carry
            every, value = judged(weights, now.observation, now.mask)
            action = jax.random.categorical(key, every)
            log_prob = jnp.take_along_axis(every, action[:, None], 1)[:, 0]
            state, after = env.step(state, action)
            row = {"observation": now.observation, "mask": now.mask, "action": action, "log_prob": log_prob}
            made = {"side": now.side, "value": value, "rewards": after.rewards, "ended": after.terminated}
            return (state, after), (row, made)

        return jax.lax.scan(one, (state, now), jax.random.split(key, STEPS))

    @partial(jax.jit, donate_argnums=(0, 1))
    def improve(weights: Weights, moments: Any, batches: dict[str, jax.Array]) -> tuple[Weights, Any, jax.Array]:
        def one(carry: tuple[Weights, Any], batch: dict[str, jax.Array]) -> tuple[Any, jax.Array]:
            weights, moments = carry
            value, gradient = jax.value_and_grad(loss)(weights, batch)
            change, moments = optimizer.update(gradient, moments)
            return (optax.apply_updates(weights, change), moments), value

        (weights, moments), losses = jax.lax.scan(one, (weights, moments), batches)
        return weights, moments, losses

    key, first = jax.random.split(jax.random.key(seed))
    state, now = env.reset(seed)
    weights = first_weights(first, now.observation.shape[1], env.num_actions)
    moments = optimizer.init(weights)
    shuffling, outcome = np.random.default_rng(seed), Outcome("jax")
    while outcome.samples < samples:
        with outcome.measured():
            key, drawing = jax.random.split(key)
            (state, now), (rows, made) = collect(weights, state, now, drawing)
            made = jax.device_get(made)
            credit = side_advantages(
                made["side"], np.ones(made["side"].shape, np.bool_), made["value"], made["rewards"], made["ended"],
                GAMMA, LAMBDA,
            )  # fmt: skip
            chosen = credit.judged.reshape(-1).nonzero()[0]
            gain = credit.advantage.reshape(-1)
            returns = gain + made["value"].reshape(-1)
            gain = (gain - gain[chosen].mean()) / (gain[chosen].std() + 1e-8)
            columns = {name: part.reshape(-1, *part.shape[2:]) for name, part in rows.items()}
            columns |= {"gain": jnp.asarray(gain), "returns": jnp.asarray(returns)}
            # A fixed number of rows, so that `improve` is compiled once although the number of judged rows varies.
            size = STEPS * matches * 3 // 4 // MINIBATCHES
            order = np.stack([shuffling.permutation(chosen)[: size * MINIBATCHES] for _ in range(EPOCHS)])
            batches = {name: part[order.reshape(-1, size)] for name, part in columns.items()}
            weights, moments, losses = improve(weights, moments, batches)
            outcome.losses.extend(np.asarray(losses).tolist())
        outcome.samples += size * MINIBATCHES
        for seat in range(PLAYERS):
            outcome.note_rewards(np.full(made["rewards"].shape[:2], seat), made["rewards"][..., sides[seat]])

    scoring = jax.jit(judged)
    outcome.policy = ScoringPolicy(lambda seen, mask: scoring(weights, seen, mask != 0)[0], PLAYERS, name="jax_ppo")
    return outcome


if __name__ == "__main__":
    start(train, 100_000, __doc__)
