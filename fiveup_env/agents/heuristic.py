"""The kernel policy `heuristic`: it rates placements linearly in eight features of the seat's view.

The features cover the credit of a placement and the layout that it leaves. `training/heuristic_weights.py` fits the
weights, one row per number of players, to the values that `pimc` gives the placements of positions from self-play.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.heuristic_weights import FITTED
from fiveup_env.jit.bits import count_bits, lowest_bit
from fiveup_env.jit.compilation import int64, kernel
from fiveup_env.rules.actions import ACTION_PIP, ACTION_TILE, DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.layout import ENDS_ADDED, ENDS_TAKEN, SPINNER_STEP, SUM_CHANGE, end_sum_after
from fiveup_env.rules.record import MAX_PLAYERS, ONE_ARM, TERMINAL, Game
from fiveup_env.rules.scoring import credit_of, next_of, side_of
from fiveup_env.rules.tiles import DOUBLES, LOW, NUM_TILES, PIPS, TILES_WITH, pip_sum
from fiveup_env.rules.turn import draw_or_pass, end_placements, spinner_placements
from fiveup_env.views.observation_kernels import may_hold, unseen_tiles

FEATURES = ("credit", "overshoot", "double", "fits", "threat", "threat_sum", "late_pips", "sum")
"""Features of a placement, in order. Points are display points; "after" means on the layout after the placement.

- credit: points, with the expected settlement if it is the last tile (R7); an exact hit counts 61 more (R6.2)
- overshoot: 1 if the credit would be discarded (R6.1)
- double: 1 for a double
- fits: number of the remaining own tiles that fit after it
- threat: probability that the next seat holds a tile that scores after it
- threat_sum: threat times the end sum after it, in points
- late_pips: pips of the tile divided by ten, if an opponent holds at most two tiles
- sum: end sum after it, in points
"""


def _scoring(actions: range, terminal: bool = False) -> np.ndarray:
    """Table [128, 5]: (set of pips with open places, end sum mod 5) -> set of tiles that score on one of them."""
    table = np.zeros((128, 5), np.int64)
    changes = SUM_CHANGE[int(terminal)]
    for pips in range(128):
        for rest in range(5):
            for action in actions:
                if pips >> ACTION_PIP[action] & 1 and (rest + changes[action]) % 5 == 0:
                    table[pips, rest] |= 1 << ACTION_TILE[action]
    return table


SCORE_END = _scoring(range(LAY_DOUBLE, LAY_SPINNER))
SCORE_SPINNER = _scoring(range(LAY_SPINNER, DRAW))
SCORE_TERMINAL = _scoring(range(LAY_SPINNER, DRAW), terminal=True)


def _chances() -> np.ndarray:
    """Table: (tiles in a hand, tiles it is drawn from, number of wanted ones) -> probability to hold a wanted one."""
    table = np.zeros((NUM_TILES + 1, NUM_TILES + 1, NUM_TILES + 1))
    for among in range(1, NUM_TILES + 1):
        for some in range(among + 1):
            none = 1.0
            for size in range(1, NUM_TILES + 1):
                none *= max(among - some - size + 1, 0) / max(among - size + 1, 1)
                table[size, among, some] = 1 - none
    return table


CHANCE = _chances()
HIT = 61.0  # display points for winning the match
WEIGHTS = np.array([FITTED.get(players, (0.0,) * len(FEATURES)) for players in range(MAX_PLAYERS + 1)])
"""Display points by number of players and feature, float64 [5, 8]."""


@kernel(inline=True)
def terminal_pips(game: Game) -> int:
    """Set of the pips whose spinner is terminal."""
    terminal, rest = 0, int64(game.spinner_pips)
    while rest:
        pip = lowest_bit(rest)
        rest &= rest - 1
        if game.spinners[pip] == TERMINAL:
            terminal |= 1 << pip
    return terminal


@kernel
def places_after(game: Game, terminal: int, action: int) -> tuple[int, int, int]:
    """Sets of the pips with single ends, terminal spinners, and other open spinners after a placement."""
    ends, spinners = int64(game.end_pips), int64(game.spinner_pips)
    pip = LOW[ACTION_TILE[action]] if action < LAY_DOUBLE else ACTION_PIP[action]
    bits = int64(game.ends[pip])
    if bits & (bits - 1) == 0:
        ends &= ~ENDS_TAKEN[action]
    step = SPINNER_STEP[action]
    if step > 0:
        state = int64(game.spinners[pip]) + step
        terminal = terminal & ~(1 << pip) | int64(state == TERMINAL) << pip
        spinners = spinners & ~(1 << pip) | int64(state <= ONE_ARM) << pip
    return ends | ENDS_ADDED[action], terminal, spinners & ~terminal


@kernel
def features(
    game: Game, seat: int, action: int, terminal: int, among: int, late: float
) -> tuple[float, float, float, float, float, float, float, float]:
    """`FEATURES` of a placement; `terminal`, `among` and `late` are those of the position."""
    tile = ACTION_TILE[action]
    hand = int64(game.hands[seat]) & ~(1 << tile)
    total = end_sum_after(game, action)
    credit = credit_of(total)
    room = int64(game.target) - int64(game.scores[side_of(game, seat)])
    if hand == 0:
        net = credit + domino_net(game, seat)
        if net > room:
            return 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return net / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ends, ready, open_spinners = places_after(game, terminal, action)
    rest = total % 5
    scoring = SCORE_END[ends, rest] | SCORE_TERMINAL[ready, rest] | SCORE_SPINNER[open_spinners, rest]
    size = int64(game.hand_sizes[next_of(seat, int64(game.num_players))])
    threat = CHANCE[size, count_bits(among), count_bits(among & scoring)]
    points, over = credit / 5, 0.0
    if credit > room:
        points, over = 0.0, 1.0
    elif credit == room:
        points += HIT
    return (
        points,
        over,
        1.0 if DOUBLES >> tile & 1 else 0.0,
        count_bits(hand & TILES_WITH[ends | ready | open_spinners]) * 1.0,
        threat,
        threat * total / 5,
        late * PIPS[tile] / 10,
        total / 5,
    )


@kernel
def domino_net(game: Game, seat: int) -> float:
    """Expected settlement in raw points if `seat` goes out (R7); hidden tiles count the mean of the unseen ones."""
    unseen = unseen_tiles(game, seat)
    balance = 0
    for other in range(int64(game.num_players)):
        if other != seat:
            size = int64(game.hand_sizes[other])
            balance += size if side_of(game, other) != side_of(game, seat) else -size
    return balance * pip_sum(unseen) / max(count_bits(unseen), 1)


@kernel
def candidates_of_next(game: Game, seat: int) -> int:
    """Set of the tiles that the next seat may hold."""
    return may_hold(game, seat, next_of(seat, int64(game.num_players)))


@kernel
def lateness(game: Game, seat: int) -> float:
    """1 if an opponent holds at most two tiles, else 0."""
    for other in range(int64(game.num_players)):
        if game.hand_sizes[other] <= 2 and side_of(game, other) != side_of(game, seat):
            return 1.0
    return 0.0


@kernel
def heuristic_action(game: Game, weights: np.ndarray) -> int:
    """The placement with the highest rating; the lowest id on ties."""
    forced = draw_or_pass(game)
    if forced >= 0:
        return forced
    seat = int64(game.turn)
    first, bits, second = LAY_DOUBLE, 0, 0
    if game.num_laid == 0:
        first, bits = 0, int64(game.hands[seat])
    else:
        bits, second = end_placements(game, seat), spinner_placements(game, seat)
    if bits == 0:
        first, bits, second = LAY_SPINNER, second, 0
    if second == 0 and bits & (bits - 1) == 0:
        return first + lowest_bit(bits)
    row = weights[int64(game.num_players)]
    terminal, among, late = terminal_pips(game), candidates_of_next(game, seat), lateness(game, seat)
    best, most = -1, -1e300
    while bits:
        action = first + lowest_bit(bits)
        bits &= bits - 1
        if bits == 0:
            first, bits, second = LAY_SPINNER, second, 0
        parts = features(game, seat, action, terminal, among, late)
        worth = 0.0
        for i in range(len(parts)):
            worth += row[i] * parts[i]
        if worth > most:
            best, most = action, worth
    return best


@kernel
def rate(game: Game, weights: np.ndarray, actions: np.ndarray, count: int, worths: np.ndarray) -> None:
    """Write the ratings, in display points, of the first `count` actions, all of them placements."""
    players, seat = int64(game.num_players), int64(game.turn)
    terminal, among, late = terminal_pips(game), candidates_of_next(game, seat), lateness(game, seat)
    for a in range(count):
        parts = features(game, seat, int64(actions[a]), terminal, among, late)
        worth = 0.0
        for i in range(len(parts)):
            worth += weights[players, i] * parts[i]
        worths[a] = worth
