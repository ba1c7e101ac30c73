"""Behaviour counters of a match, per seat: going out, cost of hands, overshoots, credits left to others.

Counts of a match are int32 [4 seats, REGIONS, FIELDS]. The region is the score range of the seat's side just before the
action. All points are display points. `behaviour` turns the counts into rates.
"""

from __future__ import annotations

from typing import NamedTuple

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
from fiveup_env.rules.turn import end_placements, spinner_placements

BOUNDS = (30, 50, 56)
"""First score, in display points, of every region but the first."""
REGIONS = len(BOUNDS) + 1

(
    ROUNDS,  # rounds that ended
    BLOCKS,  # rounds that ended by a block (R8)
    BLOCKS_WON,  # blocks in which the side alone had the lightest hand (R8.5)
    OUTS,  # rounds in which this seat went out (R7.0)
    OUT_POINTS,  # accepted points of going out (R7.4)
    PARTNER_OUTS,  # rounds in which the partner went out
    HAND_COST,  # points that this seat's hand subtracted when the partner went out (R7.3)
    BLOCK_POINTS,  # credited at blocks (R8.2); counted for the side's first seat
    EVENTS,  # scoring events with positive points, accepted or not
    OVERSHOTS,  # events discarded (R6.1)
    LOST_POINTS,  # points discarded
    HITS,  # events that reached exactly 61 (R6.2)
    PLACEMENTS,  # tiles laid
    POINTS,  # accepted credits of placements, without going out (R5.2)
    LEFT,  # placements that did not end the round
    FOR_PARTNER,  # best credit available to the partner's hand after them
    FOR_OPPONENT,  # best credit available to the next seat, an opponent
) = range(17)
FIELDS = 17


@kernel
def best_credit(game: Game, seat: int) -> int:
    """Largest credit, in raw points, of a placement by `seat` on this layout; 0 if none scores or all overshoot."""
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


class Before(NamedTuple):
    """State just before an action: the seat to act, the events already listed, and the region of every side."""

    seat: int
    events: int
    regions: tuple[int, int, int]


@kernel
def before_action(game: Game) -> Before:
    """State that `count_action` compares with."""
    first, second, third = int64(game.scores[0]), int64(game.scores[1]), int64(game.scores[2])
    regions = (region_of(first), region_of(second), region_of(third))
    return Before(int64(game.turn), int64(game.num_events), regions)


@kernel
def count_action(game: Game, action: int, before: Before, counts: np.ndarray) -> None:
    """Count an action that was just taken; `counts` of the match are int32 [4, REGIONS, FIELDS]."""
    seat, regions, players = before.seat, before.regions, int64(game.num_players)
    count_events(game, before, counts)
    if action < DRAW:
        row = counts[seat, regions[side_of(game, seat)]]
        row[PLACEMENTS] += 1
        if game.phase == PLAYING:
            following = next_of(seat, players)
            row[LEFT] += 1
            row[FOR_OPPONENT] += best_credit(game, following) // RAW_PER_POINT
            if players == MAX_PLAYERS:
                row[FOR_PARTNER] += best_credit(game, next_of(following, players)) // RAW_PER_POINT
    if game.phase != PLAYING:
        count_round(game, before, counts)


@kernel
def count_events(game: Game, before: Before, counts: np.ndarray) -> None:
    """Count the scoring events of the last action."""
    seat, regions = before.seat, before.regions
    for i in range(before.events, int64(game.num_events)):
        kind, side, net = int64(game.event_kind[i]), int64(game.event_side[i]), int64(game.event_net[i])
        row = counts[side if kind == BLOCKED else seat, regions[side]]
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
    if game.winner >= 0 and last >= before.events:
        side = int64(game.winner)
        counts[side if game.event_kind[last] == BLOCKED else seat, regions[side], HITS] += 1


@kernel
def count_round(game: Game, before: Before, counts: np.ndarray) -> None:
    """Count the end of a round by the last action."""
    seat, regions = before.seat, before.regions
    for other in range(int64(game.num_players)):
        side = side_of(game, other)
        row = counts[other, regions[side]]
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
    """Zero counts of `count` matches, int32 [N, 4, REGIONS, FIELDS]."""
    return np.zeros((count, MAX_PLAYERS, REGIONS, FIELDS), np.int32)


assert MAX_SIDES == 3, "regions are kept for three sides"
