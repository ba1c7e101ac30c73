"""Fit of the weights of the kernel policy `heuristic` to the values that `pimc` gives to placements.

    python -m training.heuristic_weights [--positions 12000] [--worlds 256] [--seed 0] [--out ...heuristic_weights.py]

For each number of players, positions come from matches that `pimc` plays against itself. A tenth of the actions are
random, and half of the matches start from random scores. In each position, greedy players play out every legal
placement in the same sampled worlds; its value is the difference of scores. The weights are the least-squares fit of
the differences between the placements of a position; noisy positions have lower weight. Neither the player nor the
teacher uses the weights, so the result does not depend on the shipped ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fiveup_env.agents import heuristic
from fiveup_env.agents.heuristic import FEATURES, rate
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.evaluation.match_play_kernels import take_choices
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.record import MAX_PLAYERS, PLAYING, RAW_PER_POINT, Variant, deal_matches, new_games
from fiveup_env.views.view import View, Views

OUT = Path(heuristic.__file__).with_name("heuristic_weights.py")
HEADER = '''"""Weights of the policy `heuristic`; written by `python -m training.heuristic_weights`, not by hand."""
'''
DOCSTRING = '"""Number of players -> display points for each of `heuristic.FEATURES`."""'
LANES = 64
LATE_SHARE = 0.5  # share of matches that start from random scores, so that overshoots occur (R6.1)
RANDOM_SHARE = 0.1
ASKED_SHARE = 0.15  # share of the positions used, because neighbouring positions are similar
RESIDUE = 0.3  # variance in display points that the linear model leaves, without the variance of the labels


@entry
def _features(games: np.ndarray, actions: np.ndarray, out: np.ndarray) -> None:
    """Write the features of each action to `out`, float64 [len(actions), features]."""
    worths = np.zeros(len(actions))
    for i in range(out.shape[1]):
        weights = np.zeros((5, out.shape[1]))
        weights[:, i] = 1.0
        rate(games[0], weights, actions, len(actions), worths)
        out[:, i] = worths


def features_of(view: View, actions: list[int]) -> np.ndarray:
    """Return features of placements, float64 [actions, features]."""
    out = np.empty((len(actions), len(FEATURES)))
    _features(view.views.games, np.array(actions, np.int64), out)
    return out


def sampled_positions(num_players: int, count: int, rng: np.random.Generator) -> list[View]:
    """Return views with at least two placements, from self-play of `pimc` with some random actions."""
    player, found = PIMC(worlds=32, near=0, prior=0), list[View]()
    games, over = new_games(LANES, Variant(num_players)), np.arange(LANES)
    while len(found) < count:
        deal_matches(games, over, rng.integers(0, 2**64, len(over), np.uint64))
        late = over[rng.random(len(over)) < LATE_SHARE]
        games["scores"][late] = RAW_PER_POINT * rng.integers(0, 61, (len(late), MAX_PLAYERS))
        views = Views(games, games["turn"].astype(np.int64))
        actions = player.act_many(views, rng.integers(0, 2**64, LANES, np.uint64))
        legal = [np.flatnonzero(mask) for mask in views.observe(np.uint8)[1]]
        for lane in range(LANES):
            if len(legal[lane]) > 1 and rng.random() < ASKED_SHARE:
                found.append(views[lane])
            if rng.random() < RANDOM_SHARE:
                actions[lane] = rng.choice(legal[lane])
        take_choices(games, np.arange(LANES), actions, 0)
        over = np.flatnonzero(games["phase"] != PLAYING)
    return found[:count]


def labelled(views: list[View], worlds: int, rng: np.random.Generator) -> tuple[list[np.ndarray], ...]:
    """Return, per position, features [actions, features], values in display points and squared errors [actions].

    Features and values are relative to the mean over the actions of the position.
    """
    teacher = PIMC(near=0, equity=False)
    features, values, errors = [], [], []
    for view in views:
        actions, outcomes = teacher.outcomes(view, int(rng.integers(2**63)), worlds)
        parts, points = features_of(view, actions), outcomes / RAW_PER_POINT
        points -= points.mean(1, keepdims=True)
        features.append(parts - parts.mean(0))
        values.append(points.mean(0))
        errors.append(points.var(0) / worlds)
    return features, values, errors


def fit_weights(features: list[np.ndarray], values: list[np.ndarray], errors: list[np.ndarray]) -> np.ndarray:
    """Return weights by ridge regression, float64 [features]; features that never occur get 0."""
    share = np.concatenate([np.full(len(error), 1 / (RESIDUE + error.mean())) for error in errors])
    parts, points = np.concatenate(features), np.concatenate(values)
    weighted = parts * share[:, None]
    return np.linalg.solve(weighted.T @ parts + np.eye(len(FEATURES)), weighted.T @ points)


def regret(weights: np.ndarray, features: list[np.ndarray], values: list[np.ndarray]) -> float:
    """Return the mean loss in display points of the placement with the highest score."""
    lost = [value.max() - value[(part @ weights).argmax()] for part, value in zip(features, values, strict=True)]
    return float(np.mean(lost))


def main(
    positions: Annotated[int, typer.Option(min=8, help="Positions per number of players.")] = 12000,
    worlds: Annotated[int, typer.Option(min=2, help="Playouts per placement.")] = 256,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of positions and playouts.")] = 0,
    out: Annotated[Path, typer.Option(help="Module to write.")] = OUT,
) -> None:
    """Fit the weights for 2, 3 and 4 players."""
    rows = []
    for num_players in (2, 3, 4):
        rng = np.random.default_rng([seed, num_players])
        data = labelled(sampled_positions(num_players, positions, rng), worlds, rng)
        held_out = positions // 4
        weights = fit_weights(*(part[held_out:] for part in data))
        credit = np.array([1.0 if name == "credit" else 0.0 for name in FEATURES])
        features, values = (part[:held_out] for part in data[:2])
        print(
            f"{num_players} players: regret on {held_out} other positions {regret(weights, features, values):.3f}, "
            f"by credit alone {regret(credit, features, values):.3f} display points"
        )
        weights = fit_weights(*data)
        rows.append(f"    {num_players}: ({', '.join(f'{weight:.3f}' for weight in weights)}),")
    out.write_text("\n".join([HEADER, "FITTED = {", *rows, "}", DOCSTRING, ""]))
    print(f"{out}: written")


if __name__ == "__main__":
    typer.run(main)
