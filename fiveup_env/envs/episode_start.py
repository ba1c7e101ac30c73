"""How an episode begins: all of it follows from (seed, episode number), in every environment alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import int64

from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import ROUND_OVER, Game, start_match, start_round


@kernel
def deal_match(game: Game, seed: int, scores: np.ndarray) -> None:
    """The first deal of `seed`, uint64, at these raw scores per side."""
    start_match(game, seed)
    for side in range(int64(game.num_sides)):
        game.scores[side] = scores[side]


@kernel
def episode_seed(seed: int, episode: int) -> int:
    """Seed of the deals of an episode: `seed` (uint64) itself for episode 0, then its streams."""
    if episode == 0:
        return np.uint64(seed)  # type: ignore[return-value]
    return stream(seed, episode)


@kernel
def deal_episode(game: Game, row: Any) -> None:
    """Deal the current episode of `row`, of which `seed`, `episode` and `scores` are read."""
    deal_match(game, episode_seed(row.seed, row.episode), row.scores)


@kernel
def deal_next(game: Game, row: Any) -> None:
    """Deal the current episode of `row`, or, if `row.continues` and a round is over, the next round of the match.

    That one has the match's next deal, opener (R2.5) and scores.
    """
    if row.continues != 0 and game.phase == ROUND_OVER:
        start_round(game)
    else:
        deal_episode(game, row)


@entry
def seed_of_episode(seed: int, episode: int) -> int:
    """`episode_seed` for Python."""
    return episode_seed(seed, episode)


def first_match(options: EnvOptions, seed: int, episode: int, scores: Sequence[int]) -> Match:
    """The match that an episode starts with; `scores` are raw points per side, more than there are sides is fine."""
    variant = options.variant
    return Match(
        variant.num_players,
        int(seed_of_episode(np.uint64(seed), episode)),
        scores=scores[: variant.num_sides],
        hand_size=variant.hand_size,
        target=variant.target,
        max_pip=variant.max_pip,
    )
