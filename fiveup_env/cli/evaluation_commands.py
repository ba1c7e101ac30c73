"""The commands of `fiveup` that measure more than one match-up: arguments only, as in `cli`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fiveup_env.cli.console import AGENT, UsageError, command_line, progress_bar, progress_bars, without_endgames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fiveup_env.reports.tables import Grid

Players = Annotated[int, typer.Option(min=2, max=4, help="Seats; four are two partnerships.")]
Seed = Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Decides the deals and what policies draw.")]
Processes = Annotated[int, typer.Option(min=1, max=1024, help="Results do not depend on it.")]
Keep = Annotated[
    str | None, typer.Option(metavar="DIR", help="Keep finished parts there, and go on from what is there.")
]
Timeout = Annotated[float | None, typer.Option(min=0.001, help="Seconds a decision may take.", show_default="no limit")]
Report = Annotated[str | None, typer.Option(metavar="DIR", help="Write index.html, report.json and report.md there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, tournament, crossplay, endgame, exploit, exploitability, variance):
        app.command()(command)


def compare(
    first: Annotated[str, typer.Argument(metavar="REPORT", help="The folder of a report card.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="REPORT", help="Another.", show_default=False)],
) -> None:
    """Show what a second report card says more or less than a first one, with 95% intervals."""
    from rich.console import Console

    from fiveup_env.reports import comparison as cards

    try:
        found = cards.compare(cards.read_report(first), cards.read_report(second))
    except ValueError as error:
        raise UsageError(str(error)) from error
    Console().print(cards.show(found))


def tournament(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help=AGENT, show_default=False)],
    players: Players = 4,
    matches: Annotated[int, typer.Option(min=1, help="Of every pair, rounded up to whole deals.")] = 1000,
    seed: Seed = 0,
    processes: Processes = 1,
    keep: Keep = None,
    timeout: Timeout = None,
    endgames: Annotated[
        int, typer.Option(min=0, help="Matches of heuristic players whose endgames a report asks all agents about.")
    ] = 400,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Play every agent against every other on the same deals, and rate them (Bradley-Terry, Elo points)."""
    from fiveup_env.reports import tournament_card as ratings_card
    from fiveup_env.studies import tournament as ratings

    try:
        with progress_bars() as watch:
            options: dict[str, Any] = {"processes": processes, "timeout": timeout, "folder": keep}
            result = ratings.round_robin(agents, players, matches, seed, watch=watch, **options)
            regret = None
            if report is not None and endgames:
                with without_endgames():
                    regret = ratings_card.regret(result, agents, endgames, seed, watch)
        command = command_line(sys.argv[1:])
        if report is not None:
            _written(report, lambda: ratings_card.write_report(result, report, command, regret))
    except ValueError as error:
        raise UsageError(str(error)) from error
    _print(result.as_dict() if as_json else None, ratings.grids(result))


def crossplay(
    agents: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Policies of at least two runs.", show_default=False)
    ],
    others: Annotated[
        list[str] | None, typer.Option("--with", metavar="AGENT", help="A partner of another kind; may be repeated.")
    ] = None,
    against: Annotated[str, typer.Option(metavar="AGENT", help="Whom all partnerships play against.")] = "greedy",
    matches: Annotated[int, typer.Option(min=1, help="Of every partnership.")] = 1000,
    seed: Seed = 0,
    players: Annotated[int, typer.Option(min=2, max=4, help="Only four have partners.")] = 4,
    processes: Processes = 1,
    keep: Keep = None,
    timeout: Timeout = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Seat policies of different runs, and other agents, as partners; show what self-play has more than cross-play."""
    from fiveup_env.studies import cross_play as crossed

    if players != 4:
        raise UsageError("cross-play is about partners, whom only four players have; for 2 or 3: fiveup tournament")
    try:
        with progress_bars() as watch:
            options: dict[str, Any] = {"processes": processes, "timeout": timeout, "folder": keep}
            result = crossed.cross_play(agents, others or (), against, matches, seed, watch=watch, **options)
        command = command_line(sys.argv[1:])
        if report is not None:
            _written(report, lambda: crossed.write_report(result, report, command))
    except ValueError as error:
        raise UsageError(str(error)) from error
    _print(result.as_dict() if as_json else None, crossed.grids(result))


def endgame(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help=AGENT, show_default=False)],
    players: Players = 4,
    by: Annotated[str, typer.Option(metavar="AGENT", help="Whose matches the positions come from.")] = "heuristic",
    matches: Annotated[int, typer.Option(min=1, help="How many of them.")] = 400,
    seed: Seed = 0,
    records: Annotated[
        str | None, typer.Option(metavar="DIR", help="Take the matches recorded there instead (*.jsonl).")
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Show what agents lose against the double-dummy solver once the boneyard is empty, at the same positions."""
    from fiveup_env.studies import endgame_study as endgames
    from fiveup_env.studies.endgame_regret import collect

    try:
        with progress_bars() as watch:
            if records is None:
                played = endgames.of_agent(by, players, matches, seed, watch(f"matches of {by}"))
            else:
                played = endgames.of_records(endgames.read_folder(Path(records)))
            positions = collect(list(played), players, watch("positions solved"))
            result = endgames.regret_of(agents, positions, watch)
        command = command_line(sys.argv[1:])
        if report is not None:
            _written(report, lambda: endgames.write_report(result, report, command))
    except ValueError as error:
        raise UsageError(str(error)) from error
    _print(result.as_dict() if as_json else None, [result.grid()])


def exploit(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT, show_default=False)],
    players: Players = 4,
    search: Annotated[int, typer.Option(min=0, help="Worlds a decision of the search response, 0 for none.")] = 16,
    margin: Annotated[
        float, typer.Option(min=0, help="Standard errors by which the search must find an action better.")
    ] = 2.0,
    train: Annotated[int, typer.Option(min=0, help="Decisions that a response learns from, 0 for none.")] = 0,
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of that training run.")] = "runs/exploit",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that folder.")] = False,
    matches: Annotated[int, typer.Option(min=1, help="Of every response.")] = 400,
    seed: Seed = 0,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Show what opponents win who know the agent: a search with it as playout, and a policy trained against it.

    Both are lower bounds of what the best response would win.
    """
    from fiveup_env.studies import exploit as exploiting

    try:
        with progress_bars() as watch:
            result = exploiting.exploit(
                agent,
                players,
                worlds=search,
                margin=margin,
                decisions=train,
                folder=out,
                resume=resume,
                matches=matches,
                seed=seed,
                watch=watch,
            )
        command = command_line(sys.argv[1:])
        if report is not None:
            _written(report, lambda: exploiting.write_report(result, report, command))
    except ValueError as error:
        raise UsageError(str(error)) from error
    _print(result.as_dict() if as_json else None, [result.grid()])


def variance(
    a: Annotated[str, typer.Argument(metavar="A", help=AGENT, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="The same.", show_default=False)],
    players: Players = 4,
    matches: Annotated[int, typer.Option(min=1, help="Played twice: with and without common random numbers.")] = 2000,
    seed: Seed = 0,
    processes: Processes = 1,
) -> None:
    """Show what duplicate deals, common random numbers and the control variate save in a match-up."""
    from rich.console import Console

    from fiveup_env.studies import variance as measured

    try:
        with progress_bar(f"{a} against {b}") as progress:
            rows = measured.measure(a, b, players, matches, seed, processes, progress)
    except ValueError as error:
        raise UsageError(str(error)) from error
    Console().print(measured.table(rows, f"{a} against {b}, {players} players, {matches:,} matches, seed {seed}"))


def exploitability(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT, show_default=False)],
    max_pip: Annotated[int, typer.Option(min=1, max=6, help="Highest pip count of the set.")] = 2,
    hand_size: Annotated[int, typer.Option(min=1, help="Tiles dealt to each player.")] = 2,
    reward: Annotated[str, typer.Option(help="win, points or equity.")] = "win",
    samples: Annotated[int, typer.Option(min=1, help="Draws a decision, of agents that draw numbers.")] = 64,
    limit: Annotated[int, typer.Option(min=1, help="Positions to look at, at most.")] = 2_000_000,
    as_json: AsJson = False,
) -> None:
    """Show what a best response wins against an agent, exactly: one round of a small variant for two players."""
    from fiveup_env.extensive.game_setup import Setup
    from fiveup_env.studies import exact_exploitability as exact

    try:
        setup = Setup.of(2, hand_size=hand_size, max_pip=max_pip, episode="round", reward=reward)
        result = exact.exploitability(agent, setup, samples=samples, limit=limit)
    except ValueError as error:
        raise UsageError(str(error)) from error
    title = f"{agent}, double-{max_pip}, {hand_size} tiles each, {reward}"
    _print(result.as_dict() if as_json else None, [result.grid(title)])


def _written(folder: str, write: Any) -> None:
    """Write a report, and say where."""
    try:
        print(f"report: {write()}", file=sys.stderr)
    except OSError as error:
        raise UsageError(f"cannot write the report to {folder}: {error.strerror or error}") from error


def _print(content: Mapping[str, Any] | None, grids: Iterable[Grid]) -> None:
    """JSON if there is any, else tables."""
    if content is not None:
        import json

        print(json.dumps(content, indent=2))
        return
    from rich.console import Console

    for grid in grids:
        Console().print(grid.rich())
