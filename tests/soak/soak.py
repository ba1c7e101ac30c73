"""Long soak: random and greedy play inside compiled code, with all invariants checked every so often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, RANDOM, choose
from fiveup_env.benchmarks.native_speed import start_matches_from
from fiveup_env.jit.compilation import entry, int64, kernel, uint64
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import GOLDEN, mix
from fiveup_env.rules.record import MATCH_OVER, Game, Variant, new_games, start_match
from fiveup_env.rules.turn import step
from tests.soak.invariants import EVENTS, INVARIANTS, OK, SCRATCH, broken

MATCHES = 96
CHUNK = 1_000_000
STEPS, OVER, CHECKS, ACCEPTED, DISCARDED, WHERE, WHAT = range(7)


@dataclass(frozen=True)
class Soak:
    """Result of a soak.

    Attributes:
        num_players: 2, 3 or 4.
        steps: agent-steps played.
        matches: matches that were won.
        checks: positions in which every invariant was checked.
        accepted, discarded: scoring events.
        seconds: time it took.
        found: None, or the invariant that was broken.
        match: then the match as it stood.
    """

    num_players: int
    steps: int
    matches: int
    checks: int
    accepted: int
    discarded: int
    seconds: float
    found: str | None = None
    match: Match | None = None

    def __str__(self) -> str:
        said = (
            f"{self.num_players} players: {self.steps:,} steps, {self.matches:,} matches won, {self.accepted:,} events "
            f"accepted and {self.discarded:,} discarded, {self.checks:,} checks in {self.seconds:.1f} s: "
        )
        if self.found is None:
            return said + "nothing found"
        return f"{said}BROKEN: {self.found}\n{self.match}\nhistory: {self.match.history if self.match else None}"


@kernel
def scores_follow(game: Game, before: np.ndarray) -> bool:
    """Whether scores changed by the accepted events of the last step, and by nothing else (R6.1)."""
    for side in range(int64(game.num_sides)):
        change = 0
        for i in range(int64(game.num_events)):
            if game.event_side[i] == side and game.event_accepted[i] != 0:
                change += int64(game.event_net[i])
        if int64(game.scores[side]) - before[side] != change:
            return False
    return True


@kernel
def count_events(game: Game, counts: np.ndarray) -> None:
    """Add up accepted and discarded events of the last step."""
    for i in range(int64(game.num_events)):
        counts[ACCEPTED if game.event_accepted[i] != 0 else DISCARDED] += 1


@entry
def play_and_check(
    games: np.ndarray, steps: int, every: int, state: Any, counts: np.ndarray, scratch: np.ndarray, mask: np.ndarray
) -> int:
    """Play at least `steps` steps, over all matches in turn; stops at the first broken invariant.

    Args:
        games: records; a third plays at random, a third greedily, a third one or the other at every decision.
        every: check one step in `every`.
        counts: int64 [7], added to; WHERE and WHAT say what is broken in which match.
        scratch: int64 [SCRATCH + 4].
        mask: int8 [121].

    Returns:
        The next random state.
    """
    state = uint64(state)
    before = scratch[SCRATCH:]
    done = 0
    while done < steps:
        for i in range(len(games)):
            game = games[i]
            state += GOLDEN
            key = mix(state)
            policy = i % 3
            if policy == 2:
                policy = int64(key >> uint64(40)) & 1
            for side in range(4):
                before[side] = int64(game.scores[side])
            step(game, choose(game, GREEDY if policy == 1 else RANDOM, key))
            count_events(game, counts)
            if counts[STEPS] % every == 0:
                what = broken(game, scratch, mask)
                if what == OK and not scores_follow(game, before):
                    what = EVENTS
                counts[CHECKS] += 1
                if what != OK:
                    counts[WHERE] = i
                    counts[WHAT] = what
                    return state
            counts[STEPS] += 1
            if game.phase == MATCH_OVER:
                counts[OVER] += 1
                start_match(game, key)
        done += len(games)
    return state


def soak(
    num_players: int,
    steps: int,
    seed: int = 0,
    *,
    every: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> Soak:
    """Play at least `steps` steps and check one position in `every` (see `INVARIANTS`).

    Args:
        num_players: 2, 3 or 4.
        steps: agent-steps in all, over 96 matches.
        seed: decides everything.
        every: best without a common divisor with 96, so that every match gets its turn.
        progress: called now and then with the numbers of steps that are done and that there are.
    """
    games = new_games(MATCHES, Variant(num_players))
    state = np.uint64(seed)
    start_matches_from(games, state)
    counts, scratch, mask = np.zeros(7, np.int64), np.zeros(SCRATCH + 4, np.int64), np.zeros(NUM_ACTIONS, np.int8)
    begun = perf_counter()
    while counts[STEPS] < steps and counts[WHAT] == OK:
        chunk = min(CHUNK, steps - int(counts[STEPS]))
        state = np.uint64(play_and_check(games, chunk, every, state, counts, scratch, mask))
        if progress is not None:
            progress(min(int(counts[STEPS]), steps), steps)
    what = int(counts[WHAT])
    done, over, checks, accepted, discarded = counts[:5].tolist()
    return Soak(
        num_players,
        done,
        over,
        checks,
        accepted,
        discarded,
        perf_counter() - begun,
        None if what == OK else INVARIANTS[what],
        None if what == OK else Match.of(games[int(counts[WHERE])]),
    )
