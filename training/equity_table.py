"""Match-equity tables of the search agents: the win probability at the start of a round.

    python -m training.equity_table [--rounds 4000] [--seed 0] [--out FILE]

For every combination of points to go, greedy players play one round of each of the same deals, opened by side 0 (seat
0). This gives, for every state, the share of rounds that win the match and the following states. Value iteration then
gives the win probabilities. All states use the same deals, so neighbouring entries do not differ by luck and need no
smoothing. Two players and two partnerships have an entry for every pair of points. Three players have a grid that is
dense near the target, with interpolation between its points.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fiveup_env.agents.search.equity import LONGEST, TABLES, improve_chances, play_rounds, unfold
from fiveup_env.rules.record import Variant, new_games

FULL_GRID = np.arange(1, LONGEST + 1)
THREE_GRID = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29, 36, 46, 61])


def grid_of(num_players: int) -> np.ndarray:
    """Return the points to go that have an entry."""
    return THREE_GRID if num_players == 3 else FULL_GRID


def make_table(num_players: int, rounds: int, seed: int) -> np.ndarray:
    """Return win probabilities, float64 [grid, ..., sides], by points to go, clockwise from the opener's side."""
    variant, grid = Variant(num_players), grid_of(num_players)
    sides = variant.num_sides
    games = new_games(1, variant)
    to_go = np.stack(np.meshgrid(*[grid] * sides, indexing="ij"), -1).reshape(-1, sides).astype(np.int64)
    ends = np.empty((len(to_go), rounds, sides + 2), np.int16)
    play_rounds(games, to_go, np.uint64(seed), ends)
    chances = np.full((len(to_go), sides), 1 / sides)
    while True:
        table = unfold(chances.reshape(*[len(grid)] * sides, sides), grid)
        better = np.empty_like(chances)
        improve_chances(games, ends, table, better)
        if np.abs(better - chances).max() < 1e-6:
            return better.reshape(*[len(grid)] * sides, sides)
        chances = better


def stored(chances: np.ndarray) -> np.ndarray:
    """Return the probabilities in steps of 1 / 65535, uint16; every row still adds up to one."""
    steps = np.rint(chances * 65535)
    steps[..., -1] = 65535 - steps[..., :-1].sum(-1)
    return np.clip(steps, 0, 65535).astype(np.uint16)


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Number of deals per state.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of the deals.")] = 0,
    out: Annotated[Path, typer.Option(help="File to write.")] = TABLES,
) -> None:
    """Write the match-equity tables for 2, 3 and 4 players."""
    arrays = {}
    for num_players in (2, 3, 4):
        chances = make_table(num_players, rounds, seed)
        arrays[f"players_{num_players}"] = stored(chances)
        arrays[f"grid_{num_players}"] = grid_of(num_players).astype(np.int16)
        at_start = ", ".join(f"{chance:.3f}" for chance in chances[(-1,) * (chances.ndim - 1)])
        print(f"{num_players} players: {chances[..., 0].size:,} states, win probabilities at 0 : 0: {at_start}")
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, **arrays)
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
