"""Perfect-information Monte Carlo as a race: sampled worlds, the same ones for all actions, until one action is left.

A world is a whole deal that agrees with all that the seat has seen (`belief.exact_belief`), drawn with regard to
what the others' choices say (`inference`). In every world every action that is still in the race is taken and the round
is played on to its end. Each decision has as many rollouts as it has legal actions times worlds. Every `BLOCK` worlds
an action leaves the race if it lies behind the leader by more than `DROP` standard errors of their paired difference;
the others share what it does not use. So a clear decision is cheap, and a close one sees more worlds than it would
without.

What the policy `heuristic` thinks of the actions counts like some worlds more (the *prior*), its points taken as so
many standard deviations of the values that the rollouts give: it decides where few worlds cannot, and fades with many.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import HEURISTIC, RANDOM, choose, decision_key, greedy_action
from fiveup_env.agents.heuristic import WEIGHTS, rate
from fiveup_env.agents.search.endgame import solvable, solve
from fiveup_env.agents.search.equity import worth
from fiveup_env.belief.choice_model import Inference, infer, sample_likely
from fiveup_env.belief.deal_counts import BeliefRecord, prepare
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS
from fiveup_env.rules.random import mix, stream
from fiveup_env.rules.record import PLAYING, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, nth_legal, play

BLOCK = 16
DROP = 3.0
SPREAD = 4.0  # standard deviation of what a round brings, in display points

Race: TypeAlias = Any
"""A record of dtype `RACE`, or inside kernels a reference to one."""

_FIELDS: list[tuple[Any, ...]] = [
    ("state", "u8"),  # random state
    ("num_actions", "i8"),
    ("num_running", "i8"),
    ("worlds", "i8"),  # that the actions still in the race have seen
    ("rollouts", "i8"),
    ("actions", "i8", NUM_ACTIONS),  # legal actions
    ("running", "i8", NUM_ACTIONS),  # which of them are in the race, as places in `actions`
    ("seen", "i8", NUM_ACTIONS),  # worlds
    ("sums", "f8", NUM_ACTIONS),  # of values
    ("values", "f8", NUM_ACTIONS),  # in the world at hand
    ("prior", "f8"),  # worlds that the heuristic's opinion counts
    ("worths", "f8", NUM_ACTIONS),  # that opinion, in display points
    ("products", "f8", (NUM_ACTIONS, NUM_ACTIONS)),  # sums of products of the values of two actions
]

RACE = np.dtype((np.record, np.dtype(_FIELDS, align=True)))
"""dtype of a search under way."""


def new_race() -> np.ndarray:
    """A blank record [1]."""
    return np.zeros(1, RACE)


@kernel
def finish(
    stack: np.ndarray, playout: int, near: int, key: int, most_tiles: int, table: np.ndarray, frames: np.ndarray
) -> float:
    """Play the round of stack[1] to its end; its value to the side of the seat that is to act in stack[0].

    Args:
        stack: records, `endgame.STACK` of them; those above stack[1] are scratch.
        playout: kernel policy of all seats.
        near: so many actions come before that from the policy `heuristic`.
        key: random bits for this world.
        most_tiles: once the boneyard is empty and no more tiles than this are held, solve instead.
        table: see `equity`.
        frames: scratch for `endgame.solve`.
    """
    game = stack[1]
    side = side_of(game, int64(stack[0].turn))
    while game.phase == PLAYING:
        if most_tiles > 0 and solvable(game, most_tiles):
            return solve(stack, frames, 1, side, table)
        play(game, choose(game, HEURISTIC if near > 0 else playout, decision_key(key, game)))
        near -= 1
    return worth(table, game, side)


@kernel
def start_race(game: Game, key: int, prior: float, race: Race) -> None:
    """Line up the legal actions of the seat to act; `prior` is the number of worlds that the heuristic counts."""
    count = count_legal(game)
    race.state = np.uint64(key)
    race.num_actions = count
    race.num_running = count
    race.worlds = 0
    race.rollouts = 0
    for i in range(count):
        race.actions[i] = nth_legal(game, i)
        race.running[i] = i
        race.seen[i] = 0
        race.sums[i] = 0.0
        for j in range(count):
            race.products[i, j] = 0.0
    race.prior = prior
    if prior > 0 and race.actions[0] < DRAW:
        rate(game, WEIGHTS, race.actions, count, race.worths)


@kernel
def note_world(race: Race) -> None:
    """Add up the values of one world."""
    running = int64(race.num_running)
    race.worlds += 1
    race.rollouts += running
    for i in range(running):
        a = int64(race.running[i])
        race.seen[a] += 1
        race.sums[a] += race.values[a]
        for j in range(running):
            b = int64(race.running[j])
            race.products[a, b] += race.values[a] * race.values[b]


@kernel
def prior_scale(race: Race) -> float:
    """What a display point of the prior adds to the sum of an action's values."""
    n, running, variance = float(int64(race.worlds)), int64(race.num_running), 0.0
    if race.prior == 0:
        return 0.0
    for i in range(running):
        a = int64(race.running[i])
        mean = race.sums[a] / n
        variance += race.products[a, a] / n - mean * mean
    return race.prior * np.sqrt(max(variance / running, 0.0)) / SPREAD


@kernel
def leader(race: Race, favourite: int) -> int:
    """Place of the best action among those in the race, prior included; of equal ones `favourite`, else the first."""
    best, most, scale = -1, -1e300, prior_scale(race)
    for i in range(int64(race.num_running)):
        a = int64(race.running[i])
        total = race.sums[a] + scale * race.worths[a] if scale > 0 else race.sums[a]
        if total > most or (total == most and race.actions[a] == favourite):
            best, most = a, total
    return best


@kernel
def drop_worse(race: Race) -> None:
    """Take out of the race what lies behind the leader by more than `DROP` standard errors, prior included."""
    best, scale = leader(race, -1), prior_scale(race)
    n = float(int64(race.worlds))
    weight = n + race.prior
    kept = 0
    for i in range(int64(race.num_running)):
        a = int64(race.running[i])
        difference = race.sums[best] - race.sums[a]
        squares = race.products[best, best] - 2 * race.products[best, a] + race.products[a, a]
        variance = max(squares / n - (difference / n) ** 2, 0.0)
        if scale > 0:
            difference += scale * (race.worths[best] - race.worths[a])
        if a == best or difference * difference <= DROP * DROP * variance * weight:
            race.running[kept] = a
            kept += 1
    race.num_running = kept


@kernel
def run_race(
    race: Race,
    rollouts: int,
    belief: BeliefRecord,
    cells: np.ndarray,
    inference: Inference,
    candidates: int,
    stack: np.ndarray,
    playout: int,
    near: int,
    most_tiles: int,
    table: np.ndarray,
    frames: np.ndarray,
    outcomes: np.ndarray,
) -> None:
    """Go on until so many rollouts are made in all, or one action is left.

    `stack[0]` is the seat's view, whose hidden tiles are filled in here; `outcomes`, float64 [worlds, actions], takes
    every value if it has rows, and then no action is dropped.
    """
    whole = len(outcomes) > 0
    while (whole or race.num_running > 1) and int64(race.rollouts) + int64(race.num_running) <= rollouts:
        race.state = sample_likely(belief, cells, inference, candidates, stack[0], np.uint64(race.state))
        key = mix(np.uint64(race.state))
        for i in range(int64(race.num_running)):
            a = int64(race.running[i])
            stack[1] = stack[0]
            play(stack[1], int64(race.actions[a]))
            race.values[a] = finish(stack, playout, near, key, most_tiles, table, frames)
            if whole:
                outcomes[int64(race.worlds), a] = race.values[a]
        note_world(race)
        if not whole and int64(race.worlds) % BLOCK == 0:
            drop_worse(race)


@kernel
def only_one(game: Game, belief: BeliefRecord) -> bool:
    """Whether one deal alone agrees with what the seat has seen; playouts in it come out the same if not random."""
    return belief.ways == 1 and game.boneyard_next == game.boneyard_end


@entry
def race_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    worlds: int,
    candidates: int,
    prior: float,
    resume: bool,
    beliefs: np.ndarray,
    cells: np.ndarray,
    inferences: np.ndarray,
    races: np.ndarray,
    stack: np.ndarray,
    playout: int,
    near: int,
    most_tiles: int,
    table: np.ndarray,
    frames: np.ndarray,
    outcomes: np.ndarray,
    actions: np.ndarray,
) -> int:
    """Choose an action for the seat to act in every game from `first` on.

    Args:
        games: views of the seats to act (or full records: what is hidden is never read).
        first: where to begin.
        keys: uint64 [N], all the chance there is.
        worlds: rollouts for each legal action.
        candidates: worlds that each one is drawn from, see `likely_worlds.sample_likely`.
        prior: worlds that the heuristic's opinion counts.
        resume: go on with the race in `races`, which was for the game `first`.
        beliefs, cells, inferences, races, stack, frames: scratch.
        playout, near, most_tiles, table, outcomes: see `finish` and `run_race`.
        actions: written, int64 [N].

    Returns:
        N, or where to go on with more `cells`.
    """
    race = races[0]
    for i in range(first, len(games)):
        game = games[i]
        if count_legal(game) == 1 and len(outcomes) == 0:
            actions[i] = nth_legal(game, 0)
            continue
        stack[0] = game
        if not resume:
            start_race(game, stream(keys[i], 0), prior, race)
            if not prepare(game, int64(game.turn), beliefs[0], cells):
                return i
            infer(game, int64(game.turn), inferences[0])
        rollouts = worlds * int64(race.num_actions)
        settled = playout != RANDOM and len(outcomes) == 0 and only_one(game, beliefs[0])
        if settled:
            rollouts = int64(race.num_actions)
        run_race(
            race,
            rollouts,
            beliefs[0],
            cells,
            inferences[0],
            candidates,
            stack,
            playout,
            near,
            most_tiles,
            table,
            frames,
            outcomes,
        )
        actions[i] = race.actions[leader(race, greedy_action(game))]
        if settled:
            race.num_running = 1  # nothing to go on for
    return len(games)
