"""Time of the exact belief. ``python -m tests.belief.belief_speed [positions]`` prints a table.

Positions are random: a moment in the middle of a round (20% to 80% of its actions), a seat that does not know it.
Play is uniformly random ("random"), or such that few pip counts stay open and much is drawn ("closing"). Every time is
the best of five calls from Python, so it holds the call's overhead but not that of other work on the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fiveup_env.belief import exact_belief
from fiveup_env.belief.deal_counts import new_beliefs, new_cells
from fiveup_env.rules.record import Variant
from fiveup_env.views.view import View
from tests.belief.brute_force import random_position

SAMPLES = 200
COLUMNS = ("set-up", "marginals", "a sample", "cells")


def best_of(call: Callable[..., object], *arguments: Any) -> float:
    """Microseconds of the fastest of five calls."""
    spent = []
    for _ in range(5):
        start = time.perf_counter_ns()
        call(*arguments)
        spent.append(time.perf_counter_ns() - start)
    return min(spent) / 1000


def measure(num_players: int, tries: int, positions: int) -> np.ndarray:
    """Per position: set-up, marginals, one sample (microseconds), and the size of the table."""
    rng = np.random.default_rng(num_players)
    beliefs, cells = new_beliefs(1), new_cells()
    places = np.zeros((num_players + 1, 28), np.int64)
    rows = []
    for seed in range(positions):
        position = random_position(Variant(num_players), seed, float(rng.uniform(0.2, 0.8)), tries)
        seat = int(rng.integers(num_players))
        games = View(position.now[0], seat).views.games
        worlds = np.repeat(games, SAMPLES)
        setup = best_of(exact_belief._prepare, games, seat, beliefs, cells)
        assert exact_belief._prepare(games, seat, beliefs, cells)
        marginals = best_of(exact_belief._count_places, games, beliefs, cells, places)
        sample = best_of(exact_belief._sample, beliefs, cells, worlds, np.uint64(1)) / SAMPLES
        used = (int(beliefs["num_tiles"][0]) + 3) * int(beliefs["num_states"][0])
        rows.append((setup, marginals, sample, used))
    return np.array(rows)


def main() -> None:
    positions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for num_players in (4, 3, 2):
        for play, tries in (("random", 1), ("closing", 3)):
            table = measure(num_players, tries, positions)
            median, high = np.percentile(table, [50, 99], axis=0)
            figures = (f"{c} {m:.2f} / {h:.2f}" for c, m, h in zip(COLUMNS, median, high, strict=True))
            print(
                f"{num_players} players, {play}: median / 99% of {', '.join(figures)}, largest {table[:, 3].max():.0f}"
            )


if __name__ == "__main__":
    main()
