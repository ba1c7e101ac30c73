"""Search with a random network as its prior."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fiveup_env.agents.network.guided_search import GuidedSearch
from fiveup_env.agents.network.network_agent import NetworkPolicy
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.pimc import Estimator, in_the_race
from fiveup_env.views.view import View, Views
from tests.agents.network.support import batch, write
from tests.agents.support import collected, reshuffled, undecided


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return write(tmp_path_factory.mktemp("policies") / "four.safetensors")


def choices(seed: int, matches: int) -> np.ndarray:
    """Positions with more than one legal action."""
    games = collected(4, seed, matches)
    return games[Views(games, games["turn"]).observe()[1].sum(1) > 1]


def test_candidates_share_all_rollouts():
    views, keys = batch(choices(seed=50, matches=1))
    masks = views.observe()[1]
    estimate = Estimator(make_agent("pimc:worlds=16,prior=0"), 4)
    values, worlds, spreads = estimate(views, keys, masks)
    assert (np.isfinite(values) == (masks > 0)).all() and ((worlds > 0) == (masks > 0)).all()
    assert ((worlds.sum(1) <= 16 * masks.sum(1)) & (spreads >= 0)).all()
    two = masks * (np.cumsum(masks, 1) <= 2)
    values, worlds, _ = estimate(views, keys, two, np.full(len(views), 64))
    looked_at = worlds > 0
    assert (looked_at == (two > 0)).all() and (np.isfinite(values) == looked_at).all()
    assert (worlds.sum(1) <= 64).all() and (in_the_race(worlds).sum(1) >= 1).all()


@pytest.mark.parametrize("arguments", [{}, {"prior": 0, "least": 0}, {"least": 0.3}, {"search": "pimc:near=0"}])
def test_always_legal_and_the_same_again(four, arguments):
    views, keys = batch(collected(4, seed=51, matches=2))
    agent = GuidedSearch(four, 4, **arguments)
    actions = agent.act_many(views, keys)
    assert actions.dtype == np.int64 and agent.name == "four+search" and agent.num_players == 4
    assert views.observe()[1][np.arange(len(views)), actions].all()
    assert [agent.choose(views[i], int(keys[i])) for i in range(20)] == actions[:20].tolist()
    assert agent.act_many(Views(views.games[:0], []), keys[:0]).shape == (0,)


def test_a_heavy_prior_is_the_network_and_none_is_the_search(four):
    views, keys = batch(choices(seed=52, matches=2))
    network = NetworkPolicy(four)
    assert (GuidedSearch(four, 4, prior=1e9, scale=1).act_many(views, keys) == network.act_many(views, keys)).all()
    actions = GuidedSearch(four, 16, prior=0, least=0, search="pimc:prior=0").act_many(views, keys)
    rows, masks = np.arange(len(views)), views.observe()[1]
    values, worlds, _ = Estimator(make_agent("pimc:worlds=16,prior=0"), 4)(views, keys, masks)
    searched = make_agent("pimc:worlds=16,prior=0").act_many(views, keys)
    assert (values[rows, actions] == values[rows, searched]).all()
    assert in_the_race(worlds)[rows, actions].all()


def test_matches_that_look_the_same_are_played_the_same(four):
    """R2.2, D6."""
    rng, agent = random.Random(5), GuidedSearch(four, 4)
    agent.reset(1)
    for match in undecided(4, seed=53, matches=1):
        assert agent.act(View.of(match)) == agent.act(View.of(reshuffled(match, rng)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"worlds": 0}, "worlds must be an integer from 1"),
        ({"prior": -1}, "prior must be a number from 0"),
        ({"scale": 2}, "scale must be a number from 0 to 1"),
        ({"least": 0.7}, "least must be a number from 0 to 0.5"),
        ({"search": "greedy"}, "greedy"),
        ({"search": "pimc:ms=3"}, "search must name a pimc agent without ms"),
    ],
)
def test_arguments(four, arguments, said):
    with pytest.raises(AgentError, match=said):
        GuidedSearch(four, **arguments)


def test_views_of_other_games_are_refused(four):
    views, keys = batch(collected(2, seed=54))
    with pytest.raises(AgentError, match="policy four plays matches of 4 players, not of 2"):
        GuidedSearch(four, 4).act_many(views, keys)
