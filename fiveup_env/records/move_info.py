"""What a player thought of its move: optional, checked like everything else in a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES

KEYS = ("probabilities", "values", "value", "win", "belief", "note")
_TILE_TEXTS = frozenset(f"{low}|{high}" for low, high in TILES)


def checked_info(info: Mapping[str, Any], match: Match) -> dict[str, Any]:
    """What was thought at a move of the seat to act, as plain JSON data.

    | key             | value                                                                                     |
    |-----------------|-------------------------------------------------------------------------------------------|
    | `probabilities` | legal action (an int, or its digits) -> probability of choosing it                        |
    | `values`        | legal action -> what a search thinks it is worth                                          |
    | `value`         | a number: what the position is worth to the seat                                          |
    | `win`           | one number from 0 to 1 per side: its chance to win the match                              |
    | `belief`        | one mapping per seat, tile such as `1|4` -> probability that the seat holds it            |
    | `note`          | text, at most 1000 characters                                                             |

    Raises:
        ValueError: naming the key, what it holds and what would be right.
    """
    if not isinstance(info, Mapping):
        raise ValueError(f"info is a mapping, not {info!r}")
    for key in info:
        if key not in KEYS:
            raise ValueError(f"there is no info {key!r}: {', '.join(KEYS)}")
    legal = match.legal_actions()
    checked: dict[str, Any] = {}
    for key in ("probabilities", "values"):
        if key in info:
            checked[key] = _by_action(key, info[key], legal, unit=key == "probabilities")
    if "value" in info:
        checked["value"] = _number("value", info["value"], unit=False)
    if "win" in info:
        checked["win"] = [_number("win", chance, unit=True) for chance in _listed("win", info["win"], match.num_sides)]
    if "belief" in info:
        checked["belief"] = [_belief(held) for held in _listed("belief", info["belief"], match.num_players)]
    if "note" in info:
        if not isinstance(info["note"], str) or len(info["note"]) > 1000:
            raise ValueError("info note is text of at most 1000 characters")
        checked["note"] = info["note"]
    return checked


def _by_action(key: str, given: Any, legal: list[int], unit: bool) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise ValueError(f"info {key} maps legal actions to numbers, not {given!r}")
    known = {str(action): action for action in legal}
    numbers = {}
    for action, number in given.items():
        if str(action) not in known:
            raise ValueError(f"info {key} names {action!r}, which is no legal action here: {', '.join(known)}")
        numbers[str(action)] = _number(key, number, unit)
    if unit and sum(numbers.values()) > 1.001:
        raise ValueError(f"info {key} add up to {sum(numbers.values()):g}, more than 1")
    return numbers


def _listed(key: str, given: Any, length: int) -> list[Any]:
    if isinstance(given, str | Mapping) or not hasattr(given, "__len__") or len(given) != length:
        raise ValueError(f"info {key} has {length} entries, not {given!r}")
    return list(given)


def _belief(held: Any) -> dict[str, float]:
    if not isinstance(held, Mapping) or not set(held) <= _TILE_TEXTS:
        raise ValueError(f"info belief maps tiles such as '1|4' to probabilities, not {held!r}")
    return {tile: _number("belief", chance, unit=True) for tile, chance in held.items()}


def _number(key: str, given: Any, unit: bool) -> float:
    try:
        number = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or (unit and not -1e-6 <= number <= 1 + 1e-6):
        raise ValueError(f"info {key} holds {given!r}, not a number{' from 0 to 1' if unit else ''}")
    return number
