"""`SelfPlayVectorEnv`: many matches at once; every step takes one action per match, for the seat to move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from fiveup_env.belief.belief_section import BeliefWriter, belief_shape
from fiveup_env.envs.env_options import (
    MAX_MATCHES,
    MatchBatch,
    check_integer,
    checked_dtype,
    checked_options,
)
from fiveup_env.envs.self_play_vector_kernels import (
    FACTS,
    ROWS,
    begin_episodes,
    end_episodes,
    step_all,
    step_all_parallel,
)
from fiveup_env.jit.compilation import threads_used
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import IllegalActionError, Match
from fiveup_env.rules.record import GAME, Variant, copy_games, new_games
from fiveup_env.views.observation import observation_size

NEAR_BYTES = 8 * 2**20
"""Batches up to this size step faster without fetching ahead (measured); a buffer of the caller's is never in cache."""

LARGE = ("observation", "action_mask", "final_observation", "belief", "final_belief")
"""Arrays of a step that are not views of its facts."""


@dataclass(frozen=True)
class StepArrays:
    """Result of a step, in preallocated arrays; N matches, n players, F observation values, S sides.

    The `final_...` arrays are meaningful where an episode ended.

    Attributes:
        observation: [N, F] float32 (or uint8 bare codes): observation of the seat to move.
        action_mask: [N, 121] int8: its legal actions.
        seat: [N] int8: the seat to move.
        side: [N] int8: its side.
        rewards: [N, S] float32: rewards of the step per side (see `views.rewards`).
        terminated: [N] bool: the episode ended by the rules. The next one of this row is dealt already.
        truncated: [N] bool: it ended by `max_rounds`. The next one is dealt already.
        final_scores: [N, S] int16 raw points at the end.
        final_winner: [N] int8: side that won the match, with episode="round" the round, -1 for none.
        final_rounds: [N] int32: rounds of the episode.
        final_length: [N] int32: steps of the episode.
        final_observation: [N, F] as `observation`; [0, F] unless requested.
        belief: [N, n, 28] float32 with belief="exact" or "likely", else [0, n, 28]: marginals of every tile for the
            seat to move (see `beliefs_of`); n is the largest number of players in the batch.
        final_belief: [N, n, 28] as `belief`, with `final_observation`; [0, n, 28] without either of them.
        facts: [N] records (dtype `FACTS`); the small arrays above are views of them, so kernels get one pointer.
    """

    observation: np.ndarray
    action_mask: np.ndarray
    seat: np.ndarray
    side: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_scores: np.ndarray
    final_winner: np.ndarray
    final_rounds: np.ndarray
    final_length: np.ndarray
    final_observation: np.ndarray
    belief: np.ndarray
    final_belief: np.ndarray
    facts: np.ndarray

    @classmethod
    def over(cls, facts: np.ndarray, sides: int, large: Mapping[str, np.ndarray]) -> StepArrays:
        """Views of `facts`, and the arrays `LARGE` by name."""
        small = {name: facts[name] for name in FACTS.names or () if name not in ("rewards", "final_scores")}
        small |= {name: facts[name][:, :sides] for name in ("rewards", "final_scores")}
        return cls(facts=facts, **small, **large)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied field by field, the small arrays would no longer be views of the facts.
        return StepArrays.over, (self.facts, self.rewards.shape[1], {name: getattr(self, name) for name in LARGE})

    def check_like(self, other: StepArrays) -> None:
        """Raise a ValueError unless the arrays have the shapes and dtypes of `other`'s and are laid out in C order."""
        for name in ("facts", *LARGE):
            given, wanted = getattr(self, name), getattr(other, name)
            if given.shape != wanted.shape or given.dtype != wanted.dtype or not given.flags.carray:
                raise ValueError(
                    f"out.{name} must be a writable C-contiguous array {list(wanted.shape)} of {wanted.dtype.name}, "
                    f"not {list(given.shape)} of {given.dtype.name} (take `arrays()` and replace what you own)"
                )

    @property
    def done(self) -> np.ndarray:
        """[N] bool: terminated or truncated (a new array)."""
        return self.terminated | self.truncated


class SelfPlayVectorEnv(MatchBatch):
    """N matches; every step takes one action per match, for the seat to move, and shows the next seat to move.

    When an episode ends, the next one is dealt in the same step (same-step autoreset): rewards and flags belong to the
    step just made, observation and mask to the new deal. Arrays are reused: those of a step are overwritten two steps
    later (two sets take turns), unless the caller passes arrays as `out=`.

    Args:
        num_matches: 1 to 262,144.
        options: see `EnvOptions`; also `num_players` [N] for a mixed batch (observations are then as long as the
            longest, each row laid out for its number of players and zero behind; beliefs likewise).
        dtype: float32, or uint8 for bare codes (`units(num_players)` turns them into the float observation).
        skip_single: with draws="auto", also take lone legal actions.
        threads: cores to use; results do not depend on it.
        continue_match: with episode="round", the next episode of a row is the next round of its match (with its scores,
            opener and deal) until the match is won.
        final_observation: keep the observation of the mover at the end of an episode (to bootstrap when truncated).
        validate: check all actions before any match moves; without it an illegal action corrupts its match.

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
        players = _checked_players(num_players, num_matches)
        kinds = sorted({int(n) for n in players})
        sides = {Variant(n).num_sides for n in kinds}
        _check_options(options, len(sides) > 1)
        self.options = checked_options({"num_players": kinds[-1], **options})
        self.num_matches = num_matches
        self.num_players = players
        self.num_sides, self._mixed_sides = max(sides), len(sides) > 1
        self.observation_size = max(observation_size(n) for n in kinds)
        self.dtype, self.threads, self.validate = checked_dtype(dtype), threads, validate
        if continue_match and self.options.episode != "round":
            raise ValueError('continue_match needs episode="round"')
        self._step_options = self.options.step_options(skip_single=skip_single)
        self._with_final = final_observation
        self._marginals = self.options.marginals(threads)
        games, rows = np.zeros(num_matches, GAME), np.zeros(num_matches, ROWS)
        for n in kinds:
            variant = Variant(n, self.options.hand_size, self.options.target, self.options.max_pip)
            games[players == n] = new_games(int((players == n).sum()), variant)
        rows["continues"] = continue_match
        self._hold(games, rows)
        self._sets = (self.arrays(), self.arrays())
        self._given: StepArrays | None = None
        self._far = 2 * self._sets[0].observation.nbytes + self._games.nbytes > NEAR_BYTES
        self._turn = 0

    def arrays(self) -> StepArrays:
        """A new set of arrays for `step(out=...)`.

        To let steps write into your own buffer: `dataclasses.replace(env.arrays(), observation=buffer[t])`.
        """
        count, size, shape = self.num_matches, self.observation_size, belief_shape(self.options.num_players)
        finals, beliefs = count * self._with_final, count * (self._marginals is not None)
        large: dict[str, np.ndarray] = {
            "observation": np.zeros((count, size), self.dtype),
            "action_mask": np.zeros((count, NUM_ACTIONS), np.int8),
            "final_observation": np.zeros((finals, size), self.dtype),
            "belief": np.zeros((beliefs, *shape), np.float32),
            "final_belief": np.zeros((min(finals, beliefs), *shape), np.float32),
        }
        return StepArrays.over(np.zeros(count, FACTS), self.num_sides, large)

    def match(self, i: int) -> Match:
        """A copy of match `i` as a `Match`."""
        return Match.of(self._games[i])

    def set_state(self, state: dict[str, np.ndarray], *, out: StepArrays | None = None) -> StepArrays:
        """Continue from the `state` of an env made with the same arguments; returns as `reset` does.

        Raises:
            ValueError: if the state has another number of matches or is of another version; nothing changes then.
        """
        if out is not None:
            out.check_like(self._sets[0])
        self._restore(state)
        return self.reset(0, reset_mask=np.zeros(self.num_matches, np.bool_), out=out)  # shows, deals nothing

    def reset(
        self,
        seed: int | np.ndarray | None = None,
        *,
        scores: np.ndarray | None = None,
        reset_mask: np.ndarray | None = None,
        out: StepArrays | None = None,
    ) -> StepArrays:
        """Deal new episodes in all matches, or where `reset_mask` [N] is true.

        Args:
            seed: one for all (match i gets a stream of it), or one per match, uint64 [N]: the seed of its first
                episode. None draws one.
            scores: raw starting scores [S] or [N, S]; default: the option `starting_scores`. Kept for later episodes.
            out: arrays to write into.

        Raises:
            ValueError: naming the argument that is wrong; the state does not change then.
        """
        wanted, seeds = self._checked_reset_mask(reset_mask), self._checked_seeds(seed)
        if scores is not None and self._mixed_sides:
            raise ValueError("scores cannot be given for a mix of two and three sides")
        table = self._checked_scores(scores)
        out = self._target(out)
        self._rows["seed"][wanted] = seeds[wanted]
        self._rows["scores"][wanted] = table[wanted]
        self._started = True
        begin_episodes(self._games, wanted, self._rows, out.observation, out.action_mask, out.facts)
        if self._marginals is not None:
            self._marginals.write(self._games, out.seat, out.belief)
        return out

    def _target(self, out: StepArrays | None) -> StepArrays:
        if out is not None:
            out.check_like(self._sets[0])
            return out
        self._turn ^= 1
        return self._sets[self._turn]

    def step(self, actions: np.ndarray, *, out: StepArrays | None = None) -> StepArrays:
        """Take one action per match, integers [N] (int64 is not copied).

        Raises:
            IllegalActionError: naming the first matches with an illegal action; no match has moved then.
            ValueError: if `actions` is not N integers, `out` does not fit, or nothing was reset yet.
        """
        actions = self._checked_actions(actions)
        if out is not None:
            out.check_like(self._sets[0])
        target = self._sets[self._turn ^ 1] if out is None else out
        before = copy_games(self._games) if self._marginals is not None and self._with_final else None
        far = self._far or (out is not None and out is not self._given)
        self._given = out
        written = target.observation, target.action_mask, target.facts, target.final_observation
        illegal = self._step(actions, self.validate, self._step_options, far, (self._games, self._rows), written)
        if illegal:
            raise IllegalActionError(f"{self._illegal(self._all, actions)}; no match was moved")
        if self._marginals is not None:
            self._marginals.write(self._games, target.seat, target.belief)
            if before is not None:
                self._write_final_beliefs(self._marginals, before, actions, target)
        self._turn ^= out is None
        return target

    def _write_final_beliefs(
        self, marginals: BeliefWriter, before: np.ndarray, actions: np.ndarray, target: StepArrays
    ) -> None:
        """Write `final_belief` from copies of the matches before the step, because the next episodes are dealt now."""
        ended = np.flatnonzero(target.done)
        if len(ended):
            games = copy_games(before, ended)
            end_episodes(games, actions[ended], self._step_options)
            marginals.write_rows(games, games["turn"], ended, target.final_belief)

    def _step(self, *arguments: Any) -> int:
        """Step in the compiled code; return the number of illegal actions (if there are any, no match has moved)."""
        if self.threads == 1:
            return int(step_all(*arguments))
        with threads_used(self.threads):
            return int(step_all_parallel(self.threads, *arguments))


def _checked_players(num_players: int | Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """Number of players of every match, int64 [count], from one for all or one each."""
    players = np.asarray(num_players)
    if players.shape not in ((), (count,)) or players.dtype.kind not in "ui" or not np.isin(players, (2, 3, 4)).all():
        raise ValueError(f"num_players must be 2, 3 or 4, or {count} of them, one per match, not {num_players!r}")
    return np.broadcast_to(players, (count,)).astype(np.int64)


def _check_options(options: Mapping[str, Any], mixed_sides: bool) -> None:
    """Raise a ValueError for options that this environment, or a batch of two and three sides, cannot take."""
    for name in ("observation", "history_length"):
        if name in options and options[name] not in ("flat", 0):
            raise ValueError(f"{name}={options[name]!r} is not available in the vector env; take it from `match(i)`")
    if options.get("starting_scores") is not None and mixed_sides:
        raise ValueError("starting_scores cannot be given for a mix of two and three sides")
