"""Makes the match-equity tables that search agents use: the chance to win a match from the start of a round.

    python -m training.equity_table [--rounds 4000] [--seed 0] [--out fiveup_env/agents/data/equity.npz]

From every combination of points to go, the same deals are played for one round each by greedy players, side 0 (seat 0)
opening. That gives for every state the share of rounds that win the match and the states it goes on from; the chances
then follow from one another (value iteration). Because all states see the same deals, neighbouring entries differ by
what the points make of it and not by luck, so nothing needs smoothing afterwards. Two players and two partnerships
have an entry for every pair of points; three players have a grid that is dense near the target, and interpolation
in between.
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
    """Points to go that have entries of their own."""
    return THREE_GRID if num_players == 3 else FULL_GRID


def make_table(num_players: int, rounds: int, seed: int) -> np.ndarray:
    """Chances of every side, float64 [grid, ..., sides], by the points to go of the opener's side and the next ones."""
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
    """In steps of 1 / 65535, uint16; every row still adds up to one."""
    steps = np.rint(chances * 65535)
    steps[..., -1] = 65535 - steps[..., :-1].sum(-1)
    return np.clip(steps, 0, 65535).astype(np.uint16)


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Deals for every state.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of the deals.")] = 0,
    out: Annotated[Path, typer.Option(help="The file to write.")] = TABLES,
) -> None:
    """Make the match-equity tables for 2, 3 and 4 players."""
    arrays = {}
    for num_players in (2, 3, 4):
        chances = make_table(num_players, rounds, seed)
        arrays[f"players_{num_players}"] = stored(chances)
        arrays[f"grid_{num_players}"] = grid_of(num_players).astype(np.int16)
        at_start = ", ".join(f"{chance:.3f}" for chance in chances[(-1,) * (chances.ndim - 1)])
        print(
            f"{num_players} players: {chances[..., 0].size:,} states, chances at 0 : 0 from the opener on: {at_start}"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, **arrays)
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
