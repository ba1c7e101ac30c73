"""Built-in policies: legal, independent of hidden information, reproducible from the key; searches beat greedy."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.ismcts import ISMCTS
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.belief.resample import resample
from fiveup_env.evaluation import evaluate
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import Variant
from fiveup_env.views.view import View, Views
from tests.agents.support import collected, undecided
from tests.rules.support import scaled

PLAYERS = [2, 3, 4]
SPECS = [
    "pimc:worlds=24",
    "pimc:worlds=24,equity=false,endgame=6,inference=1,prior=0,near=0",
    "pimc:worlds=16,playout=random,near=1",
    "ismcts:iterations=100",
    "random",
    "greedy",
    "heuristic",
]


def batch(num_players: int, seed: int, most: int) -> Views:
    """About `most` views of positions of random matches, from all phases."""
    games = collected(num_players, seed, 4)
    games = games[:: max(1, len(games) // most)]
    return Views(games, games["turn"].astype(np.int64))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_legal_repeatable_and_the_same_alone_or_in_a_batch(spec, num_players):
    agent, views = make_agent(spec), batch(num_players, 3, scaled(60, 0.1))
    keys = np.random.default_rng(0).integers(0, 2**64, len(views), np.uint64)
    actions = agent.act_many(views, keys)
    masks = views.observe(np.uint8)[1]
    assert masks[np.arange(len(views)), actions].all()
    assert np.array_equal(actions, make_agent(spec).act_many(views, keys))
    backwards = np.arange(len(views))[::-1]
    turned = Views(views.games[backwards], views.seats[backwards])
    assert np.array_equal(agent.act_many(turned, keys[backwards])[backwards], actions)
    for i in range(0, len(views), 7):
        assert agent.choose(views[i], int(keys[i])) == actions[i]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_equal_views_give_equal_actions(spec, num_players):
    """All hidden information is resampled (R2.2, D6): hands, boneyard, past draws, later deals."""
    agent, differ = make_agent(spec), 0
    for i, match in enumerate(undecided(num_players, seed=5, matches=2)):
        if i % scaled(7, 10):
            continue
        other = resample(match, match.turn, rng=i)
        differ += match.hands != other.hands
        agent.reset(i)
        assert agent.act(View.of(match)) == agent.act(View.of(other))
    assert differ


@pytest.mark.jit
def test_the_key_matters_where_it_is_close():
    views = batch(4, 6, 60)
    agent = PIMC(worlds=4)
    results = [agent.act_many(views, np.full(len(views), key, np.uint64)) for key in range(4)]
    assert any(not np.array_equal(results[0], other) for other in results[1:])


def test_a_lone_legal_action_needs_no_search():
    """Nothing is searched then, so even a view that no deal is consistent with gets an answer."""
    match = Match.from_deal([[(0, 0)], [(1, 2), (3, 4)]], [(5, 6)], 0)
    assert PIMC().choose(View.of(match), 0) == match.legal_actions()[0]
    assert ISMCTS().choose(View.of(match), 0) == match.legal_actions()[0]


@pytest.mark.jit
@pytest.mark.parametrize("spec", ["pimc:worlds=32", "ismcts:iterations=300"])
@pytest.mark.parametrize(("num_players", "least"), [(2, 0.75), (3, 0.5), (4, 0.65)])
def test_stronger_than_greedy(spec, num_players, least):
    """The floor is far below the measured strength and above the luck of equal agents in 200 matches."""
    result = evaluate(spec, "greedy", num_players, matches=200, seed=3)
    assert result.win_rate.value > least


def test_takes_the_exact_hit():
    """With 2 display points to go, the lead [5|5] wins at once (R6.2); no other lead scores."""
    match = Match.from_deal([[(0, 1), (2, 4), (5, 5)], [(6, 6), (4, 6)]], [(1, 1)], 0, scores=[295, 0])
    match.play(PIMC(worlds=8).choose(View.of(match), 1))
    assert match.winner == 0


@pytest.mark.jit
@pytest.mark.parametrize("agent", [PIMC(ms=20), ISMCTS(ms=20)])
def test_milliseconds_bound_the_time(agent):
    """With `ms` an agent returns a legal action in about that time, not a reproducible one."""
    views = batch(4, 8, 10)
    keys = np.zeros(len(views), np.uint64)
    agent.act_many(views, keys)  # compiles
    start = time.perf_counter()
    actions = agent.act_many(views, keys)
    assert time.perf_counter() - start < 10  # 50 times the budget, for a machine under load
    assert views.observe(np.uint8)[1][np.arange(len(views)), actions].all()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_small_variants(num_players):
    """Other targets, hand sizes and tile sets than those of the full game."""
    rng = random.Random(1)
    variant = Variant(num_players, 2, 100, 4)
    match = Match(num_players, seed=4, hand_size=variant.hand_size, target=variant.target, max_pip=variant.max_pip)
    agents = [PIMC(worlds=8), ISMCTS(iterations=20)]
    for i in range(scaled(60, 0.2)):
        match.play(agents[i % 2].choose(View.of(match), rng.getrandbits(64)))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", "worlds must be an integer from 1 to 10000000, not 0"),
        ("pimc:worlds=many", "worlds must be an integer from 1"),
        ("pimc:playout=clever", "playout must be one of random, greedy, heuristic, not"),
        ("pimc:equity=1", "equity must be true or false, not 1"),
        ("pimc:near=-1", "near must be an integer from 0 to 1000, not -1"),
        ("pimc:inference=0", "inference must be an integer from 1 to 1000, not 0"),
        ("pimc:prior=-1", r"prior must be a number from 0 to 1e\+06, not -1"),
        ("pimc:endgame=-1", "endgame must be an integer from 0 to 28"),
        ("pimc:ms=0", r"ms must be a number from 0.001 to 1e\+06, not 0"),
        ("ismcts:iterations=0", "iterations must be an integer from 1 to 10000000, not 0"),
        ("ismcts:explore=-1", "explore must be a number from 0 to 100, not -1"),
    ],
)
def test_bad_arguments(spec, message):
    with pytest.raises(AgentError, match=message):
        make_agent(spec)
