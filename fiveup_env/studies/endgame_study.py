"""Endgame regret of named agents: where the matches come from, and the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.evaluation.match_plan import Plan
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.match_recording import record_match_up, recorded
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.records.record_reader import Record, RecordError, read_record
from fiveup_env.records.recorder import Recorder, beginning
from fiveup_env.reports.html_page import grids_page, grids_text, write_folder
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.record import Variant
from fiveup_env.studies.endgame_regret import EndgameRegret, Endgames, choices, collect, regrets
from fiveup_env.system.machine import describe_machine


def of_records(records: Iterable[Record]) -> Iterator[tuple[Match, list[int], int]]:
    """Start, actions and policy seed of matches that were recorded."""
    for record in records:
        yield record.start, [move.action for move in record.moves], record.policy_seed or 0


def of_recorders(recorders: Iterable[Recorder]) -> Iterator[tuple[Match, list[int], int]]:
    """The same of matches just played."""
    for recorder in recorders:
        header = recorder.lines[0]
        actions = [line["action"] for line in recorder.lines if line["type"] == "move"]
        yield beginning(header["variant"], header["seed"], header["scores"]), actions, header["policy_seed"]


def of_match_up(
    result: MatchUp, a: AgentSpec, b: AgentSpec, count: int, progress: Progress | None = None
) -> EndgameRegret:
    """Of both agents of a match-up, at the endgames of its first matches.

    Raises:
        AgentError: as `choices`; if matches were forfeited: who does that is not asked any further.
    """
    if sum(result.forfeits):
        raise AgentError("matches were forfeited")
    played = of_recorders(recorder for recorder, _ in recorded(result, a, b, count))
    agents = [make_agent(spec, result.num_players) for spec in (a, b)]
    return EndgameRegret.of(agents, (result.a, result.b), collect(played, result.num_players, progress))


def of_agent(
    by: AgentSpec, num_players: int, count: int, seed: int, progress: Progress | None = None
) -> Iterator[tuple[Match, list[int], int]]:
    """Matches of an agent against itself: start, actions and policy seed of each.

    Raises:
        AgentError: if there is no such agent, or it fails.
    """
    agent, sides = make_agent(by, num_players), Variant(num_players).num_sides
    plan = Plan(num_players, -(-count // sides), checked_seed(seed))
    # The seatings of a deal are one and the same match here: every deal is played once.
    for deal in range(count):
        if progress:
            progress(deal, count)
        yield from of_recorders([record_match_up(agent, agent, replace(plan, deals=count), deal * sides)])


def read_folder(folder: Path) -> Iterator[Record]:
    """The records in a folder, by name.

    Raises:
        ValueError: one line, if there is none or one cannot be read.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise ValueError(f"{folder} holds no records (*.jsonl)")
    for file in files:
        try:
            yield read_record(file)
        except OSError as error:
            raise ValueError(f"cannot read {file}: {error.strerror or error}") from error
        except RecordError as error:
            raise ValueError(f"{file}, {error}") from error


def regret_of(
    agents: Sequence[str], positions: Endgames, watch: Callable[[str], Progress] | None = None
) -> EndgameRegret:
    """What agents lose, by name.

    Raises:
        ValueError: if an agent is there twice, cannot be made, or fails.
    """
    if twice := [name for name in agents if agents.count(name) > 1]:
        raise ValueError(f"agent {twice[0]} is there twice")
    told = []
    for name in agents:
        if watch:
            watch(f"choices of {name}")
        told.append(tuple(regrets(positions, choices(make_agent(name, positions.num_players), positions))))
    return EndgameRegret(positions, tuple(agents), tuple(told))


def write_report(result: EndgameRegret, folder: str | os.PathLike[str], command: str) -> Path:
    """Write `index.html`, `report.json` and `report.md` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    title = f"Endgame regret, {result.endgames.num_players} players"
    content = result.as_dict() | {"command": command, "machine": describe_machine()}
    return write_folder(
        folder, grids_page(title, [result.grid()], command), content, grids_text([result.grid()], command)
    )
