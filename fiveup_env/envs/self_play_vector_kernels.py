"""Compiled code of `SelfPlayVectorEnv`: check actions, step every match, write what the next seat sees."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy import int64

from fiveup_env.envs.transition import GOES_ON, TERMINATED, TRUNCATED, deal_episode, deal_next, transition, write_final
from fiveup_env.jit.compilation import borrowed, entry, kernel, prefetch
from fiveup_env.rules.record import Game, record_dtype
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import is_legal
from fiveup_env.views.observation_kernels import write_observation, write_seat_to_act

ROWS = record_dtype(
    [
        ("seed", "u8"),  # of the first episode
        ("episode", "i8"),
        ("length", "i8"),  # steps of the episode so far
        ("scores", "i2", 4),  # starting scores
        ("continues", "u1"),  # whether an episode after a round continues its match
    ]
)
"""dtype of the state of a match across its episodes."""

FACTS = record_dtype(
    [
        ("rewards", "f4", 3),
        ("final_rounds", "i4"),
        ("final_length", "i4"),
        ("final_scores", "i2", 3),
        ("seat", "i1"),
        ("side", "i1"),
        ("final_winner", "i1"),
        ("terminated", "?"),
        ("truncated", "?"),
    ]
)
"""dtype of what a step reports of one match, besides observation and mask."""

# Batches that exceed the second-level cache are bound by memory, so the next matches are fetched while one is stepped.
# The distances, in matches, were found by measurement.
STEPPED, CHECKED = 4, 16
CHECKED_BYTES = 128  # the part of a record that legality depends on comes first


@kernel(inline=True)
def show_mover(game: Game, observation: np.ndarray, mask: np.ndarray, facts: Any) -> None:
    """Write observation, mask, seat and side of the seat to move."""
    write_seat_to_act(game, observation, mask)
    facts.seat = game.turn
    facts.side = side_of(game, int64(game.turn))


@kernel(inline=True)
def step_match(game: Game, action: int, options: Any, row: Any, facts: Any) -> bool:
    """Take an action and write rewards and flags; return whether the episode ended (the next one is not dealt yet)."""
    now, rewards = transition(game, action, options)
    row.length += 1
    facts.rewards[0], facts.rewards[1], facts.rewards[2] = rewards
    facts.terminated = now == TERMINATED
    facts.truncated = now == TRUNCATED
    if now != GOES_ON:
        write_final(game, row, options, facts)
    return now != GOES_ON


@kernel(inline=True)
def fetch_ahead(i: int, matches: tuple, shown: tuple) -> None:
    """Start fetching everything that a step of match `i` reads or writes; `i` may lie behind the end."""
    games, rows = matches
    observation, mask, facts = shown
    prefetch(games, i, games.itemsize)
    prefetch(rows, i, rows.itemsize)
    prefetch(facts, i, facts.itemsize)
    prefetch(observation, i * observation.shape[1], observation.shape[1] * observation.itemsize)
    prefetch(mask, i * mask.shape[1], mask.shape[1])


@kernel
def step_range(
    first: int, last: int, actions: np.ndarray, options: np.ndarray, far: bool, matches: tuple, out: tuple
) -> None:
    """Step the matches from `first` to `last` - 1; where an episode ends, deal the next one.

    Args:
        options: [1] of dtype `STEP_OPTIONS`.
        far: the arrays exceed the second-level cache: fetch ahead.
        matches: their records and rows (dtypes `GAME` and `ROWS`) [N].
        out: observation, mask and facts of the seat to move (see `StepArrays`), and the observation of the seat to move
            at the end of an episode, [N, F] or [0, F].
    """
    # Not in the entries: borrowing outside of a parallel loop has no effect inside it.
    games, rows, actions = borrowed(matches[0]), borrowed(matches[1]), borrowed(actions)
    observation, mask, facts, final = borrowed(out[0]), borrowed(out[1]), borrowed(out[2]), borrowed(out[3])
    chosen = borrowed(options)[0]
    for i in range(first, last):
        if far:
            fetch_ahead(i + STEPPED, (games, rows), (observation, mask, facts))
        game, row = games[i], rows[i]
        if step_match(game, actions[i], chosen, row, facts[i]):
            if len(final) > 0:
                write_observation(game, int64(game.turn), final[i])
            row.episode += 1
            deal_next(game, row)
            row.length = 0
        show_mover(game, observation[i], mask[i], facts[i])


@kernel
def count_illegal(first: int, last: int, games: np.ndarray, actions: np.ndarray) -> int:
    """Number of illegal actions from `first` to `last` - 1."""
    games, actions = borrowed(games), borrowed(actions)
    count = 0
    for i in range(first, last):
        prefetch(games, i + CHECKED, CHECKED_BYTES)
        count += 0 if is_legal(games[i], actions[i]) else 1
    return count


@entry
def step_all(actions: np.ndarray, validate: bool, options: np.ndarray, far: bool, matches: tuple, out: tuple) -> int:
    """Step all matches (see `step_range`), or none if `validate` and an action is illegal; return the illegal count."""
    count = len(actions)
    illegal = count_illegal(0, count, matches[0], actions) if validate else 0
    if illegal == 0:
        step_range(0, count, actions, options, far, matches, out)
    return illegal


@entry(parallel=True)
def step_all_parallel(
    threads: int, actions: np.ndarray, validate: bool, options: np.ndarray, far: bool, matches: tuple, out: tuple
) -> int:
    """The same with a range of the matches per thread."""
    count, illegal = len(actions), 0
    if validate:
        for t in numba.prange(threads):
            illegal += count_illegal(count * t // threads, count * (t + 1) // threads, matches[0], actions)
    if illegal == 0:
        for t in numba.prange(threads):
            step_range(count * t // threads, count * (t + 1) // threads, actions, options, far, matches, out)
    return illegal


@entry
def end_episodes(games: np.ndarray, actions: np.ndarray, options: np.ndarray) -> None:
    """Take an action in every match without dealing the next episode."""
    for i in range(len(games)):
        transition(games[i], actions[i], options[0])


@entry
def begin_episodes(
    games: np.ndarray,
    wanted: np.ndarray,
    rows: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: np.ndarray,
) -> None:
    """Deal the first episode of the matches in `wanted`, bool [N]; write what the seats to move see in all matches."""
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
