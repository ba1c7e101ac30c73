"""What may be where, seen by one seat: a cheap bound on who may hold which tile."""

from __future__ import annotations

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import Game
from fiveup_env.rules.tiles import TILES_WITH


@kernel(inline=True)
def unseen_tiles(game: Game, seat: int) -> int:
    """Set of the tiles that `seat` neither holds nor sees on the table."""
    return int64(game.in_play) & ~int64(game.table) & ~int64(game.hands[seat])


@kernel(inline=True)
def may_hold(game: Game, seat: int, other: int) -> int:
    """Set of the tiles that `other` may hold, as far as `seat` can tell from the other's last draw or pass (R3.2).

    When a seat draws or passes, nothing it holds fits the layout. A drawn tile that fits is laid at once, so the bound
    holds again as soon as the turn goes on; right after a draw that tile may be anything.
    """
    tiles = unseen_tiles(game, seat)
    if game.just_drew and other == int64(game.turn):
        return tiles
    return tiles & ~TILES_WITH[int64(game.void[other])]
