"""The tables of `fiveup bench`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fiveup_env.benchmarks.bench import Bench
from fiveup_env.benchmarks.timing import Speed
from fiveup_env.benchmarks.training_share import BATCH, EPOCHS, NETWORK, Shares


def speed_text(value: float) -> str:
    """Steps per second with three figures: `12.3 M`."""
    for unit, name in ((1e6, "M"), (1e3, "k"), (1.0, "")):
        if value >= unit:
            scaled = value / unit
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {name}".rstrip()
    return f"{value:.2f}"


def report(bench: Bench) -> RenderableType:
    """All of it, for the terminal."""
    return Group(*_parts(bench))


def _parts(bench: Bench) -> Iterator[RenderableType]:
    plan = bench.plan
    yield Text(", ".join(f"{name} {value}" for name, value in bench.machine.items()))
    yield Text(
        f"{plan.num_players} players, uniformly random legal actions, choosing them included; agent-steps per second, "
        f"median and range of {plan.turns} turns of {plan.seconds:g} s, the cases of a table in turn; "
        + ("seconds of one thread's CPU time but where several work" if plan.clock == "cpu" else "wall clock")
    )
    for title, speeds in bench.groups.items():
        yield _speeds(title, speeds)
    yield _memory(bench)
    if bench.shares:
        yield _training(bench.shares)
    if bench.first_use:
        yield _first_use(bench)
    if bench.ratios:
        yield _ratios(bench)
    for line in bench.missing:
        yield Text(f"left out: {line}")


def _speeds(title: str, speeds: list[Speed]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for name in ("steps/s", "from", "to", "ns/step", "bytes/step", "GB/s"):
        table.add_column(name, justify="right")
    for speed in speeds:
        low, high = speed.spread
        written = speed.facts.get("bytes")
        table.add_row(
            speed.name,
            speed_text(speed.median),
            speed_text(low),
            speed_text(high),
            f"{1e9 / speed.median:.1f}" if speed.median > 1e5 else f"{1e9 / speed.median:,.0f}",
            f"{written:,}" if written else "",
            f"{written * speed.median / 1e9:.1f}" if written else "",
        )
    return table


def _memory(bench: Bench) -> Table:
    table = Table(title="memory", title_justify="left", show_header=False)
    for name, value in bench.memory.items():
        table.add_row(name, f"{value:,.0f} bytes")
    return table


def _training(shares: Shares) -> Table:
    title = (
        f"an iteration of MaskablePPO: {shares.matches:,} matches × {shares.steps} steps, network {NETWORK[0]} × "
        f"{NETWORK[1]}, {EPOCHS} epochs of batches of {BATCH:,}, one thread; {speed_text(shares.samples_per_second)} "
        "samples/s"
    )
    table = Table(title=title, title_justify="left", show_header=False)
    for part in shares.seconds:
        table.add_row(part, f"{shares.share(part):.1%}")
    table.add_row("collection without network", f"{shares.share('environment', 'rest of the collection'):.1%}")
    return table


def _first_use(bench: Bench) -> Table:
    table = Table(title="first use, in seconds, process and imports included", title_justify="left")
    table.add_column("what")
    table.add_column("empty cache", justify="right")
    table.add_column("full cache", justify="right")
    for name, (cold, warm) in bench.first_use.items():
        table.add_row(name, f"{cold:.2f}", f"{warm:.2f}")
    return table


def _ratios(bench: Bench) -> Table:
    table = Table(title="ratios, each the median over turns", title_justify="left", show_header=False)
    for name, value in bench.ratios:
        table.add_row(name, f"{value:.2f}" if value < 10 else f"{value:,.0f}")
    return table
