"""What the checks of environments share: finding the mask of legal actions, choosing from it, comparing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from fiveup_env.rules.match import Match
from fiveup_env.testing.conformance_report import Broken
from fiveup_env.testing.same_bits import difference

MOST_STEPS = 20_000
"""Of an episode: matches at random take some hundreds."""


def mask_of(observation: Any, info: Any, where: str) -> np.ndarray:
    """The mask [A] in the observation or the infos; where it is in both, they must agree."""
    shown = observation.get("action_mask") if isinstance(observation, Mapping) else None
    told = info.get("action_mask") if isinstance(info, Mapping) else None
    if shown is None and told is None:
        raise Broken(f"no mask of legal actions {where}: neither observation['action_mask'] nor info['action_mask']")
    if shown is not None and told is not None and not np.array_equal(np.asarray(shown), np.asarray(told)):
        raise Broken(f"two masks {where}: observation['action_mask'] and info['action_mask'] do not agree")
    return np.asarray(told if shown is None else shown)


def chosen(mask: np.ndarray, chance: random.Random, where: str) -> int:
    """A random legal action."""
    legal = np.flatnonzero(mask)
    if not len(legal):
        raise Broken(f"no legal action {where}, and the episode is not over")
    return int(legal[chance.randrange(len(legal))])


def check_mask(mask: np.ndarray, truth: np.ndarray | None, where: str) -> None:
    """No action that the game does not allow; fewer are the wrapper's affair. `truth` None: other actions than ours."""
    if truth is None or mask.shape != truth.shape:
        return
    extra = np.flatnonzero((mask != 0) & (truth == 0))
    if len(extra):
        raise Broken(f"the mask shows actions {extra[:8].tolist()} as legal {where}; the rules do not allow them")


def check_space(space: Any, value: Any, what: str, where: str) -> None:
    """The value is in the space, or an explanation why not."""
    if not space.contains(value):
        raise Broken(f"{what} is not in its space {where}{_reason(space, value)}")


def _reason(space: Any, value: Any) -> str:
    import gymnasium

    if isinstance(space, gymnasium.spaces.Dict) and isinstance(value, Mapping):
        if set(space.spaces) != set(value):
            return f": the space has the keys {sorted(space.spaces)}, the value {sorted(value)}"
        for key, part in space.spaces.items():
            if not part.contains(value[key]):
                return f": {key!r}{_reason(part, value[key])}"
        return ""
    if isinstance(space, gymnasium.spaces.Box):
        if not isinstance(value, np.ndarray):
            return f" is {type(value).__name__}, right is an array"
        if value.dtype != space.dtype or value.shape != space.shape:
            return f" is {value.dtype} {list(value.shape)}, right is {space.dtype} {list(space.shape)}"
        outside = np.argwhere((value < space.low) | (value > space.high) | (value != value))
        at = tuple(int(i) for i in outside[0])
        return f" is {value[at]} at {list(at)}, the bounds are {space.low[at]} to {space.high[at]}"
    return ""


def check_same(left: Any, right: Any, why: str, where: str) -> None:
    """Two things that must be equal to the last bit."""
    found = difference(left, right)
    if found is not None:
        raise Broken(f"{why} {where}: {found}")


def is_that_match(now: Match | None, wanted: Match) -> bool:
    """Whether an environment that was reset to a match stands where that match stands."""
    return now is not None and (now.hands, now.boneyard, now.turn, now.scores, now.history) == (
        wanted.hands,
        wanted.boneyard,
        wanted.turn,
        wanted.scores,
        wanted.history,
    )
