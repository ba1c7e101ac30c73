"""With which probabilities an agent takes each action: what exact methods need to know of it."""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.baselines import Random
from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy
from fiveup_env.views.view import Views

_KEYS_SEED = 0x6469737472696275


def action_probabilities(agent: Agent, views: Views, samples: int = 64) -> np.ndarray:
    """Probabilities of the actions, float64 [N, 121], for N views of seats that are to act.

    Exact for agents that draw nothing and for `random`. An agent may have a method `action_probabilities(views)` that
    gives them itself, float [N, 121]. Any other is asked with `samples` different keys, and what it did is counted:
    then they are those of an agent that has drawn its strategy from itself.

    Raises:
        AgentError: if the agent remembers (has no `act_many`): then its actions depend on more than what is seen; or if
            what it says are no probabilities of legal actions.
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
