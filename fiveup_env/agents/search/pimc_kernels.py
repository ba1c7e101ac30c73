"""Kernels of `pimc`: a race between actions over sampled worlds.

Each sampled world is a full deal consistent with everything the seat has seen, weighted by the choice model. In every
world each action still in the race is taken and the round is played out. After every `BLOCK` worlds an action is
dropped if it trails the leader by more than `DROP` standard errors of their paired difference. The remaining actions
share the rollouts that it did not use.

The *prior* is the opinion of the policy `heuristic`. It weighs as much as a given number of worlds, with its display
points converted to standard deviations of the rollout values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import HEURISTIC, RANDOM, choose, decision_key, greedy_action
from fiveup_env.agents.heuristic import WEIGHTS, rate
from fiveup_env.agents.search.endgame import solvable, solve
from fiveup_env.agents.search.equity import worth
from fiveup_env.agents.search.workspace import Race, Scratch, Settings, borrow_scratch
from fiveup_env.belief.choice_model import infer, sample_likely
from fiveup_env.belief.deal_counts import prepare
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import DRAW, NUM_ACTIONS
from fiveup_env.rules.random import mix, stream
from fiveup_env.rules.record import PLAYING, Game
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import count_legal, forced_move, nth_legal, play

BLOCK = 16
DROP = 3.0
SPREAD = 4.0  # standard deviation of a round's result, in display points
ALL_ACTIONS = np.zeros(0, np.int8)


class Estimates(NamedTuple):
    """Result of a race for N views.

    Attributes:
        values: float32 [N, 121], mean value of each action to the side to act; -inf where it was not examined.
        worlds: int32 [N, 121], number of worlds behind each mean.
        spreads: float32 [N], standard deviation over the worlds of the value of the best action.
    """

    values: np.ndarray
    worlds: np.ndarray
    spreads: np.ndarray


@kernel(inline=True)
def finish(key: int, settings: Settings, scratch: Scratch) -> float:
    """Play the round of scratch.stack[1] to its end; return its value to the side to act in scratch.stack[0]."""
    game = scratch.stack[1]
    side = side_of(game, int64(scratch.stack[0].turn))
    most_tiles, near, playout = int64(settings.endgame), int64(settings.near), int64(settings.playout)
    while game.phase == PLAYING:
        if most_tiles > 0 and solvable(game, most_tiles):
            return solve(scratch.stack, scratch.frames, 1, side, scratch.table)
        play(game, choose(game, HEURISTIC if near > 0 else playout, decision_key(key, game)))
        near -= 1
    return worth(scratch.table, game, side)


@kernel
def start_race(game: Game, key: int, candidates: np.ndarray, prior: float, race: Race) -> None:
    """Enter the legal actions, or those that are not zero in `candidates` [121], int8 (empty: all)."""
    count = count_legal(game)
    race.state = np.uint64(key)
    race.worlds = 0
    race.rollouts = 0
    for i in range(count):
        race.actions[i] = nth_legal(game, i)
        race.running[i] = i
        race.seen[i] = 0
        race.sums[i] = 0.0
        for j in range(count):
            race.products[i, j] = 0.0
    if prior > 0 and race.actions[0] < DRAW:
        rate(game, WEIGHTS, race.actions, count, race.opinions)
    kept = count
    if len(candidates) > 0:
        kept = 0
        for i in range(count):
            if candidates[int64(race.actions[i])] != 0:
                race.actions[kept] = race.actions[i]
                race.opinions[kept] = race.opinions[i]
                kept += 1
    race.num_actions = kept
    race.num_running = kept


@kernel
def prepare_race(game: Game, key: int, candidates: np.ndarray, settings: Settings, scratch: Scratch) -> bool:
    """Start a race and compute the belief of the seat to act; return False if `scratch.cells` is too small."""
    start_race(game, stream(key, 0), candidates, settings.prior, scratch.race[0])
    if not prepare(game, int64(game.turn), scratch.beliefs[0], scratch.cells):
        return False
    infer(game, int64(game.turn), scratch.inferences[0])
    return True


@kernel
def is_settled(game: Game, settings: Settings, scratch: Scratch) -> bool:
    """Whether one rollout per action is enough: only one deal is possible and the playouts are deterministic."""
    known = scratch.beliefs[0].ways == 1 and game.boneyard_next == game.boneyard_end
    return settings.playout != RANDOM and known


@kernel
def note_world(race: Race) -> None:
    """Add the values of the current world to the sums."""
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
def prior_scale(race: Race, prior: float) -> float:
    """Amount that a display point of the prior adds to the sum of an action's values."""
    n, running, variance = float(int64(race.worlds)), int64(race.num_running), 0.0
    if prior == 0:
        return 0.0
    for i in range(running):
        a = int64(race.running[i])
        mean = race.sums[a] / n
        variance += race.products[a, a] / n - mean * mean
    return prior * np.sqrt(max(variance / running, 0.0)) / SPREAD


@kernel
def leader(race: Race, prior: float, favourite: int) -> int:
    """Index of the best action in the race, prior included; ties go to the action `favourite`, else to the first."""
    best, most, scale = -1, -1e300, prior_scale(race, prior)
    for i in range(int64(race.num_running)):
        a = int64(race.running[i])
        total = race.sums[a] + scale * race.opinions[a] if scale > 0 else race.sums[a]
        if total > most or (total == most and race.actions[a] == favourite):
            best, most = a, total
    return best


@kernel
def drop_worse(race: Race, prior: float) -> None:
    """Drop the actions that trail the leader by more than `DROP` standard errors, prior included."""
    best, scale = leader(race, prior, -1), prior_scale(race, prior)
    n = float(int64(race.worlds))
    weight = n + prior
    kept = 0
    for i in range(int64(race.num_running)):
        a = int64(race.running[i])
        difference = race.sums[best] - race.sums[a]
        squares = race.products[best, best] - 2 * race.products[best, a] + race.products[a, a]
        variance = max(squares / n - (difference / n) ** 2, 0.0)
        if scale > 0:
            difference += scale * (race.opinions[best] - race.opinions[a])
        if a == best or difference * difference <= DROP * DROP * variance * weight:
            race.running[kept] = a
            kept += 1
    race.num_running = kept


@kernel
def run_race(rollouts: int, settings: Settings, scratch: Scratch, outcomes: np.ndarray) -> None:
    """Continue the race until `rollouts` have been made in total or one action is left.

    `scratch.stack[0]` is the seat's view; its hidden tiles are filled in here. If `outcomes`, float64 [worlds,
    actions], has rows, it receives every value and no action is dropped.
    """
    race, stack, whole = scratch.race[0], scratch.stack, len(outcomes) > 0
    belief, inference = scratch.beliefs[0], scratch.inferences[0]
    while (whole or race.num_running > 1) and int64(race.rollouts) + int64(race.num_running) <= rollouts:
        race.state = sample_likely(
            belief, scratch.cells, inference, int64(settings.inference), stack[0], np.uint64(race.state)
        )
        key = mix(np.uint64(race.state))
        for i in range(int64(race.num_running)):
            a = int64(race.running[i])
            stack[1] = stack[0]
            play(stack[1], int64(race.actions[a]))
            race.values[a] = finish(key, settings, scratch)
            if whole:
                outcomes[int64(race.worlds), a] = race.values[a]
        note_world(race)
        if not whole and int64(race.worlds) % BLOCK == 0:
            drop_worse(race, settings.prior)


@entry
def race_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    resume: bool,
    settings_row: np.ndarray,
    scratch: Scratch,
    outcomes: np.ndarray,
    actions: np.ndarray,
) -> int:
    """Choose an action for the seat to act in every game from `first` on.

    Args:
        games: views of the seats to act; hidden fields of full records are never read.
        first: index of the first game.
        keys: uint64 [N], the only source of randomness.
        resume: continue the race in `scratch`, which is that of the game `first`.
        settings_row: dtype `SETTINGS` [1]; the budget is in rollouts per legal action.
        scratch: see `Scratch`.
        outcomes: see `run_race`.
        actions: written, int64 [N].

    Returns:
        N, or the index of a game that needs more cells.
    """
    scratch = borrow_scratch(scratch)
    settings, race = settings_row[0], scratch.race[0]
    for i in range(first, len(games)):
        game = games[i]
        forced = forced_move(game, True)
        if forced >= 0 and len(outcomes) == 0:
            actions[i] = forced
            continue
        scratch.stack[0] = game
        if not resume and not prepare_race(game, keys[i], ALL_ACTIONS, settings, scratch):
            return i
        rollouts = int64(settings.budget) * int64(race.num_actions)
        settled = len(outcomes) == 0 and is_settled(game, settings, scratch)
        if settled:
            rollouts = int64(race.num_actions)
        run_race(rollouts, settings, scratch, outcomes)
        actions[i] = race.actions[leader(race, settings.prior, greedy_action(game))]
        if settled:
            race.num_running = 1  # further chunks change nothing
    return len(games)


@entry
def estimate_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    rollouts: np.ndarray,
    candidates: np.ndarray,
    settings_row: np.ndarray,
    scratch: Scratch,
    out: Estimates,
) -> int:
    """Estimate the candidate actions of every view from `first` on; a single candidate is not examined.

    Args:
        games, first, keys, settings_row, scratch: see `race_many`; the budget is not used.
        rollouts: int64 [N], for all candidates of a view together.
        candidates: int8 [N, 121], not zero for the actions to examine; illegal actions are skipped.
        out: written; the values do not contain the prior.

    Returns:
        N, or the index of a view that needs more cells.
    """
    scratch = borrow_scratch(scratch)
    settings, race, outcomes = settings_row[0], scratch.race[0], np.empty((0, 0))
    for i in range(first, len(games)):
        game = games[i]
        scratch.stack[0] = game
        if not prepare_race(game, keys[i], candidates[i], settings, scratch):
            return i
        count = int64(race.num_actions)
        most = count if is_settled(game, settings, scratch) else max(int64(rollouts[i]), count)
        run_race(most, settings, scratch, outcomes)
        for action in range(NUM_ACTIONS):
            out.worlds[i, action] = 0
        for a in range(count):
            action, n = int64(race.actions[a]), int64(race.seen[a])
            out.worlds[i, action] = n
            if n > 0:
                out.values[i, action] = race.sums[a] / n
        best = leader(race, settings.prior, greedy_action(game))
        n = max(int64(race.seen[best]), 1)
        mean = race.sums[best] / n
        out.spreads[i] = math.sqrt(max(race.products[best, best] / n - mean * mean, 0.0))
    return len(games)
