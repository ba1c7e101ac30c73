"""Walks through the extensive form: random, along a match, and exhaustive."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fiveup_env import Match
from fiveup_env.extensive.episode import Episode
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.tiles import tile_index

TINY = Setup.of(2, hand_size=2, max_pip=2, episode="round", opener=0)


def decide(episode: Episode, rng: random.Random) -> int:
    """A random action, or a chance outcome by its probability."""
    if episode.is_chance:
        outcomes, weights = zip(*episode.chance_outcomes(), strict=True)
        return rng.choices(outcomes, weights)[0]
    return rng.choice(episode.legal_actions())


def random_positions(setup: Setup, seed: int) -> Iterator[Episode]:
    """All positions of one random episode, first and last included."""
    rng, episode = random.Random(seed), Episode(setup)
    yield episode.copy()
    while not episode.is_over:
        episode.apply(decide(episode, rng))
        yield episode.copy()


def deal_of(match: Match) -> list[int]:
    """Chance outcomes that deal the round just started in a match, without the lot."""
    return [tile_index(tile) for hand in match.hands for tile in hand]


def chance_of(match: Match, action: int) -> list[int]:
    """Chance outcomes that follow the next action of a match."""
    return [tile_index(match.boneyard[0])] if action == DRAW else []


def all_positions(episode: Episode) -> Iterator[Episode]:
    """All positions below a position, depth first."""
    yield episode
    moves = [a for a, _ in episode.chance_outcomes()] if episode.is_chance else episode.legal_actions()
    for move in moves:
        after = episode.copy()
        after.apply(move)
        yield from all_positions(after)
