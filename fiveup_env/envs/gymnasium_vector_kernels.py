"""Engine of `FiveUpEnv` and `FiveUpVectorEnv`: play a match from one decision of the learner to its next.

Every seat has a policy: a kernel agent (RANDOM, GREEDY), LEARNER, or PYTHON - k for the agent number k that only Python
can ask. An episode follows from (seed, episode number) alone, so both environments play the same ones.

Kernels that take a `log` write actions and scoring events there; None logs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, round_key
from fiveup_env.envs.transition import (
    GOES_ON,
    STEP_OPTIONS,
    TERMINATED,
    TRUNCATED,
    deal_next,
    event_code,
    transition,
    write_final,
)
from fiveup_env.jit.compilation import borrowed, entry, kernel
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.random import below, stream
from fiveup_env.rules.record import GAME, MAX_EVENTS, Game, record_dtype
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import forced_move, is_legal, write_mask
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_observation, write_seat_to_act

LEARNER, PYTHON = -1, -2

# Streams of a seed; smaller numbers are episodes.
SEAT_STREAM, POLICY_STREAM = 1 << 40, 1 << 41

# Status of a row, besides TERMINATED and TRUNCATED: the learner decides, an agent in Python must be asked, the action
# was illegal, or the episode is over and the next one not dealt yet.
DECIDES, ASKS, ILLEGAL, IDLE = 3, 4, 5, -1

LEARNERS = record_dtype(
    [
        ("seed", "u8"),  # of the first episode's deals; later episodes are streams of it
        ("policy_seed", "u8"),  # of the policies in this episode
        ("episode", "i8"),
        ("length", "i8"),  # decisions of the learner so far
        ("reward", "f8"),  # of its side since its last decision
        ("total", "f8"),  # of its side in the episode so far
        ("scores", "i2", 4),  # starting scores
        ("fixed_seat", "i1"),  # the learner's seat, -1 to draw one every episode
        ("side", "i1"),
        ("seat", "i1"),  # seat of the learner that decides, or decided last
        ("status", "i1"),  # DECIDES, ASKS or IDLE
        ("continues", "u1"),  # whether an episode after a round continues its match
        ("around", "i1", 4),  # policies by seat relative to the learner's
        ("policies", "i1", 4),  # policies by seat
    ]
)
"""dtype of the state of a row across its episodes."""

OUTCOMES = record_dtype(
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
    ]
)
"""dtype of what a step reports of one row, besides observation and mask."""

LOG_SIZE = 64

_LOG = record_dtype(
    [
        ("actions", "i4", LOG_SIZE),  # 256 * seat + action
        ("events", "i4", LOG_SIZE),  # scoring events, see `event_code`
        ("num_actions", "u1"),
        ("num_events", "u1"),
    ]
)

LEARNER_MATCH = record_dtype(
    [
        ("game", GAME),
        ("row", LEARNERS),
        ("options", STEP_OPTIONS),
        ("log", _LOG),  # of the last call
        ("observation", "f4", max(observation_size(n) for n in (2, 3, 4))),  # of the learner's seat
        ("mask", "i1", NUM_ACTIONS),
    ]
)
"""dtype of the match of a `FiveUpEnv`; numba passes one record far faster than its parts."""

# `advance_match` takes GO_ON instead of an action to continue. It returns its status in the lowest bits (GOES_ON: the
# log is full, call again), then the seat to act (at the end: that decided last) and the lengths of the log.
GO_ON = -1
STATUS, SEAT_SHIFT, SEAT, ACTED_SHIFT, SCORED_SHIFT, COUNT = 7, 3, 3, 5, 12, 127


# seats


@kernel
def take_seats(game: Game, row: Any) -> None:
    """Seat the learner (at its fixed seat, or by lot) with the agents around it, and clear its rewards."""
    players = int64(game.num_players)
    seat = int64(row.fixed_seat)
    if seat < 0:
        seat, _ = below(stream(row.seed, SEAT_STREAM + row.episode), players)
    row.policy_seed = stream(row.seed, POLICY_STREAM + row.episode)
    row.seat = seat
    row.side = side_of(game, seat)
    for relative in range(players):
        row.policies[(seat + relative) % players] = row.around[relative]
    row.reward = 0.0
    row.total = 0.0
    row.length = 0


# the log


@kernel
def has_room(log: Any) -> bool:
    """Whether one more action fits into the log."""
    if log is None:
        return True
    return int64(log.num_actions) < LOG_SIZE and int64(log.num_events) + MAX_EVENTS <= LOG_SIZE


@kernel
def log_action(log: Any, game: Game, action: int) -> None:
    """Log an action of the seat to act, before it is taken."""
    if log is not None:
        log.actions[int64(log.num_actions)] = 256 * int64(game.turn) + action
        log.num_actions += 1


@kernel
def log_events(log: Any, game: Game) -> None:
    """Log the scoring events of the action just taken."""
    if log is not None:
        first = int64(log.num_events)
        for i in range(int64(game.num_events)):
            log.events[first + i] = event_code(game, i)
        log.num_events += game.num_events


# play


@kernel
def take_turn(game: Game, action: int, row: Any, options: Any, log: Any) -> int:
    """Take a legal action of the seat to act and add its reward to the row's; return the status."""
    log_action(log, game, action)
    now, rewards = transition(game, action, options)
    row.reward += rewards[int64(row.side)]
    log_events(log, game)
    return now


@kernel
def compiled_choice(game: Game, row: Any, options: Any) -> int:
    """Action of the seat to act if it needs no answer from Python: of a kernel agent, or forced; else -1."""
    policy = int64(row.policies[int64(game.turn)])
    if policy >= 0:
        return choose(game, policy, decision_key(round_key(row.policy_seed, game), game))
    if policy < LEARNER:
        return forced_move(game, True)
    return forced_move(game, False) if options.logged_draws != 0 else -1


@kernel
def play_to_choice(game: Game, now: int, row: Any, options: Any, log: Any) -> int:
    """Play until Python must choose (DECIDES, ASKS), the episode is over, or the log is full (GOES_ON)."""
    while now == GOES_ON and has_room(log):
        action = compiled_choice(game, row, options)
        if action < 0:
            return DECIDES if row.policies[int64(game.turn)] == LEARNER else ASKS
        now = take_turn(game, action, row, options, log)
    return now


# one match


@entry
def begin_match(matches: np.ndarray, dealt: bool) -> None:
    """Begin an episode in matches[0] (dtype `LEARNER_MATCH`): deal it unless it is `dealt`, and take seats."""
    match = matches[0]
    if not dealt:
        deal_next(match.game, match.row)
    take_seats(match.game, match.row)


@entry
def advance_match(matches: np.ndarray, action: int) -> int:
    """Take `action` for the seat to act (or GO_ON) and play on; unless ASKS, write what the learner sees.

    Returns:
        status, seat and lengths of the log (see above). With ILLEGAL nothing has changed.
    """
    match = matches[0]
    game, row, log = match.game, match.row, match.log
    log.num_actions = 0
    log.num_events = 0
    now = GOES_ON
    if action != GO_ON:
        now = take_turn(game, action, row, match.options, log) if is_legal(game, action) else ILLEGAL
    now = play_to_choice(game, now, row, match.options, log)
    seat = int64(row.seat)
    if now in (DECIDES, ASKS):
        seat = int64(game.turn)
    if now not in (ASKS, GOES_ON):
        row.seat = seat
        write_observation(game, seat, match.observation[:])
        write_mask(game, match.mask)
    return now | seat << SEAT_SHIFT | int64(log.num_actions) << ACTED_SHIFT | int64(log.num_events) << SCORED_SHIFT


# many matches


@kernel
def begin_row(game: Game, row: Any, options: Any) -> int:
    """Deal until the learner has a decision; episodes that end before one are skipped. Returns DECIDES or ASKS."""
    now = TERMINATED
    while now not in (DECIDES, ASKS):
        deal_next(game, row)
        take_seats(game, row)
        now = play_to_choice(game, GOES_ON, row, options, None)
        if now not in (DECIDES, ASKS):
            row.episode += 1
    return now


@kernel
def report_end(game: Game, now: int, row: Any, options: Any, outcome: Any) -> None:
    """Write the outcome of an episode that ended."""
    row.total += row.reward
    outcome.reward = row.reward
    outcome.terminated = now == TERMINATED
    outcome.truncated = now == TRUNCATED
    outcome.final_return = row.total
    outcome.final_side = row.side
    write_final(game, row, options, outcome)


@entry
def begin_rows(games: np.ndarray, which: np.ndarray, rows: np.ndarray, options: np.ndarray) -> None:
    """Deal new episodes in the rows `which` and play to the first choice of each; it is in `status`."""
    for i in which:
        rows[i].status = begin_row(games[i], rows[i], options[0])


@entry
def advance_rows(
    games: np.ndarray,
    which: np.ndarray,
    actions: np.ndarray,
    autoreset: bool,
    rows: np.ndarray,
    options: np.ndarray,
    outcomes: np.ndarray,
    final: np.ndarray,
) -> None:
    """Take the actions of the seats to choose in the rows `which`, and play each to the next choice.

    Where the learner decides, its action begins a step; the answer of an agent continues one.

    Args:
        which: rows, int64 [K].
        actions: by row, int64 [N].
        autoreset: deal the next episode in the same step.
        options: [1] of dtype `STEP_OPTIONS`.
        final: [N, F] (or [0, F]): observation of the learner's last seat at the end of an episode.
    """
    games, rows, outcomes, final = borrowed(games), borrowed(rows), borrowed(outcomes), borrowed(final)
    chosen = borrowed(options)[0]
    for i in which:
        game, row, outcome = games[i], rows[i], outcomes[i]
        if row.status == DECIDES:
            row.seat = game.turn
            row.length += 1
            outcome.terminated = False
            outcome.truncated = False
        now = take_turn(game, actions[i], row, chosen, None)
        now = play_to_choice(game, now, row, chosen, None)
        while now not in (DECIDES, ASKS, IDLE):
            if not (outcome.terminated or outcome.truncated):
                report_end(game, now, row, chosen, outcome)
                if len(final) > 0:
                    write_observation(game, int64(row.seat), final[i])
            row.episode += 1
            now = begin_row(game, row, chosen) if autoreset else IDLE
        row.status = now


@entry
def show_rows(
    games: np.ndarray,
    rows: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    outcomes: np.ndarray,
) -> None:
    """Write the observation of the learner's seat in every row (at the end of the seat that decided last)."""
    games, rows, outcomes = borrowed(games), borrowed(rows), borrowed(outcomes)
    observation, mask = borrowed(observation), borrowed(mask)
    for i in range(len(games)):
        game, row, outcome = games[i], rows[i], outcomes[i]
        if row.status == DECIDES:
            row.seat = game.turn
            write_seat_to_act(game, observation[i], mask[i])
        else:
            write_observation(game, int64(row.seat), observation[i])
            mask[i, :] = 0
        outcome.seat = row.seat
        outcome.side = row.side
        if not (outcome.terminated or outcome.truncated):
            outcome.reward = row.reward
            row.total += row.reward
            row.reward = 0.0
