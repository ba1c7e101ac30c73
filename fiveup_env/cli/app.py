"""The command `fiveup`: arguments only; what they ask for is done elsewhere, and imported when it is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fiveup_env.cli import evaluation_commands
from fiveup_env.cli.console import AGENT, ClickError, UsageError, command_line, progress_bar, without_endgames

if TYPE_CHECKING:
    from fiveup_env.records import Record

INTERRUPTED = 130  # the exit code after Ctrl-C, as shells have it

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        from fiveup_env import __version__

        print(f"fiveup-env {__version__}")
        raise typer.Exit


@app.callback()
def fiveup(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Exact 61 Five Up: train, evaluate and look at agents."""


@app.command()
def evaluate(
    a: Annotated[str, typer.Argument(metavar="A", help=AGENT, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="The same.", show_default=False)],
    players: Annotated[int, typer.Option(min=2, max=4, help="Seats; four are two partnerships.")] = 4,
    matches: Annotated[
        int | None,
        typer.Option(
            min=1, help="At least so many; with --precision at most.", show_default="1000; with --precision 1000000"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Decides the deals and what policies draw.")] = 0,
    max_rounds: Annotated[
        int | None, typer.Option(min=1, max=2**31 - 1, help="Leave a match unfinished after so many rounds.")
    ] = None,
    start: Annotated[
        tuple[int, int], typer.Option(metavar="LOW HIGH", help="Start at scores drawn from this range of points.")
    ] = (0, 0),
    precision: Annotated[
        str | None, typer.Option(metavar="P", help="Go on until ± 0.1 (points per deal) or ± 1% (win rate).")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, max=1024, help="Results do not depend on it.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Play all over that Ray cluster: HOST:PORT, auto, or local for one here."),
    ] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep finished parts there, and go on from what is there.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop where an agent fails, instead of a forfeit.")] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Seconds a decision may take.", show_default="no limit")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write a report card there, index.html and report.json.")
    ] = None,
    endgame: Annotated[
        int, typer.Option(min=0, help="Matches whose endgames the report card looks at, 0 for none.")
    ] = 100,
    against: Annotated[
        str | None, typer.Option("--compare", metavar="DIR", help="Then compare with the report card there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    record: Annotated[str | None, typer.Option(metavar="DIR", help="Write records of the first matches there.")] = None,
    records: Annotated[int, typer.Option(min=1, max=10**6, help="How many, with --record.")] = 10,
) -> None:
    """Play agent A against agent B, every deal once with A on each side.

    Prints A's points per deal and win rate with 95% intervals. An agent that fails loses that match by forfeit.
    """
    from fiveup_env.evaluation import evaluate as play
    from fiveup_env.reports import comparison as cards
    from fiveup_env.reports import matchup_card as card
    from fiveup_env.studies.endgame_study import of_match_up

    options: dict[str, Any] = {"max_rounds": max_rounds, "start": start, "precision": precision, "strict": strict}
    options |= {"processes": processes, "ray": ray, "folder": keep, "timeout": timeout}
    comparison = None
    try:
        before = None if against is None else cards.read_report(against)
        with progress_bar(f"{a} against {b}") as progress:
            result = play(a, b, players, matches, seed, **options, progress=progress)
        if record is not None:
            from fiveup_env.evaluation.match_recording import save_records

            for path, failure in save_records(result, a, b, record, records, timeout).items():
                if failure is not None:
                    print(f"{path} ends where the match was forfeited: {failure}", file=sys.stderr)
        command = command_line(sys.argv[1:])
        if report is not None:
            regret = None
            if endgame:
                with without_endgames(), progress_bar("endgames") as progress:
                    regret = of_match_up(result, a, b, endgame, progress)
            print(f"report: {card.write_report(result, report, command, regret)}", file=sys.stderr)
        if before is not None:
            comparison = cards.compare(before, card.as_json(result, command))
    except OSError as error:
        where = f"records to {record}" if report is None else f"the report to {report}"
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    if as_json:
        import json

        print(json.dumps(result.as_dict(), indent=2))
    else:
        from rich.console import Console

        from fiveup_env.reports.matchup_table import report as tables

        Console().print(tables(result))
        if comparison is not None:
            Console().print(cards.show(comparison))


evaluation_commands.register(app)


@app.command()
def analyse(
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of the match and of the sampled worlds.")],
    plies: Annotated[int, typer.Option(min=0, help="Look at the first decision after so many greedy actions.")] = 0,
    players: Annotated[int, typer.Option(min=2, max=4, help="Seats; four are two partnerships.")] = 4,
    worlds: Annotated[int, typer.Option(min=2, max=10**6, help="Deals that every action is played out in.")] = 2000,
) -> None:
    """Show what each legal action is worth, where the unseen tiles may be, and what the endgame solver says.

    Values and belief use what the seat to act sees; the solver looks at all hands.
    """
    from rich.console import Console

    from fiveup_env.play import analysis

    try:
        match = analysis.position(seed, plies, players)
    except ValueError as error:
        raise UsageError(str(error)) from error
    Console().print(analysis.show(analysis.analyse(match, worlds=worlds, seed=seed)))


@app.command()
def replay(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="A file that a recorder wrote.", show_default=False)],
    boards: Annotated[bool, typer.Option("--boards", help="Show the table after every move.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Verify only, print the last line.")] = False,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page to step through it.")] = None,
    think: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Write down what this agent thinks of every choice.")
    ] = None,
    worlds: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=10**6,
            help="Search values: every action in so many sampled deals.",
            show_default="200 with --think or --belief",
        ),
    ] = None,
    belief: Annotated[bool, typer.Option("--belief", help="Also what is known of the hidden hands.")] = False,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="Keep the record with these thoughts.")] = None,
    gif: Annotated[str | None, typer.Option(metavar="FILE", help="Write a film, .gif or (animated) .png.")] = None,
    seconds: Annotated[float, typer.Option(min=0.02, max=60, help="Of the film, for every move.")] = 1.0,
    width: Annotated[int, typer.Option(min=120, max=1920, help="Of the film, in pixels.")] = 640,
    theme: Annotated[str, typer.Option(help="Of the film: light or dark.")] = "light",
    seat: Annotated[
        int | None, typer.Option(min=0, max=3, help="The film shows what it sees.", show_default="all hands")
    ] = None,
    round_number: Annotated[
        int | None, typer.Option("--round", min=1, help="The film shows this round.", show_default="all")
    ] = None,
) -> None:
    """Verify a record of a match against the rules, line by line, and show it; as a page, as a film, with thoughts.

    Where it writes a file, the moves are not printed as well, unless --boards asks for them.
    """
    from fiveup_env.play.replay import Wishes, carry_out
    from fiveup_env.rendering.raster import RenderingError
    from fiveup_env.rendering.story import story

    read = _read_record(record)
    wishes = Wishes(think, worlds, belief, save, html, gif, seconds, width, theme, seat, round_number)
    try:
        with progress_bar("thinking") as progress:
            read = carry_out(read, wishes, progress)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror or error}") from error
    except (ValueError, RenderingError) as error:
        raise UsageError(str(error)) from error
    lines = list(story(read, boards))
    written = [file for file in (html, gif, save) if file is not None]
    print("\n".join(lines[-1:] if quiet or (written and not boards) else lines))
    for file in written:
        print(f"written: {file}", file=sys.stderr)


@app.command()
def play(
    agents: Annotated[
        list[str], typer.Argument(metavar="PLAYER...", help="For every seat: you, or an agent.", show_default=False)
    ],
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**64 - 1, help="Of the deals and of the agents.", show_default="a new one")
    ] = None,
    practice: Annotated[bool, typer.Option("--practice", help="Moves can be taken back.")] = False,
    hints: Annotated[str, typer.Option(metavar="AGENT", help="Who is asked for hints.")] = "pimc",
    record: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep a record of the match.", show_default="with --web one in matches/"),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="On a page in the browser instead of in the terminal.")] = False,
    host: Annotated[str, typer.Option(help="With --web: the address to serve at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --web: the port; 0 takes a free one.")] = 8061,
) -> None:
    """Play against and with agents: `fiveup play you greedy`, or four players for two partnerships."""
    from fiveup_env.play.terminal import play_with
    from fiveup_env.play.web.web_command import serve

    if not 2 <= len(agents) <= 4:
        raise UsageError(f"two to four players sit at the table, not {len(agents)}: fiveup play you greedy")
    options: dict[str, Any] = {"seed": seed, "practice": practice, "hints": hints, "record": record}
    try:
        if web:
            serve(agents, **options, host=host, port=port)
        else:
            play_with(agents, **options)
    except OSError as error:
        raise UsageError(f"cannot write {record or 'the record'}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(str(error)) from error


def _read_record(path: str) -> Record:
    from fiveup_env.records import RecordError, read_record

    try:
        return read_record(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except RecordError as error:
        raise UsageError(f"{path}, {error}") from error


@app.command()
def train(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of a shipped one.")],
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the run.", show_default="runs/ and the config's name")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in that folder.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, max=2**32 - 1, help="In place of the config's.")] = None,
) -> None:
    """Train an agent as a config says, with the script in `training` that it names, and evaluate it."""
    from fiveup_env.system.training_scripts import ConfigError
    from fiveup_env.system.training_scripts import train as run_script

    try:
        run_script(config, out=out, resume=resume, seed=seed)
    except ConfigError as error:
        raise UsageError(str(error)) from error


@app.command()
def bench(
    players: Annotated[int, typer.Option(min=2, max=4, help="Seats; four are two partnerships.")] = 4,
    quick: Annotated[bool, typer.Option("--quick", help="Few sizes, short turns, no training: for CI.")] = False,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Numbers of matches.", show_default="1,64,1024,16384"),
    ] = None,
    large: Annotated[bool, typer.Option("--large", help="With 262,144 matches too (some gigabytes).")] = False,
    turns: Annotated[int | None, typer.Option(min=1, max=1000, help="Turns of every case.", show_default="7")] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.001, max=60, help="Length of a turn.", show_default="0.2")
    ] = None,
    cpu: Annotated[
        bool, typer.Option("--cpu-time", help="Count the time of the CPU alone: for a machine that others use too.")
    ] = False,
    peers: Annotated[bool, typer.Option("--peers", help="The same loop on other libraries that are there.")] = False,
    compiling: Annotated[
        bool, typer.Option("--compile", help="How long the first use takes, with no kernel compiled before and after.")
    ] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write all figures there too.")] = None,
    soak: Annotated[
        int | None,
        typer.Option(min=1, metavar="STEPS", help="Instead: so many steps per number of players, with checks."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of the soak.")] = 0,
) -> None:
    """Measure speed, memory and shares of the time, beside a memory copy and other libraries; or soak the rules."""
    from fiveup_env.benchmarks import bench as command

    clock = "cpu" if cpu else "wall"
    given = {"turns": turns, "seconds": seconds, "clock": clock, "peers": peers, "compiling": compiling}
    try:
        if soak is not None:
            command.bench_soak(soak, seed, progress_bar)
        else:
            command.bench_speed(players, command.checked_sizes(sizes, large), quick, given, json, progress_bar)
    except command.BenchError as error:
        raise UsageError(str(error)) from error


@app.command()
def info() -> None:
    """Show versions, the folder of compiled kernels, and the agents there are."""
    from rich.console import Console

    from fiveup_env.cli.diagnostics import overview

    Console().print(overview())


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 2 for bad input (one line on stderr), 130 for Ctrl-C."""
    try:
        code = app(args=list(arguments) or ["--help"], prog_name="fiveup", standalone_mode=False) or 0
    except ClickError as error:
        print(f"fiveup: {' '.join(error.format_message().split())}", file=sys.stderr)
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    if code == INTERRUPTED:  # some releases of typer return it, others raise
        print("fiveup: interrupted", file=sys.stderr)
    return int(code)


def main() -> None:
    """The console script. Modules in the current folder can be named as agents, as with `python -m`."""
    sys.path.append(os.getcwd())
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
