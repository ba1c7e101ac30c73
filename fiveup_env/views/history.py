"""The public events of the round as a sequence, and the global state for centralised critics."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.jit.stores import store_code
from fiveup_env.rules.actions import ACTION_OTHER, ACTION_PIP, DRAW, LAY_DOUBLE, LAY_END, LAY_SPINNER
from fiveup_env.rules.record import Game
from fiveup_env.rules.tiles import HIGH, LOW
from fiveup_env.views.observation import observation_size, units
from fiveup_env.views.observation_kernels import write_observation, write_tiles

HISTORY_COLUMNS = 3


@kernel
def write_history(game: Game, me: int, out: np.ndarray, mask: np.ndarray) -> None:
    """The latest events of the round, oldest first, left-aligned.

    Args:
        out: int16 [L, 3]: relative seat, action (a draw does not show its tile, D6), sum of the counted ends after it
            (R5.1, raw); -1 in rows beyond the last event.
        mask: int8 [L], 1 for rows that hold an event.
    """
    length, count = len(out), int64(game.num_history)
    players = int64(game.num_players)
    skipped = max(0, count - length)
    seat, total = int64(game.opener), 0
    spinners = 0  # joins on each double so far, three bits per pip
    for i in range(count):
        action = int64(game.history[i])
        if action < DRAW:
            total += _sum_change(spinners, action)
            if action >= LAY_SPINNER or LAY_DOUBLE <= action < LAY_END:
                spinners += 1 << 3 * ACTION_PIP[action]
        if i >= skipped:
            row = i - skipped
            out[row, 0] = (seat - me + players) % players
            out[row, 1] = action
            out[row, 2] = total
            mask[row] = 1
        if action != DRAW:
            seat = (seat + 1) % players
    for row in range(min(count, length), length):
        out[row, 0] = -1
        out[row, 1] = -1
        out[row, 2] = -1
        mask[row] = 0


@kernel
def _sum_change(spinners: int, action: int) -> int:
    """What a placement adds to the sum of the counted ends, given how many tiles lie on each double (R4.4, R4.5)."""
    pip, other = ACTION_PIP[action], ACTION_OTHER[action]
    if action < LAY_DOUBLE:
        return LOW[action] + HIGH[action]
    if action < LAY_END:
        return pip
    if action < LAY_SPINNER:
        return other - pip
    return other - 2 * pip if spinners >> 3 * pip & 7 == 1 else other


def state_size(num_players: int) -> int:
    """Length of the global state vector."""
    return 28 * (num_players + 1) + observation_size(num_players)


def state_units(num_players: int) -> np.ndarray:
    """Value of one count at every index of the global state, float32 [28 * (n + 1) + F]."""
    return np.concatenate([np.ones(28 * num_players), np.full(28, 1 / 32), units(num_players)]).astype(np.float32)


@kernel
def write_state(game: Game, out: np.ndarray) -> None:
    """The whole truth, from the perspective of the seat to act, float32 [28 * (n + 1) + F].

    First all hands by relative seat (n * 28), then for each tile of the boneyard 1 + its place in the drawing order
    (in 32nds; 0 elsewhere), then the observation of the seat to act.
    """
    players, me = int64(game.num_players), int64(game.turn)
    at = 28 * players
    for relative in range(players):
        write_tiles(out, 28 * relative, int64(game.hands[(me + relative) % players]))
    write_tiles(out, at, 0)
    for i in range(int64(game.boneyard_next), int64(game.boneyard_end)):
        place = 1 + i - int64(game.boneyard_next)
        store_code(out, at + int64(game.boneyard[i]), place, 1 / 32)
    write_observation(game, me, out[at + 28 :])


@entry
def write_states(games: np.ndarray, out: np.ndarray) -> None:
    """Global states of records [N], all of one number of players, into `out` float32 [N, 28 * (n + 1) + F]."""
    for i in range(len(games)):
        write_state(games[i], out[i])
