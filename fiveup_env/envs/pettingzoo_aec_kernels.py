"""Record behind an AEC env and the compiled entries that move it: one call per step.

A call with one record array takes 0.5 µs, a call with ten arrays and options seven times that. So everything a step
reads or writes is in one record.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.envs.transition import GOES_ON, STEP_OPTIONS, deal_episode, event_code, resolve_forced, transition
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS
from fiveup_env.rules.record import BY_BLOCK, GAME, MAX_EVENTS, MAX_HISTORY, Game, record_dtype
from fiveup_env.rules.turn import is_legal
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_observation, write_seat_to_act

# `advance_aec` takes these instead of an action.
DEAL, BEGIN = -1, -2
# It returns ILLEGAL, or in its bits: the status (transition.GOES_ON, ...), whether rewards were paid, events happened
# and forced moves were taken, and above these the seat to act.
ILLEGAL = -1
STATUS, PAID, SCORED, FORCED, SEAT_SHIFT = 3, 4, 8, 16, 5

AEC = record_dtype(
    [
        ("game", GAME),
        ("options", STEP_OPTIONS),  # nested records first: NumPy does not align them
        ("observation", "f4", max(observation_size(n) for n in (2, 3, 4))),  # of the seat to act
        ("mask", "i1", NUM_ACTIONS),  # of the seat to act
        ("rewards", "f8", 4),  # per side, of the last step
        ("events", "i4", MAX_EVENTS),  # scoring events of the last step (see `event_code`), then 0
        ("forced", "u1", MAX_HISTORY),  # draws and passes that the last step took automatically
        ("num_forced", "u1"),
        ("forced_seat", "u1"),  # seat of the first of them
        # start of the episode (see `deal_episode`)
        ("seed", "u8"),
        ("episode", "i8"),
        ("scores", "i2", 4),
    ]
)
"""dtype of the state of an AEC env."""


@entry
def advance_aec(states: np.ndarray, action: int) -> int:
    """Take an action for the seat to act and write the observation of the next one.

    Args:
        states: the record of one environment [1].
        action: an action; DEAL for a new match from `seed`, `episode` and `scores`; or BEGIN for the match in `game`.

    Returns:
        ILLEGAL if the action is illegal (nothing has changed then), else status, flags and the seat to act (see above).
    """
    state = states[0]
    if action == DEAL:
        deal_episode(state.game, state)
    if action < 0:
        now = resolve_opening(state)
    elif is_legal(state.game, action):
        now = take_action(state, action)
    else:
        return ILLEGAL
    return write_outcome(state, now)


@kernel
def resolve_opening(state: Game) -> int:
    """Prepare a dealt match for the first choice; return the status."""
    game = state.game
    game.num_events = 0
    state.num_forced = 0
    for side in range(4):
        state.rewards[side] = 0.0
    if state.options.auto_draws == 0:
        return GOES_ON
    seat, round_number, left = int64(game.turn), int64(game.round_number), undrawn(game)
    first = int64(game.num_history)
    now = resolve_forced(game, False, state.options.round_episodes != 0, int64(state.options.max_rounds))
    note_forced(state, seat, round_number, first, left)
    return now


@kernel
def take_action(state: Game, action: int) -> int:
    """Take a legal action and the forced moves after it; return the status."""
    game = state.game
    seat, round_number, left = int64(game.turn), int64(game.round_number), undrawn(game)
    first = int64(game.num_history) + 1
    now, rewards = transition(game, action, state.options)
    state.rewards[0], state.rewards[1], state.rewards[2] = rewards
    state.num_forced = 0
    if state.options.auto_draws != 0:
        # A seat with a choice places a tile, so forced moves begin with the next seat.
        note_forced(state, (seat + 1) % int64(game.num_players), round_number, first, left)
    return now


@kernel
def undrawn(game: Game) -> int:
    """Tiles left in the boneyard."""
    return int64(game.boneyard_end) - int64(game.boneyard_next)


@kernel
def note_forced(state: Game, seat: int, round_number: int, first: int, left: int) -> None:
    """Note the forced moves since entry `first` of the history of a round that had `left` tiles to draw then.

    If the next round has been dealt, the history is gone. A round that ends with tiles in the boneyard ends by a
    domino, with no forced moves after it. One that ends by a block after forced moves ends with the draw of the last
    tile (D1), and since a pass needs an empty boneyard (R3.2) all `left` moves were draws of one seat.
    """
    game = state.game
    count = 0
    if int64(game.round_number) == round_number:
        count = int64(game.num_history) - first
        for i in range(count):
            state.forced[i] = game.history[first + i]
    elif game.round_end == BY_BLOCK:
        count = left
        for i in range(count):
            state.forced[i] = DRAW
    state.num_forced = count
    state.forced_seat = seat


@kernel
def write_outcome(state: Game, now: int) -> int:
    """Write the observation of the seat to act; return status, flags and that seat as one number."""
    game = state.game
    seat = int64(game.turn)
    write_seat_to_act(game, state.observation[:], state.mask)
    outcome = now | seat << SEAT_SHIFT
    for side in range(int64(game.num_sides)):
        if state.rewards[side] != 0.0:
            outcome |= PAID
    for i in range(MAX_EVENTS):
        state.events[i] = event_code(game, i) if i < game.num_events else 0
    if game.num_events > 0:
        outcome |= SCORED
    if state.num_forced > 0:
        outcome |= FORCED
    return outcome


@entry
def write_seen(states: np.ndarray, seat: int, out: np.ndarray) -> None:
    """Write the observation of any seat into `out`, float32 [F]."""
    write_observation(states[0].game, seat, out)
