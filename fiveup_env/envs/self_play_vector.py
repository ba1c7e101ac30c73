"""`SelfPlayVectorEnv`: many matches at once, every step one action a match for whoever is to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from fiveup_env.belief.marginals import BeliefWriter
from fiveup_env.envs.batch_arguments import (
    MAX_MATCHES,
    checked_actions,
    checked_dtype,
    checked_players,
    illegal_batch,
    row_seeds,
    starting_scores,
    step_options,
    unmixed,
)
from fiveup_env.envs.env_options import check_integer, checked_options
from fiveup_env.envs.self_play_vector_kernels import ROWS, begin_all, find_illegal, replay, step_all, step_all_parallel
from fiveup_env.envs.step_arrays import StepArrays
from fiveup_env.jit.compilation import threads_used
from fiveup_env.rules.match import IllegalActionError, Match, checked_seed
from fiveup_env.rules.record import GAME, Variant, copy_games, new_games
from fiveup_env.views.observation import observation_size

NEAR_BYTES = 8 * 2**20
"""Batches up to this size step faster without fetching ahead (found by trying); a buffer of the caller's is cold."""


class SelfPlayVectorEnv:
    """N matches; every step takes one action a match, for whoever is to move, and returns for the next to move.

    An episode that ends is dealt anew in the same step (same-step autoreset): rewards and flags are of the step just
    made, observation and mask of the new deal. Arrays are reused: those of a step are overwritten two steps later (two
    sets take turns), unless the caller passes its own as `out=`.

    Args:
        num_matches: 1 to 262,144.
        options: see `EnvOptions`; also `num_players` [N] for a mixed batch (observations are then as long as the
            longest, each row laid out for its own number of players and zero behind; beliefs likewise).
        dtype: float32, or uint8 for bare codes (`units(num_players)` turns them into the float observation).
        skip_single: with draws="auto", resolve every lone legal action inside as well.
        threads: cores to use; results do not depend on it.
        continue_match: with episode="round", the next episode of a row is the next round of its match (with the scores,
            opener and deal that this has) until the match is won.
        final_observation: keep what the mover saw at the end of an episode (to bootstrap from a truncated one).
        validate: check all actions before any match is touched; without it an illegal action corrupts its match.

    >>> env = SelfPlayVectorEnv(64, num_players=4, draws="auto")
    >>> step = env.reset(seed=0)
    >>> step = env.step(step.action_mask.argmax(1))
    """

    def __init__(
        self,
        num_matches: int,
        *,
        num_players: int | Sequence[int] = 4,
        dtype: type = np.float32,
        skip_single: bool = False,
        threads: int = 1,
        continue_match: bool = False,
        final_observation: bool = False,
        validate: bool = True,
        **options: Any,
    ) -> None:
        check_integer("num_matches", num_matches, 1, MAX_MATCHES)
        check_integer("threads", threads, 1, numba.config.NUMBA_NUM_THREADS)
        players = checked_players(num_players, num_matches)
        kinds = sorted({int(n) for n in players})
        self.options = checked_options({"num_players": kinds[-1], **unmixed(options, kinds)})
        self.num_matches = num_matches
        self.num_players = players
        sides = {Variant(n).num_sides for n in kinds}
        self.num_sides, self._mixed_sides = max(sides), len(sides) > 1
        self.observation_size = max(observation_size(n) for n in kinds)
        self.dtype, self.threads, self.validate = checked_dtype(dtype), threads, validate
        if continue_match and self.options.episode != "round":
            raise ValueError('continue_match needs episode="round"')
        self._kernel_options = step_options(self.options, skip_single)
        self._with_final = final_observation
        self._marginals = self.options.marginals(threads)
        self._games = np.zeros(num_matches, GAME)
        for n in kinds:
            variant = Variant(n, self.options.hand_size, self.options.target, self.options.max_pip)
            rows = players == n
            self._games[rows] = new_games(int(rows.sum()), variant)
        self._rows = np.zeros(num_matches, ROWS)
        self._rows["continues"] = continue_match
        self._actions = np.zeros(num_matches, np.int64)
        self._sets = (self.arrays(), self.arrays())
        self._given: StepArrays | None = None
        self._far = 2 * self._sets[0].observation.nbytes + self._games.nbytes > NEAR_BYTES
        self._turn = 0
        self._started = False

    def arrays(self) -> StepArrays:
        """A fresh set of arrays for `step(out=...)`.

        To let steps write into a buffer of your own: `dataclasses.replace(env.arrays(), observation=buffer[t])`.
        """
        return StepArrays.empty(
            self.num_matches,
            self.observation_size,
            self.options.num_players,
            self.num_sides,
            self.dtype,
            self._with_final,
            self._marginals is not None,
        )

    @property
    def games(self) -> np.ndarray:
        """The records behind the matches, live (dtype `GAME`) [N]."""
        return self._games

    def match(self, i: int) -> Match:
        """A copy of match `i` as a `Match`."""
        return Match.of(self._games[i])

    def state(self) -> dict[str, np.ndarray]:
        """All that later steps depend on, as bytes uint8 [N, ...]: `games` and `rows`."""
        return {
            name: array.view(np.uint8).reshape(self.num_matches, -1).copy()
            for name, array in (("games", self._games), ("rows", self._rows))
        }

    def set_state(self, state: dict[str, np.ndarray], *, out: StepArrays | None = None) -> StepArrays:
        """Go on from what `state` gave, in an env made with the same arguments; returns as `reset` does.

        Raises:
            ValueError: if the state is one of another number of matches or version; nothing is changed then.
        """
        kept = {"games": self._games, "rows": self._rows}
        for name, array in kept.items():
            shape = (self.num_matches, array.itemsize)
            if name not in state or state[name].dtype != np.uint8 or state[name].shape != shape:
                raise ValueError(f"the state of this env has {name!r}, uint8 {list(shape)}")
        out = self._target(out)
        for name, array in kept.items():
            array.view(np.uint8).reshape(self.num_matches, -1)[:] = state[name]
        self._started = True
        return self.reset(0, reset_mask=np.zeros(self.num_matches, np.bool_), out=out)  # shows, deals nothing

    def reset(
        self,
        seed: int | np.ndarray | None = None,
        *,
        scores: np.ndarray | None = None,
        reset_mask: np.ndarray | None = None,
        out: StepArrays | None = None,
    ) -> StepArrays:
        """Deal all matches, or those where `reset_mask` [N] is true, anew.

        Args:
            seed: one for all (match i gets a stream of it), or one per match, uint64 [N]: the seed of its first
                episode. None draws one.
            scores: raw starting scores [S] or [N, S]; default: the option `starting_scores`. Kept for later episodes.
            out: arrays to write into.

        Raises:
            ValueError: naming the argument that is wrong; nothing is changed then.
        """
        wanted = self._wanted(reset_mask)
        seeds = row_seeds(checked_seed(None) if seed is None else seed, self.num_matches)
        table = self._starting_scores(scores)
        out = self._target(out)
        self._rows["seed"][wanted] = seeds[wanted]
        self._rows["scores"][wanted] = table[wanted]
        self._started = True
        begin_all(self._games, wanted, self._rows, out.observation, out.action_mask, out.facts)
        if self._marginals is not None:
            self._marginals.write(self._games, out.seat, out.belief)
        return out

    def _wanted(self, reset_mask: np.ndarray | None) -> np.ndarray:
        if reset_mask is None:
            return np.ones(self.num_matches, np.bool_)
        wanted = np.array(reset_mask)
        if wanted.shape != (self.num_matches,) or wanted.dtype != np.bool_:
            raise ValueError(f"reset_mask must be a bool array [{self.num_matches}]")
        if not self._started and not wanted.all():
            raise ValueError("the first reset must deal all matches")
        return wanted

    def _starting_scores(self, scores: np.ndarray | None) -> np.ndarray:
        if scores is None:
            return starting_scores(self.options.scores, self.options, self.num_matches)
        if self._mixed_sides:
            raise ValueError("scores cannot be given for a mix of two and three sides")
        return starting_scores(scores, self.options, self.num_matches)

    def _target(self, out: StepArrays | None) -> StepArrays:
        if out is not None:
            out.check_like(self._sets[0])
            return out
        self._turn ^= 1
        return self._sets[self._turn]

    def step(self, actions: np.ndarray, *, out: StepArrays | None = None) -> StepArrays:
        """One action per match, integers [N] (int64 is taken as it is, without a copy).

        Raises:
            IllegalActionError: naming the first matches with an illegal action; no match has moved then.
            ValueError: if `actions` is not N integers, `out` does not fit, or nothing was reset yet.
        """
        if not self._started:
            raise ValueError("call reset() before step()")
        actions = checked_actions(actions, self._actions)
        if out is not None:
            out.check_like(self._sets[0])
        target = self._sets[self._turn ^ 1] if out is None else out
        before = copy_games(self._games) if self._marginals is not None and self._with_final else None
        far = self._far or (out is not None and out is not self._given)
        self._given = out
        written = target.observation, target.action_mask, target.facts, target.final_observation
        illegal = self._step(actions, self.validate, self._kernel_options, far, (self._games, self._rows), written)
        if illegal:
            found = np.zeros(4, np.int64)
            find_illegal(self._games, actions, found)
            raise IllegalActionError(f"{illegal_batch(actions, found, illegal)}; no match was moved")
        if self._marginals is not None:
            self._marginals.write(self._games, target.seat, target.belief)
            if before is not None:
                self._write_final_beliefs(self._marginals, before, actions, target)
        self._turn ^= out is None
        return target

    def _write_final_beliefs(
        self, marginals: BeliefWriter, before: np.ndarray, actions: np.ndarray, target: StepArrays
    ) -> None:
        """From the matches before the step: those whose episode ended have been dealt anew in it."""
        ended = np.flatnonzero(target.done)
        if len(ended):
            games = copy_games(before, ended)
            replay(games, actions[ended], self._kernel_options)
            marginals.write_rows(games, games["turn"], ended, target.final_belief)

    def _step(self, *arguments: Any) -> int:
        """Step in the compiled code; returns how many actions are illegal, and then nothing was moved."""
        if self.threads == 1:
            return int(step_all(*arguments))
        with threads_used(self.threads):
            return int(step_all_parallel(self.threads, *arguments))
