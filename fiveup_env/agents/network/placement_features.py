"""What every legal placement would leave: features of pairs (position, placement), from the observation alone.

A network that scores placements by what they leave learns from one tile what holds for others too; one with an output
for each action id has to learn everything anew for each. All that is here follows from the observation and the mask,
so it holds nothing that the seat cannot know.

| feature         | size        | meaning                                                                             |
|-----------------|-------------|-------------------------------------------------------------------------------------|
| ends            | 7           | per pip, single ends that the placement leaves, in thirds                           |
| open_end        | 7           | per pip, 1 if there is one                                                          |
| open_spinner    | 7           | per pip, 1 if its spinner then has a free place (R4.3)                              |
| counting        | 7           | per pip, 1 if its spinner then counts as an end (R4.4)                              |
| sum_mod_5       | 5           | remainder by 5 of the sum of the counted ends that it leaves, one-hot (R5.2)        |
| sum             | 1           | that sum, in 32nds                                                                  |
| credit          | 1           | display points of its own credit in 8ths, 0 if they overshoot                       |
| overshoot       | 1           | 1 if they do (R6.1)                                                                 |
| exact           | 1           | 1 if they hit the target (R6.2)                                                     |
| last            | 1           | 1 if it is the last tile of the hand (R7.1)                                         |
| double, pips    | 1, 1        | of the tile; pips in 12ths                                                          |
| own_pips        | 7           | per pip, tiles left in the hand that show it, in quarters                           |
| own_fits        | 1           | tiles left in the hand that then fit, in fifths                                     |
| own_best        | 1           | most display points that one of them could bring then without overshooting, in 8ths |
| own_scores      | 1           | how many of them score then, in fifths                                              |
| own_left        | 1           | tiles left in the hand, in 8ths                                                     |
| own_stuck       | 1           | 1 if tiles are left and none fits                                                   |
| tile            | 28          | the tile, one-hot                                                                   |
| others          | (n - 1) * 7 | for every other seat, the next one first, of the tiles that it may hold: share that |
|                 |             | fits; chance that one of so many does; share that scores; chance that one does;     |
|                 |             | most points of one, in 8ths; mean points of one times tiles held, in 8ths; whether  |
|                 |             | it holds one tile                                                                   |
| kind            | 3           | lead, on an end, on a spinner                                                       |
| to_go           | 2           | display points to go before it, in 61sts: own side, nearest other side              |
| boneyard        | 1           | tiles left to draw, in 16ths                                                        |
With an `Outlook` there are more behind them, see `agents.network.outlook_features`.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.network.laying import ANY_POINTS, points_now
from fiveup_env.agents.network.outlook_features import OUTLOOK_SCRATCH, Outlook, num_outlook, write_outlook
from fiveup_env.belief.belief_section import belief_shape
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import (
    ACTION_TILE,
    DRAW,
    LAY_DOUBLE,
    LAY_SPINNER,
    NUM_ACTIONS,
)
from fiveup_env.rules.layout import layout_after, packed
from fiveup_env.rules.record import ALONE, ONE_ARM, TERMINAL
from fiveup_env.rules.tiles import HIGH, LOW, NUM_TILES
from fiveup_env.views.observation import (
    BONEYARD,
    END_SUM,
    ENDS,
    HAND,
    HAND_SIZES,
    MAY_HOLD,
    POINTS_TO_GO,
    SPINNERS,
    offsets,
    units,
)

_SIZES = {
    "ends": 7,
    "open_end": 7,
    "open_spinner": 7,
    "counting": 7,
    "sum_mod_5": 5,
    "sum": 1,
    "credit": 1,
    "overshoot": 1,
    "exact": 1,
    "last": 1,
    "double": 1,
    "pips": 1,
    "own_pips": 7,
    "own_fits": 1,
    "own_best": 1,
    "own_scores": 1,
    "own_left": 1,
    "own_stuck": 1,
    "tile": NUM_TILES,
}
_PER_SEAT = 7
_BEHIND = 6
_AT = dict(zip(_SIZES, np.cumsum([0, *_SIZES.values()])[:-1].tolist(), strict=True))
_ENDS, _OPEN_END, _OPEN_SPINNER, _COUNTING = _AT["ends"], _AT["open_end"], _AT["open_spinner"], _AT["counting"]
_MOD, _SUM, _CREDIT, _OVERSHOOT, _EXACT = (_AT[n] for n in ("sum_mod_5", "sum", "credit", "overshoot", "exact"))
_LAST, _DOUBLE, _PIPS, _OWN_PIPS, _FITS = (_AT[n] for n in ("last", "double", "pips", "own_pips", "own_fits"))
_BEST, _SCORES, _LEFT, _STUCK, _TILE = (_AT[n] for n in ("own_best", "own_scores", "own_left", "own_stuck", "tile"))
_OTHERS = _TILE + NUM_TILES


def num_features(num_players: int, outlook: bool = False) -> int:
    """Length K of a row of features, without an `Outlook` or with one."""
    plain = _OTHERS + _PER_SEAT * (num_players - 1) + _BEHIND
    return plain + (num_outlook(num_players) if outlook else 0)


@kernel
def write_layout(ends: int, spinners: int, total: int, out: np.ndarray) -> None:
    """What lies after the placement."""
    for pip in range(7):
        count, state = packed(ends, pip), packed(spinners, pip)
        out[_ENDS + pip] = count / 3
        out[_OPEN_END + pip] = count > 0
        out[_OPEN_SPINNER + pip] = ALONE <= state <= ONE_ARM
        out[_COUNTING + pip] = ALONE <= state <= TERMINAL
    out[_MOD + total % 5] = 1.0
    out[_SUM] = total / 32


@kernel
def write_own(hand: int, worth: np.ndarray, to_go: int, out: np.ndarray) -> None:
    """What is left in the hand, a set of tiles, and what it is worth on the new layout."""
    fits, best, scores, left = 0, 0, 0, 0
    for tile in range(NUM_TILES):
        if hand >> tile & 1:
            left += 1
            out[_OWN_PIPS + LOW[tile]] += 0.25
            if LOW[tile] != HIGH[tile]:
                out[_OWN_PIPS + HIGH[tile]] += 0.25
            fits += worth[tile] >= 0
            scores += worth[tile] > 0
            if worth[tile] <= to_go:
                best = max(best, worth[tile])
    out[_FITS], out[_BEST], out[_SCORES], out[_LEFT] = fits / 5, best / 8, scores / 5, left / 8
    out[_STUCK] = left > 0 and fits == 0


@kernel
def write_other(may_hold: int, held: int, worth: np.ndarray, out: np.ndarray, at: int) -> None:
    """What the tiles that another seat may hold are worth on the new layout."""
    count, fits, scores, most, points = 0, 0, 0, 0, 0
    for tile in range(NUM_TILES):
        if may_hold >> tile & 1:
            count += 1
            fits += worth[tile] >= 0
            if worth[tile] > 0:
                scores += 1
                points += worth[tile]
                most = max(most, worth[tile])
    if count > 0:
        out[at], out[at + 2] = fits / count, scores / count
        out[at + 1], out[at + 3] = 1 - (1 - fits / count) ** held, 1 - (1 - scores / count) ** held
        out[at + 5] = points / count * held / 8
    out[at + 4] = most / 8
    out[at + 6] = held == 1


@kernel
def code_at(row: np.ndarray, inverse: np.ndarray, at: int) -> int:
    """The bare code of a value of the observation."""
    return int64(row[at] * inverse[at])


@kernel
def set_at(row: np.ndarray, at: int) -> int:
    """28 values as a set of tiles."""
    tiles = 0
    for tile in range(NUM_TILES):
        tiles |= int64(row[at + tile] != 0) << tile
    return tiles


@entry
def _write_features(
    observation: np.ndarray,
    mask: np.ndarray,
    belief: np.ndarray,
    chances: np.ndarray,
    players: int,
    start: np.ndarray,
    inverse: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    out: np.ndarray,
) -> int:
    """Fill `rows`, `actions` and `out`, pair by pair; returns how many there are."""
    count = 0
    worth = np.zeros(NUM_TILES, np.int64)
    may_hold, held = np.zeros(4, np.int64), np.zeros(4, np.int64)
    scratch, to_go = np.zeros(OUTLOOK_SCRATCH), np.zeros(3, np.int64)
    sides = 3 if players == 3 else 2
    for i in range(len(observation)):
        row = observation[i]
        hand = set_at(row, start[HAND])
        base_ends, base_spinners = 0, 0
        for pip in range(7):
            for k in range(3):
                base_ends += int64(row[start[ENDS] + 7 * k + pip] != 0) << 3 * pip
            for k in range(5):
                if row[start[SPINNERS] + 7 * k + pip] != 0:
                    base_spinners |= k + ALONE << 3 * pip
        total = code_at(row, inverse, start[END_SUM])
        own, nearest = code_at(row, inverse, start[POINTS_TO_GO]), 255
        for side in range(1, sides):
            to_go[side] = code_at(row, inverse, start[POINTS_TO_GO] + side)
            nearest = min(nearest, to_go[side])
        for other in range(players):
            held[other] = code_at(row, inverse, start[HAND_SIZES] + 4 * other)
            may_hold[other] = set_at(row, start[MAY_HOLD] + NUM_TILES * (other - 1)) if other > 0 else 0
        for action in range(DRAW):
            if mask[i, action] == 0:
                continue
            rows[count], actions[count] = i, action
            pair = out[count]
            pair[:] = 0.0
            tile = ACTION_TILE[action]
            left, ends, spinners = layout_after(total, base_ends, base_spinners, action)
            credit = left // 5 if left % 5 == 0 else 0
            over = credit > own
            write_layout(ends, spinners, left, pair)
            pair[_CREDIT] = 0.0 if over else credit / 8
            pair[_OVERSHOOT] = over
            pair[_EXACT] = credit > 0 and credit == own
            pair[_LAST] = held[0] == 1
            pair[_DOUBLE] = LOW[tile] == HIGH[tile]
            pair[_PIPS] = (LOW[tile] + HIGH[tile]) / 12
            for other in range(NUM_TILES):
                worth[other] = points_now(left, ends, spinners, other, ANY_POINTS)
            write_own(hand & ~(1 << tile), worth, own if over else own - credit, pair)
            pair[_TILE + tile] = 1.0
            at = _OTHERS
            for other in range(1, players):
                write_other(may_hold[other] & ~(1 << tile), held[other], worth, pair, at)
                at += _PER_SEAT
            pair[at + (0 if action < LAY_DOUBLE else 1 if action < LAY_SPINNER else 2)] = 1.0
            pair[at + 3], pair[at + 4] = own / 61, nearest / 61
            pair[at + 5] = code_at(row, inverse, start[BONEYARD]) / 16
            if len(belief) > 0:
                to_go[0] = own
                write_outlook(
                    players,
                    (left, ends, spinners),
                    hand & ~(1 << tile),
                    belief[i],
                    chances,
                    to_go,
                    0 if over else credit,
                    worth,
                    scratch,
                    pair[at + _BEHIND :],
                )
            count += 1
    return count


class Placements:
    """The legal placements of a batch of positions.

    Args:
        observation: float32 or uint8 [N, F] of seats that are to act.
        mask: int8 or bool [N, 121]; draws and passes have no row.
        num_players: 2, 3 or 4.
        outlook: what else to tell of; None for features without.

    Attributes:
        rows: int64 [M]: which position a placement belongs to, ascending.
        actions: int64 [M]: its action id, ascending within a position.
        features: float32 [M, K], see above.
    """

    def __init__(
        self, observation: np.ndarray, mask: np.ndarray, num_players: int, outlook: Outlook | None = None
    ) -> None:
        legal = mask.view(np.int8) if mask.dtype == np.bool_ else mask
        count = int(np.count_nonzero(legal[:, :DRAW]))
        self.rows, self.actions = np.empty(count, np.int64), np.empty(count, np.int64)
        self.features = np.empty((count, num_features(num_players, outlook is not None)), np.float32)
        if outlook is None:
            outlook = Outlook(np.empty((0, *belief_shape(num_players)), np.float32), np.empty(0, np.float32))
        # A code divided by its unit is a whole number: units are powers of two.
        inverse = np.ones(observation.shape[1], np.float32)
        if observation.dtype != np.uint8:
            inverse /= units(num_players)
        start = offsets(num_players)
        _write_features(
            observation,
            legal,
            outlook.belief,
            outlook.chances,
            num_players,
            start,
            inverse,
            self.rows,
            self.actions,
            self.features,
        )

    def logits(self, scores: np.ndarray, count: int) -> np.ndarray:
        """Scores float32 [M] spread over float32 [count, 121]; -inf elsewhere, but 0 for draws and passes."""
        out = np.full((count, NUM_ACTIONS), -np.inf, np.float32)
        out[:, DRAW:] = 0.0
        out[self.rows, self.actions] = scores
        return out
