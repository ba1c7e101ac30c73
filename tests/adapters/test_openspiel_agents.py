"""OpenSpiel's bots as agents, and agents of this package as its bots and policies."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fiveup_env import Match, View
from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.belief.resample import resample
from fiveup_env.evaluation import evaluate
from tests.adapters.openspiel_support import TINY, pyspiel, random_state

from fiveup_env.adapters import openspiel  # isort: skip  (after the check that pyspiel is there)


def first_action(game, seat, seed, *, offset=0):
    """Bot that chooses the first legal action."""

    class First(pyspiel.Bot):
        def step(self, state):
            return state.legal_actions()[offset]

    return First()


def cpp_ismcts(game, seat, seed):
    """Bot that would crash the interpreter."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    kind = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
    return pyspiel.ISMCTSBot(1, evaluator, 1.0, 10, -1, kind, False, False)


def no_action(game, seat, seed):
    """Bot without an answer."""

    class Silent(pyspiel.Bot):
        def step(self, state):
            return "first"

    return Silent()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_state_stands_where_the_match_stands(players: int) -> None:
    rng = random.Random(players)
    for seed in range(6):
        match = Match(players, seed)
        for _ in range(60):
            if match.winner is not None:
                break
            state = openspiel.state_of(match)
            assert state.current_player() == match.turn and state.legal_actions() == match.legal_actions()
            assert state.episode.match.scores == match.scores
            assert state.episode.match.hands == match.hands
            world = openspiel.world_of(View.of(match), rng.getrandbits(64))
            assert View.of(world) == View.of(match) or world.round_number == match.round_number
            again = openspiel.state_of(world)
            assert View.of(again.episode.match).hand == View.of(match).hand
            assert again.legal_actions() == match.legal_actions()
            assert again.episode.match.history == match.history
            match.play(rng.choice(match.legal_actions()))


def test_a_round_that_no_deal_of_the_variant_makes_is_refused() -> None:
    match = Match.from_deal([[(0, 1)], [(2, 2), (1, 1)]], [], 0)
    with pytest.raises(ValueError, match="dealt by hand"):
        openspiel.state_of(match)


def test_named_bots_play_whole_matches() -> None:
    result = evaluate("openspiel:uniform_random", "greedy", 2, 4, strict=True)
    assert result.matches == 4


def test_the_search_bot_is_named_and_decides_by_the_key_alone() -> None:
    agent = make_agent("openspiel:ismcts:iterations=8")
    match = Match(4, 3)
    views, keys = View.of(match).views, np.array([7], np.uint64)
    first = agent.act_many(views, keys)
    assert first[0] in match.legal_actions()
    assert np.array_equal(first, agent.act_many(views, keys))


def test_a_bot_of_ones_own_by_its_python_path() -> None:
    agent = make_agent("openspiel:tests.adapters.test_openspiel_agents.first_action:offset=0")
    match = Match(3, 1)
    assert agent.act(View.of(match)) == match.legal_actions()[0]


def test_the_bot_cannot_see_what_its_seat_cannot() -> None:
    shown = []

    def peeking(game, seat, seed):
        class Peek(pyspiel.Bot):
            def step(self, state):
                shown.append(state.history())
                return state.legal_actions()[0]

        return Peek()

    agent, match = openspiel.BotAgent(peeking), Match(4, 5)
    for action in (match.legal_actions()[0],):
        match.play(action)
    other = resample(match, match.turn, 11)
    assert other.hands != match.hands
    for world in (match, other):
        agent.choose(View.of(world), 99)
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel:nobody", "there is no bot 'nobody'; bots: ismcts, uniform_random"),
        ("openspiel:ismcts:depth=3", "it takes iterations, uct_c, rollouts, worlds"),
        ("openspiel:no_such_package.bot", "No module named 'no_such_package'"),
        ("openspiel:tests.adapters.test_openspiel_agents.WHY", "has no attribute"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agent(spec)


def test_bots_that_break_are_named() -> None:
    for make, message in ((cpp_ismcts, "crashes the interpreter"), (no_action, "expected an action id")):
        with pytest.raises(AgentError, match=message):
            openspiel.BotAgent(make).choose(View.of(Match(2, 0)), 1)


def test_our_agents_play_as_bots() -> None:
    from open_spiel.python.algorithms import evaluate_bots

    state = random_state(openspiel.load_game(**TINY), 0, 0)
    bots = [openspiel.AgentBot("greedy", 0), openspiel.AgentBot("random", 1, seed=3)]
    returns = evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(0))
    assert sum(returns) == 0


def test_our_agents_are_policies() -> None:
    state = random_state(openspiel.load_game(**TINY), 2, 4)
    random_policy = openspiel.AgentPolicy(state.get_game(), "random").action_probabilities(state)
    assert random_policy == dict.fromkeys(state.legal_actions(), 1 / len(state.legal_actions()))
    greedy = openspiel.AgentPolicy(state.get_game(), "greedy").action_probabilities(state)
    assert sorted(greedy.values())[-1] == pytest.approx(1)
