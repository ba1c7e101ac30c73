"""What a search thinks of every action: mean values of a race between candidates, for many views at once.

That is what a network learns from (`training.imitate`), and what a search needs that looks at some actions only.
"""

from __future__ import annotations

import math

import numpy as np

from fiveup_env.agents.baseline_kernels import RANDOM, greedy_action
from fiveup_env.agents.search.equity import table_for
from fiveup_env.agents.search.pimc import Race, leader, only_one, run_race, start_race
from fiveup_env.agents.search.search_agents import PIMC, Scratch
from fiveup_env.belief.choice_model import infer
from fiveup_env.belief.deal_counts import prepare
from fiveup_env.jit.compilation import entry, int64, kernel
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import Game, Variant
from fiveup_env.views.view import Views


@kernel
def start_race_between(game: Game, key: int, prior: float, race: Race, candidates: np.ndarray) -> None:
    """Line up the legal actions whose place in `candidates` [121] is not zero; see `pimc.start_race`."""
    start_race(game, key, prior, race)
    kept = 0
    for i in range(int64(race.num_actions)):
        if candidates[int64(race.actions[i])] != 0:
            race.actions[kept] = race.actions[i]
            race.worths[kept] = race.worths[i]
            kept += 1
    race.num_actions = kept
    race.num_running = kept


@entry
def estimate_many(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    rollouts: np.ndarray,
    candidates: np.ndarray,
    drawn_from: int,
    prior: float,
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
    values: np.ndarray,
    seen: np.ndarray,
    spreads: np.ndarray,
) -> int:
    """Estimate the candidates of every view from `first` on; where there is but one, it is not looked at.

    Args:
        games: views of the seats to act (or full records: what is hidden is never read).
        first: where to begin.
        keys: uint64 [N], all the chance there is.
        rollouts: for all candidates together, int64 [N]; those that are clearly worse leave theirs to the others.
        candidates: int8 [N, 121], not zero for the actions to be looked at; illegal ones are passed over.
        drawn_from: worlds that each one is drawn from, see `likely_worlds.sample_likely`.
        prior: worlds that the heuristic's opinion counts in who leaves the race and what is best; not in `values`.
        beliefs, cells, inferences, races, stack, frames: scratch.
        playout, near, most_tiles, table: see `pimc.finish`.
        values: written where an action was looked at, float32 [N, 121]: its mean value to the side of the seat to act.
        seen: written, int32 [N, 121]: worlds that the mean is over, 0 for actions that were not looked at.
        spreads: written, float32 [N]: standard deviation of the value of the best action over the worlds.

    Returns:
        N, or where to go on with more `cells`.
    """
    race = races[0]
    outcomes = np.empty((0, 0))
    for i in range(first, len(games)):
        game = games[i]
        stack[0] = game
        start_race_between(game, stream(keys[i], 0), prior, race, candidates[i])
        if not prepare(game, int64(game.turn), beliefs[0], cells):
            return i
        infer(game, int64(game.turn), inferences[0])
        count = int64(race.num_actions)
        settled = playout != RANDOM and only_one(game, beliefs[0])
        most = count if settled else max(int64(rollouts[i]), count)
        run_race(
            race,
            most,
            beliefs[0],
            cells,
            inferences[0],
            drawn_from,
            stack,
            playout,
            near,
            most_tiles,
            table,
            frames,
            outcomes,
        )
        for action in range(121):
            seen[i, action] = 0
        for a in range(count):
            action, n = int64(race.actions[a]), int64(race.seen[a])
            seen[i, action] = n
            if n > 0:
                values[i, action] = race.sums[a] / n
        best = leader(race, greedy_action(game))
        n = max(int64(race.seen[best]), 1)
        mean = race.sums[best] / n
        spreads[i] = math.sqrt(max(race.products[best, best] / n - mean * mean, 0.0))
    return len(games)


class Estimator:
    """A `pimc` agent that tells what it thinks of every action.

    Args:
        agent: with a number of worlds (not milliseconds).
        num_players: of the matches, which are real ones (`table_for`).
    """

    def __init__(self, agent: PIMC, num_players: int) -> None:
        self.agent = agent
        self._scratch = Scratch(table_for(Variant(num_players), agent.equity))

    def __call__(
        self, views: Views, keys: np.ndarray, candidates: np.ndarray, rollouts: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Estimate some actions of every view, whose seat is to act.

        Args:
            views: N of them.
            keys: uint64 [N], all the chance there is.
            candidates: int8 [N, 121], not zero for the legal actions to be looked at, at least one in every row.
            rollouts: int64 [N], for all candidates together; by default the agent's worlds for each of them.

        Returns:
            Mean values float32 [N, 121], -inf for actions that were not looked at (an only candidate is not); the
            worlds that each mean is over, int32 [N, 121]; and the standard deviation of the best action's value over
            the worlds, float32 [N].
        """
        s, agent = self._scratch, self.agent
        if rollouts is None:
            rollouts = agent.worlds * (candidates != 0).sum(1)
        values = np.full(candidates.shape, -np.inf, np.float32)
        worlds, spreads = np.zeros(candidates.shape, np.int32), np.zeros(len(candidates), np.float32)
        s.through(
            views.games,
            lambda first: estimate_many(
                views.games,
                first,
                keys,
                rollouts,
                candidates,
                agent.inference,
                agent.prior,
                s.beliefs,
                s.cells,
                s.inferences,
                s.race,
                s.stack,
                agent.playout,
                agent.near,
                agent.endgame,
                s.table,
                s.frames,
                values,
                worlds,
                spreads,
            ),
        )
        return values, worlds, spreads


def in_the_race(worlds: np.ndarray) -> np.ndarray:
    """Which actions were looked at to the end, bool [N, 121], by the worlds of each."""
    found: np.ndarray = worlds == worlds.max(1, keepdims=True)
    return found & (worlds > 0)
