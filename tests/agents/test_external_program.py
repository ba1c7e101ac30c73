"""External programs as agents: the protocol, the example of the docs, and wrong answers."""

from __future__ import annotations

import json
import pickle
import shlex
import sys
import time
from pathlib import Path

import pytest

from fiveup_env.agents.external_program import ProcessAgent, request
from fiveup_env.agents.protocol import AgentError, AgentTimeout
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import evaluate
from fiveup_env.rules.actions import LAY_DOUBLE
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View
from tests.agents.support import undecided

EXAMPLE = Path(__file__).parents[2] / "docs" / "json_lines_agent.py"


def program(code: str) -> str:
    """Return the command of a program that runs `code` for every line, with the message in `position`."""
    loop = f"import json, sys, time\nfor line in sys.stdin:\n    position = json.loads(line)\n    {code}"
    return shlex.join([sys.executable, "-u", "-c", loop])


FIRST = "print(json.dumps({'action': position['legal'][0]['action']}))"


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_the_message_holds_the_view_and_nothing_hidden(num_players):
    """R2.2."""
    for match in list(undecided(num_players, 1, 2))[:40]:
        view = View.of(match)
        told = json.loads(json.dumps(request(view, 2**64 - 1)))
        assert told["hand"] == [list(tile) for tile in view.hand] and told["seat"] == match.turn
        assert told["scores"] == list(match.scores) and told["end_sum"] == match.layout.end_sum
        assert [option["action"] for option in told["legal"]] == view.legal_actions()
        assert told["key"] == 2**53 - 1
        assert sum(told["hand_sizes"]) + told["boneyard"] + len(told["tiles"]) == 28
        for option in told["legal"]:
            after = match.copy()
            after.play(option["action"])
            if (
                LAY_DOUBLE <= option["action"] < 119
                and after.winner is None
                and after.round_number == match.round_number
            ):
                side = match.turn % len(match.scores)
                assert after.scores[side] - match.scores[side] == option["credit"]
        hidden = [tile for seat, hand in enumerate(match.hands) if seat != view.seat for tile in hand]
        public = {tuple(tile) for tile in told["tiles"] + told["hand"]}
        assert not public & set(hidden)


def test_the_example_of_the_docs():
    """It takes the most points now and beats random play."""
    command = f"exec:{shlex.join([sys.executable, str(EXAMPLE)])}"
    result = evaluate(command, "random", 4, 10, max_rounds=4, start=(0, 0))
    assert result.a == command and result.forfeits == (0, 0)
    assert result.points_per_round.value > 1
    lines = [line for line in EXAMPLE.read_text().splitlines()[2:] if line.strip()]
    assert len(lines) <= 10


def test_it_evaluates_pickles_and_restarts():
    agent = make_agent(f"exec:{program(FIRST)}")
    by_class = evaluate(agent, "greedy", 4, 8, seed=3, max_rounds=2)
    assert (
        by_class.results.scores.tolist()
        == evaluate("tests.agents.support:First", "greedy", 4, 8, seed=3, max_rounds=2).results.scores.tolist()
    )
    again = pickle.loads(pickle.dumps(agent))
    view = View.of(Match(4, 1))
    assert agent.act(view) == again.act(view) == view.legal_actions()[0]
    agent.close()
    assert agent.act(view) == view.legal_actions()[0]  # started again
    agent.close(), again.close()


WRONG = {
    "print('lead')": "answered 'lead', not {\"action\": ID} with an ID from 0 to 120",
    "print(position['legal'][0]['action'])": "answered '0', not",
    "print('{\"action\": true}')": "answered '{\"action\": true}', not",
    "print('{\"action\": 121}')": "answered '{\"action\": 121}', not",
    "print('{\"action\": 1.0}')": "answered '{\"action\": 1.0}', not",
    "print('[' * 100000)": "answered '[[[[[[",
    "print()": "answered '', not",
    "sys.exit(3)": "ended with exit code 3 and did not answer",
    "1 // 0": "ended with exit code 1 and did not answer",
}


@pytest.mark.parametrize("code", WRONG)
def test_wrong_answers(code, capfd):
    agent = ProcessAgent(program(code))
    match = Match.from_deal([[(0, 0), (0, 1)], [(1, 2), (2, 2)]], [], 0)
    with pytest.raises(AgentError) as caught:
        agent.act(View.of(match))
    assert str(caught.value).startswith(WRONG[code]) and "\n" not in str(caught.value)


def test_two_answers_to_one_message():
    agent = ProcessAgent(program(f"{FIRST}; {FIRST}"))
    view = View.of(Match(4, 1))
    agent.act(view)
    time.sleep(0.5)
    with pytest.raises(AgentError, match="answered twice: "):
        agent.act(view)
    agent.close()


def test_a_program_that_hangs():
    agent = make_agent(f"exec:timeout=0.3 {program('time.sleep(60)')}")
    began = time.monotonic()
    with pytest.raises(AgentTimeout, match=r"took more than 0\.3 s"):
        agent.act(View.of(Match(4, 1)))
    assert time.monotonic() - began < 20


def test_errors_forfeit_a_match_in_an_evaluation():
    mostly = "print(json.dumps({'action': position['legal'][0]['action'] if position['round'] < 2 else 120}))"
    result = evaluate(f"exec:{program(mostly)}", "greedy", 2, 4)
    assert result.forfeits == (4, 0) and (result.results.rounds == 2).all()
    assert all("may not pass (action 120)" in reason for reason in result.reasons)
    ends = evaluate(f"exec:{program('sys.exit(3)')}", "greedy", 2, 2)
    assert ends.forfeits == (2, 0) and "ended with exit code 3 and did not answer" in ends.reasons[0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("exec:", "exec: needs a command"),
        ("exec: ", "exec: needs a command"),
        ("exec:python 'agent.py", "cannot be split into words"),
        ("exec:timeout=0 python", "timeout must be a positive number of seconds, not 0.0"),
        ("exec:no-such-program --fast=1", "no-such-program cannot be started: No such file"),
    ],
)
def test_invalid_commands(spec, message):
    with pytest.raises(AgentError, match=message):
        make_agent(spec).choose(View.of(Match(4, 1)), 0)
