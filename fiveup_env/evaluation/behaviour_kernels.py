"""What every seat did in a match, counted as it is played: going out, hands that cost, overshoots, what was set up.

Kept per match as int32 [4 seats, REGIONS, FIELDS]; the region is that of the seat's side by its score just before the
action. All points are display points. What is counted stands beside the fields; `behaviour` makes rates of it.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.layout import end_sum_after
from fiveup_env.rules.record import (
    BLOCKED,
    BY_BLOCK,
    BY_DOMINO,
    DOMINO,
    MAX_PLAYERS,
    MAX_SIDES,
    PLACEMENT,
    PLAYING,
    RAW_PER_POINT,
    Game,
)
from fiveup_env.rules.scoring import credit_of, next_of, side_of, to_nearest_five
from fiveup_env.rules.tiles import pip_sum
from fiveup_env.rules.turn import end_placements, proceed, spinner_placements

BOUNDS = (30, 50, 56)
"""Scores, in display points, at which a region ends and the next begins."""
REGIONS = len(BOUNDS) + 1

(
    ROUNDS,  # rounds that ended
    BLOCKS,  # of them by a block (R8)
    BLOCKS_WON,  # of those: the side had the lightest hand alone (R8.5)
    OUTS,  # rounds in which this seat went out (R7.0)
    OUT_POINTS,  # net of those events where they were accepted (R7.4)
    PARTNER_OUTS,  # rounds in which the partner went out
    HAND_COST,  # points that this seat's hand took from the partner's going out (R7.3)
    BLOCK_POINTS,  # credited at blocks (R8.2); counted for the side's first seat
    EVENTS,  # scoring events that brought or would have brought points
    OVERSHOTS,  # of them discarded (R6.1)
    LOST_POINTS,  # what those would have brought
    HITS,  # events that made exactly 61 (R6.2)
    PLACEMENTS,  # tiles laid
    POINTS,  # accepted placement credits, the domino's aside (R5.2)
    LEFT,  # placements after which the round went on
    FOR_PARTNER,  # the best credit that the partner's hand could take of what they left
    FOR_OPPONENT,  # the same for the next seat, an opponent
) = range(17)
FIELDS = 17


@kernel
def best_credit(game: Game, seat: int) -> int:
    """The most raw points that a placement of `seat` on this layout would bring, 0 if none scores or all overshoot."""
    score, target, best = int64(game.scores[side_of(game, seat)]), int64(game.target), 0
    ends, spinners = end_placements(game, seat), spinner_placements(game, seat)
    while ends:
        credit = credit_of(end_sum_after(game, LAY_DOUBLE + lowest_bit(ends)))
        ends &= ends - 1
        if score + credit <= target:
            best = max(best, credit)
    while spinners:
        credit = credit_of(end_sum_after(game, LAY_SPINNER + lowest_bit(spinners)))
        spinners &= spinners - 1
        if score + credit <= target:
            best = max(best, credit)
    return best


@kernel
def region_of(raw: int) -> int:
    """Region of a score in raw points."""
    region = 0
    for bound in BOUNDS:
        if raw >= bound * RAW_PER_POINT:
            region += 1
    return region


@kernel
def proceed_noted(game: Game, action: int, conduct: np.ndarray) -> None:
    """One legal action (`turn.proceed`), counted in `conduct`, int32 [4, REGIONS, FIELDS]."""
    seat, players = int64(game.turn), int64(game.num_players)
    regions = (
        region_of(int64(game.scores[0])),
        region_of(int64(game.scores[1])),
        region_of(int64(game.scores[2])),
    )
    before = int64(game.num_events)
    proceed(game, action)
    note_events(game, seat, before, regions, conduct)
    if action < DRAW:
        row = conduct[seat, regions[side_of(game, seat)]]
        row[PLACEMENTS] += 1
        if game.phase == PLAYING:
            following = next_of(seat, players)
            row[LEFT] += 1
            row[FOR_OPPONENT] += best_credit(game, following) // RAW_PER_POINT
            if players == MAX_PLAYERS:
                row[FOR_PARTNER] += best_credit(game, next_of(following, players)) // RAW_PER_POINT
    if game.phase != PLAYING:
        note_round(game, seat, regions, conduct)


@kernel
def play_noted(game: Game, action: int, conduct: np.ndarray) -> None:
    """As `proceed_noted`, with the step's own scoring events alone in the record afterwards (`turn.play`)."""
    game.num_events = 0
    proceed_noted(game, action, conduct)


@kernel
def note_events(game: Game, seat: int, before: int, regions: tuple[int, int, int], conduct: np.ndarray) -> None:
    """The scoring events of the last action, taken by `seat`; so many before it are older."""
    for i in range(before, int64(game.num_events)):
        kind, side, net = int64(game.event_kind[i]), int64(game.event_side[i]), int64(game.event_net[i])
        row = conduct[side if kind == BLOCKED else seat, regions[side]]
        points = net // RAW_PER_POINT
        if net > 0:
            row[EVENTS] += 1
        if game.event_accepted[i] == 0:
            row[OVERSHOTS] += 1
            row[LOST_POINTS] += points
        elif kind == PLACEMENT:
            row[POINTS] += points
        elif kind == DOMINO:
            row[OUT_POINTS] += points
        else:
            row[BLOCK_POINTS] += points
    last = int64(game.num_events) - 1
    if game.winner >= 0 and last >= before:
        side = int64(game.winner)
        conduct[side if game.event_kind[last] == BLOCKED else seat, regions[side], HITS] += 1


@kernel
def note_round(game: Game, seat: int, regions: tuple[int, int, int], conduct: np.ndarray) -> None:
    """The end of a round, by the last action of `seat`."""
    for other in range(int64(game.num_players)):
        side = side_of(game, other)
        row = conduct[other, regions[side]]
        row[ROUNDS] += 1
        if game.round_end == BY_BLOCK:
            row[BLOCKS] += 1
            row[BLOCKS_WON] += 1 if game.round_winner == side else 0
        elif game.round_end == BY_DOMINO:
            if other == seat:
                row[OUTS] += 1
            elif side == side_of(game, seat):
                row[PARTNER_OUTS] += 1
                row[HAND_COST] += to_nearest_five(pip_sum(game.hands[other])) // RAW_PER_POINT


def new_counts(count: int) -> np.ndarray:
    """Nothing counted yet for so many matches, int32 [N, 4, REGIONS, FIELDS]."""
    return np.zeros((count, MAX_PLAYERS, REGIONS, FIELDS), np.int32)


assert MAX_SIDES == 3, "regions are kept for three sides"
