"""Policies over weights files and over MaskablePPO checkpoints: the properties that they share."""

from __future__ import annotations

import random

import pytest

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import evaluate
from fiveup_env.views.view import View, Views
from tests.agents.network.support import batch, model, with_mask, write
from tests.agents.support import collected, reshuffled, undecided


@pytest.fixture(scope="module", params=["safetensors", "zip"])
def checkpoint(request, tmp_path_factory):
    """File of a random policy for four players."""
    path = tmp_path_factory.mktemp("policies") / f"four.{request.param}"
    if request.param == "safetensors":
        return write(path)
    model(with_mask(4)).save(path)
    return path


def test_a_row_does_not_depend_on_the_rest_of_the_batch(checkpoint):
    games = collected(4, seed=23)
    for spec in (str(checkpoint), f"{checkpoint}:sample=true"):
        agent = make_agent(spec)
        views, keys = batch(games)
        many = agent.act_many(views, keys)
        half = agent.act_many(Views(games[::2], games["turn"][::2]), keys[::2])
        assert (half == many[::2]).all()
        assert [agent.choose(views[i], int(keys[i])) for i in range(20)] == many[:20].tolist()


def test_matches_that_look_the_same_are_played_the_same(checkpoint):
    """R2.2, D6."""
    rng, agent = random.Random(5), make_agent(f"{checkpoint}:sample=true")
    agent.reset(1)
    for match in undecided(4, seed=24, matches=2):
        assert agent.act(View.of(match)) == agent.act(View.of(reshuffled(match, rng)))


def test_evaluated_against_a_baseline(checkpoint):
    result = evaluate(checkpoint, "random", 4, 6, seed=1)
    assert result.a == str(checkpoint) and result.matches == 6
    assert result == evaluate(checkpoint, "random", 4, 6, seed=1)


def test_a_policy_for_four_does_not_play_two(checkpoint):
    with pytest.raises(AgentError, match="agent four plays matches of 4 players, not of 2"):
        make_agent(checkpoint, 2)
    views, keys = batch(collected(2, seed=25))
    with pytest.raises(AgentError, match="policy four plays matches of 4 players, not of 2"):
        make_agent(checkpoint).act_many(views, keys)


def test_sample_is_true_or_false(checkpoint):
    with pytest.raises(AgentError, match="sample must be true or false, not 3"):
        make_agent(f"{checkpoint}:sample=3")
