"""Check random rounds on the plane and print their sizes, for docs/rendering.md.

python -m tests.rendering.survey ROUNDS            checks ROUNDS rounds per number of players and prints the table
python -m tests.rendering.survey ROUNDS FOLDER     also draws the ten most extreme layouts in FOLDER
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fiveup_env.rendering.geometry import FRAME, Plane, TablePlan
from fiveup_env.rendering.render_modes import png
from fiveup_env.rendering.scene_svg import board_svg
from fiveup_env.rules.layout import Layout
from tests.rendering.layouts import check, rounds

EXTREMES = 10


@dataclass(order=True)
class Extreme:
    """A layout, ordered by its size relative to the frame in which lines turn."""

    beyond: float
    number: int  # of the round; breaks ties
    layout: Layout = field(compare=False)
    plan: TablePlan = field(compare=False)
    num_players: int = field(compare=False)


def statistics(num_players: int, count: int, seed: int = 0, extremes: list[Extreme] | None = None) -> np.ndarray:
    """Width, height, tiles and searches of checked random rounds, int64 [count, 4]; collects the most extreme."""
    measured = []
    for number, layout in enumerate(rounds(num_players, count, seed)):
        plane = Plane(layout)
        for level in range(len(layout.tiles)):
            plane.add(level)
        plan = plane.plan()
        check(layout, plan)
        measured.append((plan.box.width, plan.box.height, len(layout.tiles), plane.searches))
        if extremes is not None:
            beyond = max(plan.box.width / FRAME[0], plan.box.height / FRAME[1])
            heapq.heappush(extremes, Extreme(beyond, -number, layout, plan, num_players))
            if len(extremes) > EXTREMES:
                heapq.heappop(extremes)
    return np.array(measured)


def table(count: int, extremes: list[Extreme]) -> str:
    """Table for the docs; sizes in tile lengths (4 units)."""
    rows = ["| players | tiles: mean, max | width: mean, 99%, max | height: mean, 99%, max | tiles moved in |"]
    rows.append("| --- " * 5 + "|")
    for num_players in (2, 3, 4):
        width, height, tiles, searches = statistics(num_players, count, extremes=extremes).T
        sizes = [f"{v.mean():.1f}, {np.percentile(v, 99):.1f}, {v.max():.1f}" for v in (width / 4, height / 4)]
        share = f"{(searches > 0).mean():.2%} of rounds"
        rows.append(f"| {num_players} | {tiles.mean():.1f}, {tiles.max()} | {sizes[0]} | {sizes[1]} | {share} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows)


def draw(extremes: list[Extreme], folder: Path) -> None:
    """Draw one PNG per layout, the most extreme first."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, extreme in enumerate(sorted(extremes, reverse=True), 1):
        name = f"{number:02}-{extreme.num_players}-players-round-{-extreme.number}.png"
        (folder / name).write_bytes(png(board_svg(extreme.layout, width=10**6), width=960))


def main(arguments: Sequence[str]) -> None:
    """Run the command line."""
    extremes: list[Extreme] = []
    print(table(int(arguments[0]), extremes))
    if len(arguments) > 1:
        draw(extremes, Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
