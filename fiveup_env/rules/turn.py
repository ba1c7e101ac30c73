"""Turns: legal actions, forced moves and one step (R2.4, R3)."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import HAS_BMI2, count_bits, gather_bits, nth_bit, spread_bits
from fiveup_env.jit.compilation import compiled_as, kernel
from fiveup_env.jit.stores import store_set
from fiveup_env.rules.actions import (
    ACTION_TILE,
    DRAW,
    HAND_END,
    HAND_SPINNER,
    LAY_DOUBLE,
    LAY_END,
    LAY_SPINNER,
    NUM_ACTIONS,
    OFFER_END,
    OFFER_SPINNER,
    PASS,
)
from fiveup_env.rules.layout import lay
from fiveup_env.rules.record import PLAYING, ROUND_OVER, Game, start_round
from fiveup_env.rules.scoring import credit_of, next_of, score_placement, settle_block, settle_domino
from fiveup_env.rules.tiles import DOUBLES, NUM_TILES, TILES_WITH

NON_DOUBLES = (1 << NUM_TILES) - 1 - DOUBLES
EVEN = 0x5555555555555555


@kernel(inline=True)
def open_pips(game: Game) -> int:
    """Set of pip counts with a free place (R3.1)."""
    return int64(game.end_pips) | int64(game.spinner_pips)


@kernel(inline=True)
def can_lay(game: Game, seat: int) -> bool:
    """Whether a seat holds a tile that fits; before the opening placement every tile does (R2.4)."""
    if game.num_laid == 0:
        return True
    return int64(game.hands[seat]) & TILES_WITH[open_pips(game)] != 0


@compiled_as(lambda hand: 3 * spread_bits(gather_bits(hand, NON_DOUBLES), EVEN), when=HAS_BMI2)
def onto_spinners(hand: int) -> int:
    """Placements on spinners that a hand could make, as a bit set; see `HAND_SPINNER`."""
    table = HAND_SPINNER  # with BMI2: the low and the high half of each non-double are neighbours
    return table[0, hand & 127] | table[1, hand >> 7 & 127] | table[2, hand >> 14 & 127] | table[3, hand >> 21]


@compiled_as(lambda hand: gather_bits(hand, DOUBLES) | onto_spinners(hand) << LAY_END - LAY_DOUBLE, when=HAS_BMI2)
def onto_ends(hand: int) -> int:
    """Placements on ends that a hand could make, as a bit set; see `HAND_END`."""
    table = HAND_END
    return table[0, hand & 127] | table[1, hand >> 7 & 127] | table[2, hand >> 14 & 127] | table[3, hand >> 21]


@kernel(inline=True)
def end_placements(game: Game, seat: int) -> int:
    """Legal placements on single ends as a bit set: bit j is action LAY_DOUBLE + j."""
    return onto_ends(int64(game.hands[seat])) & OFFER_END[int64(game.end_pips)]


@kernel(inline=True)
def spinner_placements(game: Game, seat: int) -> int:
    """Legal placements on spinners as a bit set: bit j is action LAY_SPINNER + j."""
    return onto_spinners(int64(game.hands[seat])) & OFFER_SPINNER[int64(game.spinner_pips)]


@kernel
def draw_or_pass(game: Game) -> int:
    """DRAW or PASS if the seat to act cannot place a tile (R3.2), else -1; -1 too unless a round is in play."""
    if game.phase != PLAYING or can_lay(game, int64(game.turn)):
        return -1
    return DRAW if game.boneyard_next < game.boneyard_end else PASS


@kernel(inline=True)
def legal_sets(game: Game) -> tuple[int, int, int, int]:
    """Return the legal actions as bit sets: leads, placements on ends, on spinners; last 1 for a draw, 2 for a pass.

    Bit j stands for action j, LAY_DOUBLE + j and LAY_SPINNER + j.
    """
    leads, ends, spinners, forced = 0, 0, 0, 0
    if game.phase == PLAYING:
        seat = int64(game.turn)
        if game.num_laid == 0:
            leads = int64(game.hands[seat])
        else:
            ends = end_placements(game, seat)
            spinners = spinner_placements(game, seat)
            if ends | spinners == 0:
                forced = 1 if game.boneyard_next < game.boneyard_end else 2
    return leads, ends, spinners, forced


@kernel(inline=True)
def write_sets(mask: np.ndarray, leads: int, ends: int, spinners: int, forced: int) -> None:
    """Write the mask of the actions from `legal_sets`, 0 or 1, int8 [121]."""
    # Ascending, eight bytes per store: the next set overwrites what spills over.
    store_set(mask, 0, leads, 4)
    store_set(mask, LAY_DOUBLE, ends, 7)
    store_set(mask, LAY_SPINNER, spinners, 5)
    store_set(mask, NUM_ACTIONS - 8, spinners >> 36 | forced << 6, 1)


@kernel(inline=True)
def write_mask(game: Game, mask: np.ndarray) -> None:
    """Write the mask of the legal actions, 0 or 1, int8 [121]; all zero after the match."""
    leads, ends, spinners, forced = legal_sets(game)
    write_sets(mask, leads, ends, spinners, forced)


@kernel
def count_legal(game: Game) -> int:
    """Number of legal actions; 0 after the match."""
    if game.phase != PLAYING:
        return 0
    seat = int64(game.turn)
    if game.num_laid == 0:
        return int64(game.hand_sizes[seat])
    return max(1, count_bits(end_placements(game, seat)) + count_bits(spinner_placements(game, seat)))


@kernel
def nth_legal(game: Game, n: int) -> int:
    """The n-th legal action in order of ids; requires a round in play and n < `count_legal`."""
    seat = int64(game.turn)
    if game.num_laid == 0:
        return nth_bit(int64(game.hands[seat]), n)
    ends = end_placements(game, seat)
    count = count_bits(ends)
    if n < count:
        return LAY_DOUBLE + nth_bit(ends, n)
    spinners = spinner_placements(game, seat)
    if spinners:
        return LAY_SPINNER + nth_bit(spinners, n - count)
    return DRAW if game.boneyard_next < game.boneyard_end else PASS


@kernel(inline=True)
def forced_move(game: Game, placements: bool) -> int:
    """Forced move of the seat to act: a draw, a pass, or (with `placements`) its only placement; -1 for none."""
    action = draw_or_pass(game)
    if action < 0 and placements and count_legal(game) == 1:
        return nth_legal(game, 0)
    return action


@kernel
def is_legal(game: Game, action: int) -> bool:
    """Whether the seat to act may take the action."""
    if game.phase != PLAYING or action < 0 or action >= NUM_ACTIONS:
        return False
    seat = int64(game.turn)
    if action < LAY_DOUBLE:
        return game.num_laid == 0 and int64(game.hands[seat]) >> action & 1 == 1
    if action >= DRAW:
        return draw_or_pass(game) == action
    if game.num_laid == 0:
        return False
    if action < LAY_SPINNER:
        return end_placements(game, seat) >> (action - LAY_DOUBLE) & 1 == 1
    return spinner_placements(game, seat) >> (action - LAY_SPINNER) & 1 == 1


@kernel
def pass_turn(game: Game) -> None:
    """Give the turn to the next seat clockwise (R2.4)."""
    game.turn = next_of(int64(game.turn), int64(game.num_players))


@kernel
def is_blocked(game: Game) -> bool:
    """Whether the boneyard is empty and no seat can place a tile (R3.3); checked after every step (D1)."""
    if game.boneyard_next < game.boneyard_end:
        return False
    held = 0
    for seat in range(int64(game.num_players)):
        held |= int64(game.hands[seat])
    return held & TILES_WITH[open_pips(game)] == 0


@kernel
def draw(game: Game) -> None:
    """Draw one tile (R3.2); the last one may leave the round blocked (D1)."""
    seat = int64(game.turn)
    tile = int64(game.boneyard[int64(game.boneyard_next)])
    game.boneyard_next += 1
    # The hand so far fits nowhere. Older knowledge lapses: unfit tiles drawn since may show any other pip.
    game.void[seat] = open_pips(game)
    game.hands[seat] = int64(game.hands[seat]) | 1 << tile
    game.hand_sizes[seat] += 1
    game.drawn[seat] += 1
    game.just_drew = 1
    if is_blocked(game):
        settle_block(game)


@kernel
def place(game: Game, action: int) -> None:
    """Lay a tile, score it, and settle the round if it ends (R3.1, R5, R7, R8)."""
    seat = int64(game.turn)
    game.hands[seat] = int64(game.hands[seat]) & ~(1 << ACTION_TILE[action])
    game.hand_sizes[seat] -= 1
    game.just_drew = 0
    lay(game, action)
    credit = credit_of(int64(game.end_sum))
    if game.hands[seat] == 0:
        settle_domino(game, seat, credit)  # takes precedence over blocks (D9)
    elif not score_placement(game, seat, credit):
        if is_blocked(game):
            settle_block(game)
        else:
            pass_turn(game)


@kernel
def proceed(game: Game, action: int) -> None:
    """Take one legal action and append its scoring events to the list.

    A round that ends is settled and left in phase ROUND_OVER; the next is not dealt.
    """
    game.history[int64(game.num_history)] = action
    game.num_history += 1
    if action < DRAW:
        place(game, action)
    elif action == DRAW:
        draw(game)
    else:
        game.void[int64(game.turn)] |= open_pips(game)
        game.just_drew = 0
        pass_turn(game)


@kernel
def play(game: Game, action: int) -> None:
    """Take one legal action; `event_*` then hold its scoring events. The next round is not dealt."""
    game.num_events = 0
    proceed(game, action)


@kernel(inline=True)
def play_forced(game: Game, placements: bool) -> bool:
    """Take the forced move, if there is one (see `forced_move`); returns whether there was.

    Scoring events of draws and passes are appended to the list; a placement starts a new list.
    """
    action = forced_move(game, placements)
    if action >= DRAW:
        proceed(game, action)
    elif action >= 0:
        play(game, action)
    return action >= 0


@kernel
def step(game: Game, action: int) -> None:
    """Take one legal action; deal the next round if this one is over and the match is not."""
    play(game, action)
    if game.phase == ROUND_OVER:
        start_round(game)
