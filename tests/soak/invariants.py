"""Invariants of a record, recomputed from the tiles and the laid graph alone.

Nothing here trusts what the engine keeps up step by step (ends, spinners, sums, masks): it is recounted in plain loops
from who holds which tile, from the laying order, the parents and the ports, and compared.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.jit.compilation import entry, int64, kernel
from fiveup_env.rules.actions import ACTION_PIP, ACTION_TILE, DRAW, LAY_DOUBLE, LAY_SPINNER, NUM_ACTIONS, PASS
from fiveup_env.rules.record import (
    ABSENT,
    ALONE,
    ARM_A,
    ARM_B,
    BIG,
    CLOSED,
    LINE_A,
    LINE_B,
    MATCH_OVER,
    NO_PORT,
    PLAYING,
    SMALL,
    TERMINAL,
    TWO_ARMS,
    Game,
)
from fiveup_env.rules.tiles import HIGH, LOW, NUM_PIPS, NUM_TILES
from fiveup_env.rules.turn import write_mask

INVARIANTS = (
    "all is well",
    "every tile in play is in exactly one hand, on the table or in the boneyard (R2.1)",
    "hand sizes are the numbers of tiles held",
    "laying order, its inverse and the set of laid tiles agree",
    "tiles are joined by equal pips, each port once, side arms after both line sides (R3.1, R4.3)",
    "single ends are the free halves of laid tiles (R5.1)",
    "spinner states follow from the joins (R4)",
    "the sum of the counted ends is that of the graph (R4.4, R4.5, R5.1)",
    "scores are multiples of 5 and at most the target, which the winner alone has (R5.2, R6)",
    "turn and numbers of placements and draws follow from opener and history (R2.4, R3)",
    "the mask is what the hand and the graph allow, and never empty before the end of the match (R3.2)",
    "no block goes unnoticed (R3.3, D1)",
    "scores change by the accepted events (R6.1)",
)
OK, TILES, SIZES, ORDER, GRAPH, ENDS, SPINNERS, SUM, SCORES, TURN, MASK, BLOCK, EVENTS = range(13)

SCRATCH = NUM_TILES + 2 * NUM_PIPS
"""Length of the scratch array: ports in use per tile, ends per pip, state of the spinner per pip."""


@kernel
def broken(game: Game, scratch: np.ndarray, mask: np.ndarray) -> int:
    """The first invariant that does not hold, OK if all do.

    Args:
        game: phase PLAYING or MATCH_OVER.
        scratch: int64 [SCRATCH].
        mask: scratch, int8 [121].
    """
    if not tiles_are_complete(game):
        return TILES
    if not sizes_are_right(game):
        return SIZES
    if not order_is_right(game):
        return ORDER
    ports, ends, spinners = scratch[:28], scratch[28:35], scratch[35:42]
    if not join_all(game, ports):
        return GRAPH
    total = recount(game, ports, ends, spinners)
    if not ends_are_right(game, ends):
        return ENDS
    if not spinners_are_right(game, spinners):
        return SPINNERS
    if int64(game.end_sum) != total:
        return SUM
    if not scores_are_right(game):
        return SCORES
    if not history_is_right(game):
        return TURN
    if not mask_is_right(game, ends, spinners, mask):
        return MASK
    if game.phase == PLAYING and is_stuck(game, ends, spinners):
        return BLOCK
    return OK


@entry
def write_broken(games: np.ndarray, scratch: np.ndarray, mask: np.ndarray, found: np.ndarray) -> None:
    """`broken` for every record, int64 [N]."""
    for i in range(len(games)):
        found[i] = broken(games[i], scratch, mask)


def all_broken(games: np.ndarray) -> np.ndarray:
    """The first invariant that does not hold in each record (an index of `INVARIANTS`), int64 [N]."""
    found = np.zeros(len(games), np.int64)
    write_broken(games, np.zeros(SCRATCH, np.int64), np.zeros(NUM_ACTIONS, np.int8), found)
    return found


@kernel
def tiles_are_complete(game: Game) -> bool:
    """TILES."""
    for tile in range(NUM_TILES):
        found = 0
        for seat in range(4):
            found += int64(game.hands[seat]) >> tile & 1
        for i in range(int64(game.num_laid)):
            found += int64(game.laid[i] == tile)
        for i in range(int64(game.boneyard_next), int64(game.boneyard_end)):
            found += int64(game.boneyard[i] == tile)
        if found != int64(game.in_play) >> tile & 1:
            return False
    return True


@kernel
def sizes_are_right(game: Game) -> bool:
    """SIZES."""
    for seat in range(4):
        held = 0
        for tile in range(NUM_TILES):
            held += int64(game.hands[seat]) >> tile & 1
        if held != int64(game.hand_sizes[seat]) or (held > 0 and seat >= int64(game.num_players)):
            return False
    return True


@kernel
def order_is_right(game: Game) -> bool:
    """ORDER."""
    laid = 0
    for i in range(int64(game.num_laid)):
        tile = int64(game.laid[i])
        laid |= 1 << tile
        if int64(game.order[tile]) != i + 1:
            return False
    for tile in range(NUM_TILES):
        if laid >> tile & 1 == 0 and game.order[tile] != 0:
            return False
    return laid == int64(game.table)


@kernel
def join_all(game: Game, ports: np.ndarray) -> bool:
    """GRAPH; writes the set of ports in use of every laid tile."""
    for tile in range(NUM_TILES):
        ports[tile] = 0
    for i in range(int64(game.num_laid)):
        tile = int64(game.laid[i])
        parent, port = int64(game.parent[tile]) - 1, int64(game.port[tile])
        if i == 0:
            if parent >= 0 or port != NO_PORT:
                return False
            continue
        if parent < 0 or not 1 <= int64(game.order[parent]) <= i or ports[parent] >> port & 1 == 1:
            return False
        pip = HIGH[parent] if port == BIG else LOW[parent]
        if LOW[parent] == HIGH[parent]:
            lines = 1 << LINE_A | 1 << LINE_B
            if port < LINE_A or (port >= ARM_A and ports[parent] & lines != lines):
                return False
        elif port not in (SMALL, BIG):
            return False
        ports[parent] |= 1 << port
        if LOW[tile] == pip:
            ports[tile] = 1 << (LINE_A if HIGH[tile] == pip else SMALL)
        elif HIGH[tile] == pip:
            ports[tile] = 1 << BIG
        else:
            return False
    return True


@kernel
def recount(game: Game, ports: np.ndarray, ends: np.ndarray, spinners: np.ndarray) -> int:
    """Sum of the counted ends; writes per pip the laying indices of single ends, and the state of the spinner."""
    total = 0
    for pip in range(NUM_PIPS):
        ends[pip] = 0
        spinners[pip] = ABSENT
    for i in range(int64(game.num_laid)):
        tile = int64(game.laid[i])
        used, low, high = ports[tile], LOW[tile], HIGH[tile]
        if low == high:
            lines = (used >> LINE_A & 1) + (used >> LINE_B & 1)
            arms = (used >> ARM_A & 1) + (used >> ARM_B & 1)
            spinners[low] = ALONE if lines == 0 else TERMINAL if lines == 1 else TWO_ARMS + arms
            total += 2 * low if lines < 2 else 0
            continue
        if used >> SMALL & 1 == 0:
            ends[low] |= 1 << i
            total += low
        if used >> BIG & 1 == 0:
            ends[high] |= 1 << i
            total += high
    return total


@kernel
def ends_are_right(game: Game, ends: np.ndarray) -> bool:
    """ENDS."""
    for pip in range(NUM_PIPS):
        if int64(game.ends[pip]) != ends[pip] or int64(game.end_pips) >> pip & 1 != int64(ends[pip] != 0):
            return False
    return True


@kernel
def spinners_are_right(game: Game, spinners: np.ndarray) -> bool:
    """SPINNERS."""
    for pip in range(NUM_PIPS):
        is_open = spinners[pip] not in (ABSENT, CLOSED)
        if int64(game.spinners[pip]) != spinners[pip] or int64(game.spinner_pips) >> pip & 1 != int64(is_open):
            return False
    return True


@kernel
def scores_are_right(game: Game) -> bool:
    """SCORES."""
    for side in range(int64(game.num_sides)):
        score = int64(game.scores[side])
        won = game.phase == MATCH_OVER and int64(game.winner) == side
        if score % 5 != 0 or score > int64(game.target) or (score == int64(game.target)) != won:
            return False
    return (game.phase == MATCH_OVER) == (game.winner >= 0)


@kernel
def history_is_right(game: Game) -> bool:
    """TURN."""
    seat, laid, drawn = int64(game.opener), 0, 0
    last = seat
    for i in range(int64(game.num_history)):
        action = int64(game.history[i])
        laid += int64(action < DRAW)
        drawn += int64(action == DRAW)
        last = seat
        if action != DRAW:
            seat = (seat + 1) % int64(game.num_players)
    taken = 0
    for other in range(4):
        taken += int64(game.drawn[other])
    if laid != int64(game.num_laid) or drawn != taken:
        return False
    return int64(game.turn) == (seat if game.phase == PLAYING else last)


@kernel
def fits(action: int, ends: np.ndarray, spinners: np.ndarray) -> bool:
    """Whether the graph offers the place of a placement other than a lead."""
    pip = ACTION_PIP[action]
    if action < LAY_SPINNER:
        return ends[pip] != 0
    return spinners[pip] not in (ABSENT, CLOSED)


@kernel
def mask_is_right(game: Game, ends: np.ndarray, spinners: np.ndarray, mask: np.ndarray) -> bool:
    """MASK."""
    write_mask(game, mask)
    hand, legal = int64(game.hands[int64(game.turn)]), 0
    for action in range(DRAW):
        held = game.phase == PLAYING and hand >> ACTION_TILE[action] & 1 == 1
        wanted = held and (game.num_laid == 0 if action < LAY_DOUBLE else fits(action, ends, spinners))
        legal += int64(wanted)
        if mask[action] != int64(wanted):
            return False
    forced = game.phase == PLAYING and legal == 0
    left = game.boneyard_next < game.boneyard_end
    if mask[DRAW] != int64(forced and left) or mask[PASS] != int64(forced and not left):
        return False
    found = 0
    for action in range(NUM_ACTIONS):
        found += mask[action]
    return (found > 0) == (game.phase == PLAYING)


@kernel
def is_stuck(game: Game, ends: np.ndarray, spinners: np.ndarray) -> bool:
    """Boneyard empty and nobody can lay (R3.3): during a round, BLOCK."""
    if game.boneyard_next < game.boneyard_end or game.num_laid == 0:
        return False
    for action in range(LAY_DOUBLE, DRAW):
        if fits(action, ends, spinners):
            for seat in range(int64(game.num_players)):
                if int64(game.hands[seat]) >> ACTION_TILE[action] & 1 == 1:
                    return False
    return True
