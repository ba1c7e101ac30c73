"""Match loop of match-ups: play matches on to the next decision or to their end, with or without observers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, round_key
from fiveup_env.evaluation.behaviour_kernels import before_action, count_action, new_counts
from fiveup_env.evaluation.luck import SLOPE, ValueFunction, new_luck, note_deal, note_draw, value_function
from fiveup_env.jit.compilation import borrowed, entry, kernel
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.record import MAX_SIDES, PLAYING, ROUND_OVER, Game, start_match, start_round
from fiveup_env.rules.turn import forced_move, is_legal, play, proceed


class Observers(NamedTuple):
    """Observers of a match loop: luck and behaviour of every match. They never change a match.

    Attributes:
        value: value function of luck.
        luck: float64 [N, 5, 3], added to; see `evaluation.luck`.
        counts: int32 [N, 4, REGIONS, FIELDS], added to; see `evaluation.behaviour_kernels`.
    """

    value: ValueFunction
    luck: np.ndarray
    counts: np.ndarray


def new_observers(count: int, num_players: int) -> Observers:
    """Observers of `count` matches that have seen nothing yet."""
    return Observers(value_function(num_players), new_luck(count), new_counts(count))


@kernel(inline=True)
def observers_of(observers: Observers | None, at: int) -> Observers | None:
    """Observers of match `at` alone, without reference counting."""
    if observers is None:
        return None
    else:  # not left out: numba prunes one of the two branches
        value = observers.value
        kept = ValueFunction(borrowed(value.deal), borrowed(value.draw), borrowed(value.table))
        return Observers(kept, borrowed(observers.luck)[at], borrowed(observers.counts)[at])


@kernel
def take(game: Game, action: int, observers: Observers | None) -> None:
    """Take one legal action. Draws and passes append their events; a placement starts a new list."""
    if observers is None:
        if action < DRAW:
            play(game, action)
        else:
            proceed(game, action)
    else:
        if action == DRAW:
            note_draw(game, observers.value, observers.luck)
        if action < DRAW:
            game.num_events = 0
        before = before_action(game)
        proceed(game, action)
        count_action(game, action, before, observers.counts)


@kernel
def to_choice(game: Game, max_rounds: int, observers: Observers | None) -> None:
    """Play forced moves and deal next rounds until a seat has a choice or the match ends."""
    while True:
        if game.phase == ROUND_OVER and (max_rounds == 0 or int64(game.round_number) < max_rounds):
            start_round(game)
            if observers is not None:
                note_deal(game, observers.value, observers.luck)
        if game.phase != PLAYING:
            return
        action = forced_move(game, True)
        if action < 0:
            return
        take(game, action, observers)


@entry
def start_matches(
    games: np.ndarray, rows: np.ndarray, seeds: np.ndarray, scores: np.ndarray, observers: Observers
) -> None:
    """Begin games[rows[i]] with the first deal of seeds[i] (uint64 [K]) at raw points scores[i] (int16 [K, 4])."""
    for i in range(len(rows)):
        game, luck = games[rows[i]], observers.luck[rows[i]]
        start_match(game, seeds[i])
        for side in range(MAX_SIDES):
            game.scores[side] = scores[i, side]
            for source in range(SLOPE):
                luck[source, side] = 0.0
        observers.counts[rows[i]] = 0
        note_deal(game, observers.value, luck)


@entry
def take_choices(
    games: np.ndarray, rows: np.ndarray, actions: np.ndarray, max_rounds: int, observers: Observers | None = None
) -> int:
    """Take actions[i] in the match games[rows[i]], then play on to the next choice.

    Args:
        games: records; a match that is over, or has played `max_rounds` rounds (0: no limit), has left phase PLAYING.
        rows, actions: int64 [K].
        max_rounds: see above.
        observers: of all matches; None for no observation.

    Returns:
        -1, or the first i whose action is illegal; rows from there on are untouched.
    """
    for i in range(len(rows)):
        game = games[rows[i]]
        if not is_legal(game, int64(actions[i])):
            return i
        seen = observers_of(observers, rows[i])
        take(game, int64(actions[i]), seen)
        to_choice(game, max_rounds, seen)
    return -1


@entry
def play_kernels(
    games: np.ndarray, policies: np.ndarray, seeds: np.ndarray, max_rounds: int, observers: Observers
) -> None:
    """Play matches to their end with a kernel policy per seat (int64 [4]); `seeds` of the policies are uint64 [N]."""
    for i in range(len(games)):
        game, seen = games[i], observers_of(observers, i)
        while game.phase == PLAYING:
            key = decision_key(round_key(seeds[i], game), game)
            take(game, choose(game, policies[int64(game.turn)], key), seen)
            to_choice(game, max_rounds, seen)
