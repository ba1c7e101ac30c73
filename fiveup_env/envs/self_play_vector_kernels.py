"""The compiled code of `SelfPlayVectorEnv`: check actions, step every match, write what the next seat sees."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy import int64

from fiveup_env.envs.episode_start import deal_episode, deal_next
from fiveup_env.envs.transition import GOES_ON, TERMINATED, TRUNCATED, transition, winner_of
from fiveup_env.jit.compilation import borrowed, entry, kernel, prefetch
from fiveup_env.rules.record import Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import is_legal
from fiveup_env.views.observation_kernels import write_observation, write_seat_to_act

ROWS = np.dtype(
    (
        np.record,
        np.dtype(
            [("seed", "u8"), ("episode", "i8"), ("length", "i8"), ("scores", "i2", 4), ("continues", "u1")], align=True
        ),
    )
)
"""dtype of what is kept per match over its episodes: seed of the first, number, steps so far, starting scores, and
whether an episode after a round goes on with its match."""

# More matches than the second-level cache holds are bound by memory: what comes is fetched while a match is stepped.
# How far ahead, in matches, was found by trying.
STEPPED, CHECKED = 4, 16
CHECKED_BYTES = 128  # what legality looks at stands first in a record


@kernel(inline=True)
def show_mover(game: Game, observation: np.ndarray, mask: np.ndarray, facts: Any) -> None:
    """Write observation, mask, seat and side of who is to move."""
    write_seat_to_act(game, observation, mask)
    facts.seat = game.turn
    facts.side = side_of(game, int64(game.turn))


@kernel(inline=True)
def advance(game: Game, action: int, options: tuple, row: Any, facts: Any) -> bool:
    """Take an action and note rewards and flags; returns whether the episode ended (it is not dealt anew yet)."""
    now, rewards = transition(game, action, options)
    row.length += 1
    facts.rewards[0], facts.rewards[1], facts.rewards[2] = rewards
    facts.terminated = now == TERMINATED
    facts.truncated = now == TRUNCATED
    if now == GOES_ON:
        return False
    for side in range(3):
        facts.final_scores[side] = game.scores[side]
    facts.final_winner = winner_of(game, options[3])
    facts.final_rounds = game.round_number
    facts.final_length = row.length
    return True


@kernel(inline=True)
def fetch_ahead(i: int, matches: tuple, shown: tuple) -> None:
    """Begin to fetch all that a step of match `i` reads or writes; there need be no such match."""
    games, rows = matches
    observation, mask, facts = shown
    prefetch(games, i, games.itemsize)
    prefetch(rows, i, rows.itemsize)
    prefetch(facts, i, facts.itemsize)
    prefetch(observation, i * observation.shape[1], observation.shape[1] * observation.itemsize)
    prefetch(mask, i * mask.shape[1], mask.shape[1])


@kernel
def step_range(
    first: int, last: int, actions: np.ndarray, options: tuple, far: bool, matches: tuple, out: tuple
) -> None:
    """A step of the matches from `first` to `last` - 1, dealt anew in the same step where the episode ended.

    Args:
        options: see `transition`.
        far: what is read and written is not in the second-level cache: fetch it ahead.
        matches: their records and rows (dtypes `GAME` and `ROWS`) [N].
        out: observation, mask and facts of who is to move (see `StepArrays`), and what the seat to move sees at the
            end of an episode, [N, F] or [0, F].
    """
    # Here and not in the entries: what is borrowed outside of a parallel loop is not within.
    games, rows, actions = borrowed(matches[0]), borrowed(matches[1]), borrowed(actions)
    observation, mask, facts, final = borrowed(out[0]), borrowed(out[1]), borrowed(out[2]), borrowed(out[3])
    for i in range(first, last):
        if far:
            fetch_ahead(i + STEPPED, (games, rows), (observation, mask, facts))
        game, row = games[i], rows[i]
        if advance(game, actions[i], options, row, facts[i]):
            if len(final) > 0:
                write_observation(game, int64(game.turn), final[i])
            row.episode += 1
            deal_next(game, row)
            row.length = 0
        show_mover(game, observation[i], mask[i], facts[i])


@kernel
def count_illegal(first: int, last: int, games: np.ndarray, actions: np.ndarray) -> int:
    """How many of the actions from `first` to `last` - 1 are illegal."""
    games, actions = borrowed(games), borrowed(actions)
    count = 0
    for i in range(first, last):
        prefetch(games, i + CHECKED, CHECKED_BYTES)
        count += 0 if is_legal(games[i], actions[i]) else 1
    return count


@entry
def find_illegal(games: np.ndarray, actions: np.ndarray, found: np.ndarray) -> int:
    """Number of illegal actions; the first rows that hold one are written to `found`."""
    count = 0
    for i in range(len(games)):
        if not is_legal(games[i], actions[i]):
            if count < len(found):
                found[count] = i
            count += 1
    return count


@entry
def step_all(actions: np.ndarray, validate: bool, options: tuple, far: bool, matches: tuple, out: tuple) -> int:
    """Step all matches, or none if any action is illegal and `validate`; returns how many are (see `step_range`)."""
    count = len(actions)
    illegal = count_illegal(0, count, matches[0], actions) if validate else 0
    if illegal == 0:
        step_range(0, count, actions, options, far, matches, out)
    return illegal


@entry(parallel=True)
def step_all_parallel(
    threads: int, actions: np.ndarray, validate: bool, options: tuple, far: bool, matches: tuple, out: tuple
) -> int:
    """The same, each thread a range of the matches."""
    count, illegal = len(actions), 0
    if validate:
        for t in numba.prange(threads):
            illegal += count_illegal(count * t // threads, count * (t + 1) // threads, matches[0], actions)
    if illegal == 0:
        for t in numba.prange(threads):
            step_range(count * t // threads, count * (t + 1) // threads, actions, options, far, matches, out)
    return illegal


@entry
def replay(games: np.ndarray, actions: np.ndarray, options: tuple) -> None:
    """Take an action in every match, and deal nothing anew where that ends the episode."""
    for i in range(len(games)):
        transition(games[i], actions[i], options)


@entry
def begin_all(
    games: np.ndarray,
    wanted: np.ndarray,
    rows: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: np.ndarray,
) -> None:
    """Deal the first episode of the matches that are `wanted`, bool [N]; write what all seats to move see."""
    for i in range(len(games)):
        if wanted[i]:
            rows[i].episode = 0
            rows[i].length = 0
            deal_episode(games[i], rows[i])
        for side in range(3):
            facts[i].rewards[side] = 0.0
        facts[i].terminated = False
        facts[i].truncated = False
        show_mover(games[i], observation[i], mask[i], facts[i])
