"""Beginning and steps of an episode over a record.

Every environment uses these kernels, so all of them play the same game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types
from numpy import int64

from fiveup_env.jit.compilation import JIT_DISABLED, entry, kernel
from fiveup_env.rules.match import EVENT_KINDS, Event
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import MATCH_OVER, ROUND_OVER, Game, record_dtype, start_match, start_round
from fiveup_env.rules.turn import is_legal, play, play_forced
from fiveup_env.views.history import write_history
from fiveup_env.views.rewards import WIN, changes, scores_of, win_rewards

GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2

STEP_OPTIONS = record_dtype(
    [
        ("scheme", "u1"),  # number of the reward, see `views.rewards`
        ("auto_draws", "u1"),  # `transition` also takes the forced draws and passes that follow
        ("skip_single", "u1"),  # with `auto_draws`: and every lone placement
        ("logged_draws", "u1"),  # forced draws and passes are taken one by one, so that each is logged
        ("round_episodes", "u1"),
        ("max_rounds", "u4"),  # 0 for no limit
    ]
)
"""dtype of the options that kernels read."""


# beginning


@kernel
def deal_match(game: Game, seed: int, scores: np.ndarray) -> None:
    """Deal the first round of `seed` (uint64) at these raw scores per side."""
    start_match(game, seed)
    for side in range(int64(game.num_sides)):
        game.scores[side] = scores[side]


@kernel
def deal_episode(game: Game, row: Any) -> None:
    """Deal the current episode of `row` from its `seed`, `episode` and `scores`.

    Episode 0 is dealt from the seed itself, later ones from streams of it.
    """
    seed = np.uint64(row.seed)
    if row.episode != 0:
        seed = stream(seed, row.episode)
    deal_match(game, seed, row.scores)


@kernel
def deal_next(game: Game, row: Any) -> None:
    """Deal the current episode of `row`; if `row.continues` and a round is over, the next round of its match instead.

    That round has the match's next deal, its scores, and the opener of R2.5.
    """
    if row.continues != 0 and game.phase == ROUND_OVER:
        start_round(game)
    else:
        deal_episode(game, row)


# steps


@kernel
def status(game: Game, round_episodes: bool, max_rounds: int) -> int:
    """Return whether the episode continues; deal the next round if one is over and the episode is not."""
    if game.phase == MATCH_OVER:
        return TERMINATED
    if game.phase == ROUND_OVER:
        if round_episodes:
            return TERMINATED
        if max_rounds > 0 and int64(game.round_number) >= max_rounds:
            return TRUNCATED
        start_round(game)
    return GOES_ON


@kernel
def winner_of(game: Game, round_episodes: bool) -> int:
    """Side that won the episode: the match, or the round (D8, R8.5); -1 for none."""
    return int64(game.round_winner) if round_episodes else int64(game.winner)


@kernel
def resolve_forced(game: Game, skip_single: bool, round_episodes: bool, max_rounds: int) -> int:
    """Take forced draws and passes (R3.2), with `skip_single` also lone placements; return the status.

    Scoring events accumulate, except that a lone placement starts a new list.
    """
    now = status(game, round_episodes, max_rounds)
    while now == GOES_ON and play_forced(game, skip_single):
        now = status(game, round_episodes, max_rounds)
    return now


@kernel
def gained(
    game: Game, before: tuple[int, int, int], now: int, scheme: int, round_episodes: bool
) -> tuple[float, float, float]:
    """Rewards per side of a step, from the scores before it and its status."""
    if scheme == WIN:
        if now == TERMINATED:
            return win_rewards(winner_of(game, round_episodes), int64(game.num_sides))
    else:
        after = scores_of(game)
        if after != before:
            return changes(before, after, int64(game.target), int64(game.num_sides), scheme)
    return 0.0, 0.0, 0.0


@kernel
def transition(game: Game, action: int, options: Any) -> tuple[int, tuple[float, float, float]]:
    """Take a legal action and, by the options, the forced moves after it.

    Args:
        options: a record of dtype `STEP_OPTIONS`.

    Returns:
        GOES_ON, TERMINATED or TRUNCATED, and the rewards per side (see `views.rewards`; 0 for an unused third side).
    """
    round_episodes, max_rounds = options.round_episodes != 0, int64(options.max_rounds)
    before = scores_of(game)
    play(game, action)
    if options.auto_draws != 0:
        now = resolve_forced(game, options.skip_single != 0, round_episodes, max_rounds)
    else:
        now = status(game, round_episodes, max_rounds)
    return now, gained(game, before, now, int64(options.scheme), round_episodes)


@entry
def find_illegal(games: np.ndarray, which: np.ndarray, actions: np.ndarray, found: np.ndarray) -> int:
    """Return the number of illegal actions (by row) in the rows `which`; write the first of these rows to `found`."""
    count = 0
    for i in which:
        if not is_legal(games[i], actions[i]):
            if count < len(found):
                found[count] = i
            count += 1
    return count


@kernel
def write_final(game: Game, row: Any, options: Any, out: Any) -> None:
    """Write scores, winner, rounds and length of an episode that ended into the `final_...` fields of `out`."""
    for side in range(3):
        out.final_scores[side] = game.scores[side]
    out.final_winner = winner_of(game, options.round_episodes != 0)
    out.final_rounds = game.round_number
    out.final_length = row.length


# for Python


@entry
def step_rewards(
    games: np.ndarray, before: tuple[int, int, int], now: int, scheme: int, round_episodes: bool
) -> tuple[float, float, float]:
    """`gained` for games[0]; `before` are raw scores per side, 0 for an unused third side."""
    return gained(games[0], before, now, scheme, round_episodes)


@entry
def write_seen_history(records: np.ndarray, seat: int, out: np.ndarray, mask: np.ndarray) -> None:
    """Write the public history of records[0].game as a seat sees it into `out` int16 [L, 3] and `mask` int8 [L]."""
    write_history(records[0].game, seat, out, mask)


@kernel
def event_code(game: Game, i: int) -> int:
    """The i-th scoring event as one number: kind + 4 * side + 16 * accepted + 32 * (net + 2**15)."""
    kind, side, accepted = int64(game.event_kind[i]), int64(game.event_side[i]), int64(game.event_accepted[i])
    return kind + 4 * side + 16 * accepted + 32 * (int64(game.event_net[i]) + 32768)


@cache
def decoded_event(code: int) -> Event:
    """Event of an `event_code`; events are immutable, so equal ones are one object."""
    return Event(EVENT_KINDS[code & 3], code >> 2 & 3, (code >> 5) - 32768, bool(code >> 4 & 1))


@cache
def direct_call(function: Any, dtype: np.dtype) -> Callable[[np.ndarray, int], int]:
    """The compiled entry `function(records, action)` without numba's look at the argument types.

    That look takes as long as a step. The caller must pass an array [1] of `dtype` and a plain int.
    """
    if JIT_DISABLED:
        return lambda records, action: int(function(records, action))
    signature = (typeof(np.zeros(1, dtype)), types.int64)
    function.compile(signature)
    return function.get_overload(signature)
