"""The baseline policies as kernels, and playouts with them.

`random`, `greedy` and `heuristic` read only the hand of the seat to act and public facts, so they may be given a full
record. The key of a decision depends only on (policy seed, round, number of actions in it), so a match is the same
alone, in any batch, and in compiled code.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.heuristic import WEIGHTS, heuristic_action
from fiveup_env.jit.bits import count_bits, lowest_bit, nth_bit
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import ACTION_TILE, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.layout import end_sum_after
from fiveup_env.rules.random import GOLDEN, LOW_32, S32, TWO_32, below, mix, stream
from fiveup_env.rules.record import PLAYING, ROUND_OVER, Game, start_round
from fiveup_env.rules.scoring import credit_of, side_of
from fiveup_env.rules.tiles import PIPS
from fiveup_env.rules.turn import draw_or_pass, end_placements, play, spinner_placements

RANDOM, GREEDY, HEURISTIC = 0, 1, 2
KERNEL_AGENTS = {"random": RANDOM, "greedy": GREEDY, "heuristic": HEURISTIC}
POLICY = np.uint64(0x504F4C4943593631)  # keeps policy and deal apart if their seeds are equal


@kernel
def round_key(seed: int, game: Game) -> int:
    """Random bits that the decision keys of this round derive from."""
    return stream(np.uint64(seed) ^ POLICY, game.round_number)


@kernel
def decision_key(key_of_round: int, game: Game) -> int:
    """64 random bits for the next action of the round."""
    return mix(np.uint64(key_of_round) + np.uint64(game.num_history) * GOLDEN)


@entry
def decision_keys(games: np.ndarray, seeds: np.ndarray, keys: np.ndarray) -> None:
    """Write the decision key of every match; `seeds` of the policies and `keys` are uint64 [N]."""
    for i in range(len(games)):
        keys[i] = decision_key(round_key(seeds[i], games[i]), games[i])


@kernel
def pick(key: int, n: int) -> int:
    """A uniform integer from 0 to n - 1 (n up to 2**32) from the bits of the key, which is rarely hashed again."""
    product = int64(np.uint64(key) >> S32) * n
    rest = product & LOW_32
    if rest < n and rest < TWO_32 % n:
        return below(key, n)[0]
    return int(product >> 32)


@kernel
def random_action(game: Game, key: int) -> int:
    """A uniformly random legal action; the round must not be over."""
    # Like `nth_legal(pick(count_legal))`, but the legal sets are computed once.
    seat = int64(game.turn)
    if game.num_laid == 0:
        return nth_bit(int64(game.hands[seat]), pick(key, int64(game.hand_sizes[seat])))
    ends, spinners = end_placements(game, seat), spinner_placements(game, seat)
    if ends | spinners == 0:
        return draw_or_pass(game)
    count = count_bits(ends)
    n = pick(key, count + count_bits(spinners))
    if n < count:
        return LAY_DOUBLE + nth_bit(ends, n)
    return LAY_SPINNER + nth_bit(spinners, n - count)


@kernel
def greedy_worth(game: Game, seat: int, action: int) -> int:
    """Greedy's rating of a placement: its credit (an overshoot counts less than zero), then the pips of the tile."""
    credit = credit_of(end_sum_after(game, action))
    if int64(game.scores[side_of(game, seat)]) + credit > int64(game.target):
        credit = -1
    return credit * 16 + PIPS[ACTION_TILE[action]]


@kernel
def greedy_action(game: Game) -> int:
    """The placement with the most points now; an overshoot (R6.1) only if nothing else is legal.

    Ties go to the heavier tile, then to the lowest action id. Draws and passes are forced (R3.2).
    """
    forced = draw_or_pass(game)
    if forced >= 0:
        return forced
    seat = int64(game.turn)
    if game.num_laid == 0:
        return _best(game, seat, 0, int64(game.hands[seat]), -1)
    best = _best(game, seat, LAY_DOUBLE, end_placements(game, seat), -1)
    return _best(game, seat, LAY_SPINNER, spinner_placements(game, seat), best)


@kernel
def _best(game: Game, seat: int, first: int, bits: int, best: int) -> int:
    worth = greedy_worth(game, seat, best) if best >= 0 else -1000
    while bits:
        action = first + lowest_bit(bits)
        bits &= bits - 1
        other = greedy_worth(game, seat, action)
        if other > worth:
            best = action
            worth = other
    return best


@kernel
def choose(game: Game, policy: int, key: int) -> int:
    """Action of the kernel policy RANDOM, GREEDY or HEURISTIC for the seat to act, given the decision key."""
    if policy == GREEDY:
        return greedy_action(game)
    return heuristic_action(game, WEIGHTS) if policy == HEURISTIC else random_action(game, key)


@entry
def choose_many(games: np.ndarray, policy: int, keys: np.ndarray, actions: np.ndarray) -> None:
    """`choose` for every match: reads `keys` uint64 [N], writes `actions` int64 [N], -1 if the match is over."""
    for i in range(len(games)):
        actions[i] = choose(games[i], policy, keys[i]) if games[i].phase == PLAYING else -1


@kernel
def play_out_round(game: Game, policies: np.ndarray, key_of_round: int) -> None:
    """Play to the end of the round or match with one kernel policy per seat."""
    while game.phase == PLAYING:
        play(game, choose(game, policies[int64(game.turn)], decision_key(key_of_round, game)))


@entry
def rollout(games: np.ndarray, policies: np.ndarray, seeds: np.ndarray, max_rounds: int) -> None:
    """Play matches to their end or for `max_rounds` more rounds (0: no limit).

    Args:
        games: records [N], changed in place.
        policies: kernel policy per seat, int64 [4] (RANDOM, GREEDY, HEURISTIC).
        seeds: seeds of the policies, uint64 [N].
    """
    for i in range(len(games)):
        game, rounds = games[i], 0
        while game.phase == PLAYING:
            play_out_round(game, policies, round_key(seeds[i], game))
            rounds += 1
            if game.phase == ROUND_OVER and rounds != max_rounds:
                start_round(game)
