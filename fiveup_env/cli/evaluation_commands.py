"""Commands of `fiveup` that measure agents: arguments only; results come from `evaluation`, `studies`, `reports`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from fiveup_env.cli.console import (
    AGENT,
    AgentA,
    AgentB,
    Agents,
    AsJson,
    Keep,
    Players,
    Processes,
    Report,
    Seed,
    Timeout,
    UsageError,
    command_line,
    print_result,
    progress_bar,
    progress_bars,
    save_report,
    show,
    usage_errors,
    without_endgames,
)


def evaluate_command(
    a: AgentA,
    b: AgentB,
    players: Players = 4,
    matches: Annotated[
        int | None,
        Option(
            min=1,
            help="Number of matches to play (maximum when --precision is set).",
            show_default="1000; 1000000 with --precision",
        ),
    ] = None,
    seed: Seed = 0,
    max_rounds: Annotated[
        int | None, Option(min=1, max=2**31 - 1, help="Leave a match unfinished after this number of rounds.")
    ] = None,
    start: Annotated[
        tuple[int, int], Option(metavar="LOW HIGH", help="Draw starting scores from this range of display points.")
    ] = (0, 0),
    precision: Annotated[
        str | None,
        Option(metavar="P", help="Play until the 95% interval is ± P: 0.1 (display points per deal) or 1% (win rate)."),
    ] = None,
    processes: Processes = 1,
    ray: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Play on a Ray cluster: HOST:PORT, auto, or local for a Ray on this machine."),
    ] = None,
    keep: Keep = None,
    strict: Annotated[
        bool, Option("--strict", help="Stop when an agent fails, instead of counting a forfeit.")
    ] = False,
    timeout: Timeout = None,
    report: Annotated[
        str | None, Option(metavar="DIR", help="Write a report card (index.html, report.json) to DIR.")
    ] = None,
    endgame: Annotated[
        int, Option(min=0, help="Number of matches whose endgames the report card analyses; 0 for none.")
    ] = 100,
    against: Annotated[
        str | None, Option("--compare", metavar="DIR", help="Compare the result with the report card in DIR.")
    ] = None,
    as_json: AsJson = False,
    record: Annotated[str | None, Option(metavar="DIR", help="Write records of the first matches to DIR.")] = None,
    records: Annotated[int, Option(min=1, max=10**6, help="Number of matches to record when --record is set.")] = 10,
) -> None:
    """Play agent A against agent B; every deal is played once with A on each side.

    Prints A's display points per deal and win rate with 95% intervals. An agent that fails loses the match by forfeit.
    """
    from fiveup_env.evaluation import evaluate as play
    from fiveup_env.reports.matchup_report import matchup_content, matchup_grid, matchup_report
    from fiveup_env.reports.report_comparison import compare_reports, comparison_grid, read_report
    from fiveup_env.reports.report_writer import write_report
    from fiveup_env.studies.endgame_regret import of_match_up

    options: dict[str, Any] = {"max_rounds": max_rounds, "start": start, "precision": precision, "strict": strict}
    options |= {"processes": processes, "ray": ray, "folder": keep, "timeout": timeout}
    comparison = None
    with usage_errors(f"records to {record}" if report is None else f"the report to {report}"):
        before = None if against is None else read_report(against)
        with progress_bar(f"{a} against {b}") as progress:
            result = play(a, b, players, matches, seed, **options, progress=progress)
        if record is not None:
            from fiveup_env.evaluation.match_recording import save_records

            for path, failure in save_records(result, a, b, record, records, timeout).items():
                if failure is not None:
                    print(f"{path} ends where the match was forfeited: {failure}", file=sys.stderr)
        if report is not None:
            regret = None
            if endgame:
                with without_endgames(), progress_bar("endgames") as progress:
                    regret = of_match_up(result, a, b, endgame, progress)
            page = write_report(matchup_report(result, regret), report, command_line())
            print(f"report: {page}", file=sys.stderr)
        if before is not None:
            comparison = compare_reports(before, matchup_content(result))
    grids = [matchup_grid(result), *([] if comparison is None else [comparison_grid(comparison)])]
    print_result(result.as_dict(), as_json, grids)


def compare_command(
    first: Annotated[str, Argument(metavar="REPORT", help="Folder of the first report card.", show_default=False)],
    second: Annotated[str, Argument(metavar="REPORT", help="Folder of the second report card.", show_default=False)],
) -> None:
    """Show the differences between two report cards (second minus first), with 95% intervals."""
    from fiveup_env.reports.report_comparison import compare_reports, comparison_grid, read_report

    with usage_errors():
        found = compare_reports(read_report(first), read_report(second))
    show(comparison_grid(found).rich())


def tournament_command(
    agents: Agents,
    players: Players = 4,
    matches: Annotated[int, Option(min=1, help="Number of matches per pair, rounded up to whole deals.")] = 1000,
    seed: Seed = 0,
    processes: Processes = 1,
    keep: Keep = None,
    timeout: Timeout = None,
    endgames: Annotated[
        int,
        Option(
            min=0, help="With --report: number of heuristic agents' matches whose endgames all agents play; 0 for none."
        ),
    ] = 400,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Play every agent against every other on the same deals and rate them (Bradley-Terry, in Elo points)."""
    from fiveup_env.reports.study_reports import tournament_grids, tournament_report
    from fiveup_env.studies.endgame_regret import regret_of_tournament
    from fiveup_env.studies.tournament import round_robin

    with usage_errors(), progress_bars() as watch:
        settings: dict[str, Any] = {"processes": processes, "timeout": timeout, "folder": keep, "watch": watch}
        result = round_robin(agents, players, matches, seed, **settings)
        if report is not None:
            regret = None
            if endgames:
                with without_endgames():
                    regret = regret_of_tournament(result, agents, endgames, seed, watch)
            save_report(report, tournament_report(result, regret))
    print_result(result.as_dict(), as_json, tournament_grids(result))


def crossplay_command(
    agents: Annotated[
        list[str], Argument(metavar="RUN...", help="Policies of at least two training runs.", show_default=False)
    ],
    others: Annotated[
        list[str] | None, Option("--with", metavar="AGENT", help="Additional partner of another kind; may be repeated.")
    ] = None,
    against: Annotated[str, Option(metavar="AGENT", help="Opponent of all partnerships.")] = "greedy",
    matches: Annotated[int, Option(min=1, help="Number of matches per partnership.")] = 1000,
    seed: Seed = 0,
    players: Annotated[
        int, Option(min=2, max=4, help="Number of players; must be 4, because only four players have partners.")
    ] = 4,
    processes: Processes = 1,
    keep: Keep = None,
    timeout: Timeout = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Seat policies of different runs as partners and show the gap between self-play and cross-play scores."""
    from fiveup_env.reports.study_reports import cross_play_report
    from fiveup_env.studies.cross_play import cross_play

    if players != 4:
        raise UsageError("cross-play needs partners, which only four players have; for 2 or 3: fiveup tournament")
    with usage_errors(), progress_bars() as watch:
        settings: dict[str, Any] = {"processes": processes, "timeout": timeout, "folder": keep, "watch": watch}
        result = cross_play(agents, others or (), against, matches, seed, **settings)
        found = cross_play_report(result)
        if report is not None:
            save_report(report, found)
    print_result(result.as_dict(), as_json, found.grids)


def endgame_command(
    agents: Agents,
    players: Players = 4,
    by: Annotated[str, Option(metavar="AGENT", help="Agent that plays the matches.")] = "heuristic",
    matches: Annotated[int, Option(min=1, help="Number of matches to take endgames from.")] = 400,
    seed: Seed = 0,
    records: Annotated[
        str | None, Option(metavar="DIR", help="Use the recorded matches in DIR (*.jsonl) instead.")
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Show the loss of agents against the double-dummy solver in positions with an empty boneyard."""
    from fiveup_env.reports.study_reports import endgame_report
    from fiveup_env.studies import endgame_regret as endgames

    with usage_errors(), progress_bars() as watch:
        if records is None:
            played = endgames.of_agent(by, players, matches, seed, watch(f"matches of {by}"))
        else:
            played = endgames.of_records(endgames.read_folder(Path(records)))
        positions = endgames.collect(list(played), players, watch("positions solved"))
        result = endgames.regret_of(agents, positions, watch)
        found = endgame_report(result)
        if report is not None:
            save_report(report, found)
    print_result(result.as_dict(), as_json, found.grids)


def exploit_command(
    agent: Annotated[str, Argument(metavar="AGENT", help=AGENT, show_default=False)],
    players: Players = 4,
    search: Annotated[
        int, Option(min=0, help="Number of worlds per decision of the search response; 0 for none.")
    ] = 16,
    margin: Annotated[
        float, Option(min=0, help="Standard errors by which another action must be better before the search takes it.")
    ] = 2.0,
    train: Annotated[
        int, Option(min=0, help="Number of decisions to train a policy against the agent; 0 for none.")
    ] = 0,
    out: Annotated[str, Option(metavar="DIR", help="Folder of that training run.")] = "runs/exploit",
    resume: Annotated[bool, Option("--resume", help="Continue the training run in that folder.")] = False,
    matches: Annotated[int, Option(min=1, help="Number of matches per response.")] = 400,
    seed: Seed = 0,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Show the points won by opponents that know the agent: a search with it as playout, and a trained policy.

    Both are lower bounds of the best response.
    """
    from fiveup_env.reports.study_reports import exploit_report
    from fiveup_env.studies.exploit import exploit

    with usage_errors(), progress_bars() as watch:
        result = exploit(
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
        found = exploit_report(result)
        if report is not None:
            save_report(report, found)
    print_result(result.as_dict(), as_json, found.grids)


def variance_command(
    a: AgentA,
    b: AgentB,
    players: Players = 4,
    matches: Annotated[
        int, Option(min=1, help="Number of matches, played with and without common random numbers.")
    ] = 2000,
    seed: Seed = 0,
    processes: Processes = 1,
) -> None:
    """Show the variance removed by duplicate deals, common random numbers and the control variate."""
    from fiveup_env.reports.study_reports import variance_grid
    from fiveup_env.studies.variance import measure_variance

    with usage_errors(), progress_bar(f"{a} against {b}") as progress:
        rows = measure_variance(a, b, players, matches, seed, processes, progress)
    show(variance_grid(rows, f"{a} against {b}, {players} players, {matches:,} matches, seed {seed}").rich())


def exploitability_command(
    agent: Annotated[str, Argument(metavar="AGENT", help=AGENT, show_default=False)],
    max_pip: Annotated[int, Option(min=1, max=6, help="Highest pip count of the tile set.")] = 2,
    hand_size: Annotated[int, Option(min=1, help="Number of tiles dealt to each player.")] = 2,
    reward: Annotated[str, Option(help="Reward to maximise: win, points or equity.")] = "win",
    samples: Annotated[
        int, Option(min=1, help="Number of samples per decision of an agent that draws random numbers.")
    ] = 64,
    limit: Annotated[int, Option(min=1, help="Maximum number of positions.")] = 2_000_000,
    as_json: AsJson = False,
) -> None:
    """Compute the exact gain of a best response to an agent in one round of a small variant for two players."""
    from fiveup_env.extensive.game_setup import Setup
    from fiveup_env.reports.study_reports import exploitability_grid
    from fiveup_env.studies.exact_exploitability import exploitability

    with usage_errors():
        setup = Setup.of(2, hand_size=hand_size, max_pip=max_pip, episode="round", reward=reward)
        result = exploitability(agent, setup, samples=samples, limit=limit)
    title = f"{agent}, double-{max_pip}, {hand_size} tiles each, {reward}"
    print_result(result.as_dict(), as_json, [exploitability_grid(result, title)])
