"""From a name to an agent.

`WHAT[:key=value,...]`, where WHAT is

- a built-in name: `greedy`
- a checkpoint file: `runs/mine/policy.safetensors`, `runs/quickstart/policy.zip:sample=true`
- a Python path to a class or function that makes an agent: `my_package.my_module:MyAgent:depth=3`
- a program of its own: `exec:COMMAND`, see `external_program`; what follows is the command and no arguments of ours
- a partnership of two agents for four players: `pair:X with Y`, see `agents.pair`
- a bot of OpenSpiel's: `openspiel:ismcts:iterations=50`, see docs/openspiel.md

and the arguments are passed on by keyword: `true` and `false`, integers, decimal numbers, or text.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from fiveup_env.agents.pair import SEATS, pair, split_pair
from fiveup_env.agents.protocol import Agent, AgentError, agent_name

AgentSpec: TypeAlias = "str | os.PathLike[str] | Agent"
"""An agent, or what `make_agent` makes one of."""

BUILT_IN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "random": ("fiveup_env.agents.baselines:Random", "a uniformly random legal action"),
        "greedy": ("fiveup_env.agents.baselines:Greedy", "most points now, never overshooting where it can avoid it"),
        "heuristic": (
            "fiveup_env.agents.baselines:Heuristic",
            "points now, own tiles that then fit, and what the next player may score, weighted as fitted to pimc",
        ),
        "pimc": (
            "fiveup_env.agents.search.pimc:PIMC",
            "sampled worlds, every action played out in each of them",
        ),
        "ismcts": (
            "fiveup_env.agents.search.ismcts:ISMCTS",
            "one search tree over what the seat sees, in sampled worlds",
        ),
        "partnership-v1": (
            "fiveup_env.agents.network.released_policies:partnership_v1",
            "the released network for four players",
        ),
        "trio-v1": ("fiveup_env.agents.network.released_policies:trio_v1", "the released network for three players"),
        "duel-v1": ("fiveup_env.agents.network.released_policies:duel_v1", "the released network for two players"),
        "partnership-v1+search": (
            "fiveup_env.agents.network.released_policies:partnership_v1_search",
            "a search whose prior is that network",
        ),
        "trio-v1+search": ("fiveup_env.agents.network.released_policies:trio_v1_search", "the same for three players"),
        "duel-v1+search": ("fiveup_env.agents.network.released_policies:duel_v1_search", "the same for two players"),
    }
)
"""Name -> (Python path of what makes it, a line for people)."""

CHECKPOINTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        ".safetensors": (
            "fiveup_env.agents.network.network_agent:NetworkPolicy",
            "weights of a policy network; needs no torch",
        ),
        ".zip": ("fiveup_env.agents.network.sb3_checkpoint:MaskablePPOPolicy", "MaskablePPO of sb3-contrib"),
    }
)
"""Suffix of a file -> (Python path of what loads it, a line for people)."""

PROGRAM, PAIR, OPENSPIEL = "exec:", "pair:", "openspiel:"
_ARGUMENTS = re.compile(r":(?=[^:]*=)([^:]*)$")


def make_agent(spec: AgentSpec, num_players: int | None = None) -> Agent:
    """The agent that a name (see above), a path of a checkpoint or an agent itself stands for.

    Args:
        spec: an agent is returned as it is.
        num_players: if given, an agent made for another number of players is refused.

    Raises:
        AgentError: one line that says what is wrong and what there is.
    """
    agent = _from_name(os.fspath(spec)) if isinstance(spec, str | os.PathLike) else _checked(spec, repr(spec))
    made_for = getattr(agent, "num_players", None)
    if num_players is not None and made_for is not None and made_for != num_players:
        raise AgentError(f"agent {agent_name(agent)} plays matches of {made_for} players, not of {num_players}")
    return agent


def known() -> str:
    """What can be named, in one line."""
    suffixes = ", ".join(CHECKPOINTS)
    others = f"a checkpoint file ({suffixes}), package.module:Class, openspiel:BOT, exec:COMMAND, or 'pair:X with Y'"
    return f"agents: {', '.join(BUILT_IN)}, {others}"


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """Part a name from its arguments: `"a:b=1,c=x"` gives `("a", {"b": 1, "c": "x"})`.

    Raises:
        AgentError: if the arguments are not `key=value`, parted by commas.
    """
    found = _ARGUMENTS.search(spec)
    if found is None:
        return spec, {}
    arguments: dict[str, Any] = {}
    for piece in found[1].split(","):
        key, equals, value = piece.partition("=")
        if not key.isidentifier() or not equals or not value:
            raise AgentError(f"agent {spec!r}: arguments are written key=value,key=value, not {piece!r}")
        if key in arguments:
            raise AgentError(f"agent {spec!r}: {key} is given twice")
        arguments[key] = _value(value)
    return spec[: found.start()], arguments


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def files_of(spec: str) -> list[Path]:
    """The checkpoint files that a name stands for: those that are there."""
    if spec.startswith(PROGRAM):
        return []
    if spec.startswith(PAIR):
        return [path for name in split_pair(spec.removeprefix(PAIR)) for path in files_of(name)]
    path = Path(parse(spec)[0])
    return [path] if path.is_file() else []


def _from_name(spec: str) -> Agent:
    if spec.startswith(PROGRAM):
        named: Agent = _load("fiveup_env.agents.external_program:ProcessAgent").named(spec.removeprefix(PROGRAM))
        return named
    if spec.startswith(PAIR):
        first, second = (make_agent(name, SEATS) for name in split_pair(spec.removeprefix(PAIR)))
        return pair(first, second)
    if spec.startswith(OPENSPIEL):
        return _openspiel(spec)
    what, arguments = parse(spec)
    if what in BUILT_IN:
        return _call(spec, _load(BUILT_IN[what][0]), (), arguments)
    path = Path(what)
    if path.suffix.lower() in CHECKPOINTS:
        if not path.is_file():
            raise AgentError(f"agent {spec!r}: there is no file {what}")
        return _call(spec, _load(CHECKPOINTS[path.suffix.lower()][0]), (path,), arguments)
    if path.is_file():
        dotted = ".".join(path.with_suffix("").parts)
        python = f"; a class in it is named {dotted}:CLASS" if path.suffix == ".py" else ""
        raise AgentError(
            f"agent {spec!r}: no agent is loaded from a file of this kind; checkpoints end in "
            f"{', '.join(CHECKPOINTS)}{python}"
        )
    module, colon, attribute = what.partition(":")
    if colon and all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        if module in BUILT_IN:
            raise AgentError(f"agent {spec!r}: arguments are written {module}:key=value,key=value")
        return _call(spec, _from_path(spec, module, attribute), (), arguments)
    close = difflib.get_close_matches(what.lower(), BUILT_IN, 1)
    hint = f", did you mean {close[0]!r}?" if close else ";"
    raise AgentError(f"there is no agent {what!r}{hint} {known()}")


def _openspiel(spec: str) -> Agent:
    name, arguments = parse(spec.removeprefix(OPENSPIEL))
    try:
        make = _load("fiveup_env.adapters.openspiel.openspiel_agents:make_bot_agent")
    except ImportError as error:
        raise AgentError(f"agent {spec!r}: {error}") from error
    bot: Agent = make(name, **arguments)
    return bot


def _load(path: str) -> Any:
    """The object at a Python path of our own tables."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _from_path(spec: str, module: str, attribute: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # whatever that module does when it is imported
        raise AgentError(f"agent {spec!r}: cannot import {module} ({type(error).__name__}: {error})") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            close = difflib.get_close_matches(part, dir(found), 1)
            raise AgentError(
                f"agent {spec!r}: {module} has no {attribute}" + (f", did you mean {close[0]!r}?" if close else "")
            )
        found = getattr(found, part)
    return found


def _call(spec: str, factory: Callable[..., Any], given: tuple[Any, ...], arguments: dict[str, Any]) -> Agent:
    if not callable(factory):
        raise AgentError(f"agent {spec!r}: {factory!r} cannot be called to make an agent")
    try:
        parameters = inspect.signature(factory)
        parameters.bind(*given, **arguments)
    except TypeError as error:
        names = list(parameters.parameters)[len(given) :]
        takes = f"it takes {', '.join(names)}" if names else "it takes no arguments"
        raise AgentError(f"agent {spec!r}: {error}; {takes}") from None
    except ValueError:
        pass  # no signature to look at (some C code): the call itself will tell
    try:
        return _checked(factory(*given, **arguments), spec)
    except AgentError:
        raise
    except (TypeError, ValueError) as error:
        raise AgentError(f"agent {spec!r}: {error}") from error


def _checked(agent: object, spec: str) -> Agent:
    if isinstance(agent, type) or not isinstance(agent, Agent):
        raise AgentError(f"{spec} is not an agent: it needs the methods reset(seed) and act(view); {known()}")
    return agent
