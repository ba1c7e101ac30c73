"""The record behind an AEC env and the compiled entries that move it: one call for each step.

A call with a single record array costs half a microsecond, one with the ten arrays and options that a step needs costs
seven times that. So all of them stand in one record.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numba import typeof, types
from numpy import int64

from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.episode_start import deal_episode
from fiveup_env.envs.transition import GOES_ON, resolve_forced, transition
from fiveup_env.jit.compilation import JIT_DISABLED, entry, kernel
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS
from fiveup_env.rules.match import EVENT_KINDS, Event
from fiveup_env.rules.record import BY_BLOCK, GAME, MAX_EVENTS, MAX_HISTORY, Game, new_games
from fiveup_env.rules.turn import is_legal
from fiveup_env.views.history import write_history
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_observation, write_seat_to_act, write_state

# What `advance` may be asked for beside an action.
DEAL, BEGIN = -1, -2
# What `advance` returns: ILLEGAL, or by bits the status (transition.GOES_ON, ...), whether rewards were
# paid, events happened and forced actions were taken, and above these the seat to act.
ILLEGAL = -1
STATUS, PAID, SCORED, FORCED, SEAT_SHIFT = 3, 4, 8, 16, 5

AEC = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("game", GAME),
                ("observation", "f4", max(observation_size(n) for n in (2, 3, 4))),  # of the seat to act
                ("mask", "i1", NUM_ACTIONS),  # of the seat to act
                ("rewards", "f8", 4),  # per side, of the last step
                ("events", "i4", MAX_EVENTS),  # scoring events of the last step (see `event_code`), then 0
                ("forced", "u1", MAX_HISTORY),  # draws and passes that the last step took by itself
                ("num_forced", "u1"),
                ("forced_seat", "u1"),  # who had to take the first of them
                # options
                ("scheme", "u1"),
                ("auto_draws", "u1"),
                ("round_episodes", "u1"),
                ("max_rounds", "u4"),
                # what the episode begins with (see `deal_episode`)
                ("seed", "u8"),
                ("episode", "i8"),
                ("scores", "i2", 4),
            ],
            align=True,
        ),
    )
)
"""dtype of what one AEC env holds."""


def new_state(options: EnvOptions) -> np.ndarray:
    """The record of an AEC env, an array [1] of dtype `AEC`; nothing is dealt yet."""
    state = np.zeros(1, AEC)
    state["game"] = new_games(1, options.variant)
    scheme, auto_draws, round_episodes, max_rounds = options.kernel_options
    state["scheme"], state["auto_draws"] = scheme, auto_draws
    state["round_episodes"], state["max_rounds"] = round_episodes, max_rounds
    return state


@entry
def advance(states: np.ndarray, action: int) -> int:
    """Take an action for the seat to act and write what the next one sees.

    Args:
        states: the record of one environment [1].
        action: an action; or DEAL for a new match from `seed`, `episode` and `scores`, or BEGIN for the match that was
            put there.

    Returns:
        ILLEGAL if the action is not legal (then nothing has changed), else status, flags and the seat to act (see
        above).
    """
    state = states[0]
    if action == DEAL:
        deal_episode(state.game, state)
    if action < 0:
        now = begin(state)
    elif is_legal(state.game, action):
        now = take(state, action)
    else:
        return ILLEGAL
    return report(state, now)


@cache
def direct_advance() -> Callable[[np.ndarray, int], int]:
    """`advance` for callers that pass nothing but a record of dtype `AEC` [1] and a plain int.

    numba looks at the types of all arguments at every call, which costs as much as the step itself.
    """
    if JIT_DISABLED:
        return advance
    signature = (typeof(np.zeros(1, AEC)), types.int64)
    advance.compile(signature)
    return advance.get_overload(signature)


@kernel
def begin(state: Game) -> int:
    """Make a match that was dealt ready for the first choice; returns the status."""
    game = state.game
    game.num_events = 0
    state.num_forced = 0
    for side in range(4):
        state.rewards[side] = 0.0
    if state.auto_draws == 0:
        return GOES_ON
    seat, round_number, left = int64(game.turn), int64(game.round_number), undrawn(game)
    first = int64(game.num_history)
    now = resolve_forced(game, False, state.round_episodes != 0, int64(state.max_rounds))
    note_forced(state, seat, round_number, first, left)
    return now


@kernel
def take(state: Game, action: int) -> int:
    """Take a legal action and what is forced after it; returns the status."""
    game = state.game
    seat, round_number, left = int64(game.turn), int64(game.round_number), undrawn(game)
    first = int64(game.num_history) + 1
    auto_draws, round_episodes = state.auto_draws != 0, state.round_episodes != 0
    options = int64(state.scheme), auto_draws, False, round_episodes, int64(state.max_rounds)
    now, rewards = transition(game, action, options)
    state.rewards[0], state.rewards[1], state.rewards[2] = rewards
    state.num_forced = 0
    if auto_draws:
        # Whoever had a choice laid a tile, so what was forced began with the next seat.
        note_forced(state, (seat + 1) % int64(game.num_players), round_number, first, left)
    return now


@kernel
def undrawn(game: Game) -> int:
    """Tiles left in the boneyard."""
    return int64(game.boneyard_end) - int64(game.boneyard_next)  # type: ignore[return-value]


@kernel
def note_forced(state: Game, seat: int, round_number: int, first: int, left: int) -> None:
    """Note the forced actions since entry `first` of the history of a round that had `left` tiles to draw then.

    If the next round has been dealt, the history is gone. A round that ends with tiles in the boneyard ends by a
    domino, which nothing forced follows; one that ends by a block after forced actions ends with the draw of the last
    tile (D1), and since a pass needs an empty boneyard (R3.2) all `left` actions were draws of one seat.
    """
    game = state.game
    count = 0
    if int64(game.round_number) == round_number:
        count = int64(game.num_history) - first  # type: ignore[assignment]
        for i in range(count):
            state.forced[i] = game.history[first + i]
    elif game.round_end == BY_BLOCK:
        count = left
        for i in range(count):
            state.forced[i] = DRAW
    state.num_forced = count
    state.forced_seat = seat


@kernel
def event_code(game: Game, i: int) -> int:
    """The i-th scoring event as one number: kind + 4 * side + 16 * accepted + 32 * (net + 2**15)."""
    kind, side, accepted = int64(game.event_kind[i]), int64(game.event_side[i]), int64(game.event_accepted[i])
    return kind + 4 * side + 16 * accepted + 32 * (int64(game.event_net[i]) + 32768)  # type: ignore[return-value]


@cache
def decoded_event(code: int) -> Event:
    """The event of an `event_code`; events are immutable, so equal ones are one object."""
    return Event(EVENT_KINDS[code & 3], code >> 2 & 3, (code >> 5) - 32768, bool(code >> 4 & 1))


@kernel
def report(state: Game, now: int) -> int:
    """Write what the seat to act sees; status, flags and that seat as one number."""
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
    return outcome  # type: ignore[return-value]


@entry
def look(states: np.ndarray, seat: int, out: np.ndarray) -> None:
    """Write what any seat sees into `out`, float32 [F]."""
    state = states[0]
    write_observation(state.game, seat, out)


@entry
def recall(states: np.ndarray, seat: int, out: np.ndarray, mask: np.ndarray) -> None:
    """Write the public history as a seat sees it into `out` int16 [L, 3] and `mask` int8 [L]."""
    write_history(states[0].game, seat, out, mask)


@entry
def survey(states: np.ndarray, out: np.ndarray) -> None:
    """Write the global state into `out` (see `write_state`)."""
    write_state(states[0].game, out)
