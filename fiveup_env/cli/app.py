"""The command `fiveup`. Commands parse arguments; the work is imported when a command runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from fiveup_env.cli import evaluation_commands
from fiveup_env.cli.console import MAX_SEED, ClickError, Players, UsageError, overview, progress_bar, show, usage_errors

if TYPE_CHECKING:
    from fiveup_env.records import Record

INTERRUPTED = 130  # exit code of shells after Ctrl-C

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        from fiveup_env import __version__

        print(f"fiveup-env {__version__}")
        raise typer.Exit


@app.callback()
def _fiveup(
    version: Annotated[
        bool, Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Exact 61 Five Up: train, evaluate and watch agents."""


def analyse_command(
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the match and of the sampled worlds.")],
    plies: Annotated[int, Option(min=0, help="Analyse the first decision after this number of greedy actions.")] = 0,
    players: Players = 4,
    worlds: Annotated[
        int, Option(min=2, max=10**6, help="Number of sampled deals in which every action is played out.")
    ] = 2000,
) -> None:
    """Show the value of each legal action, the places of the unseen tiles, and the endgame solution of a position.

    Values and belief use the view of the seat to act; the solver uses all hands.
    """
    from fiveup_env.play.analysis import analyse, analysis_report, position_of_seed

    with usage_errors():
        match = position_of_seed(seed, plies, players)
    show(analysis_report(analyse(match, worlds=worlds, seed=seed)))


def replay_command(
    record: Annotated[str, Argument(metavar="RECORD", help="Record file of a match.", show_default=False)],
    boards: Annotated[bool, Option("--boards", help="Show the table after every move.")] = False,
    quiet: Annotated[bool, Option("--quiet", help="Verify the record and print the last line only.")] = False,
    html: Annotated[str | None, Option(metavar="FILE", help="Write a page to FILE to step through the match.")] = None,
    think: Annotated[
        str | None, Option(metavar="AGENT", help="Add this agent's probabilities and values to every decision.")
    ] = None,
    worlds: Annotated[
        int | None,
        Option(
            min=0,
            max=10**6,
            help="Number of sampled deals for search values of every action; 0 for no values.",
            show_default="200 with --think or --belief",
        ),
    ] = None,
    belief: Annotated[bool, Option("--belief", help="Add where the hidden tiles may be to every decision.")] = False,
    save: Annotated[
        str | None, Option(metavar="FILE", help="Write the record with the added thoughts to FILE.")
    ] = None,
    gif: Annotated[
        str | None, Option(metavar="FILE", help="Write a film to FILE (.gif, or .png for an animated PNG).")
    ] = None,
    seconds: Annotated[float, Option(min=0.02, max=60, help="Seconds per move of the film.")] = 1.0,
    width: Annotated[int, Option(min=120, max=1920, help="Width of the film in pixels.")] = 640,
    theme: Annotated[str, Option(help="Theme of the film: light or dark.")] = "light",
    seat: Annotated[
        int | None, Option(min=0, max=3, help="Seat whose view the film shows.", show_default="all hands")
    ] = None,
    round_number: Annotated[
        int | None, Option("--round", min=1, help="Round that the film shows.", show_default="all rounds")
    ] = None,
) -> None:
    """Verify a record of a match against the rules, line by line, and show it as text, page or film.

    The moves are printed unless a file is written; --boards prints them in any case.
    """
    from fiveup_env.play.thoughts import write_replay
    from fiveup_env.rendering.render_modes import RenderingError
    from fiveup_env.rendering.replays import story

    files = {"html": html, "gif": gif, "save": save}
    shown: dict[str, Any] = {
        "seconds": seconds,
        "width": width,
        "theme": theme,
        "seat": seat,
        "round_number": round_number,
    }
    read = _read_record(record)
    try:
        with usage_errors(), progress_bar("thinking") as progress:
            read = write_replay(read, progress, think=think, worlds=worlds, belief=belief, **files, **shown)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror or error}") from error
    except RenderingError as error:
        raise UsageError(str(error)) from error
    lines = list(story(read, boards))
    written = [file for file in files.values() if file is not None]
    print("\n".join(lines[-1:] if quiet or (written and not boards) else lines))
    for file in written:
        print(f"written: {file}", file=sys.stderr)


def _read_record(path: str) -> Record:
    from fiveup_env.records import RecordError, read_record

    try:
        return read_record(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except RecordError as error:
        raise UsageError(f"{path}, {error}") from error


def play_command(
    agents: Annotated[
        list[str], Argument(metavar="PLAYER...", help="Player of each seat: you, or an agent.", show_default=False)
    ],
    seed: Annotated[
        int | None,
        Option(min=0, max=MAX_SEED, help="Seed of the deals and of the agents.", show_default="a random one"),
    ] = None,
    practice: Annotated[bool, Option("--practice", help="Allow moves to be taken back.")] = False,
    hints: Annotated[
        str, Option(metavar="AGENT", help="Agent whose opinion hints show next to search values.")
    ] = "pimc",
    record: Annotated[
        str | None,
        Option(
            metavar="FILE", help="Write a record of the match to FILE.", show_default="with --web a file in matches/"
        ),
    ] = None,
    web: Annotated[bool, Option("--web", help="Play on a page in the browser instead of the terminal.")] = False,
    host: Annotated[str, Option(help="Address to serve the page at (with --web).")] = "127.0.0.1",
    port: Annotated[
        int, Option(min=0, max=65535, help="Port to serve the page at (with --web); 0 for a free one.")
    ] = 8061,
) -> None:
    """Play against and with agents: `fiveup play you greedy`, or four players for two partnerships."""
    from fiveup_env.play.terminal import play_with
    from fiveup_env.play.web.web_command import serve

    if not 2 <= len(agents) <= 4:
        raise UsageError(f"a table has two to four players, not {len(agents)}: fiveup play you greedy")
    options: dict[str, Any] = {"seed": seed, "practice": practice, "hints": hints, "record": record}
    with usage_errors(record or "the record"):
        if web:
            serve(agents, **options, host=host, port=port)
        else:
            play_with(agents, **options)


def train_command(
    config: Annotated[
        str, Argument(metavar="CONFIG", help="Training config: a YAML file, or the name of a shipped one.")
    ],
    out: Annotated[
        str | None,
        Option(metavar="DIR", help="Folder of the training run.", show_default="runs/ and the config's name"),
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Continue from the last checkpoint in the folder of the run.")
    ] = False,
    seed: Annotated[int | None, Option(min=0, max=2**32 - 1, help="Seed that replaces the config's.")] = None,
) -> None:
    """Train an agent with the script that the config names, and evaluate it."""
    from fiveup_env.system.training_scripts import ConfigError, train

    try:
        train(config, out=out, resume=resume, seed=seed)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def bench_command(
    players: Players = 4,
    quick: Annotated[bool, Option("--quick", help="Measure few sizes in short turns without training.")] = False,
    sizes: Annotated[
        str | None, Option(metavar="N,N", help="Numbers of matches per batch.", show_default="1,64,1024,16384")
    ] = None,
    large: Annotated[
        bool, Option("--large", help="Also measure 262,144 matches per batch (needs some gigabytes).")
    ] = False,
    turns: Annotated[int | None, Option(min=1, max=1000, help="Number of turns per case.", show_default="7")] = None,
    seconds: Annotated[float | None, Option(min=0.001, max=60, help="Seconds per turn.", show_default="0.2")] = None,
    cpu: Annotated[
        bool, Option("--cpu-time", help="Measure CPU time instead of wall time, for a shared machine.")
    ] = False,
    peers: Annotated[
        bool, Option("--peers", help="Also run the same loop on other libraries that are installed.")
    ] = False,
    compiling: Annotated[
        bool, Option("--compile", help="Also measure the first use with an empty and with a warm kernel cache.")
    ] = False,
    json: Annotated[str | None, Option(metavar="FILE", help="Write all figures to FILE as JSON.")] = None,
    soak: Annotated[
        int | None,
        Option(min=1, metavar="STEPS", help="Check the rules for STEPS steps per number of players instead."),
    ] = None,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the matches of --soak.")] = 0,
) -> None:
    """Measure speed, memory and time shares next to a memory copy and other libraries, or soak the rules."""
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


def info_command() -> None:
    """Show versions, the folder of compiled kernels, and the agents."""
    show(overview())


for _command in (
    evaluation_commands.evaluate_command,
    evaluation_commands.compare_command,
    evaluation_commands.tournament_command,
    evaluation_commands.crossplay_command,
    evaluation_commands.endgame_command,
    evaluation_commands.exploit_command,
    evaluation_commands.exploitability_command,
    evaluation_commands.variance_command,
    analyse_command,
    replay_command,
    play_command,
    train_command,
    bench_command,
    info_command,
):
    app.command(_command.__name__.removesuffix("_command"))(_command)


def run_fiveup(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 2 for bad input (one line on stderr), 130 for Ctrl-C."""
    try:
        code = app(args=list(arguments) or ["--help"], prog_name="fiveup", standalone_mode=False) or 0
    except ClickError as error:
        print(f"fiveup: {' '.join(error.format_message().split())}", file=sys.stderr)
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    if code == INTERRUPTED:  # some releases of typer return the code, others raise
        print("fiveup: interrupted", file=sys.stderr)
    return int(code)


def main() -> None:
    """Entry point of `fiveup`. Modules in the current folder can be named as agents, as with `python -m`."""
    sys.path.append(os.getcwd())
    sys.exit(run_fiveup(sys.argv[1:]))


if __name__ == "__main__":
    main()
