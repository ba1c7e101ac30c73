"""`Recorder` plays a match and writes its record, one JSON object per line.

| `type`   | written                               | other keys                                                        |
|----------|---------------------------------------|-------------------------------------------------------------------|
| `record` | first line                            | `version`, `players`, `variant`, `seed`, `policy_seed`, `scores`, |
|          |                                       | `given_deal`                                                      |
| `deal`   | before the first move of a round      | `round`, `opener`, `hands`, `boneyard` (in drawing order)         |
| `move`   | every action, also draws and passes   | `seat`, `action`, `text`, and optional thoughts of the player as  |
|          |                                       | `info`                                                            |
| `event`  | every scoring event, also discarded   | `kind`, `side`, `net`, `accepted`, `scores` (after it)            |
| `round`  | end of a round                        | `round`, `end`, `winner`, `hands` (shown at the settlement, D5)   |
| `end`    | last line                             | `winner` (null for an unfinished match), `scores`, `moves`        |

Scores and nets are raw points per side, tiles are text such as `1|4`, seats and sides count from 0. All lines except
`record` and the actions follow from the rules. The reader plays the actions and compares every line.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.tiles import TILES

VERSION = 1
VARIANT_KEYS = ("num_players", "hand_size", "target", "max_pip")
INFO_KEYS = ("probabilities", "values", "value", "win", "belief", "note")
Line = dict[str, Any]


def tile_text(tile: Tile) -> str:
    """A tile in the notation of records, for example `1|4`."""
    return f"{tile[0]}|{tile[1]}"


TILE_TEXTS = tuple(tile_text(tile) for tile in TILES)


class Recorder:
    """Plays a copy of a match and writes its record.

    Args:
        match: a match before its first move.
        players: name of each seat, 1 to 200 characters; None means `player_0`, ...
        policy_seed: seed of the players' random numbers, kept to repeat the match.

    Attributes:
        match: the current position.
        lines: the record so far, without its last line.

    Raises:
        ValueError: if a move was played already, or the names are invalid.

    >>> recorder = Recorder(Match(num_players=2, seed=0), ["greedy", "random"])
    >>> events = recorder.play(recorder.match.legal_actions()[0])
    >>> text = recorder.text()
    """

    def __init__(self, match: Match, players: Sequence[str] | None = None, *, policy_seed: int | None = None) -> None:
        self.match = match.copy()
        self.players = checked_players(players, match.num_players)
        self.moves = 0
        self.lines: list[Line] = [_header(self.match, self.players, policy_seed)]
        self._deals = 0
        if self.lines[0]["given_deal"]:  # a deal by hand is part of the start, like a seed
            self._deals = 1
            self.lines.append(deal_line(self.match))

    def play(self, action: int, info: Mapping[str, Any] | None = None) -> tuple[Event, ...]:
        """Play and record an action; return its scoring events.

        Args:
            action: see `Match.play`.
            info: thoughts of the player, see `checked_info`.

        Raises:
            ValueError: if the action is illegal or the info invalid; nothing is changed then.
        """
        match = self.match
        seat, round_number, scores = match.turn, match.round_number, list(match.scores)
        move: Line = {"type": "move", "seat": seat, "action": int(action), "text": ""}
        if info is not None:
            move["info"] = checked_info(info, match)
        deal = deal_line(match) if self.deal_is_due else None
        events = match.play(action)
        move["text"] = describe(action)
        if deal is not None:
            self._deals += 1
            self.lines.append(deal)
        self.lines.append(move)
        self.moves += 1
        for event in events:
            if event.accepted:
                scores[event.side] += event.net
            line = {"type": "event", "kind": event.kind, "side": event.side, "net": event.net}
            self.lines.append(line | {"accepted": event.accepted, "scores": scores.copy()})
        if match.round_number != round_number or match.winner is not None:
            self.lines.append(_round_line(match, round_number))
        return events

    @property
    def deal_is_due(self) -> bool:
        """Whether the next line is a deal."""
        return self.match.round_number > self._deals

    def end_line(self) -> Line:
        """The last line of a record that ends here."""
        match = self.match
        return {"type": "end", "winner": match.winner, "scores": list(match.scores), "moves": self.moves}

    def text(self) -> str:
        """The record so far, with a last line."""
        return "".join(json.dumps(line) + "\n" for line in [*self.lines, self.end_line()])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file, which is replaced as a whole."""
        target = Path(path)
        draft = target.with_name(f"{target.name}.part")
        draft.write_text(self.text(), encoding="ascii", newline="\n")
        os.replace(draft, target)


def checked_players(players: Sequence[str] | None, num_players: int) -> tuple[str, ...]:
    """Name of each seat; None means `player_0`, ...

    Raises:
        ValueError: if there is not one name of 1 to 200 characters per seat.
    """
    if players is None:
        return tuple(f"player_{seat}" for seat in range(num_players))
    names: Sequence[object] = players
    if (
        isinstance(players, str)
        or len(names) != num_players
        or not all(isinstance(name, str) and 0 < len(name) <= 200 for name in names)
    ):
        raise ValueError(f"players must be {num_players} names of 1 to 200 characters, not {players!r}")
    return tuple(players)


def beginning(
    variant: Mapping[str, int], seed: int, scores: Sequence[int], deal: tuple[Any, Any, Any] | None = None
) -> Match:
    """Match at the start of a record; `deal` is hands, boneyard and opener of a first round dealt by hand.

    Raises:
        ValueError: if the arguments are invalid.
    """
    if deal is None:
        return Match(seed=seed, scores=scores, **variant)
    hands, boneyard, opener = deal
    rest = {name: value for name, value in variant.items() if name != "num_players"}
    return Match.from_deal(hands, boneyard, opener, scores, seed=seed, **rest)


def _header(match: Match, players: tuple[str, ...], policy_seed: int | None) -> Line:
    variant = {name: getattr(match.variant, name) for name in VARIANT_KEYS}
    for deal in (None, (match.hands, match.boneyard, match.opener)):
        try:
            if beginning(variant, match.seed, match.scores, deal) == match:
                break
        except ValueError:
            pass
    else:
        raise ValueError(f"a record starts in round 1 before the first move, not at {match!r}")
    header = {"type": "record", "version": VERSION, "players": list(players), "variant": variant, "seed": match.seed}
    return header | {"policy_seed": policy_seed, "scores": list(match.scores), "given_deal": deal is not None}


def deal_line(match: Match) -> Line:
    """The deal line of a round before its first move."""
    return {
        "type": "deal",
        "round": match.round_number,
        "opener": match.opener,
        "hands": [[tile_text(tile) for tile in hand] for hand in match.hands],
        "boneyard": [tile_text(tile) for tile in match.boneyard],
    }


def _round_line(match: Match, round_number: int) -> Line:
    last = match.last_round
    assert last is not None
    hands = None if last["hands"] is None else [[tile_text(tile) for tile in hand] for hand in last["hands"]]
    return {"type": "round", "round": round_number, "end": last["end"], "winner": last["winner"], "hands": hands}


# thoughts of a player


def checked_info(info: Mapping[str, Any], match: Match) -> dict[str, Any]:
    """Check the thoughts of the seat to act about its move; return them as plain JSON data.

    | key             | value                                                                                     |
    |-----------------|-------------------------------------------------------------------------------------------|
    | `probabilities` | legal action (an int, or its digits) -> probability of choosing it                        |
    | `values`        | legal action -> value found by a search                                                   |
    | `value`         | a number: value of the position to the seat                                               |
    | `win`           | one number from 0 to 1 per side: its chance to win the match                              |
    | `belief`        | one mapping per seat, tile such as `1|4` -> probability that the seat holds it            |
    | `note`          | text, at most 1000 characters                                                             |

    Raises:
        ValueError: names the key, its content and the expected content.
    """
    if not isinstance(info, Mapping):
        raise ValueError(f"info must be a mapping, not {info!r}")
    for key in info:
        if key not in INFO_KEYS:
            raise ValueError(f"there is no info {key!r}; keys: {', '.join(INFO_KEYS)}")
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
            raise ValueError("info note must be text of at most 1000 characters")
        checked["note"] = info["note"]
    return checked


def _by_action(key: str, given: Any, legal: list[int], unit: bool) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise ValueError(f"info {key} must map legal actions to numbers, not {given!r}")
    known = {str(action): action for action in legal}
    numbers = {}
    for action, number in given.items():
        if str(action) not in known:
            raise ValueError(f"info {key} names {action!r}, not a legal action here; legal: {', '.join(known)}")
        numbers[str(action)] = _number(key, number, unit)
    if unit and sum(numbers.values()) > 1.001:
        raise ValueError(f"info {key} add up to {sum(numbers.values()):g}, more than 1")
    return numbers


def _listed(key: str, given: Any, length: int) -> list[Any]:
    if isinstance(given, str | Mapping) or not hasattr(given, "__len__") or len(given) != length:
        raise ValueError(f"info {key} must have {length} entries, not {given!r}")
    return list(given)


def _belief(held: Any) -> dict[str, float]:
    if not isinstance(held, Mapping) or not set(held) <= set(TILE_TEXTS):
        raise ValueError(f"info belief must map tiles such as '1|4' to probabilities, not {held!r}")
    return {tile: _number("belief", chance, unit=True) for tile, chance in held.items()}


def _number(key: str, given: Any, unit: bool) -> float:
    try:
        number = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or (unit and not -1e-6 <= number <= 1 + 1e-6):
        raise ValueError(f"info {key} holds {given!r}, not a number{' from 0 to 1' if unit else ''}")
    return number
