"""What chance decides put into a record, and what a finished episode was worth."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.envs.transition import TERMINATED, gained
from fiveup_env.jit.bits import count_bits
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.record import start_round


@entry
def deal_round(games: np.ndarray, opener: int, hands: np.ndarray, num_tiles: int) -> None:
    """Begin the next round with this opener and these hands (tile sets, int64 [players]).

    The first `num_tiles` tiles are in play (R2.1); those in no hand make the boneyard, in order of their index until
    chance decides (`draw_next`).
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
    """Let `tile` be the next one drawn (R3.2); False if it is not in the boneyard."""
    game = games[0]
    first = int64(game.boneyard_next)
    for at in range(first, int64(game.boneyard_end)):
        if game.boneyard[at] == tile:
            for i in range(at, first, -1):  # keeps the rest in order, so that equal states have equal records
                game.boneyard[i] = game.boneyard[i - 1]
            game.boneyard[first] = tile
            return True
    return False


@entry
def utilities(
    games: np.ndarray, scheme: int, round_episode: bool, before: tuple[int, int, int]
) -> tuple[float, float, float]:
    """What an episode that is over was worth to every side; 0 for a third that is none.

    Args:
        scheme: number of the reward (`views.rewards`).
        round_episode: the episode is one round.
        before: raw scores at its start, 0 for a third that is none.
    """
    return gained(games[0], before, TERMINATED, scheme, round_episode)
