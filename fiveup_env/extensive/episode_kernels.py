"""Kernels that write chance outcomes into a record."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import count_bits
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.record import start_round


@entry
def deal_round(games: np.ndarray, opener: int, hands: np.ndarray, num_tiles: int) -> None:
    """Start the next round with this opener and these hands (tile sets, int64 [players]).

    The first `num_tiles` tiles are in play (R2.1). Those in no hand form the boneyard, in order of their index until
    `draw_next` chooses one.
    """
    game = games[0]
    start_round(game)
    game.opener = opener
    game.turn = opener
    game.in_play = (1 << num_tiles) - 1
    held = 0
    for seat in range(int64(game.num_players)):
        game.hands[seat] = hands[seat]
        game.hand_sizes[seat] = count_bits(hands[seat])
        held |= hands[seat]
    at = 0
    for tile in range(28):
        game.boneyard[tile] = 0
    for tile in range(num_tiles):
        if held >> tile & 1 == 0:
            game.boneyard[at] = tile
            at += 1
    game.boneyard_next = 0
    game.boneyard_end = at


@entry
def draw_next(games: np.ndarray, tile: int) -> bool:
    """Move `tile` to the front of the boneyard (R3.2); return False if it is not there."""
    game = games[0]
    first = int64(game.boneyard_next)
    for at in range(first, int64(game.boneyard_end)):
        if game.boneyard[at] == tile:
            for i in range(at, first, -1):  # keep the order of the rest, so that equal states have equal records
                game.boneyard[i] = game.boneyard[i - 1]
            game.boneyard[first] = tile
            return True
    return False
