"""Search with a policy network as its prior.

The network selects the candidate actions, and its probabilities count as much as a number of sampled worlds. All
playouts that `pimc` would spend on the legal actions go to the candidates.
"""

from __future__ import annotations

import os

import numpy as np

from fiveup_env.agents.network.network_agent import NetworkPolicy
from fiveup_env.agents.protocol import AgentError, Policy, agent_name
from fiveup_env.agents.search.pimc import PIMC, Estimator, in_the_race
from fiveup_env.views.view import Views


class GuidedSearch(Policy):
    """`pimc` over the candidates of a network, with the network's probabilities as a prior.

    The value of an action is (n * mean + prior * scale * log probability) / (n + prior), for a mean over n worlds. A
    network trained on softmax(values / temperature) has logits that times that temperature are values again, up to a
    constant shared by all actions; `scale` is that temperature.

    Args:
        network: a weights file, or a policy.
        worlds: playouts per legal action, as for `pimc`; all of them go to the candidates.
        prior: weight of the network's probabilities, in worlds; with 0 the network only selects the candidates.
        scale: difference in chance to win the match that equals a difference of 1 in log probability.
        least: smallest probability of a candidate.
        search: name of the `pimc` agent that provides playouts, beliefs and values.

    Raises:
        AgentError: if the file does not hold a network of this game, or an argument is out of range.
    """

    def __init__(
        self,
        network: str | os.PathLike[str] | NetworkPolicy,
        worlds: int = 128,
        *,
        prior: float = 200,
        scale: float = 0.012,
        least: float = 0.01,
        search: str = "pimc",
    ) -> None:
        from fiveup_env.agents.registry import make_agent

        self.network = network if isinstance(network, NetworkPolicy) else NetworkPolicy(network)
        self.num_players = self.network.num_players
        agent = make_agent(f"{search}{',' if ':' in search else ':'}worlds={worlds}")
        if not isinstance(agent, PIMC) or agent.ms is not None:
            raise AgentError(f"search must name a pimc agent without ms, not {search!r}")
        for name, value, low, high in (("prior", prior, 0, 1e9), ("scale", scale, 0, 1), ("least", least, 0, 0.5)):
            if isinstance(value, bool) or not low <= value <= high:
                raise AgentError(f"{name} must be a number from {low} to {high:g}, not {value!r}")
        self.prior, self.scale, self.least = float(prior), float(scale), float(least)
        self.estimate = Estimator(agent, self.num_players)
        self.name = f"{agent_name(self.network)}+search"

    def opinion(self, views: Views) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities and values of the network alone; see `NetworkPolicy.opinion`."""
        return self.network.opinion(views)

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Return legal actions, int64 [N]; see `Policy.act_many`."""
        if not len(views):
            return np.zeros(0, np.int64)
        logits, _ = self.network.logits(views)
        legal = np.isfinite(logits)
        logits = logits - logits.max(1, keepdims=True)
        beliefs = logits - np.log(np.exp(logits).sum(1, keepdims=True))  # log probabilities
        candidates = (beliefs >= np.log(self.least)) if self.least > 0 else legal
        actions = beliefs.argmax(1)
        open_rows = np.flatnonzero(candidates.sum(1) > 1)
        if len(open_rows):
            among = Views(views.games[open_rows], views.seats[open_rows])
            rollouts = self.estimate.agent.worlds * legal[open_rows].sum(1)
            values, worlds, _ = self.estimate(
                among, np.asarray(keys, np.uint64)[open_rows], candidates[open_rows].astype(np.int8), rollouts
            )
            known = in_the_race(worlds)
            weighed = (
                worlds * np.where(known, values, 0) + self.prior * self.scale * np.where(known, beliefs[open_rows], 0)
            ) / np.maximum(worlds + self.prior, 1)
            actions[open_rows] = np.where(known, weighed, -np.inf).argmax(1)
        return actions
