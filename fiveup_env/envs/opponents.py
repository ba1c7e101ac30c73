"""One learner among agents, inside compiled code: from one of its decisions to the next, or to the episode's end.

All that a call needs stands in one record, which is far quicker to pass than its parts.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, round_key
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.episode_start import deal_episode, deal_match
from fiveup_env.envs.learner_seat import LEARNER, PYTHON, take_seats
from fiveup_env.envs.pettingzoo_aec_kernels import event_code
from fiveup_env.envs.transition import GOES_ON, transition
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.record import GAME, MAX_EVENTS, Game, new_games
from fiveup_env.rules.turn import forced_move, is_legal, write_mask
from fiveup_env.views.history import write_history
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_observation

# Where the deal of an episode comes from: (seed, episode number), a seed of its own, or it lies on the table already.
OF_EPISODE, OF_SEED, DEALT = 0, 1, 2
# Instead of an action: just go on.
GO_ON = -1
# How a call can end beside TERMINATED and TRUNCATED; GOES_ON means that the log is full: call again.
DECIDES, ASKS, ILLEGAL = 3, 4, 5
# A call returns how it ended, the seat to act (at the end, and if illegal: who decided last), and the log's lengths.
STATUS, SEAT_SHIFT, SEAT, ACTED_SHIFT, SCORED_SHIFT, COUNT = 7, 3, 3, 5, 12, 127

LOG = 64

TABLE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("game", GAME),
                ("observation", "f4", max(observation_size(n) for n in (2, 3, 4))),  # of the learner's seat
                ("mask", "i1", NUM_ACTIONS),
                ("reward", "f8"),  # what the learner's side got since its last decision
                ("acted", "i4", LOG),  # actions of the last call: 256 * seat + action
                ("scored", "i4", LOG),  # its scoring events, see `event_code`
                ("num_acted", "u1"),
                ("num_scored", "u1"),
                # the episode, see `take_seats`
                ("seed", "u8"),
                ("episode", "i8"),
                ("scores", "i2", 4),  # to start from
                ("fixed_seat", "i1"),
                ("around", "i1", 4),
                ("policies", "i1", 4),
                ("policy_seed", "u8"),
                ("seat", "u1"),  # the learner's seat that is to act, or acted last
                ("side", "u1"),
                # options
                ("scheme", "u1"),
                ("auto_draws", "u1"),
                ("round_episodes", "u1"),
                ("max_rounds", "u4"),
            ],
            align=True,
        ),
    )
)
"""dtype of a match with a learner in it."""


def new_table(options: EnvOptions) -> np.ndarray:
    """An array [1] of dtype `TABLE` with these options; nobody sits at it and nothing is dealt yet."""
    table = np.zeros(1, TABLE)
    table["game"] = new_games(1, options.variant)
    scheme, auto_draws, round_episodes, max_rounds = options.kernel_options
    table["scheme"], table["auto_draws"] = scheme, auto_draws
    table["round_episodes"], table["max_rounds"] = round_episodes, max_rounds
    return table


@kernel
def act(table: Game, action: int) -> int:
    """One legal action of whoever is to act: logged, its reward added up; returns the status (see `transition`)."""
    game = table.game
    table.acted[int64(table.num_acted)] = 256 * int64(game.turn) + action
    table.num_acted += 1
    options = int64(table.scheme), False, False, table.round_episodes != 0, int64(table.max_rounds)
    now, rewards = transition(game, action, options)
    table.reward += rewards[int64(table.side)]
    first = int64(table.num_scored)
    for i in range(int64(game.num_events)):
        table.scored[first + i] = event_code(game, i)
    table.num_scored += game.num_events
    return now


@kernel
def next_action(table: Game) -> int:
    """What compiled code takes for the seat to act, -1 if that seat is to be asked.

    With `auto_draws` a forced draw or pass (R3.2) is taken for everybody. Agents are not asked for a lone action.
    """
    game = table.game
    policy = int64(table.policies[int64(game.turn)])
    if policy >= 0:
        return choose(game, policy, decision_key(round_key(table.policy_seed, game), game))
    if policy == PYTHON:
        return forced_move(game, True)
    return forced_move(game, False) if table.auto_draws != 0 else -1


@kernel
def play_on(table: Game, now: int) -> int:
    """Play until somebody is to be asked (DECIDES, ASKS), the episode is over, or the log is full (GOES_ON)."""
    while now == GOES_ON and int64(table.num_acted) < LOG and int64(table.num_scored) + MAX_EVENTS <= LOG:
        action = next_action(table)
        if action < 0:
            return DECIDES if table.policies[int64(table.game.turn)] == LEARNER else ASKS
        now = act(table, action)
    return now


@entry
def begin(tables: np.ndarray, source: int, seed: int) -> None:
    """Begin an episode: deal (OF_EPISODE, OF_SEED: from `seed`, uint64; DEALT: not at all) and take seats."""
    table = tables[0]
    if source == OF_EPISODE:
        deal_episode(table.game, table)
    elif source == OF_SEED:
        deal_match(table.game, seed, table.scores)
    take_seats(table.game, table)
    table.reward = 0.0


@entry
def advance(tables: np.ndarray, action: int) -> int:
    """Take `action` for the seat to act (or GO_ON) and play on; unless ASKS, write what the learner sees.

    Returns:
        status, seat and lengths of the log (see above). With ILLEGAL nothing has changed.
    """
    table = tables[0]
    game = table.game
    table.num_acted = 0
    table.num_scored = 0
    now = GOES_ON
    if action != GO_ON:
        now = act(table, action) if is_legal(game, action) else ILLEGAL
    now = play_on(table, now)
    seat = int64(table.seat)
    if now in (DECIDES, ASKS):
        seat = int64(game.turn)
    if now not in (ASKS, GOES_ON):
        table.seat = seat
        write_observation(game, seat, table.observation[:])
        write_mask(game, table.mask)
    return now | seat << SEAT_SHIFT | int64(table.num_acted) << ACTED_SHIFT | int64(table.num_scored) << SCORED_SHIFT


@entry
def recall(tables: np.ndarray, out: np.ndarray, mask: np.ndarray) -> None:
    """Write the public history as the learner's seat sees it into `out` int16 [L, 3] and `mask` int8 [L]."""
    write_history(tables[0].game, int64(tables[0].seat), out, mask)
