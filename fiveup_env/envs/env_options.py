"""Options and arguments of the environments, checked, and the spaces that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from gymnasium import spaces

from fiveup_env.belief.belief_section import BELIEF_WRITERS, BeliefWriter, belief_shape, belief_writer
from fiveup_env.envs.transition import STEP_OPTIONS, find_illegal, write_seen_history
from fiveup_env.rules.actions import NUM_ACTIONS, describe
from fiveup_env.rules.match import Match, checked_scores, checked_seed
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import PLAYING, Variant
from fiveup_env.views.history import HISTORY_COLUMNS
from fiveup_env.views.observation import sections, split, state_size, state_units, upper_bounds
from fiveup_env.views.rewards import REWARDS, reward_index

EPISODES = ("match", "round")
OBSERVATIONS = ("flat", "dict")
DRAWS = ("explicit", "auto")
BELIEFS = ("none", *BELIEF_WRITERS)
DEAL_KEYS = ("hands", "boneyard", "opener")
MAX_MATCHES = 262_144


@dataclass(frozen=True)
class EnvOptions:
    """Options that all environments share.

    Attributes:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        episode: "match" (to exactly 61, R6.2) or "round" (one deal; winning the match also ends it).
        reward: "win", "points" or "equity" (see `fiveup_env.views.rewards`).
        observation: "flat" (one vector) or "dict" (named sections).
        draws: "explicit" (forced draws and passes are actions) or "auto" (taken by the environment).
        max_rounds: truncate the episode after this many rounds without a winner; None for no limit.
        starting_scores: raw points per side at the start, None for zero.
        history_length: if positive, observations include the latest public events of the round (see `write_history`).
        belief: "none"; "exact": observations include the exact marginals `belief` (see `beliefs_of`), about 2, 4 and
            18 µs per step with 2, 3 and 4 players; "likely": approximate marginals that weigh the choices of the other
            seats (see `approximation`), about 2 to 3 µs. A step of `SelfPlayVectorEnv` without takes 0.2 µs.
        hand_size, target, max_pip: a small variant; the defaults are the real game.

    Raises:
        ValueError: naming the option, the value given and the allowed values.
    """

    num_players: int = 4
    episode: str = "match"
    reward: str = "win"
    observation: str = "flat"
    draws: str = "explicit"
    max_rounds: int | None = None
    starting_scores: Sequence[int] | None = None
    history_length: int = 0
    belief: str = "none"
    hand_size: int = 5
    target: int = 61
    max_pip: int = 6

    def __post_init__(self) -> None:
        checked_scores(self.starting_scores, self.variant)
        for name, choices in (
            ("episode", EPISODES),
            ("reward", REWARDS),
            ("observation", OBSERVATIONS),
            ("draws", DRAWS),
            ("belief", BELIEFS),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
        if self.max_rounds is not None:
            check_integer("max_rounds", self.max_rounds, 1, 2**31 - 1)
        check_integer("history_length", self.history_length, 0, 1000)

    @property
    def variant(self) -> Variant:
        """Players, hand size, target and set."""
        return Variant(self.num_players, self.hand_size, self.target, self.max_pip)

    @property
    def scores(self) -> tuple[int, ...]:
        """Raw points per side at the start."""
        return checked_scores(self.starting_scores, self.variant)

    def marginals(self, threads: int = 1) -> BeliefWriter | None:
        """Writer of the section `belief`, None if observations have none."""
        return None if self.belief == "none" else belief_writer(self.belief, threads)

    def step_options(self, *, skip_single: bool = False, logged_draws: bool = False) -> np.ndarray:
        """Options for kernels, an array [1] of dtype `STEP_OPTIONS`.

        Args:
            skip_single: with draws="auto", also take lone placements.
            logged_draws: take automatic draws and passes one by one, so that each is logged.

        Raises:
            ValueError: if lone placements are to be skipped but forced draws are not.
        """
        auto_draws = self.draws == "auto"
        if skip_single and not auto_draws:
            raise ValueError('skip_single needs draws="auto"')
        options = np.zeros(1, STEP_OPTIONS)
        options["scheme"] = reward_index(self.reward)
        options["auto_draws"] = auto_draws and not logged_draws
        options["logged_draws"] = auto_draws and logged_draws
        options["skip_single"] = skip_single
        options["round_episodes"] = self.episode == "round"
        options["max_rounds"] = self.max_rounds or 0
        return options


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError that names the option unless `value` is an integer in these bounds."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def checked_options(given: Mapping[str, Any]) -> EnvOptions:
    """Options of an environment.

    Raises:
        TypeError: naming an unknown option, and the known ones.
        ValueError: see `EnvOptions`.
    """
    known = [field.name for field in fields(EnvOptions)]
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: the options are {', '.join(known)}")
    return EnvOptions(**given)


# ---------------------------------------------------------------------------- spaces


def action_space() -> spaces.Discrete:
    """The 121 actions."""
    return spaces.Discrete(NUM_ACTIONS)


def observation_space(options: EnvOptions, dtype: type = np.float32) -> spaces.Dict:
    """Observation of one seat, in float32 or, for bare codes, uint8.

    Keys: `observation` (vector [F], or Dict of named sections), `action_mask` int8 [121], with a history `history`
    int16 [L, 3] and `history_mask` int8 [L], and with belief="exact" or "likely" `belief` float32 [n, 28].
    """
    n = options.num_players
    if options.observation == "dict":
        highs = split(upper_bounds(n), n)
        content: dict[str, spaces.Space] = {
            "observation": spaces.Dict({section.name: _up_to(highs[section.name]) for section in sections(n)})
        }
    else:
        content = {"observation": _up_to(upper_bounds(n, dtype == np.uint8), dtype)}
    content["action_mask"] = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
    if length := options.history_length:
        content["history"] = spaces.Box(-1, np.iinfo(np.int16).max, (length, 3), np.int16)
        content["history_mask"] = spaces.Box(0, 1, (length,), np.int8)
    if options.belief != "none":
        content["belief"] = spaces.Box(0, 1, belief_shape(n), np.float32)
    return spaces.Dict(content)


def _up_to(high: np.ndarray, dtype: type = np.float32) -> spaces.Space:
    return spaces.Box(np.zeros_like(high), high, dtype=dtype)


def state_space(num_players: int) -> spaces.Box:
    """Global state vector with all hands, float32 [28 * (n + 1) + F] (see `write_state`)."""
    high = state_units(num_players)
    high[28 * num_players : 28 * (num_players + 1)] *= 28
    high[28 * (num_players + 1) :] = upper_bounds(num_players)
    return spaces.Box(np.zeros(state_size(num_players), np.float32), high, dtype=np.float32)


def full_observation(
    record: np.ndarray,
    seat: int,
    vector: np.ndarray,
    mask: np.ndarray,
    options: EnvOptions,
    marginals: BeliefWriter | None,
) -> dict[str, Any]:
    """Observation of a seat by the options, from its vector and mask; `record` [1] holds the match in `game`."""
    seen: dict[str, Any] = {
        "observation": split(vector, options.num_players) if options.observation == "dict" else vector,
        "action_mask": mask,
    }
    if length := options.history_length:
        seen["history"] = np.zeros((length, HISTORY_COLUMNS), np.int16)
        seen["history_mask"] = np.zeros(length, np.int8)
        write_seen_history(record, seat, seen["history"], seen["history_mask"])
    if marginals is not None:
        seen["belief"] = marginals.seen_by(record["game"], seat)
    return seen


# ---------------------------------------------------------------------------- resets


def checked_reset_options(given: Mapping[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """The reset options that are not None.

    Raises:
        ValueError: naming an unknown option, and the known ones.
    """
    for name in given or {}:
        if name not in known:
            raise ValueError(f"there is no reset option {name!r}: {', '.join(map(repr, known))}")
    return {name: value for name, value in (given or {}).items() if value is not None}


def next_episode(seed: int | None, last_seed: int | None, last_episode: int) -> tuple[int, int]:
    """Seed of the stream of episodes, and the number of the next one in it; both go into `row.seed`, `row.episode`."""
    if seed is None and last_seed is not None:
        return last_seed, last_episode + 1
    return checked_seed(seed), 0


def _deal_seed(seed: int, episode: int) -> int:
    """Seed of the deals of an episode, as in `deal_episode`."""
    return int(spread_seeds(seed, 1, episode)[0]) if episode else seed


def first_match(options: EnvOptions, seed: int, episode: int, scores: Sequence[int]) -> Match:
    """Match at the start of an episode, as `deal_episode` deals it; `scores` are raw points per side."""
    variant = options.variant
    return Match(
        variant.num_players,
        _deal_seed(seed, episode),
        scores=scores,
        hand_size=variant.hand_size,
        target=variant.target,
        max_pip=variant.max_pip,
    )


def wanted_start(
    options: EnvOptions, given: Mapping[str, Any], seed: int, episode: int
) -> tuple[Match | None, tuple[int, ...]]:
    """Match and raw scores that the reset options `deal` and `scores` ask for.

    Args:
        options: of the environment.
        given: reset options. `deal` is a mapping with `hands`, `boneyard` and `opener` (see `Match.from_deal`; later
            rounds are dealt from the episode's seed), a seed as in `Match(seed=...)`, or a `Match` under way (it is
            copied). `scores` are raw points per side instead of the option `starting_scores`.
        seed, episode: of the episode.

    Returns:
        A new match, or None for the episode's own deal; and the starting scores.

    Raises:
        ValueError: if an argument is wrong.
    """
    scores = checked_scores(given["scores"], options.variant) if "scores" in given else options.scores
    if "deal" not in given:
        return None, scores
    deal, variant = given["deal"], options.variant
    if isinstance(deal, Mapping):
        return _match_from(deal, variant, scores, _deal_seed(seed, episode)), scores
    if not isinstance(deal, Match):
        return first_match(options, checked_seed(deal), 0, scores), scores
    if deal.variant != variant:
        raise ValueError(f"the deal is a match of {deal.variant}, this env plays {variant}")
    if deal.game.phase != PLAYING:
        raise ValueError("the deal is a match that is over")
    match = deal.copy()
    if "scores" in given:
        match.game["scores"][: len(scores)] = scores
    return match, scores


def _match_from(deal: Mapping[str, Any], variant: Variant, scores: Sequence[int], seed: int) -> Match:
    if set(deal) != set(DEAL_KEYS):
        raise ValueError(f"a deal has the keys {', '.join(DEAL_KEYS)}, not {', '.join(map(str, deal))}")
    if len(deal["hands"]) != variant.num_players:
        raise ValueError(f"a deal needs {variant.num_players} hands, not {len(deal['hands'])}")
    return Match.from_deal(
        **deal, scores=scores, seed=seed, hand_size=variant.hand_size, target=variant.target, max_pip=variant.max_pip
    )


def restored_record(data: bytes, dtype: np.dtype) -> np.ndarray:
    """Record [1] of a pickled environment, from its bytes.

    Raises:
        ValueError: if the pickle is of a version with another record.
    """
    if len(data) != dtype.itemsize:
        raise ValueError(f"this pickle of an environment holds {len(data)} bytes, this version needs {dtype.itemsize}")
    return np.frombuffer(data, dtype).copy()


# ---------------------------------------------------------------------------- vector environments


class MatchBatch:
    """Base class of the vector environments: the records of N matches, and checks of arguments about them."""

    options: EnvOptions

    def _hold(self, games: np.ndarray, rows: np.ndarray) -> None:
        """Keep the matches (dtype `GAME`) and their state across episodes, both [N]."""
        self._games, self._rows = games, rows
        self._all = np.arange(len(games))
        self._actions = np.zeros(len(games), np.int64)
        self._found = np.zeros(4, np.int64)
        self._started = False

    @property
    def games(self) -> np.ndarray:
        """Live records of the matches, dtype `GAME` [N] (not for learners: they hold hidden tiles)."""
        return self._games

    def state(self) -> dict[str, np.ndarray]:
        """Everything later steps depend on, except agents, as bytes uint8 [N, ...]: `games` and `rows`."""
        arrays = {"games": self._games, "rows": self._rows}
        return {name: array.view(np.uint8).reshape(len(array), -1).copy() for name, array in arrays.items()}

    def _restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over a `state`; ValueError if it has another number of matches or is of another version."""
        arrays = {"games": self._games, "rows": self._rows}
        for name, array in arrays.items():
            shape = (len(array), array.itemsize)
            if name not in state or state[name].dtype != np.uint8 or state[name].shape != shape:
                raise ValueError(f"the state of this env has {name!r}, uint8 {list(shape)}")
        for name, array in arrays.items():
            array.view(np.uint8).reshape(len(array), -1)[:] = state[name]
        self._started = True

    def _checked_actions(self, actions: np.ndarray) -> np.ndarray:
        """Actions as int64 [N]: unchanged if they are that in C order, else copied."""
        if not self._started:
            raise ValueError("call reset() before step()")
        given, scratch = np.asarray(actions), self._actions
        # numba would compile everything again for another layout.
        if given.dtype == np.int64 and given.shape == scratch.shape and given.flags.carray:
            return given
        if given.dtype.kind not in "ui" or given.shape != scratch.shape:
            raise ValueError(f"actions must be integers [{len(scratch)}], not {given.dtype} {list(given.shape)}")
        scratch[:] = given
        return scratch

    def _illegal(self, which: np.ndarray, actions: np.ndarray) -> str:
        """Text that names the first illegal actions in the rows `which`; empty if there are none."""
        count = find_illegal(self._games, which, actions, self._found)
        if not count:
            return ""
        named = []
        for i in self._found[:count]:
            action = int(actions[i])
            text = describe(action) if 0 <= action < NUM_ACTIONS else "no action"
            named.append(f"match {i} action {action} ({text})")
        more = f" and {count - len(named)} more" if count > len(named) else ""
        return f"{count} illegal action{'s' if count > 1 else ''}: {', '.join(named)}{more}"

    def _checked_rows(self, name: str, rows: Any) -> np.ndarray:
        """Mask of rows, bool [N]; all of them for None."""
        mask = np.ones(len(self._games), np.bool_) if rows is None else np.array(rows)
        if mask.shape != (len(self._games),) or mask.dtype != np.bool_:
            raise ValueError(f"{name} must be a bool array [{len(self._games)}]")
        return mask

    def _checked_reset_mask(self, reset_mask: Any) -> np.ndarray:
        mask = self._checked_rows("reset_mask", reset_mask)
        if not self._started and not mask.all():
            raise ValueError("the first reset must deal all matches")
        return mask

    def _checked_scores(self, scores: Any) -> np.ndarray:
        """Raw starting scores, [S] or [N, S], as int16 [N, 4]; the option `starting_scores` for None."""
        count, sides = len(self._games), self.options.variant.num_sides
        given = np.asarray(self.options.scores if scores is None else scores)
        if given.shape not in ((sides,), (count, sides)):
            raise ValueError(f"scores are raw points per side, [{sides}] or [{count}, {sides}], not {scores!r}")
        for row in np.unique(given, axis=0) if given.ndim == 2 else [given]:
            checked_scores(row.tolist(), self.options.variant)
        table = np.zeros((count, 4), np.int16)
        table[:, :sides] = given
        return table

    def _checked_seeds(self, seed: Any) -> np.ndarray:
        """One seed per match, uint64 [N]: those given, or streams of one seed for all; None draws one."""
        count = len(self._games)
        if np.ndim(seed) == 0:
            return spread_seeds(checked_seed(seed), count)
        if np.shape(seed) == (count,):
            return np.array([checked_seed(one) for one in np.asarray(seed, object)], np.uint64)
        raise ValueError(f"seed must be one integer or {count}, one per match, not {list(np.shape(seed))} of them")


def checked_dtype(dtype: Any) -> type:
    """float32 or uint8, from anything that NumPy takes for a dtype."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.uint8):
        raise ValueError(f"dtype must be float32 or uint8, not {dtype!r}")
    return np.dtype(dtype).type
