"""The two forms of an agent, keys, and copies."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy, Random
from fiveup_env.agents.protocol import Agent, AgentError, Policy, agent_name, is_policy, keys_of, own_copy, uniforms
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View, Views
from tests.agents.support import First, Last, OneByOne, Rng, collected, repeated, undecided
from tests.rules.statistics import assert_uniform
from tests.rules.support import scaled


def views_of(games: np.ndarray) -> Views:
    return Views(games, games["turn"])


def test_a_policy_overrides_one_form():
    with pytest.raises(TypeError, match="Neither must override act_many or choose"):
        type("Neither", (Policy,), {})


@pytest.mark.parametrize("policy", [First(), Last(), Random(), Greedy()])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_all_forms_agree(policy, num_players):
    games = collected(num_players, seed=1, matches=3)
    views = views_of(games)
    seeds = np.arange(len(games), dtype=np.uint64)
    keys = keys_of(views, seeds)
    many = policy.act_many(views, keys)
    assert many.shape == (len(games),) and many.dtype == np.int64
    for i in range(0, len(games), 10):
        assert policy.choose(views[i], int(keys[i])) == many[i]
        policy.reset(int(seeds[i]))
        assert policy.act(views[i]) == many[i]


def test_a_row_does_not_depend_on_the_rest_of_the_batch():
    games = collected(4, seed=2, matches=2)
    views = views_of(games)
    keys = keys_of(views, np.full(len(games), 7, np.uint64))
    for policy in (Random(), Last()):
        many = policy.act_many(views, keys)
        order = np.random.default_rng(0).permutation(len(games))[: len(games) // 2]
        part = policy.act_many(views_of(games[order]), keys[order])
        assert (part == many[order]).all()


def test_keys_depend_on_seed_round_and_number_of_actions_alone():
    seen: dict[tuple[int, int, int], int] = {}
    for match in undecided(4, seed=3, matches=3):
        for seed in (0, 2**64 - 1):
            key = int(keys_of(View.of(match).views, np.array([seed], np.uint64))[0])
            place = (seed, match.round_number, len(match.history))
            assert seen.setdefault(place, key) == key
    assert len(set(seen.values())) == len(seen)


def test_keys_are_spread_evenly():
    games = repeated(Match(4, seed=0), scaled(20_000))
    keys = keys_of(views_of(games), np.arange(len(games), dtype=np.uint64))
    assert_uniform(np.bincount((keys & np.uint64(15)).astype(int), minlength=16))
    numbers = uniforms(keys)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert_uniform(np.bincount((numbers * 16).astype(int), minlength=16))
    assert uniforms(np.array([2**64 - 1], np.uint64))[0] < 1


def test_agents_and_policies_are_recognised():
    for agent in (First(), Random(), Rng(), OneByOne(Random())):
        assert isinstance(agent, Agent)
    assert is_policy(Random()) and not is_policy(Rng())
    assert agent_name(Random()) == "random" and agent_name(Rng()) == "Rng"


def test_another_rule_does_not_inherit_the_kernel():
    class Cautious(Greedy):
        def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
            return Random().act_many(views, keys)

    class Renamed(Greedy):
        name = "renamed"

    assert Cautious.kernel is None
    assert Renamed.kernel == Greedy.kernel is not None


def test_copies_for_seats():
    """Agents with memory are copied deeply; policies share what they have learned."""
    agent = Rng()
    agent.reset(1)
    first, second = own_copy(agent), own_copy(agent)
    first.reset(1)
    state = second.rng.getstate()
    first.act(View.of(Match(4, seed=0)))
    assert second.rng.getstate() == state
    policy = First()
    policy.weights = np.zeros(3)
    copy = own_copy(policy)
    copy.reset(5)
    assert copy.weights is policy.weights
    assert policy._seed != 5


def test_an_agent_that_cannot_be_copied():
    agent = Rng()
    agent.lock = threading.Lock()
    with pytest.raises(
        AgentError, match=r"agent Rng cannot be copied for every seat .*give it __deepcopy__ or act_many"
    ):
        own_copy(agent)
