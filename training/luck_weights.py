"""Fit of the value function of the luck control variate (`fiveup_env.evaluation.luck`) on greedy self-play.

    python -m training.luck_weights [--rounds 200000] [--seed 7] [--out fiveup_env/evaluation/data/luck.npz]

Greedy players play single rounds from scores drawn uniformly from 0 to 60. The result of each side is regressed on the
deal, on the value of drawn tiles above its expectation, and on the opener. All regressors have mean zero for any
players, so the fit affects the variance only, not the mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fiveup_env.agents.baseline_kernels import GREEDY
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.evaluation.behaviour_kernels import new_counts
from fiveup_env.evaluation.luck import DRAW_POINTS, FEATURES, WEIGHTS, ValueFunction, new_luck
from fiveup_env.evaluation.match_plan import DEALS, POLICIES, MatchPlan
from fiveup_env.evaluation.match_play_kernels import Observers, play_kernels, start_matches
from fiveup_env.rules.record import RAW_PER_POINT, new_games
from fiveup_env.rules.tiles import NUM_TILES

CHUNK = 50_000


def leads(scores: np.ndarray) -> np.ndarray:
    """Return the display points of every side above the mean of the others, float64 [N, sides]."""
    points = scores.astype(np.float64) / RAW_PER_POINT
    sides = points.shape[1]
    return (points - points.mean(1, keepdims=True)) * sides / (sides - 1)


def rounds_of(plan: MatchPlan) -> tuple[np.ndarray, np.ndarray]:
    """Play the rounds of a plan; returns regressors float64 [N, sides, X] and leads float64 [N, sides].

    Sides follow clockwise from the opener's. The regressors are one indicator per seat and dealt tile, the features of
    the side's draws minus those of the others, and an indicator of the opener.
    """
    sides, players, n = plan.sides, plan.num_players, plan.deals
    rows, scores, table = np.arange(n), plan.scores(), shipped_table(players)
    no_deal = np.zeros((sides, players, NUM_TILES))
    opener_first = np.empty((n, sides), np.int64)
    places, drawn = np.zeros((n, players, NUM_TILES)), np.zeros((n, sides, len(FEATURES)))
    for f in range(len(FEATURES)):
        unit = np.zeros(len(FEATURES) + 1)
        unit[f] = 1
        games, luck = new_games(n, plan.variant), new_luck(n)
        observers = Observers(ValueFunction(no_deal, unit, table), luck, new_counts(n))
        start_matches(games, rows, plan.seeds(DEALS), scores, observers)
        openers = games["opener"].astype(np.int64)
        for k in range(players):
            hands = games["hands"][rows, (openers + k) % players]
            places[:, k] = hands[:, None] >> np.arange(NUM_TILES, dtype=np.uint32) & 1
        opener_first[:] = (openers % sides)[:, None] + np.arange(sides)
        opener_first %= sides
        play_kernels(games, np.full(4, GREEDY), plan.seeds(POLICIES), 1, observers)
        drawn[:, :, f] = luck[rows[:, None], DRAW_POINTS, opener_first]
    gained = leads(games["scores"][:, :sides]) - leads(scores[:, :sides])
    per_side = np.repeat(places.reshape(n, 1, -1), sides, 1)
    return np.concatenate([per_side, drawn], 2), gained[rows[:, None], opener_first]


def fit_value_function(num_players: int, rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights of the deal [sides, players, 28], of draws and lot [F + 1], and the explained variance share."""
    whole = MatchPlan(num_players, rounds, seed, 1, (0, 60))
    sides, cells, features = whole.sides, num_players * NUM_TILES, len(FEATURES)
    # One system: weights of the deal are per side, weights of draws are shared; the constants belong to the lot.
    size = sides * cells + features + sides
    left, right, square = np.zeros((size, size)), np.zeros(size), 0.0
    for first in range(0, rounds, CHUNK):
        x, y = rounds_of(whole.part(first, min(CHUNK, rounds - first)))
        for j in range(sides):
            columns = np.r_[j * cells : (j + 1) * cells, sides * cells : sides * cells + features, size - sides + j]
            xj = np.concatenate([x[:, j], np.ones((len(x), 1))], 1)
            left[np.ix_(columns, columns)] += xj.T @ xj
            right[columns] += xj.T @ y[:, j]
        square += float((y**2).sum())
    solution = np.linalg.lstsq(left, right, rcond=1e-10)[0]
    deal = solution[: sides * cells].reshape(sides, num_players, NUM_TILES)
    lot = solution[size - sides] + deal[0].mean(1).sum() * 5
    draw = np.append(solution[sides * cells : sides * cells + features], lot)
    return deal - deal.mean(2, keepdims=True), draw, float(solution @ right / square)


def main(
    rounds: Annotated[int, typer.Option(min=1000, help="Rounds per number of players.")] = 200_000,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of the deals.")] = 7,
    out: Annotated[Path, typer.Option(help="File to write.")] = WEIGHTS,
) -> None:
    """Fit the value function for 2, 3 and 4 players."""
    arrays = {}
    for num_players in (2, 3, 4):
        deal, draw, share = fit_value_function(num_players, rounds, seed)
        arrays |= {f"deal_{num_players}": deal.astype(np.float32), f"draw_{num_players}": draw.astype(np.float32)}
        named = ", ".join(f"{name} {worth:+.2f}" for name, worth in zip((*FEATURES, "opening"), draw, strict=True))
        print(f"{num_players} players: {100 * share:.1f}% of the variance of a round; {named}")
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out, **arrays)
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
