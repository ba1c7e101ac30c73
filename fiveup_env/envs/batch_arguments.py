"""What vector envs are asked for: actions, seeds, scores and options of a batch, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.rules.actions import NUM_ACTIONS, describe
from fiveup_env.rules.match import checked_scores, checked_seed
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import Variant

MAX_MATCHES = 262_144


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
    if np.ndim(seed) == 0:
        return spread_seeds(checked_seed(seed), count)
    if np.shape(seed) == (count,):
        return np.array([checked_seed(one) for one in np.asarray(seed, object)], np.uint64)
    raise ValueError(f"seed must be one integer or {count}, one per match, not {list(np.shape(seed))} of them")


def step_options(options: EnvOptions, skip_single: bool) -> tuple[int, bool, bool, bool, int]:
    """The options as the kernels of the vector envs want them.

    Raises:
        ValueError: if lone actions are to be skipped but forced draws are not.
    """
    if skip_single and options.draws != "auto":
        raise ValueError('skip_single needs draws="auto"')
    scheme, auto_draws, round_episodes, max_rounds = options.kernel_options
    return scheme, auto_draws, skip_single, round_episodes, max_rounds


def unmixed(options: dict[str, Any], kinds: list[int]) -> dict[str, Any]:
    """Options that a mixed batch can take: what has a shape per side cannot be given for different numbers of sides."""
    for name in ("observation", "history_length"):
        if name in options and options[name] not in ("flat", 0):
            raise ValueError(f"{name}={options[name]!r} is not available in the vector env; take it from `match(i)`")
    if options.get("starting_scores") is not None and len({Variant(n).num_sides for n in kinds}) > 1:
        raise ValueError("starting_scores cannot be given for a mix of two and three sides")
    return options
