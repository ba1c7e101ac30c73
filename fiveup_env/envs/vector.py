"""`SelfPlayVectorEnv`: many matches at once, every step one action a match for whoever is to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy import int64

from fiveup_env.encoding.observation import observation_size
from fiveup_env.encoding.writer import ROW, offset_table, unit_table, write_observation
from fiveup_env.envs.episodes import deal_episode
from fiveup_env.envs.options import EnvOptions, check_integer, checked_options
from fiveup_env.envs.transition import GOES_ON, TERMINATED, TRUNCATED, transition, winner_of
from fiveup_env.rules.actions import NUM_ACTIONS, describe
from fiveup_env.rules.game import GAME, Game, Variant, new_games
from fiveup_env.rules.kernels import borrowed, entry, kernel
from fiveup_env.rules.match import IllegalActionError, Match, checked_scores, checked_seed
from fiveup_env.rules.random import stream
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.turn import is_legal, write_mask

MAX_MATCHES = 262_144


FACTS = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("rewards", "f4", 3),
                ("final_rounds", "i4"),
                ("final_length", "i4"),
                ("final_scores", "i2", 3),
                ("seat", "i1"),
                ("side", "i1"),
                ("final_winner", "i1"),
                ("terminated", "?"),
                ("truncated", "?"),
            ],
            align=True,
        ),
    )
)
"""dtype of what a step reports of one match beside observation and mask."""

ROWS = np.dtype(
    (
        np.record,
        np.dtype([("seed", "u8"), ("episode", "i8"), ("length", "i8"), ("scores", "i2", 4)], align=True),
    )
)
"""dtype of what is kept per match over its episodes: seed of the first, number, steps so far, starting scores."""


@dataclass(frozen=True)
class StepArrays:
    """What a step returns, all arrays preallocated; N matches, F observation values, S sides.

    Attributes:
        observation: [N, F] float32 (or uint8 bare codes): what the seat to move sees.
        action_mask: [N, 121] int8: its legal actions.
        seat: [N] int8: the seat to move.
        side: [N] int8: its side.
        rewards: [N, S] float32: what the step brought every side (see `encoding.rewards`).
        terminated: [N] bool: the episode ended by the rules. The match in this row has been dealt anew.
        truncated: [N] bool: it was cut off by `max_rounds`; dealt anew as well.
        final_scores: [N, S] int16 raw points at the end; meaningful where an episode ended.
        final_winner: [N] int8: side that won the match, with episode="round" the round, -1 for none; likewise.
        final_rounds: [N] int32: rounds of the ended episode; likewise.
        final_length: [N] int32: agent-steps of the ended episode; likewise.
        final_observation: [N, F] as `observation`, written where an episode ended; [0, F] if not asked for.
        facts: [N] records (dtype `FACTS`) that the small arrays above are views of: one pointer for the kernels.
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
    facts: np.ndarray

    @classmethod
    def empty(
        cls, count: int, size: int, sides: int, dtype: type = np.float32, final_observation: bool = False
    ) -> StepArrays:
        """Arrays for `count` matches of `size` observation values and `sides` sides."""
        observation: np.ndarray = np.zeros((count, size), dtype)
        final: np.ndarray = np.zeros((count if final_observation else 0, size), dtype)
        return cls.over(observation, np.zeros((count, NUM_ACTIONS), np.int8), np.zeros(count, FACTS), sides, final)

    @classmethod
    def over(
        cls, observation: np.ndarray, action_mask: np.ndarray, facts: np.ndarray, sides: int, final: np.ndarray
    ) -> StepArrays:
        """The small arrays as views of `facts`."""
        return cls(
            observation=observation,
            action_mask=action_mask,
            seat=facts["seat"],
            side=facts["side"],
            rewards=facts["rewards"][:, :sides],
            terminated=facts["terminated"],
            truncated=facts["truncated"],
            final_scores=facts["final_scores"][:, :sides],
            final_winner=facts["final_winner"],
            final_rounds=facts["final_rounds"],
            final_length=facts["final_length"],
            final_observation=final,
            facts=facts,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied field by field, the small arrays would no longer be views of the facts.
        sides = self.rewards.shape[1]
        return StepArrays.over, (self.observation, self.action_mask, self.facts, sides, self.final_observation)

    def check_like(self, other: StepArrays) -> None:
        """Raise a ValueError unless the arrays have the shapes and dtypes of `other`'s and are laid out in C order."""
        for name in ("observation", "action_mask", "facts", "final_observation"):
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


@kernel
def begin_episode(game: Game, row: Any) -> None:
    """Deal the match row's current episode: the first from its seed itself, later ones from streams of it."""
    deal_episode(game, row)
    row.length = 0


@kernel(inline=True)
def show_mover(
    game: Game,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: Any,
    codes: np.ndarray,
    start: np.ndarray,
    unit: np.ndarray | None,
) -> None:
    """Write observation, mask, seat and side of who is to move."""
    seat = int64(game.turn)
    write_observation(game, seat, observation, codes, start, unit)
    write_mask(game, mask)
    facts.seat = seat
    facts.side = side_of(game, seat)


@kernel(inline=True)
def advance(game: Game, action: int, options: tuple, row: Any, facts: Any, scratch: np.ndarray) -> bool:
    """Take an action and note rewards and flags; returns whether the episode ended (it is not dealt anew yet)."""
    scheme, auto_draws, skip_single, round_episodes, max_rounds = options
    rewards = scratch[4:]
    now = transition(game, action, scheme, auto_draws, skip_single, round_episodes, max_rounds, scratch, rewards)
    row.length += 1
    for side in range(int64(game.num_sides)):
        facts.rewards[side] = rewards[side]
    facts.terminated = now == TERMINATED
    facts.truncated = now == TRUNCATED
    if now == GOES_ON:
        return False
    for side in range(3):
        facts.final_scores[side] = game.scores[side]
    facts.final_winner = winner_of(game, round_episodes)
    facts.final_rounds = game.round_number
    facts.final_length = row.length
    return True


@kernel(inline=True)
def step_row(
    i: int,
    game: Game,
    action: int,
    options: tuple,
    row: Any,
    scratch: np.ndarray,
    codes: np.ndarray,
    start: np.ndarray,
    unit: np.ndarray | None,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: Any,
    final: np.ndarray,
) -> None:
    """One match's step, dealt anew in the same step if the episode ended."""
    if advance(game, action, options, row, facts, scratch):
        if len(final) > 0:
            write_observation(game, int64(game.turn), final[i], codes, start, unit)
        row.episode += 1
        begin_episode(game, row)
    show_mover(game, observation[i], mask[i], facts, codes, start, unit)


@entry
def _find_illegal(games: np.ndarray, actions: np.ndarray, found: np.ndarray) -> int:
    """Number of illegal actions; the first rows that hold one are written to `found`."""
    count = 0
    for i in range(len(games)):
        if not is_legal(games[i], actions[i]):
            if count < len(found):
                found[count] = i
            count += 1
    return count


@entry
def _step(
    games: np.ndarray,
    actions: np.ndarray,
    options: tuple,
    rows: np.ndarray,
    scratch: np.ndarray,
    codes: np.ndarray,
    start: np.ndarray,
    unit: np.ndarray | None,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: np.ndarray,
    final: np.ndarray,
) -> None:
    games, actions, rows, facts = borrowed(games), borrowed(actions), borrowed(rows), borrowed(facts)
    scratch, codes, start, unit = borrowed(scratch), borrowed(codes), borrowed(start), borrowed(unit)
    observation, mask, final = borrowed(observation), borrowed(mask), borrowed(final)
    for i in range(len(games)):
        step_row(
            i,
            games[i],
            actions[i],
            options,
            rows[i],
            scratch[0],
            codes[0],
            start,
            unit,
            observation,
            mask,
            facts[i],
            final,
        )


@entry(parallel=True)
def _step_parallel(
    games: np.ndarray,
    actions: np.ndarray,
    options: tuple,
    rows: np.ndarray,
    scratch: np.ndarray,
    codes: np.ndarray,
    start: np.ndarray,
    unit: np.ndarray | None,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: np.ndarray,
    final: np.ndarray,
) -> None:
    games, actions, rows, facts = borrowed(games), borrowed(actions), borrowed(rows), borrowed(facts)
    scratch, codes, start, unit = borrowed(scratch), borrowed(codes), borrowed(start), borrowed(unit)
    observation, mask, final = borrowed(observation), borrowed(mask), borrowed(final)
    for i in numba.prange(len(games)):
        thread = numba.get_thread_id()
        step_row(
            i,
            games[i],
            actions[i],
            options,
            rows[i],
            scratch[thread],
            codes[thread],
            start,
            unit,
            observation,
            mask,
            facts[i],
            final,
        )


@entry
def _begin(
    games: np.ndarray,
    wanted: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    start: np.ndarray,
    unit: np.ndarray | None,
    observation: np.ndarray,
    mask: np.ndarray,
    facts: np.ndarray,
) -> None:
    for i in range(len(games)):
        if wanted[i]:
            rows[i].episode = 0
            begin_episode(games[i], rows[i])
        for side in range(3):
            facts[i].rewards[side] = 0.0
        facts[i].terminated = False
        facts[i].truncated = False
        show_mover(games[i], observation[i], mask[i], facts[i], codes[0], start, unit)


@entry
def _spread_seeds(seed: int, seeds: np.ndarray) -> None:
    for i in range(len(seeds)):
        seeds[i] = stream(seed, i)


class SelfPlayVectorEnv:
    """N matches; every step takes one action a match, for whoever is to move, and returns for the next to move.

    An episode that ends is dealt anew in the same step (same-step autoreset): rewards and flags are of the step just
    made, observation and mask of the new deal. Arrays are reused: those of a step are overwritten two steps later (two
    sets take turns), unless the caller passes its own as `out=`.

    Args:
        num_matches: 1 to 262,144.
        options: see `EnvOptions`; also `num_players` [N] for a mixed batch (observations are then as long as the
            longest, each row laid out for its own number of players and zero behind).
        dtype: float32, or uint8 for bare codes (`units(num_players)` turns them into the float observation).
        skip_single: with draws="auto", resolve every lone legal action inside as well.
        threads: cores to use; results do not depend on it.
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
        final_observation: bool = False,
        validate: bool = True,
        **options: Any,
    ) -> None:
        check_integer("num_matches", num_matches, 1, MAX_MATCHES)
        check_integer("threads", threads, 1, numba.config.NUMBA_NUM_THREADS)
        players = checked_players(num_players, num_matches)
        kinds = sorted({int(n) for n in players})
        self.options = checked_options({"num_players": kinds[-1], **_unmixed(options, kinds)})
        self.num_matches = num_matches
        self.num_players = players
        sides = {Variant(n).num_sides for n in kinds}
        self.num_sides, self._mixed_sides = max(sides), len(sides) > 1
        self.observation_size = max(observation_size(n) for n in kinds)
        self.dtype, self.threads, self.validate = checked_dtype(dtype), threads, validate
        self._kernel_options = step_options(self.options, skip_single)
        self._with_final = final_observation
        self._start, self._unit = offset_table(), None if self.dtype == np.uint8 else unit_table()
        self._games = np.zeros(num_matches, GAME)
        for n in kinds:
            variant = Variant(n, self.options.hand_size, self.options.target, self.options.max_pip)
            rows = players == n
            self._games[rows] = new_games(int(rows.sum()), variant)
        self._rows = np.zeros(num_matches, ROWS)
        self._scratch = np.zeros((threads, 8))
        self._codes = np.zeros((threads, ROW), np.uint8)
        self._actions = np.zeros(num_matches, np.int64)
        self._found = np.zeros(4, np.int64)
        self._sets = (self.arrays(), self.arrays())
        self._turn = 0
        self._started = False

    def arrays(self) -> StepArrays:
        """A fresh set of arrays for `step(out=...)`.

        To let steps write into a buffer of your own: `dataclasses.replace(env.arrays(), observation=buffer[t])`.
        """
        return StepArrays.empty(self.num_matches, self.observation_size, self.num_sides, self.dtype, self._with_final)

    @property
    def games(self) -> np.ndarray:
        """The records behind the matches, live (dtype `GAME`) [N]."""
        return self._games

    def match(self, i: int) -> Match:
        """A copy of match `i` as a `Match`."""
        return Match.of(self._games[i])

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
        _begin(
            self._games,
            wanted,
            self._rows,
            self._codes,
            self._start,
            self._unit,
            out.observation,
            out.action_mask,
            out.facts,
        )
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
        actions = self._checked_actions(actions)
        out = self._target(out)
        arguments = (
            self._games,
            actions,
            self._kernel_options,
            self._rows,
            self._scratch,
            self._codes,
            self._start,
            self._unit,
            out.observation,
            out.action_mask,
            out.facts,
            out.final_observation,
        )
        if self.threads == 1:
            _step(*arguments)
        else:
            before = numba.get_num_threads()
            numba.set_num_threads(self.threads)
            try:
                _step_parallel(*arguments)
            finally:
                numba.set_num_threads(before)
        return out

    def _checked_actions(self, actions: np.ndarray) -> np.ndarray:
        actions = checked_actions(actions, self._actions)
        if self.validate and (count := _find_illegal(self._games, actions, self._found)):
            raise IllegalActionError(f"{illegal_batch(actions, self._found, count)}; no match was moved")
        return actions


def checked_actions(actions: np.ndarray, scratch: np.ndarray) -> np.ndarray:
    """Actions as int64 [N]: themselves if they are that and in C order, else copied into `scratch`.

    Raises:
        ValueError: if they are not N integers.
    """
    given = np.asarray(actions)
    # Another layout would be another type to numba, and compile everything again.
    if given.dtype == np.int64 and given.shape == scratch.shape and given.flags.carray:
        return given
    if given.dtype.kind not in "ui" or given.shape != scratch.shape:
        raise ValueError(f"actions must be integers [{len(scratch)}], not {given.dtype} {list(given.shape)}")
    scratch[:] = given
    return scratch


def illegal_batch(actions: np.ndarray, found: np.ndarray, count: int) -> str:
    """What to say of `count` illegal actions, the first of them in the rows `found`."""
    named = []
    for i in found[:count]:
        action = int(actions[i])
        text = describe(action) if 0 <= action < NUM_ACTIONS else "no action"
        named.append(f"match {i} action {action} ({text})")
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return f"{count} illegal action{'s' if count > 1 else ''}: {', '.join(named)}{more}"


def checked_dtype(dtype: Any) -> type:
    """float32 or uint8, from whatever NumPy takes for it."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.uint8):
        raise ValueError(f"dtype must be float32 or uint8, not {dtype!r}")
    return np.dtype(dtype).type


def checked_players(num_players: int | Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """Number of players of every match, int64 [count], from one for all or one each.

    Raises:
        ValueError: if it is neither, or there are others than 2, 3 and 4 players.
    """
    players = np.asarray(num_players)
    if players.shape not in ((), (count,)) or players.dtype.kind not in "ui" or not np.isin(players, (2, 3, 4)).all():
        raise ValueError(f"num_players must be 2, 3 or 4, or {count} of them, one per match, not {num_players!r}")
    return np.broadcast_to(players, (count,)).astype(np.int64)


def starting_scores(scores: Any, options: EnvOptions, count: int) -> np.ndarray:
    """Raw starting scores [S] or [N, S] as int16 [N, 4].

    Raises:
        ValueError: if they are not one or N rows of valid scores (see `checked_scores`).
    """
    given, variant = np.asarray(scores), options.variant
    if given.shape not in ((variant.num_sides,), (count, variant.num_sides)):
        raise ValueError(
            f"scores are raw points per side, [{variant.num_sides}] or [{count}, {variant.num_sides}], not {scores!r}"
        )
    for row in np.unique(given, axis=0) if given.ndim == 2 else [given]:
        checked_scores(row.tolist(), variant)
    table = np.zeros((count, 4), np.int16)
    table[:, : variant.num_sides] = given
    return table


def row_seeds(seed: Any, count: int) -> np.ndarray:
    """One seed per match, uint64 [N]: those given, or streams of one for all.

    Raises:
        ValueError: if it is neither N integers from 0 to 2**64 - 1 nor one.
    """
    seeds = np.zeros(count, np.uint64)
    if np.ndim(seed) == 0:
        _spread_seeds(np.uint64(checked_seed(seed)), seeds)
    elif np.shape(seed) == (count,):
        seeds[:] = [checked_seed(one) for one in np.asarray(seed, object)]
    else:
        raise ValueError(f"seed must be one integer or {count}, one per match, not {list(np.shape(seed))} of them")
    return seeds


def step_options(options: EnvOptions, skip_single: bool) -> tuple[int, bool, bool, bool, int]:
    """The options as the kernels of the vector envs want them.

    Raises:
        ValueError: if lone actions are to be skipped but forced draws are not.
    """
    if skip_single and options.draws != "auto":
        raise ValueError('skip_single needs draws="auto"')
    scheme, auto_draws, round_episodes, max_rounds = options.kernel_options
    return scheme, auto_draws, skip_single, round_episodes, max_rounds


def _unmixed(options: dict[str, Any], kinds: list[int]) -> dict[str, Any]:
    """Options that a mixed batch can take: what has a shape per side cannot be given for different numbers of sides."""
    for name in ("observation", "history_length"):
        if name in options and options[name] not in ("flat", 0):
            raise ValueError(f"{name}={options[name]!r} is not available in the vector env; take it from `match(i)`")
    if options.get("starting_scores") is not None and len({Variant(n).num_sides for n in kinds}) > 1:
        raise ValueError("starting_scores cannot be given for a mix of two and three sides")
    return options
