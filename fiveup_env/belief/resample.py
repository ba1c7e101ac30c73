"""Resample everything that one seat cannot know, from its exact belief."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache

import numpy as np

from fiveup_env.belief.evidence import Evidence, first_group
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.tiles import NO_TILE, NUM_TILES
from fiveup_env.views.view import View


@entry
def _first_groups(evidences: np.ndarray, seat: int, tiles: np.ndarray, ends: np.ndarray) -> np.ndarray:
    firsts = np.zeros_like(ends)
    for i in range(len(tiles)):
        firsts[i] = first_group(evidences[0], seat, tiles[i], ends[i])
    return firsts


def resample(match: Match, seat: int, rng: np.random.Generator | int | None = None) -> Match:
    """Return a copy of `match` with everything unknown to `seat` drawn uniformly from all consistent deals.

    That is a whole deal: the other hands, the rest of the boneyard, what the others were dealt and drew before, and the
    seed of later rounds. The seat's observation, mask, history, view and own draws stay the same. (A match made from a
    view or from a belief's sample has no past draws; they stay erased.)

    Args:
        match: any match, in any phase.
        seat: the seat that looks.
        rng: a generator to take 64 bits from, or a seed from 0 to 2**64 - 1; None takes a seed from the system.

    Raises:
        ValueError: if there is no such seat, or `rng` is neither a generator nor such a seed.

    >>> match = Match(num_players=4, seed=0)
    >>> other = resample(match, seat=2, rng=1)
    """
    number = int(rng.integers(2**64, dtype=np.uint64)) if isinstance(rng, np.random.Generator) else checked_seed(rng)
    belief = Belief(View.of(match, seat))
    world = belief.sample(1, number)[0]
    chance = random.Random(number)
    resampled = match.copy()
    game = resampled.game
    game.seed = chance.getrandbits(64)
    game.hands = world.hands
    left = slice(int(game.boneyard_next), int(game.boneyard_end))
    game.boneyard[left] = world.boneyard[left]
    evidence = belief.evidence
    first = left.start - int(evidence[0].num_draws)
    if NO_TILE not in game.boneyard[: left.start]:
        for other in range(match.num_players):
            if other != seat:
                draw_past(resampled, evidence, other, first, chance)
    return Match.of(game)  # not `resampled`, whose mask belongs to the old hand


def draw_past(match: Match, evidences: np.ndarray, seat: int, first: int, rng: random.Random) -> None:
    """Redraw what a seat was dealt and drew, given its hand now; the round's boneyard began at index `first`."""
    game, evidence = match.game, evidences[0]
    laid = [int(ACTION_TILE[action]) for who, action in match.history if who == seat and action < DRAW]
    hand = int(game.hands[seat])
    held = [tile for tile in range(NUM_TILES) if hand >> tile & 1]
    dealt = {*laid, *held}
    groups = _draw_origins(held, evidences, seat, rng)
    for draw in range(int(evidence.num_draws)):
        if evidence.draw_seat[draw] == seat:
            tile = int(evidence.draw_tile[draw])
            if tile == NO_TILE:
                tile = groups[int(evidence.draw_group[draw])].pop()
            game.boneyard[first + draw] = tile
            dealt.remove(tile)
    if first > 0:  # dealt from a seed: the hands precede the boneyard, in no order
        size = int(game.hand_size)
        game.boneyard[seat * size : seat * size + size] = rng.sample(sorted(dealt), size)


def _draw_origins(held: list[int], evidences: np.ndarray, seat: int, rng: random.Random) -> defaultdict[int, list[int]]:
    """Draw the origins of a seat's chosen and held tiles uniformly: group -> tiles, in random order."""
    evidence: Evidence = evidences[0]
    count = int(evidence.num_chosen[seat])
    tiles = np.array([*evidence.chosen[seat, :count], *held], np.int64)
    ends = np.array([*evidence.chosen_groups[seat, :count], *[evidence.num_groups[seat]] * len(held)], np.int64)
    firsts = _first_groups(evidences, seat, tiles, ends)

    def choices(i: int, slots: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        return [
            (group, (*slots[:group], slots[group] - 1, *slots[group + 1 :]))
            for group in range(int(firsts[i]), int(ends[i]))
            if slots[group]
        ]

    @cache
    def ways(i: int, slots: tuple[int, ...]) -> int:
        return 1 if i == len(tiles) else sum(ways(i + 1, left) for _, left in choices(i, slots))

    origins = defaultdict(list)
    slots = tuple(int(n) for n in evidence.slots[seat, : int(evidence.num_groups[seat])])
    for i, tile in enumerate(tiles):
        index = rng.randrange(ways(i, slots))
        for group, left in choices(i, slots):
            index -= ways(i + 1, left)
            if index < 0:
                origins[group].append(int(tile))
                slots = left
                break
    for kept in origins.values():
        rng.shuffle(kept)
    return origins
