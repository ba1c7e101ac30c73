"""The baseline policies as kernels, and whole games played inside compiled code.

`random` and `greedy` look at nothing but the acting seat's hand and what is public, so they may be given a full
record. Their random state is their own (uint64 per match), never the deal's.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.rules.actions import ACTION_TILE, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.game import PLAYING, ROUND_OVER, Game, start_round
from fiveup_env.rules.kernels import entry, kernel, lowest_bit
from fiveup_env.rules.layout import end_sum_after
from fiveup_env.rules.random import below
from fiveup_env.rules.scoring import credit_of, side_of
from fiveup_env.rules.tiles import PIPS
from fiveup_env.rules.turn import count_legal, end_placements, forced_action, nth_legal, play, spinner_placements

RANDOM, GREEDY = 0, 1
KERNEL_AGENTS = {"random": RANDOM, "greedy": GREEDY}


@kernel
def random_action(game: Game, state: int) -> tuple[int, int]:
    """A uniformly random legal action and the next random state; the match must be going on."""
    choice, state = below(state, count_legal(game))
    return nth_legal(game, choice), state


@kernel
def greedy_worth(game: Game, seat: int, action: int) -> int:
    """What greedy thinks of a placement: its credit now, an overshoot below nothing; ties by the heavier tile."""
    credit = credit_of(end_sum_after(game, action))
    if int64(game.scores[side_of(game, seat)]) + credit > int64(game.target):
        credit = -1
    return credit * 16 + PIPS[ACTION_TILE[action]]


@kernel
def greedy_action(game: Game) -> int:
    """The placement of most points now, never an overshoot (R6.1) where another is legal, ties by heavier tile.

    Equal tiles go by the lowest action id. Draws and passes are forced (R3.2).
    """
    forced = forced_action(game)
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
def choose(game: Game, policy: int, state: int) -> tuple[int, int]:
    """Action of kernel policy RANDOM or GREEDY for the seat to act, and the next random state."""
    if policy == GREEDY:
        return greedy_action(game), state
    return random_action(game, state)


@entry
def choose_many(games: np.ndarray, policy: int, states: np.ndarray, actions: np.ndarray) -> None:
    """`choose` for every match that is going on: writes `actions` int64 [N], advances `states` uint64 [N]."""
    for i in range(len(games)):
        actions[i] = -1
        if games[i].phase == PLAYING:
            actions[i], states[i] = choose(games[i], policy, states[i])


@kernel
def play_out_round(game: Game, policies: np.ndarray, state: int) -> int:
    """Play to the end of the round (or match) with a kernel policy per seat; returns the next random state."""
    while game.phase == PLAYING:
        action, state = choose(game, policies[int64(game.turn)], state)
        play(game, action)
    return state


@entry
def rollout(games: np.ndarray, policies: np.ndarray, states: np.ndarray, max_rounds: int) -> None:
    """Play matches to their end, or for `max_rounds` more rounds (0: no limit), inside compiled code.

    Args:
        games: records [N], played on in place.
        policies: kernel policy per seat, int64 [4] (RANDOM, GREEDY).
        states: random states of the policies, uint64 [N], advanced.
    """
    for i in range(len(games)):
        game, rounds = games[i], 0
        while game.phase == PLAYING:
            states[i] = play_out_round(game, policies, states[i])
            rounds += 1
            if game.phase == ROUND_OVER and rounds != max_rounds:
                start_round(game)
