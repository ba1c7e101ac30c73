"""Features of every legal placement: pairs (position, placement), computed from the observation alone.

A network that scores placements by these features shares what it learns between tiles. The features follow from the
observation and the mask, so they contain nothing that is hidden from the seat. All points are display points.

| feature      | size        | meaning                                                                           |
|--------------|-------------|-----------------------------------------------------------------------------------|
| ends         | 7           | per pip, single ends after the placement, in thirds                               |
| open_end     | 7           | per pip, 1 if there is a single end                                               |
| open_spinner | 7           | per pip, 1 if its spinner then has a free place (R4.3)                            |
| counting     | 7           | per pip, 1 if its spinner then counts as an end (R4.4)                            |
| sum_mod_5    | 5           | sum of the counted ends after the placement, modulo 5, one-hot (R5.2)             |
| sum          | 1           | that sum, in 32nds                                                                |
| credit       | 1           | points of the placement in 8ths, 0 for an overshoot                               |
| overshoot    | 1           | 1 for an overshoot (R6.1)                                                         |
| exact        | 1           | 1 if it hits the target (R6.2)                                                    |
| last         | 1           | 1 if it is the last tile of the hand (R7.1)                                       |
| double, pips | 1, 1        | of the tile; pips in 12ths                                                        |
| own_pips     | 7           | per pip, remaining own tiles that show it, in quarters                            |
| own_fits     | 1           | remaining own tiles that then fit, in fifths                                      |
| own_best     | 1           | most points of a remaining own tile without overshooting, in 8ths                 |
| own_scores   | 1           | remaining own tiles that then score, in fifths                                    |
| own_left     | 1           | remaining own tiles, in 8ths                                                      |
| own_stuck    | 1           | 1 if own tiles remain and none fits                                               |
| tile         | 28          | the tile, one-hot                                                                 |
| others       | (n - 1) * 7 | per other seat, the next one first, for the tiles that it may hold: share that    |
|              |             | fits; chance that a hand of its size has one; share that scores; chance that a    |
|              |             | hand of its size has one; most points, in 8ths; mean points times tiles held, in  |
|              |             | 8ths; whether the seat holds one tile                                             |
| kind         | 3           | lead, on an end, on a spinner                                                     |
| to_go        | 2           | points to go before the placement, in 61sts: own side, nearest other side         |
| boneyard     | 1           | tiles left to draw, in 16ths                                                      |

With an `Outlook`, the features of `outlook_features` follow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import int64

from fiveup_env.agents.network.outlook_features import (
    ANY_POINTS,
    OUTLOOK_SCRATCH,
    AfterPlacement,
    Outlook,
    best_points,
    num_outlook,
    write_outlook,
)
from fiveup_env.belief.belief_section import belief_shape
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import ACTION_TILE, DRAW, LAY_DOUBLE, LAY_SPINNER, NUM_ACTIONS
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


class _Seen(NamedTuple):
    """Positions as the seats to act see them.

    Attributes:
        observation: float32 or uint8 [N, F].
        mask: int8 [N, 121] of legal actions.
        inverse: float32 [F], factors that turn observation values into whole numbers.
        start: int64, offsets of the sections of the observation.
    """

    observation: np.ndarray
    mask: np.ndarray
    inverse: np.ndarray
    start: np.ndarray


class _Pairs(NamedTuple):
    """Placements to write: position index int64 [M], action id int64 [M] and features float32 [M, K]."""

    rows: np.ndarray
    actions: np.ndarray
    features: np.ndarray


def num_features(num_players: int, outlook: bool = False) -> int:
    """Return the number of features K, without or with those of an `Outlook`."""
    plain = _OTHERS + _PER_SEAT * (num_players - 1) + _BEHIND
    return plain + (num_outlook(num_players) if outlook else 0)


@kernel
def write_layout(after: AfterPlacement, out: np.ndarray) -> None:
    """Write the features of the layout after the placement."""
    for pip in range(7):
        count, state = packed(after.ends, pip), packed(after.spinners, pip)
        out[_ENDS + pip] = count / 3
        out[_OPEN_END + pip] = count > 0
        out[_OPEN_SPINNER + pip] = ALONE <= state <= ONE_ARM
        out[_COUNTING + pip] = ALONE <= state <= TERMINAL
    out[_MOD + after.total % 5] = 1.0
    out[_SUM] = after.total / 32


@kernel
def write_own(hand: int, worth: np.ndarray, to_go: int, out: np.ndarray) -> None:
    """Write the features of the remaining own tiles: `hand` is a tile set, `worth` the points of each tile [28]."""
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
    """Write the features of the tiles that another seat may hold; `worth` is the points of each tile [28]."""
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
    """Return a value of the observation as a whole number."""
    return int64(row[at] * inverse[at])


@kernel
def set_at(row: np.ndarray, at: int) -> int:
    """Return 28 values of the observation as a tile set."""
    tiles = 0
    for tile in range(NUM_TILES):
        tiles |= int64(row[at + tile] != 0) << tile
    return tiles


@entry
def _write_pairs(players: int, seen: _Seen, outlook: Outlook, pairs: _Pairs) -> None:
    """Write all placements of all positions; an empty belief leaves out the features of the outlook."""
    count = 0
    start, inverse = seen.start, seen.inverse
    worth = np.zeros(NUM_TILES, np.int64)
    may_hold, held = np.zeros(4, np.int64), np.zeros(4, np.int64)
    scratch, to_go = np.zeros(OUTLOOK_SCRATCH), np.zeros(3, np.int64)
    sides = 3 if players == 3 else 2
    for i in range(len(seen.observation)):
        row = seen.observation[i]
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
            if seen.mask[i, action] == 0:
                continue
            pairs.rows[count], pairs.actions[count] = i, action
            pair = pairs.features[count]
            pair[:] = 0.0
            tile = ACTION_TILE[action]
            left, ends, spinners = layout_after(total, base_ends, base_spinners, action)
            credit = left // 5 if left % 5 == 0 else 0
            over = credit > own
            after = AfterPlacement(left, ends, spinners, hand & ~(1 << tile), 0 if over else credit)
            write_layout(after, pair)
            pair[_CREDIT] = after.credit / 8
            pair[_OVERSHOOT] = over
            pair[_EXACT] = credit > 0 and credit == own
            pair[_LAST] = held[0] == 1
            pair[_DOUBLE] = LOW[tile] == HIGH[tile]
            pair[_PIPS] = (LOW[tile] + HIGH[tile]) / 12
            for other in range(NUM_TILES):
                worth[other] = best_points(after, other, ANY_POINTS)
            write_own(after.hand, worth, own - after.credit, pair)
            pair[_TILE + tile] = 1.0
            at = _OTHERS
            for other in range(1, players):
                write_other(may_hold[other] & ~(1 << tile), held[other], worth, pair, at)
                at += _PER_SEAT
            pair[at + (0 if action < LAY_DOUBLE else 1 if action < LAY_SPINNER else 2)] = 1.0
            pair[at + 3], pair[at + 4] = own / 61, nearest / 61
            pair[at + 5] = code_at(row, inverse, start[BONEYARD]) / 16
            if len(outlook.belief) > 0:
                to_go[0] = own
                write_outlook(players, after, outlook, i, to_go, (worth, scratch), pair[at + _BEHIND :])
            count += 1


class Placements:
    """Legal placements of a batch of positions.

    Args:
        observation: float32 or uint8 [N, F] of the seats to act.
        mask: int8 or bool [N, 121]; draws and passes have no row.
        num_players: 2, 3 or 4.
        outlook: inputs of the features of the outlook, None to leave them out.

    Attributes:
        rows: int64 [M], index of the position of each placement, ascending.
        actions: int64 [M], action ids, ascending within a position.
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
        inverse = np.ones(observation.shape[1], np.float32)
        if observation.dtype != np.uint8:
            inverse /= units(num_players)  # exact: units are powers of two
        seen = _Seen(observation, legal, inverse, offsets(num_players))
        _write_pairs(num_players, seen, outlook, _Pairs(self.rows, self.actions, self.features))

    def logits(self, scores: np.ndarray, count: int) -> np.ndarray:
        """Spread scores float32 [M] over float32 [count, 121]; 0 for draws and passes, -inf elsewhere."""
        out = np.full((count, NUM_ACTIONS), -np.inf, np.float32)
        out[:, DRAW:] = 0.0
        out[self.rows, self.actions] = scores
        return out
