"""The public events of a round as a sequence."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.layout import layout_after
from fiveup_env.rules.record import Game
from fiveup_env.rules.scoring import next_of

HISTORY_COLUMNS = 3


@kernel
def write_history(game: Game, me: int, out: np.ndarray, mask: np.ndarray) -> None:
    """Write the latest events of the round, oldest first, left-aligned.

    Args:
        game: a full record or a view's.
        me: the seat that looks.
        out: int16 [L, 3]: relative seat, action (a draw does not show its tile, D6), sum of the counted ends after it
            (R5.1, raw); -1 in rows after the last event.
        mask: int8 [L], 1 for rows that hold an event.
    """
    length, count = len(out), int64(game.num_history)
    players = int64(game.num_players)
    skipped = max(0, count - length)
    seat = int64(game.opener)
    total, ends, spinners = 0, 0, 0
    for i in range(count):
        action = int64(game.history[i])
        if action < DRAW:
            total, ends, spinners = layout_after(total, ends, spinners, action)
        if i >= skipped:
            row = i - skipped
            out[row, 0] = (seat - me + players) % players
            out[row, 1] = action
            out[row, 2] = total
            mask[row] = 1
        if action != DRAW:
            seat = next_of(seat, players)
    for row in range(min(count, length), length):
        out[row, 0] = -1
        out[row, 1] = -1
        out[row, 2] = -1
        mask[row] = 0
