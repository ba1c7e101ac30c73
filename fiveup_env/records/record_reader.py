"""Read records; an error names the line and the rule that it breaks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fiveup_env.records.recorder import TILE_TEXTS, VARIANT_KEYS, VERSION, Line, Recorder, beginning, deal_line
from fiveup_env.rules.actions import DRAW, PASS, Draw, Lay, Lead, Pass, decode
from fiveup_env.rules.match import Event, IllegalActionError, Match
from fiveup_env.rules.tiles import TILES

HEADER_KEYS = ("type", "version", "players", "variant", "seed", "policy_seed", "scores", "given_deal")
MAX_BYTES = 64 * 2**20

# Rule broken by a wrong line, by (type, key); the key "" stands for a line that is missing or out of place.
RULES = {
    ("deal", ""): "R2.1",
    ("deal", "opener"): "R2.3, R2.5",
    ("move", "seat"): "R2.4",
    ("event", ""): "R5.2, R7.4, R8.3",
    ("event", "accepted"): "R6.1",
    ("event", "scores"): "R6.1",
    ("round", ""): "R3.3, R6.2, R7.0",
    ("round", "winner"): "R8.5, D8",
    ("round", "hands"): "D5",
    ("end", ""): "R9.1",
    ("end", "winner"): "R6.2, R9.1",
}


class RecordError(ValueError):
    """A record that cannot be read. The message is one line: place, fault, rule.

    Attributes:
        line: line number, from 1.
        rule: the broken rule, for example `R3.2`; None if the format is wrong.
    """

    def __init__(self, line: int, message: str, rule: str | None = None) -> None:
        super().__init__(f"line {line}: {message}{f' ({rule})' if rule else ''}")
        self.line, self.rule = line, rule


@dataclass(frozen=True)
class Move:
    """One action of a record.

    Attributes:
        round_number: counted from 1.
        seat: seat that acted.
        action: action id.
        events: its scoring events.
        info: thoughts of the player, see `checked_info`; None if there are none.
        line: line number in the file, from 1.
    """

    round_number: int
    seat: int
    action: int
    events: tuple[Event, ...]
    info: dict[str, Any] | None
    line: int


@dataclass(frozen=True)
class Record:
    """A record that was read and replayed.

    Attributes:
        players: name of each seat.
        policy_seed: seed of the players, None if it was not recorded.
        start: the match before the first move.
        moves: all moves in order.
        final: the match after the last move, equal to the recorded one bit for bit.
    """

    players: tuple[str, ...]
    policy_seed: int | None
    start: Match
    moves: tuple[Move, ...]
    final: Match

    def positions(self) -> Iterator[tuple[Move, Match, Match]]:
        """Yield every move with copies of the match before and after it.

        The copy after the last move of a round still shows that round's table; the next round is not dealt.
        """
        match = self.start.copy()
        for move in self.moves:
            before = match.copy()
            after = match.copy()
            after.play(move.action, deal=False)
            match.play(move.action)
            yield move, before, after


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a record from a file; see `parse_record`."""
    with Path(path).open("rb") as file:
        return parse_record(file.read(MAX_BYTES + 1))


def parse_record(text: str | bytes) -> Record:
    """Read a record from text.

    Raises:
        RecordError: if it is not a record or breaks a rule.
    """
    if len(text) > MAX_BYTES:
        raise RecordError(1, f"a record is limited to {MAX_BYTES} bytes")
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return _Reader([_parsed(number, line) for number, line in enumerate(lines, 1)]).read()


def _parsed(number: int, raw: bytes) -> Line:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    def refused(name: str) -> Any:
        raise ValueError(f"{name} is not a number here")

    try:
        line = json.loads(raw.decode("utf-8"), object_pairs_hook=once, parse_constant=refused)
    except RecursionError:
        raise RecordError(number, "not JSON: nested too deeply") from None
    except ValueError as error:
        raise RecordError(number, f"not JSON: {error}") from None
    if not isinstance(line, dict) or not isinstance(line.get("type"), str):
        raise RecordError(number, "not a line of a record: it must be an object with a type")
    return line


class _Reader:
    """Plays the recorded actions with a recorder and compares its lines with the given lines."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.at = 0  # number of lines read

    def read(self) -> Record:
        recorder = self._header()
        start, moves = recorder.match.copy(), []
        for follows in recorder.lines[1:]:  # a first deal by hand
            self._compare(self._next("deal"), follows)
        while True:
            line = self._next("move")
            if recorder.deal_is_due and line["type"] != "end":
                self._compare(line, deal_line(recorder.match))
                line = self._next("move")
            if line["type"] == "end":
                break
            moves.append(self._move(recorder, line))
        self._compare(line, recorder.end_line())
        if self.at < len(self.lines):
            raise RecordError(self.at + 1, "the record continues after its end", "R9.1")
        return Record(recorder.players, self.lines[0]["policy_seed"], start, tuple(moves), recorder.match.copy())

    def _next(self, expected: str) -> Line:
        if self.at == len(self.lines):
            raise RecordError(self.at + 1, f"the record is cut off: a line of type {expected!r} or the end is missing")
        self.at += 1
        return self.lines[self.at - 1]

    def _header(self) -> Recorder:
        if not self.lines or self.lines[0]["type"] != "record":
            raise RecordError(1, "not a record: the first line must be of type 'record'")
        self.at = 1
        line = self.lines[0]
        version = line.get("version")
        if version is not True and isinstance(version, int) and version > VERSION:
            raise RecordError(
                1, f"the record has version {version}: this fiveup-env reads version {VERSION}, not newer ones"
            )
        if version is True or version != VERSION or not isinstance(version, int):
            raise RecordError(1, f"there is no version {version!r} of records: this fiveup-env reads {VERSION}")
        self._keys(line, HEADER_KEYS)
        variant = line["variant"]
        if not isinstance(variant, dict) or sorted(variant) != sorted(VARIANT_KEYS):
            raise RecordError(1, f"variant must have the keys {', '.join(VARIANT_KEYS)}")
        for name, value in (*variant.items(), ("seed", line["seed"])):
            if type(value) is not int:
                raise RecordError(1, f"{name} must be an integer, not {value!r}")
        policy_seed = line["policy_seed"]
        if policy_seed is not None and (type(policy_seed) is not int or not 0 <= policy_seed < 2**64):
            raise RecordError(1, f"policy_seed must be null or an integer from 0 to 2**64 - 1, not {policy_seed!r}")
        if type(line["given_deal"]) is not bool:
            raise RecordError(1, f"given_deal must be true or false, not {line['given_deal']!r}")
        try:
            deal = self._given_deal() if line["given_deal"] else None
            match = beginning(variant, line["seed"], line["scores"], deal)
            recorder = Recorder(match, line["players"], policy_seed=policy_seed)
        except RecordError:
            raise
        except (TypeError, ValueError) as error:
            raise RecordError(2 if line["given_deal"] else 1, str(error), "R1.1, R2.1") from None
        self._same(1, line, recorder.lines[0])
        return recorder

    def _given_deal(self) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int]], int]:
        """Hands, boneyard and opener of the line after the header; the line is read again as the first deal."""
        line = self._next("deal")
        self.at -= 1
        if line["type"] != "deal":
            raise RecordError(2, "the deal that the header announces is missing", "R2.1")
        self._keys(line, ("type", "round", "opener", "hands", "boneyard"), 2)
        if not isinstance(line["hands"], list) or len(line["hands"]) != self.lines[0]["variant"]["num_players"]:
            raise RecordError(2, "hands must be one list of tiles per seat", "R2.1")
        return [_tiles(hand) for hand in line["hands"]], _tiles(line["boneyard"]), line["opener"]

    def _move(self, recorder: Recorder, line: Line) -> Move:
        number, match = self.at, recorder.match
        if line["type"] != "move":
            raise RecordError(number, f"expected a move or the end, not a line of type {line['type']!r}", _rule(line))
        self._keys(line, ("type", "seat", "action", "text"), optional=("info",))
        if match.winner is not None:
            raise RecordError(number, f"the match is over, side {match.winner} has won", "R6.2")
        if line["seat"] != match.turn or type(line["seat"]) is not int:
            raise RecordError(number, f"player_{match.turn} is to act, not seat {line['seat']!r}", "R2.4")
        round_number, written = match.round_number, len(recorder.lines) + recorder.deal_is_due
        try:
            events = recorder.play(line["action"], line.get("info"))
        except IllegalActionError as error:
            raise RecordError(number, str(error), _broken_rule(match, line["action"])) from None
        except (TypeError, ValueError) as error:
            raise RecordError(number, str(error)) from None
        self._same(number, line, recorder.lines[written])
        for follows in recorder.lines[written + 1 :]:
            self._compare(self._next(follows["type"]), follows)
        return Move(round_number, line["seat"], line["action"], events, recorder.lines[written].get("info"), number)

    def _compare(self, line: Line, right: Line) -> None:
        if line["type"] != right["type"]:
            raise RecordError(self.at, f"expected a line of type {right['type']!r}, not {line['type']!r}", _rule(right))
        self._same(self.at, line, right)

    def _same(self, number: int, line: Line, right: Line) -> None:
        self._keys(line, tuple(right), number)
        for key, value in right.items():
            if not _alike(line[key], value):
                shown = json.dumps(line[key])
                shown = shown if len(shown) <= 200 else f"{shown[:200]} ..."
                rule = RULES.get((right["type"], key), RULES.get((right["type"], "")))
                raise RecordError(number, f"{key} must be {json.dumps(value)}, not {shown}", rule)

    def _keys(
        self, line: Line, keys: tuple[str, ...], number: int | None = None, optional: tuple[str, ...] = ()
    ) -> None:
        number = self.at if number is None else number
        for key in keys:
            if key not in line:
                raise RecordError(number, f"a line of type {line['type']!r} needs the key {key!r}")
        for key in line:
            if key not in keys and key not in optional:
                raise RecordError(number, f"a line of type {line['type']!r} has no key {key!r}")


def _alike(given: Any, right: Any) -> bool:
    """Whether two JSON values are equal in value and type: true is not 1, and 1.0 is not 1."""
    if isinstance(right, dict):
        return isinstance(given, dict) and set(given) == set(right) and all(_alike(given[k], right[k]) for k in right)
    if isinstance(right, list):
        return isinstance(given, list) and len(given) == len(right) and all(map(_alike, given, right))
    if isinstance(right, float):  # numbers of an info may be ints
        return type(given) in (int, float) and given == right
    return type(given) is type(right) and given == right


def _rule(line: Line) -> str | None:
    return RULES.get((line["type"], ""))


def _tiles(given: Any) -> list[tuple[int, int]]:
    if not isinstance(given, list) or not all(isinstance(tile, str) and tile in TILE_TEXTS for tile in given):
        raise RecordError(2, f"not a list of tiles such as '1|4': {json.dumps(given)[:200]}", "R1.1")
    return [TILES[TILE_TEXTS.index(tile)] for tile in given]


def _broken_rule(match: Match, action: int) -> str:
    """The rule that forbids an illegal action to the seat to act."""
    named = decode(action)
    if match.winner is not None:
        return "R6.2"
    if isinstance(named, Draw | Pass) or match.legal_actions()[0] in (DRAW, PASS):
        return "R3.2"
    if isinstance(named, Lead) != (not match.layout.tiles):
        return "R2.4"
    if isinstance(named, Lay) and named.onto == "spinner" and named.tile in match.hands[match.turn]:
        return "R3.1, R4.3"
    return "R3.1"
