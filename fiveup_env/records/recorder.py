"""`Recorder` plays a match and writes down what happens, one JSON object a line.

| `type`   | when                                  | other keys                                                        |
|----------|---------------------------------------|-------------------------------------------------------------------|
| `record` | first line                            | `version`, `players`, `variant`, `seed`, `policy_seed`, `scores`, |
|          |                                       | `given_deal`                                                      |
| `deal`   | before the first move of a round      | `round`, `opener`, `hands`, `boneyard` (in drawing order)         |
| `move`   | every action, draws and passes too    | `seat`, `action`, `text`, and what the player thought, as `info`  |
| `event`  | every scoring event, discarded or not | `kind`, `side`, `net`, `accepted`, `scores` (after it)            |
| `round`  | when a round has ended                | `round`, `end`, `winner`, `hands` (shown at the settlement, D5)   |
| `end`    | last line                             | `winner` (null for a match that was left unfinished), `scores`,   |
|          |                                       | `moves`                                                           |

Scores and nets are raw points per side, tiles are text such as `1|4`, seats and sides count from 0. Every line but
`record` and the actions follows from the rules, so the reader plays the actions anew and compares line by line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fiveup_env.records.move_info import checked_info
from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.tiles import TILES

VERSION = 1
Line = dict[str, Any]


def tile_text(tile: Tile) -> str:
    """A tile as records write it, for example `1|4`."""
    return f"{tile[0]}|{tile[1]}"


TILE_TEXTS = tuple(tile_text(tile) for tile in TILES)


class Recorder:
    """Plays a copy of a match and keeps its record.

    Args:
        match: a match at its very beginning: the first round, nothing played.
        players: a name for every seat; None names them `player_0`, ...
        policy_seed: from which the players drew their random numbers, for whoever wants to repeat the match.

    Raises:
        ValueError: if something was played already, or the names are not one short text for every seat.

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
        if self.lines[0]["given_deal"]:  # it belongs to the beginning, as a seed does
            self._deals = 1
            self.lines.append(deal_line(self.match))

    def play(self, action: int, info: Mapping[str, Any] | None = None) -> tuple[Event, ...]:
        """Take an action and write down what comes of it; returns its scoring events.

        Args:
            action: as for `Match.play`.
            info: what the player thought of it, see `checked_info`.

        Raises:
            ValueError: if the action is illegal or the info no such thing. Nothing is changed then.
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
            self.lines.append(
                {
                    "type": "event",
                    "kind": event.kind,
                    "side": event.side,
                    "net": event.net,
                    "accepted": event.accepted,
                    "scores": scores.copy(),
                }
            )
        if match.round_number != round_number or match.winner is not None:
            self.lines.append(_round_line(match, round_number))
        return events

    @property
    def deal_is_due(self) -> bool:
        """Whether the next line is a deal."""
        return self.match.round_number > self._deals

    def end_line(self) -> Line:
        """The last line of the record, if it ended here."""
        match = self.match
        return {"type": "end", "winner": match.winner, "scores": list(match.scores), "moves": self.moves}

    def text(self) -> str:
        """The record so far, closed by its last line."""
        return "".join(json.dumps(line) + "\n" for line in [*self.lines, self.end_line()])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file, which then is the old one or the new one, never a half of it."""
        target = Path(path)
        draft = target.with_name(f"{target.name}.part")
        draft.write_text(self.text(), encoding="ascii", newline="\n")
        os.replace(draft, target)


def checked_players(players: Sequence[str] | None, num_players: int) -> tuple[str, ...]:
    """A name for every seat.

    Raises:
        ValueError: if they are not that.
    """
    if players is None:
        return tuple(f"player_{seat}" for seat in range(num_players))
    names: Sequence[object] = players
    if (
        isinstance(players, str)
        or len(names) != num_players
        or not all(isinstance(name, str) and 0 < len(name) <= 200 for name in names)
    ):
        raise ValueError(f"players are {num_players} names of 1 to 200 characters, not {players!r}")
    return tuple(players)


def beginning(
    variant: Mapping[str, int], seed: int, scores: Sequence[int], deal: tuple[Any, Any, Any] | None = None
) -> Match:
    """The match that a record starts from; `deal` is hands, boneyard and opener of a first round dealt by hand.

    Raises:
        ValueError: if there is no such match.
    """
    if deal is None:
        return Match(seed=seed, scores=scores, **variant)
    hands, boneyard, opener = deal
    rest = {name: value for name, value in variant.items() if name != "num_players"}
    return Match.from_deal(hands, boneyard, opener, scores, seed=seed, **rest)


def _header(match: Match, players: tuple[str, ...], policy_seed: int | None) -> Line:
    variant = {name: getattr(match.variant, name) for name in ("num_players", "hand_size", "target", "max_pip")}
    for deal in (None, (match.hands, match.boneyard, match.opener)):
        try:
            if beginning(variant, match.seed, match.scores, deal) == match:
                break
        except ValueError:
            pass
    else:
        raise ValueError(f"a record starts where a match does: in round 1, with nothing played; not at {match!r}")
    return {
        "type": "record",
        "version": VERSION,
        "players": list(players),
        "variant": variant,
        "seed": match.seed,
        "policy_seed": policy_seed,
        "scores": list(match.scores),
        "given_deal": deal is not None,
    }


def deal_line(match: Match) -> Line:
    """The deal of a round of which nothing is played yet."""
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
    hands = last["hands"]
    return {
        "type": "round",
        "round": round_number,
        "end": last["end"],
        "winner": last["winner"],
        "hands": None if hands is None else [[tile_text(tile) for tile in hand] for hand in hands],
    }
