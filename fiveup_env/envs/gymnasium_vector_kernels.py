"""Kernels of the vector env with one learning side: from a learner's decision to its next, for many matches.

For who plays which seat see `envs.learner_seat`; batched agent k is PYTHON - k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, round_key
from fiveup_env.envs.episode_start import deal_next
from fiveup_env.envs.learner_seat import LEARNER, take_seats
from fiveup_env.envs.opponents import ASKS, DECIDES
from fiveup_env.envs.transition import GOES_ON, TERMINATED, TRUNCATED, transition, winner_of
from fiveup_env.jit.compilation import borrowed, entry, kernel
from fiveup_env.rules.record import Game
from fiveup_env.rules.turn import is_legal, write_mask
from fiveup_env.views.observation_kernels import write_observation

IDLE = -1
"""Status of a row whose episode is over and not dealt anew."""

LEARNERS = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("seed", "u8"),  # of the first episode's deals; later episodes are streams of it
                ("policy_seed", "u8"),  # of the kernel and batched agents in this episode
                ("episode", "i8"),
                ("length", "i8"),  # decisions of the learner so far
                ("reward", "f8"),  # what its side got since its last decision
                ("total", "f8"),  # and in the episode so far
                ("scores", "i2", 4),  # starting scores
                ("fixed_seat", "i1"),  # the learner's seat, -1 for a lot every episode
                ("side", "i1"),
                ("seat", "i1"),  # seat of the learner that decided last
                ("status", "i1"),  # DECIDES, ASKS or IDLE
                ("continues", "u1"),  # whether an episode after a round goes on with its match
                ("around", "i1", 4),  # policies by seat relative to the learner's
                ("policies", "i1", 4),  # policies by seat
            ],
            align=True,
        ),
    )
)
"""dtype of what is kept per row over its episodes."""

OUTCOMES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("reward", "f8"),
                ("final_return", "f8"),
                ("final_rounds", "i4"),
                ("final_length", "i4"),
                ("final_scores", "i2", 3),
                ("final_winner", "i1"),
                ("final_side", "i1"),
                ("seat", "i1"),
                ("side", "i1"),
                ("terminated", "?"),
                ("truncated", "?"),
            ],
            align=True,
        ),
    )
)
"""dtype of what a step reports of one row beside observation and mask."""


@kernel
def begin_row(game: Game, row: Any) -> None:
    """Deal the row's next episode, draw the learner's seat and put the agents around it."""
    deal_next(game, row)
    take_seats(game, row)
    row.reward = 0.0
    row.total = 0.0
    row.length = 0


@kernel
def act(game: Game, action: int, row: Any, options: tuple) -> int:
    """One legal action of whoever is to act; the rewards of the learner's side are added up. Returns the status."""
    now, rewards = transition(game, action, options)
    row.reward += rewards[int64(row.side)]
    return now


@kernel
def play_on(game: Game, now: int, row: Any, options: tuple) -> int:
    """Kernel agents act until a learner's seat or a batched agent is to choose, or the episode ends."""
    while now == GOES_ON:
        policy = int64(row.policies[int64(game.turn)])
        if policy == LEARNER:
            return DECIDES
        if policy < LEARNER:
            return ASKS
        action = choose(game, policy, decision_key(round_key(row.policy_seed, game), game))
        now = act(game, action, row, options)
    return now


@kernel
def note_end(game: Game, now: int, row: Any, round_episodes: bool, outcome: Any) -> None:
    """Report the end of an episode."""
    row.total += row.reward
    outcome.reward = row.reward
    outcome.terminated = now == TERMINATED
    outcome.truncated = now == TRUNCATED
    outcome.final_return = row.total
    outcome.final_rounds = game.round_number
    outcome.final_length = row.length
    outcome.final_winner = winner_of(game, round_episodes)
    outcome.final_side = row.side
    for side in range(3):
        outcome.final_scores[side] = game.scores[side]


@kernel
def begin_playing(game: Game, row: Any, options: tuple) -> int:
    """Deal until an episode reaches a decision (one that ends before a learner's is none for it): DECIDES or ASKS."""
    now = TERMINATED
    while now not in (DECIDES, ASKS):
        begin_row(game, row)
        now = play_on(game, GOES_ON, row, options)
        if now not in (DECIDES, ASKS):
            row.episode += 1
    return now


@entry
def begin_rows(games: np.ndarray, which: np.ndarray, rows: np.ndarray, options: tuple) -> None:
    """Deal the rows `which` anew and play to the first seat that is to choose; see their status."""
    for i in which:
        rows[i].status = begin_playing(games[i], rows[i], options)


@entry
def find_illegal_rows(games: np.ndarray, which: np.ndarray, actions: np.ndarray, found: np.ndarray) -> int:
    """Number of illegal actions among the rows `which` (`actions` is by row); the first are written to `found`."""
    count = 0
    for i in which:
        if not is_legal(games[i], actions[i]):
            if count < len(found):
                found[count] = i
            count += 1
    return count


@entry
def advance_rows(
    games: np.ndarray,
    which: np.ndarray,
    actions: np.ndarray,
    fresh: bool,
    autoreset: bool,
    rows: np.ndarray,
    options: tuple,
    outcomes: np.ndarray,
    final: np.ndarray,
) -> int:
    """Take the action of whoever is to choose in the rows `which`, and play on to the next seat that is.

    Args:
        fresh: the actions are the learner's and begin a step; else they are answers of batched agents within it.
        autoreset: deal an ended episode anew in the same step.
        final: [N, F] (or [0, F]): what the learner's seat that decided last sees at the end of an episode.

    Returns:
        How many of the rows wait for the answer of a batched agent.
    """
    games, rows, outcomes, final = borrowed(games), borrowed(rows), borrowed(outcomes), borrowed(final)
    waiting = 0
    for i in which:
        game, row, outcome = games[i], rows[i], outcomes[i]
        if fresh:
            row.seat = game.turn
            row.length += 1
            outcome.terminated = False
            outcome.truncated = False
        now = act(game, actions[i], row, options)
        now = play_on(game, now, row, options)
        while now not in (DECIDES, ASKS, IDLE):
            if not (outcome.terminated or outcome.truncated):
                note_end(game, now, row, options[3], outcome)
                if len(final) > 0:
                    write_observation(game, int64(row.seat), final[i])
            row.episode += 1
            now = begin_playing(game, row, options) if autoreset else IDLE
        row.status = now
        waiting += now == ASKS
    return waiting


@entry
def show_rows(
    games: np.ndarray,
    rows: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    outcomes: np.ndarray,
) -> None:
    """Write what the learner's seat to act sees in every row (at the end the one that decided last)."""
    games, rows, outcomes = borrowed(games), borrowed(rows), borrowed(outcomes)
    observation, mask = borrowed(observation), borrowed(mask)
    for i in range(len(games)):
        game, row, outcome = games[i], rows[i], outcomes[i]
        if row.status == DECIDES:
            row.seat = game.turn
        write_observation(game, int64(row.seat), observation[i])
        write_mask(game, mask[i])
        if row.status != DECIDES:
            mask[i, :] = 0
        outcome.seat = row.seat
        outcome.side = row.side
        if not (outcome.terminated or outcome.truncated):
            outcome.reward = row.reward
            row.total += row.reward
            row.reward = 0.0
