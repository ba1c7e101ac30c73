"""Agents by name: names, arguments, paths, and one-line errors."""

from __future__ import annotations

import sys
import types

import pytest

from fiveup_env.agents.baselines import Greedy, Random
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.agents.registry import BUILT_IN, CHECKPOINTS, make_agent, parse
from tests.agents.support import First


class Tunable(Policy):
    """An agent with arguments."""

    def __init__(self, depth: int, temperature: float = 1.0, book: str = "none", sample: bool = False) -> None:
        if depth < 1:
            raise ValueError(f"depth must be at least 1, not {depth}")
        self.arguments = (depth, temperature, book, sample)

    def choose(self, view, key):
        return view.legal_actions()[0]


class ForTwo(First):
    num_players = 2


HERE = "tests.agents.test_registry"


def test_names_make_new_agents():
    assert isinstance(make_agent("random"), Random)
    assert isinstance(make_agent("greedy", 3), Greedy)
    assert make_agent("greedy") is not make_agent("greedy")
    agent = make_agent(f"{HERE}:Tunable:depth=3,temperature=0.5,book=long,sample=true")
    assert agent.arguments == (3, 0.5, "long", True) and make_agent(agent) is agent


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("greedy", ("greedy", {})),
        ("pimc:worlds=128", ("pimc", {"worlds": 128})),
        ("a.b:C", ("a.b:C", {})),
        ("a.b:C:x=1e-3,y=False", ("a.b:C", {"x": 0.001, "y": False})),
        ("runs/it.zip:sample=true", ("runs/it.zip", {"sample": True})),
        (r"C:\runs\it.zip", (r"C:\runs\it.zip", {})),
        (r"C:\runs\it.zip:sample=true", (r"C:\runs\it.zip", {"sample": True})),
    ],
)
def test_parse(spec, parsed):
    assert parse(spec) == parsed


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", r"^there is no agent 'gredy', did you mean 'greedy'\? agents: .*random.*greedy.*\.zip"),
        ("Random", r"^there is no agent 'Random', did you mean 'random'\?"),
        ("xyzzy", r"^there is no agent 'xyzzy'; agents: "),
        ("", r"^there is no agent ''; agents: "),
        (
            "greedy:depth=2",
            r"^agent 'greedy:depth=2': got an unexpected keyword argument 'depth'; it takes no arguments$",
        ),
        ("greedy:depth", r"^agent 'greedy:depth': arguments are written greedy:key=value,key=value$"),
        ("greedy:depth=", r"arguments are written key=value,key=value, not 'depth='$"),
        ("greedy:a=1,,b=2", r"arguments are written key=value,key=value, not ''$"),
        ("greedy:a=1,a=2", r"^agent 'greedy:a=1,a=2': a is given twice$"),
        ("runs/nothing.zip", r"^agent 'runs/nothing.zip': there is no file runs/nothing.zip$"),
        ("no_such_module_:X", r"^agent 'no_such_module_:X': cannot import no_such_module_ \(ModuleNotFoundError: "),
        (f"{HERE}:Nobody", rf"^agent '{HERE}:Nobody': {HERE} has no Nobody$"),
        (f"{HERE}:Tunabel", rf"^agent '{HERE}:Tunabel': {HERE} has no Tunabel, did you mean 'Tunable'\?$"),
        (f"{HERE}:HERE", r"cannot be called to make an agent$"),
        (f"{HERE}:Tunable", r"missing a required argument: 'depth'; it takes depth, temperature, book, sample$"),
        (f"{HERE}:Tunable:depth=0", r": depth must be at least 1, not 0$"),
        (f"{HERE}:Tunable:depth=many", r"not supported between instances of 'str' and 'int'$"),
        ("collections:OrderedDict", r"^collections:OrderedDict is not an agent: it needs the methods reset"),
    ],
)
def test_bad_names(spec, message):
    with pytest.raises(AgentError, match=message) as caught:
        make_agent(spec)
    assert "\n" not in str(caught.value)


def test_a_file_of_another_kind(tmp_path, monkeypatch):
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    with pytest.raises(
        AgentError, match=r"no agent is loaded from a file of this kind; checkpoints end in \.safetensors, \.zip$"
    ):
        make_agent(path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("nothing")
    with pytest.raises(AgentError, match=r"\.zip; a class in it is named mine:CLASS$"):
        make_agent("mine.py")


def test_a_module_that_fails_to_import(monkeypatch, tmp_path):
    (tmp_path / "broken_agent_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentError, match=r"cannot import broken_agent_module \(ZeroDivisionError: division by zero\)"):
        make_agent("broken_agent_module:Agent")


def test_an_agent_for_another_number_of_players():
    assert make_agent(ForTwo(), 2).num_players == 2
    with pytest.raises(AgentError, match="agent ForTwo plays matches of 2 players, not of 4"):
        make_agent(ForTwo(), 4)


@pytest.mark.parametrize("thing", [None, 3, First, types.SimpleNamespace(act=len)])
def test_objects_without_the_methods_of_an_agent(thing):
    with pytest.raises(AgentError, match=r"is not an agent: it needs the methods reset\(seed\) and act\(view\)"):
        make_agent(thing)


def test_makers_in_the_tables_exist():
    for path, meaning in (*BUILT_IN.values(), *CHECKPOINTS.values()):
        module, _, name = path.partition(":")
        __import__(module)
        assert callable(getattr(sys.modules[module], name))
        assert meaning
