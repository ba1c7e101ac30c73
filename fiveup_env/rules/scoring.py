"""Scoring: credits (R5), the exact target (R6), domino (R7) and blocked settlement (R8)."""

from __future__ import annotations

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import (
    BLOCKED,
    BY_BLOCK,
    BY_DOMINO,
    BY_EXACT_HIT,
    DOMINO,
    MATCH_OVER,
    PLACEMENT,
    ROUND_OVER,
    Game,
)
from fiveup_env.rules.tiles import pip_sum


@kernel(inline=True)
def next_of(index: int, count: int) -> int:
    """Next of `count` seats or sides around the table, without a branch (it would be unpredictable)."""
    following = index + 1
    return following & following - count >> 63


@kernel(inline=True)
def points_of(raw: int) -> int:
    """Display points of 0 to 81,919 raw points (R1.1), by an unsigned division by 5."""
    return raw * 52429 >> 18


@kernel
def side_of(game: Game, seat: int) -> int:
    """Side of a seat: the seat itself, or its partnership when four play (R1.2)."""
    return seat & 1 if game.num_players == 4 else seat


@kernel
def credit_of(end_sum: int) -> int:
    """Raw credit of a placement that leaves this sum of the counted ends: a positive multiple of 5, else 0 (R5.2)."""
    return end_sum if end_sum % 5 == 0 else 0


@kernel
def to_nearest_five(pips: int) -> int:
    """Round once to the nearest multiple of 5: 1, 2 down and 3, 4 up (R7.2)."""
    return (pips + 2) // 5 * 5


@kernel
def score_event(game: Game, kind: int, side: int, net: int) -> bool:
    """Record one scoring event: discarded whole if it overshoots (R6.1), winning if it hits the target exactly (R6.2).

    Returns whether it won the match.
    """
    total = int64(game.scores[side]) + net
    accepted = total <= int64(game.target)
    at = int64(game.num_events)
    game.event_kind[at] = kind
    game.event_side[at] = side
    game.event_net[at] = net
    game.event_accepted[at] = accepted
    game.num_events = at + 1
    if not accepted:
        return False
    game.scores[side] = total
    if total != int64(game.target):
        return False
    game.winner = side
    game.phase = MATCH_OVER
    return True


@kernel
def hit_in_mid_round(game: Game, side: int) -> None:
    """End the round by a winning placement: nothing is settled, hands stay hidden (R5.3, R6.2, D5)."""
    game.round_end = BY_EXACT_HIT
    game.round_winner = side
    game.next_opener = -1
    for seat in range(4):
        game.revealed[seat] = 0


@kernel
def end_round(game: Game, how: int, winner: int, next_opener: int) -> None:
    """End the round and show its hands (D5); a match already won stays won."""
    game.round_end = how
    game.round_winner = winner
    game.next_opener = next_opener
    game.phase = ROUND_OVER
    for seat in range(4):
        game.revealed[seat] = game.hands[seat]


@kernel
def settle_domino(game: Game, seat: int, credit: int) -> None:
    """Score credit + opponents' pips - partner's pips as one event (R7); the seat opens next (R2.5)."""
    side = side_of(game, seat)
    opponents = 0
    partner = 0
    for other in range(int64(game.num_players)):
        pips = pip_sum(game.hands[other])
        if side_of(game, other) != side:
            opponents += pips
        elif other != seat:
            partner += pips
    end_round(game, BY_DOMINO, side, seat)
    score_event(game, DOMINO, side, credit + to_nearest_five(opponents) - to_nearest_five(partner))


@kernel
def block_credit(game: Game, seat: int) -> int:
    """Rounded sum of the pips by which strictly heavier opposing hands exceed this one (R8.2)."""
    own = pip_sum(game.hands[seat])
    above = 0
    for other in range(int64(game.num_players)):
        if side_of(game, other) != side_of(game, seat):
            above += max(0, pip_sum(game.hands[other]) - own)
    return to_nearest_five(above)


@kernel
def block_winner(game: Game) -> int:
    """Side of the lightest hand, -1 if opposing sides share the lowest sum (R8.5)."""
    lowest = 1000
    winner = -1
    for seat in range(int64(game.num_players)):
        pips = pip_sum(game.hands[seat])
        side = side_of(game, seat)
        if pips < lowest:
            lowest = pips
            winner = side
        elif pips == lowest and side != winner:
            winner = -1
    return winner


@kernel
def settle_block(game: Game) -> None:
    """Settle a block: hands score lightest first, equal ones in seat order from seat 0 (R8, D2)."""
    end_round(game, BY_BLOCK, block_winner(game), -1)
    done = 0
    for _ in range(int64(game.num_players)):
        best = -1
        least = 1000
        for seat in range(int64(game.num_players)):
            pips = pip_sum(game.hands[seat])
            if done >> seat & 1 == 0 and pips < least:
                best = seat
                least = pips
        done |= 1 << best
        credit = block_credit(game, best)
        if credit > 0 and score_event(game, BLOCKED, side_of(game, best), credit):
            return


@kernel
def score_placement(game: Game, seat: int, credit: int) -> bool:
    """Score an ordinary placement (R5.3); returns whether it won the match."""
    side = side_of(game, seat)
    if credit > 0 and score_event(game, PLACEMENT, side, credit):
        hit_in_mid_round(game, side)
        return True
    return False
