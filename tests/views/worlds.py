"""Other worlds: matches that differ from a given one in nothing that a seat can know (R2.2, D6)."""

from __future__ import annotations

import random

from fiveup_env.rules.match import IllegalActionError, Match
from fiveup_env.rules.tiles import TILES, tile_index

Tile = tuple[int, int]
Deal = tuple[tuple[tuple[Tile, ...], ...], tuple[Tile, ...], int]


def deal_of(match: Match) -> Deal:
    """Hands, boneyard and opener of a round that has just been dealt."""
    assert not match.layout.tiles and not match.history
    return match.hands, match.boneyard, match.opener


def hidden_tiles(match: Match, seat: int) -> list[Tile]:
    """Tiles that `seat` cannot place: other hands, then the boneyard."""
    others = [tile for who, hand in enumerate(match.hands) if who != seat for tile in hand]
    return others + list(match.boneyard)


def reshuffled(match: Match, seat: int, rng: random.Random) -> Match:
    """Deal all hidden tiles again to hands and boneyard of the same sizes, with another seed and other past draws.

    Such a world need not be possible (a seat that drew may now hold a tile that fitted); the view of `seat` is computed
    from the record, and may not depend on any of this.
    """
    other = match.copy()
    game, tiles = other.game, hidden_tiles(match, seat)
    rng.shuffle(tiles)
    for who in range(match.num_players):
        if who != seat:
            dealt = [tiles.pop() for _ in match.hands[who]]
            game.hands[who] = sum(1 << tile_index(tile) for tile in dealt)
    first, end = int(game.boneyard_next), int(game.boneyard_end)
    game.boneyard[first:end] = [tile_index(tile) for tile in tiles]
    game.boneyard[:first] = rng.sample(range(28), first)
    game.boneyard[end:] = rng.sample(range(28), 28 - end)
    game.seed = rng.getrandbits(64)
    return Match.of(game)


def replayed(match: Match, deal: Deal, scores: tuple[int, ...], seed: int) -> list[Match] | None:
    """The states of the round so far, from another deal; None if that deal does not allow what was played."""
    world = Match.from_deal(*deal, scores, seed=seed)
    states = [world.copy()]
    for seat, action in match.history:
        if world.turn != seat or world.round_number != 1:
            return None
        try:
            world.play(action)
        except IllegalActionError:
            return None
        states.append(world.copy())
    return None if world.round_number != 1 else states


def possible_world(
    match: Match, deal: Deal, scores: tuple[int, ...], seat: int, rng: random.Random, swaps: int
) -> tuple[list[Match], int]:
    """A world with the same course of the round for `seat`, but other hidden tiles.

    Swaps pairs of hidden tiles, one at a time, and keeps those after which the same actions are legal from the deal on.
    Returns the states of the round in that world and the number of swaps kept.
    """
    hidden = hidden_tiles(match, seat)
    now = {tile: tile for tile in TILES}
    states, kept = replayed(match, deal, scores, 1), 0
    assert states is not None
    for _ in range(swaps if len(hidden) > 1 else 0):
        a, b = rng.sample(hidden, 2)
        now[a], now[b] = now[b], now[a]
        hands, boneyard, opener = deal
        other: Deal = (
            tuple(tuple(now[tile] for tile in hand) for hand in hands),
            tuple(now[tile] for tile in boneyard),
            opener,
        )
        found = replayed(match, other, scores, rng.getrandbits(64))
        if found is None:
            now[a], now[b] = now[b], now[a]
        else:
            states, kept = found, kept + 1
    return states, kept
