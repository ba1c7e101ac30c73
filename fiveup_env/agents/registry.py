"""Agents by name.

A name is `WHAT[:key=value,...]`. WHAT is one of

- a built-in name: `greedy`
- a checkpoint file: `runs/mine/policy.safetensors`, `runs/quickstart/policy.zip:sample=true`
- a Python path to a class or function that makes an agent: `my_package.my_module:MyAgent:depth=3`
- an external program: `exec:COMMAND`, see `external_program`; everything after `exec:` is the command
- a partnership of two agents for four players: `pair:X with Y`, see `pair`
- a bot of OpenSpiel: `openspiel:ismcts:iterations=50`, see docs/openspiel.md

The arguments are passed by keyword: `true` and `false`, integers, decimal numbers, or text.
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
"""An agent, or a name or path from which `make_agent` makes one."""

_BASELINES = "fiveup_env.agents.baselines"
_NETWORK = "fiveup_env.agents.network.network_agent:NetworkPolicy"
_GUIDED = "fiveup_env.agents.network.guided_search:GuidedSearch"
_RELEASED_FILE = "fiveup_env.agents.network.weights_file:released_file"

BUILT_IN: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "random": (f"{_BASELINES}:Random", "a uniformly random legal action"),
        "greedy": (f"{_BASELINES}:Greedy", "the most points now, avoiding overshoots where possible"),
        "heuristic": (
            f"{_BASELINES}:Heuristic",
            "points now, own tiles that fit next, and likely points of the next player; weights fitted to pimc",
        ),
        "pimc": ("fiveup_env.agents.search.pimc:PIMC", "search: every action played out in sampled worlds"),
        "ismcts": ("fiveup_env.agents.search.ismcts:ISMCTS", "search: one tree over the seat's view, sampled worlds"),
        "partnership-v1": (_NETWORK, "released network for four players"),
        "trio-v1": (_NETWORK, "released network for three players"),
        "duel-v1": (_NETWORK, "released network for two players"),
        "partnership-v1+search": (_GUIDED, "search with that network as its prior"),
        "trio-v1+search": (_GUIDED, "search with that network as its prior"),
        "duel-v1+search": (_GUIDED, "search with that network as its prior"),
    }
)
"""Name -> (Python path of its maker, one-line description)."""

CHECKPOINTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        ".safetensors": (_NETWORK, "weights of a policy network; torch is not needed"),
        ".zip": ("fiveup_env.agents.network.sb3_checkpoint:MaskablePPOPolicy", "MaskablePPO of sb3-contrib"),
    }
)
"""File suffix -> (Python path of its loader, one-line description)."""

PROGRAM, PAIR, OPENSPIEL = "exec:", "pair:", "openspiel:"
_ARGUMENTS = re.compile(r":(?=[^:]*=)([^:]*)$")


def make_agent(spec: AgentSpec, num_players: int | None = None) -> Agent:
    """Return the agent of a name (see above) or of a checkpoint path; an agent is returned unchanged.

    Args:
        spec: a name, a path or an agent.
        num_players: if given, agents for another number of players are rejected.

    Raises:
        AgentError: if there is no such agent; the one-line message lists the choices.
    """
    agent = _from_name(os.fspath(spec)) if isinstance(spec, str | os.PathLike) else _checked(spec, repr(spec))
    made_for = getattr(agent, "num_players", None)
    if num_players is not None and made_for is not None and made_for != num_players:
        raise AgentError(f"agent {agent_name(agent)} plays matches of {made_for} players, not of {num_players}")
    return agent


def known() -> str:
    """Return the possible names in one line."""
    suffixes = ", ".join(CHECKPOINTS)
    others = f"a checkpoint file ({suffixes}), package.module:Class, openspiel:BOT, exec:COMMAND, or 'pair:X with Y'"
    return f"agents: {', '.join(BUILT_IN)}, {others}"


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """Split a name and its arguments: `"a:b=1,c=x"` gives `("a", {"b": 1, "c": "x"})`.

    Raises:
        AgentError: if the arguments are not `key=value`, separated by commas.
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
    """Return the existing checkpoint files that a name refers to."""
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
        maker = BUILT_IN[what][0]
        given = (_load(_RELEASED_FILE)(what.removesuffix("+search")),) if maker in (_NETWORK, _GUIDED) else ()
        return _call(spec, _load(maker), given, arguments)
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
    """Return the object at a Python path within this package."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _from_path(spec: str, module: str, attribute: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # importing runs arbitrary code
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
        pass  # some C code has no signature
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
