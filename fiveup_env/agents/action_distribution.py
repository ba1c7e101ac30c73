"""Action probabilities of an agent, as exact methods need them."""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.baselines import Random
from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy
from fiveup_env.views.view import Views

_KEYS_SEED = 0x6469737472696275


def action_probabilities(agent: Agent, views: Views, samples: int = 64) -> np.ndarray:
    """Return action probabilities, float64 [N, 121], for N views of seats that are to act.

    An agent may have a method `action_probabilities(views)` that returns them, float [N, 121]. For other agents the
    result is the frequency of each action over `samples` fixed keys. It is exact for deterministic agents and for
    `random`; for other agents it is the strategy of an agent that picks one of these keys at random.

    Raises:
        AgentError: if the agent has no `act_many` (its actions may depend on memory), or if its method returns
            anything but probabilities of legal actions.
    """
    if not is_policy(agent):
        raise AgentError(f"agent {agent_name(agent)} may remember; exact methods need one that has act_many")
    masks = views.observe()[1] != 0
    if not masks.any(1).all():
        raise AgentError("probabilities are for seats that are to act")
    own = getattr(agent, "action_probabilities", None)
    if own is not None:
        return _checked(np.asarray(own(views), np.float64), masks, agent)
    if type(agent) is Random:
        return masks / masks.sum(1, keepdims=True)
    keys = np.random.default_rng(_KEYS_SEED).integers(2**64, size=samples, dtype=np.uint64)
    counts = np.zeros(masks.shape)
    rows = np.arange(len(views))
    for key in keys:
        actions = agent.act_many(views, np.full(len(views), key))
        np.add.at(counts, (rows, actions), 1 / samples)
    return _checked(counts, masks, agent)


def _checked(probabilities: np.ndarray, masks: np.ndarray, agent: Agent) -> np.ndarray:
    good = probabilities.shape == masks.shape and (probabilities >= 0).all() and not probabilities[~masks].any()
    if not good or not np.allclose(probabilities.sum(1), 1, atol=1e-6):
        raise AgentError(f"agent {agent_name(agent)}: its probabilities must be those of legal actions and sum to 1")
    return probabilities
