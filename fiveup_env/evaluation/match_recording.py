"""Records of matches between agents, among them exactly the matches that `evaluate` plays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy, own_copy
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.evaluation.match_plan import DEALS, POLICIES, MatchPlan
from fiveup_env.evaluation.match_play import error_line, time_limit
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.records.recorder import Recorder
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MAX_PLAYERS
from fiveup_env.views.view import View

Thoughts = Callable[[View, Agent], Mapping[str, Any] | None]
"""Returns the `info` of a move (see `fiveup_env.records.recorder.checked_info`)."""


def record_match_up(
    a: Agent, b: Agent, plan: MatchPlan, number: int, names: Sequence[str] | None = None, **options: Any
) -> Recorder:
    """Play and record match `number` of the match-up of A and B, exactly as `evaluate` plays it.

    Args:
        a, b: agents; A has side `number % sides`, B all others.
        plan: see `MatchPlan`.
        number: from 0.
        names: names of A and B in the record.
        options: `failures` and `timeout` of `record_match`.

    Raises:
        AgentError: as `record_match`.
    """
    deal, seating = divmod(number, plan.sides)
    first = MatchPlan(plan.num_players, deal + 1, plan.seed, plan.max_rounds, plan.start)
    policy_seed = int(first.seeds(POLICIES)[deal])
    scores = first.scores()[deal, : plan.sides].tolist()
    match = Match(plan.num_players, int(first.seeds(DEALS)[deal]), scores=scores)
    pair, called = (a, b), names or (agent_name(a), agent_name(b))
    which = [0 if seat % plan.sides == seating else 1 for seat in range(plan.num_players)]
    players = [called[w] for w in which]
    return record_match([pair[w] for w in which], match, policy_seed, players, max_rounds=plan.max_rounds, **options)


def recorded(
    result: MatchUp, a: AgentSpec, b: AgentSpec, count: int, timeout: float | None = None
) -> Iterator[tuple[Recorder, str | None]]:
    """Yield records of the first `count` matches of a match-up, and the reason of a forfeit.

    The record of a forfeited match ends where the agent failed and has no winner.

    Args:
        result: the match-up.
        a, b: its agents.
        count: maximum number of matches.
        timeout: as given to `evaluate`.
    """
    plan = MatchPlan(result.num_players, result.deals, result.seed, result.max_rounds or 0, result.start)
    agents = make_agent(a, result.num_players), make_agent(b, result.num_players)
    for number in range(min(count, plan.matches)):
        failures: list[str] = []
        yield (
            record_match_up(*agents, plan, number, (result.a, result.b), failures=failures, timeout=timeout),
            failures[0] if failures else None,
        )


def save_records(
    result: MatchUp,
    a: AgentSpec,
    b: AgentSpec,
    folder: str | os.PathLike[str],
    count: int,
    timeout: float | None = None,
) -> dict[Path, str | None]:
    """Write the first `count` matches of a match-up to `folder` as `match_000000.jsonl`, ...

    The arguments are those of `recorded`.

    Returns:
        Every file with the reason of its forfeit, if any.

    Raises:
        OSError: if a file cannot be written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written: dict[Path, str | None] = {}
    for number, (recorder, failure) in enumerate(recorded(result, a, b, count, timeout)):
        path = target / f"match_{number:06}.jsonl"
        recorder.save(path)
        written[path] = failure
    return written


def record_match(
    agents: Sequence[Agent],
    match: Match,
    policy_seed: int,
    players: Sequence[str] | None = None,
    *,
    max_rounds: int = 0,
    thoughts: Thoughts | None = None,
    failures: list[str] | None = None,
    timeout: float | None = None,
) -> Recorder:
    """Play and record a match between agents, one copy per seat. Agents act only at decisions.

    Args:
        agents: one per seat.
        match: at its start; it is copied.
        policy_seed: seed of the agents, as in `evaluate`.
        players: names by seat; None for those of the agents.
        max_rounds: leave the match unfinished after this number of rounds, 0 for no limit.
        thoughts: returns the info of a decision; None for no infos.
        failures: if given, a failing agent ends the record and the reason is appended here; otherwise it raises.
        timeout: seconds per decision (see `time_limit`), None for no limit.

    Raises:
        AgentError: if an agent chooses an illegal action.
    """
    streams = spread_seeds(policy_seed, MAX_PLAYERS)
    seated = [own_copy(agent) for agent in agents]
    names = [agent_name(agent) for agent in agents] if players is None else players
    recorder = Recorder(match, names, policy_seed=policy_seed)
    begun: set[int] = set()
    while recorder.match.winner is None and not (max_rounds and recorder.match.round_number > max_rounds):
        legal = recorder.match.legal_actions()
        if len(legal) == 1:
            recorder.play(legal[0])
            continue
        agent, view = seated[recorder.match.turn], View.of(recorder.match)
        try:
            with time_limit(timeout):
                if view.seat not in begun:  # its first decision
                    begun.add(view.seat)
                    agent.reset(policy_seed if is_policy(agent) else int(streams[view.seat]))
                action = agent.act(view)
            _check(recorder.match, action, agent)
        except Exception as error:
            if failures is None:
                raise
            failures.append(error_line(error))
            return recorder
        recorder.play(action, None if thoughts is None else thoughts(view, agent))
    return recorder


def _check(match: Match, action: int, agent: Agent) -> None:
    """Raise an AgentError if an action is illegal."""
    try:
        match.copy().play(action)
    except ValueError as error:
        raise AgentError(f"agent {agent_name(agent)} at player_{match.turn}: {error}") from None
