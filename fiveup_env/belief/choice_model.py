"""The choice model: weighs worlds by the placements that the other seats chose.

The exact belief takes every consistent deal as equally likely. But a tile laid by choice carries information about the
rest of the hand: few players leave points on the table. So each placement that another seat chose is one factor in the
weight of a world: the share of the laid tile in the sum over the hand at that moment, where each tile that fitted
counts the `APPEAL` of the best credit it could have had.

The hand at that moment is what the seat holds in the world plus what it has laid by choice since. Tiles drawn in
between were not in it. Known draws are those that fit at a later turn in which the seat drew or passed, and those laid
right after the draw; every other tile counts the share of the hand that was not drawn since.

A greedy player is a little sharper than this model, a searching one a little less so.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fiveup_env.belief.deal_counts import BeliefRecord
from fiveup_env.belief.exact_belief import below_wide, deal_way, sample, shuffle_boneyard
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import int64, kernel, uint64
from fiveup_env.rules.actions import ACTION_TILE, DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.layout import end_sum_after, lay
from fiveup_env.rules.random import GOLDEN, mix
from fiveup_env.rules.record import GAME, MAX_PLAYERS, RAW_PER_POINT, Game, clear_table
from fiveup_env.rules.scoring import credit_of, next_of, side_of
from fiveup_env.rules.tiles import NUM_TILES, PIPS, TILES_WITH
from fiveup_env.rules.turn import end_placements, open_pips, spinner_placements

MAX_CHOICES = NUM_TILES
MOST_POINTS = 12
APPEAL = np.exp(1.0 * np.arange(-1, MOST_POINTS + 1)[:, None] + 0.1 * np.arange(MOST_POINTS + 1)[None, :])
"""1 + credit in display points (0: an overshoot), pips of the tile -> appeal [14, 13]."""

Inference: TypeAlias = Any
"""A record of dtype `INFERENCE`, or inside kernels a reference to one."""

_FIELDS: list[tuple[Any, ...]] = [
    ("past", GAME),  # scratch: the table, rebuilt action by action
    ("num_choices", "i8", MAX_PLAYERS),  # placements made by choice; none for the seat that looks
    ("chosen", "f8", (MAX_PLAYERS, MAX_CHOICES)),  # appeal of the laid tile
    ("laid", "f8", (MAX_PLAYERS, MAX_CHOICES)),  # appeal then of the laid tile and of those laid by choice since
    ("held", "f8", (MAX_PLAYERS, NUM_TILES, MAX_CHOICES)),  # appeal of each tile, if the seat still holds it
    ("drawn", "i8", (MAX_PLAYERS, MAX_CHOICES)),  # tiles the seat had drawn and kept when it chose
    ("kept", "i8", MAX_PLAYERS),  # tiles it has drawn and kept by now
    ("sums", "f8", MAX_CHOICES),  # scratch
]

INFERENCE = np.dtype((np.record, np.dtype(_FIELDS, align=True)))
"""dtype of the choices of one round, as `infer` reads them."""


def new_inferences(count: int) -> np.ndarray:
    """Blank records for `infer` [count]."""
    return np.zeros(count, INFERENCE)


@kernel
def infer(game: Game, seat: int, record: Inference) -> None:
    """Read the choices of all seats but `seat` from the round's history; looks only at what `seat` sees."""
    past, players = record.past, int64(game.num_players)
    begin_past(game, past)
    for other in range(players):
        record.num_choices[other] = 0
        record.kept[other] = 0
    who, drew = int64(game.opener), False
    for i in range(int64(game.num_history)):
        action = int64(game.history[i])
        if who != seat:
            if action >= DRAW:
                note_dry(record, who)
                if action == DRAW:
                    record.kept[who] += 1
            elif drew:
                record.kept[who] -= 1
            else:
                note_choice(game, seat, record, who, ACTION_TILE[action])
        if action < DRAW:
            lay(past, action)
            past.scores[side_of(past, who)] += credit_of(int64(past.end_sum))
        drew = action == DRAW
        if not drew:
            who = next_of(who, players)
    for other in range(players):
        share_out(game, record, other)


@kernel
def begin_past(game: Game, past: Game) -> None:
    """Clear the table, and set the scores before the round as if none of its credits had been discarded (R6.1)."""
    clear_table(past)
    past.num_players = game.num_players
    past.target = game.target
    for side in range(MAX_PLAYERS):
        past.scores[side] = game.scores[side]
    who, players = int64(game.opener), int64(game.num_players)
    for i in range(int64(game.num_history)):
        action = int64(game.history[i])
        if action < DRAW:
            lay(past, action)
            past.scores[side_of(past, who)] -= credit_of(int64(past.end_sum))
        if action != DRAW:
            who = next_of(who, players)
    clear_table(past)


@kernel
def note_dry(record: Inference, who: int) -> None:
    """A seat draws or passes: tiles that fit now were not in its hand before."""
    fits = TILES_WITH[open_pips(record.past)]
    while fits:
        tile = lowest_bit(fits)
        fits &= fits - 1
        for at in range(int64(record.num_choices[who])):
            record.held[who, tile, at] = 0.0


@kernel
def note_choice(game: Game, seat: int, record: Inference, who: int, tile: int) -> None:
    """A seat lays a tile by choice: note the appeal of each tile that it may have held."""
    past, at = record.past, int64(record.num_choices[who])
    for earlier in range(at):
        record.laid[who, earlier] += record.held[who, tile, earlier]
    for other in range(NUM_TILES):
        record.held[who, other, at] = 0.0
    past.hands[who] = int64(game.in_play) & ~int64(past.table) & ~int64(game.hands[seat])
    if past.num_laid == 0:
        note_appeal(record, who, at, 0, int64(past.hands[who]))
    else:
        note_appeal(record, who, at, LAY_DOUBLE, end_placements(past, who))
        note_appeal(record, who, at, LAY_SPINNER, spinner_placements(past, who))
    record.chosen[who, at] = record.held[who, tile, at]
    record.laid[who, at] = record.held[who, tile, at]
    record.drawn[who, at] = record.kept[who]
    record.num_choices[who] = at + 1


@kernel
def note_appeal(record: Inference, who: int, at: int, first: int, bits: int) -> None:
    """Note the appeal of tiles by the placements in a bit set; the best placement of a tile counts."""
    past = record.past
    room = int64(past.target) - int64(past.scores[side_of(past, who)])
    while bits:
        action = first + lowest_bit(bits)
        bits &= bits - 1
        tile, credit = ACTION_TILE[action], credit_of(end_sum_after(past, action))
        points = -1 if credit > room else min(credit // RAW_PER_POINT, MOST_POINTS)
        record.held[who, tile, at] = max(record.held[who, tile, at], APPEAL[1 + points, PIPS[tile]])


@kernel
def share_out(game: Game, record: Inference, who: int) -> None:
    """Scale the tiles held now by the share of the hand that was not drawn since each choice."""
    size = int64(game.hand_sizes[who])
    for at in range(int64(record.num_choices[who])):
        since = int64(record.kept[who]) - int64(record.drawn[who, at])
        if since > 0 and size > 0:
            share = float(max(size - since, 0)) / size
            for tile in range(NUM_TILES):
                record.held[who, tile, at] *= share


@kernel
def likelihood(world: Game, record: Inference) -> float:
    """Weight of a world, up to a factor that all worlds of one `infer` share."""
    top, bottom, sums = 1.0, 1.0, record.sums
    for seat in range(int64(world.num_players)):
        count = int64(record.num_choices[seat])
        if count == 0:
            continue
        for at in range(count):
            sums[at] = record.laid[seat, at]
        hand = int64(world.hands[seat])
        while hand:
            tile = lowest_bit(hand)
            hand &= hand - 1
            for at in range(count):
                sums[at] += record.held[seat, tile, at]
        for at in range(count):
            top *= record.chosen[seat, at]
            bottom *= sums[at]
    return top / bottom


@kernel
def sample_likely(
    belief: BeliefRecord, cells: np.ndarray, record: Inference, candidates: int, world: Game, state: int
) -> int:
    """Draw `candidates` uniform deals and write one of them, drawn by likelihood, into `world`.

    More candidates come closer to the model's distribution; one candidate is the uniform belief. Arguments and result
    as in `exact_belief.sample`.
    """
    if candidates == 1:
        return sample(belief, cells, world, state)
    total, chosen, last = 0.0, 0, 0
    for _ in range(candidates):
        last, state = below_wide(state, belief.ways)
        deal_way(belief, cells, last, world)
        weight = likelihood(world, record)
        total += weight
        state = uint64(state) + uint64(GOLDEN)
        if float(uint64(mix(state)) >> uint64(11)) * 2.0**-53 * total < weight:
            chosen = last
    if chosen != last:
        deal_way(belief, cells, chosen, world)
    return shuffle_boneyard(world, state)
