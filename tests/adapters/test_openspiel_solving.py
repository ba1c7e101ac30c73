"""Equilibria and best responses: OpenSpiel's algorithms, an independent linear program, and `exploitability` agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fiveup_env.studies.exact_exploitability import exploitability
from tests.adapters.openspiel_support import TINY, pyspiel, random_state
from tests.extensive.sequence_form import SequenceForm, led, won

from fiveup_env.adapters import openspiel  # isort: skip  (after the check that pyspiel is there)


def solved(game: Any, iterations: int) -> tuple[Any, Any]:
    """The game as an OpenSpiel tree with a CFR+ solver; the solver must outlive its policy."""
    tree = pyspiel.convert_to_cached_tree(game)
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return tree, solver


@pytest.mark.parametrize("hand_size", [2, 3])
@pytest.mark.parametrize(("reward", "payoff"), [("win", won), ("points", led)])
def test_cfr_finds_the_value_that_the_linear_program_finds(hand_size: int, reward: str, payoff: Any) -> None:
    game = openspiel.load_game(**TINY | {"hand_size": hand_size, "reward": reward})
    tree, solver = solved(game, 100)
    policy = solver.average_policy()
    value = SequenceForm(2, hand_size, payoff).value()
    assert value > 0.005  # to lead is worth something
    found = pyspiel.expected_returns(tree.new_initial_state(), policy, -1, True)
    assert pyspiel.exploitability(tree, policy) < 1e-3
    assert found == pytest.approx([value, -value], abs=1e-3)
    if reward == "win":  # our own best responses to that policy leave it as little
        ours = exploitability(openspiel.PolicyAgent(policy), game.setup)
        assert ours.value == pytest.approx(pyspiel.exploitability(tree, policy), abs=1e-6)
        first, second = ours.responses
        assert -second.value <= value + 1e-9 and first.value >= value - 1e-9


def test_with_the_lot_the_game_is_fair() -> None:
    tree, solver = solved(openspiel.load_game(**TINY | {"opener": -1}), 60)
    found = pyspiel.expected_returns(tree.new_initial_state(), solver.average_policy(), -1, True)
    assert found == pytest.approx([0, 0], abs=1e-3)


@pytest.mark.parametrize("agent", ["random", "greedy", "heuristic"])
def test_exploitability_is_openspiels(agent: str) -> None:
    from open_spiel.python.policy import tabular_policy_from_callable

    game = openspiel.load_game(**TINY)
    tabular = tabular_policy_from_callable(game, openspiel.AgentPolicy(game, agent).action_probabilities)
    theirs = {
        state: [
            (a, float(tabular.action_probability_array[row, a]))
            for a in np.flatnonzero(tabular.legal_actions_mask[row])
        ]
        for state, row in tabular.state_lookup.items()
    }
    ours = exploitability(agent, game.setup)
    assert ours.value > 0.1
    assert ours.nash_conv == pytest.approx(pyspiel.nash_conv(pyspiel.convert_to_cached_tree(game), theirs), abs=1e-9)


def test_search_runs_and_is_decided_by_its_seed() -> None:
    game = openspiel.load_game(**TINY | {"hand_size": 3})
    state = random_state(game, 1, 6)
    policies = [openspiel.ismcts_bot(game, 4, iterations=200).get_policy(state) for _ in range(2)]
    assert policies[0] == policies[1]
    assert sum(probability for _, probability in policies[0]) == pytest.approx(1)
    assert {action for action, _ in policies[0]} == set(state.legal_actions())


def test_external_sampling_cfr_runs_on_states_in_python() -> None:
    from open_spiel.python.algorithms import external_sampling_mccfr

    game = openspiel.load_game(**TINY)
    solver = external_sampling_mccfr.ExternalSamplingSolver(game, external_sampling_mccfr.AverageType.SIMPLE)
    for _ in range(3):
        solver.iteration()
    state = random_state(game, 1, 4)
    assert sum(solver.average_policy().action_probabilities(state).values()) == pytest.approx(1)
