"""`WebTable`: matches between people and agents for a page, and the state that each seat's page shows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, is_policy, keys_of
from fiveup_env.agents.registry import BUILT_IN, make_agent
from fiveup_env.play.session import Sitting
from fiveup_env.play.thoughts import Thinker
from fiveup_env.rendering.geometry import TablePlan, plan_layout
from fiveup_env.rendering.scene import Scene, end_text, event_text
from fiveup_env.rendering.scene_svg import mark_spot, placed_tiles
from fiveup_env.rules.actions import ACTION_TILE, describe
from fiveup_env.rules.layout import Layout
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MAX_PLAYERS, RAW_PER_POINT
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.view import View

PERSON = "you"
SHORTEST = (28, 16)  # least width and height of the picture, in quarters of a tile
LOG = 80  # newest log lines that a page gets


class TableError(ValueError):
    """A person's request is not possible now; the message is one line for that person, and nothing was changed."""


@dataclass(frozen=True)
class LogEntry:
    """A public log line: the round, the seat (None for the end of a round), its action and the scoring events."""

    round_number: int
    seat: int | None
    text: str
    events: tuple[str, ...] = ()


class WebTable:
    """People and agents at one table, for one match after another.

    A settled round stays on the table until a person asks for the next one.

    Args:
        seating: for every seat `you` or the name of an agent.
        seed: seed of the first match and its agents; seeds of later matches follow from it. None draws all seeds.
        practice: whether moves can be taken back.
        adviser: source of hints.
        record: file for the record; later matches add a number to the name.
        start: the first match, before its first move; by default one of that seed.

    Attributes:
        sitting: the players and the match.
        choices: by number of players, the agents that a page may seat: the built-in ones and those seated at first.
            Other names are refused because a name can stand for a program to run.
        log: public log of this match.
        error: reason why the agents cannot continue, None if they can.

    Raises:
        AgentError: if an agent cannot be made.
        ValueError: if no person is seated, or the seed is invalid.

    `act`, `proceed`, `undo`, `new_match` and `hint` raise a TableError if they are not possible now.
    """

    def __init__(
        self,
        seating: Sequence[str],
        seed: int | None = None,
        *,
        practice: bool = False,
        adviser: Thinker | None = None,
        record: str | os.PathLike[str] | None = None,
        start: Match | None = None,
    ) -> None:
        self.practice, self.adviser = practice, adviser
        self.record = None if record is None else Path(record)
        self._seed, self._matches = None if seed is None else checked_seed(seed), 0
        self._agents = cache(make_agent)
        self._placed: tuple[Layout, TablePlan] | None = None
        self._sit(tuple(seating), start)
        self.choices = self._choices()

    def _choices(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, list[str]] = {2: [], 3: [], 4: []}
        found[len(self.seating)] += [name for name in self.seating if name != PERSON]
        for players, names in found.items():
            for name in BUILT_IN:
                with suppress(AgentError):  # made for another number of players, or an extra is missing
                    self._agents(name, players)
                    names.append(name)
        return {players: tuple(dict.fromkeys(names)) for players, names in found.items()}

    def _sit(self, seating: tuple[str, ...], start: Match | None = None) -> None:
        if not 2 <= len(seating) <= MAX_PLAYERS:
            raise ValueError(f"a table has two to four players, not {len(seating)}")
        if PERSON not in seating:
            raise ValueError(f"one of the players must be {PERSON!r}")
        agents: list[Agent | None] = [None if name == PERSON else self._agents(name, len(seating)) for name in seating]
        seed = self._match_seed()
        self.sitting = Sitting(Match(len(seating), seed) if start is None else start, agents, seed)
        self.seating = seating
        self._settled: Match | None = None
        self._matches += 1
        self.log: list[LogEntry] = []
        self._marks: list[int] = []  # length of the log before every choice of a person
        self.error: str | None = None

    def _match_seed(self) -> int:
        if self._seed is None:
            return checked_seed(None)
        return self._seed if self._matches == 0 else int(spread_seeds(self._seed, 1, self._matches)[0])

    @property
    def match_number(self) -> int:
        """Number of the match, from 1."""
        return self._matches

    @property
    def people(self) -> tuple[int, ...]:
        """Seats of people."""
        return self.sitting.people

    @property
    def shown(self) -> Match:
        """The position on the table: the settled round while it stays there."""
        return self.sitting.match if self._settled is None else self._settled

    @property
    def phase(self) -> str:
        """The event the table waits for: "person", "agents" (forced moves too), "next" round, "over" or "error"."""
        if self.error is not None:
            return "error"
        if self.sitting.match.winner is not None:
            return "over"
        if self._settled is not None:
            return "next"
        return "person" if self.sitting.person_acts else "agents"

    @property
    def can_undo(self) -> bool:
        """Whether a person's choice can be taken back now."""
        return self.practice and self.sitting.can_undo

    def plan(self) -> TablePlan:
        """Places of the tiles."""
        layout = self.shown.layout
        if self._placed is None or self._placed[0] != layout:
            self._placed = layout, plan_layout(layout)
        return self._placed[1]

    def spot(self, action: int) -> tuple[Any, str] | None:
        """Tile and port to which a placement of the seat to act would join; None for a lead."""
        after = self.sitting.match.copy()
        after.play(action, deal=False)
        joins = after.layout.joins
        return (joins[-1].parent.tile, joins[-1].parent.port) if joins else None

    def step(self) -> None:
        """Play one action of an agent, or a forced one; the failure of an agent goes to `error`."""
        if self.phase != "agents":
            return
        before = self.sitting.match.copy()
        try:
            taken = self.sitting.advance()
        except AgentError as error:
            self.error = str(error)
            return
        except Exception as error:  # a user's agent may raise anything; the page must say so instead of hanging
            seat = self.sitting.match.turn
            self.error = f"agent {self.seating[seat]} at player_{seat}: {type(error).__name__}: {error}"
            return
        if taken is not None:
            self._note(before, *taken)

    def act(self, seat: int, action: int) -> None:
        """Play a person's placement; a ValueError says that it is illegal."""
        match = self.sitting.match
        self._check_turn(seat)
        before, mark = match.copy(), len(self.log)
        self.sitting.choose(action)
        self._marks.append(mark)
        self._note(before, seat, action)

    def _check_turn(self, seat: int) -> None:
        if self.phase != "person" or self.sitting.match.turn != seat:
            raise TableError("it is not your turn")

    def proceed(self) -> None:
        """Start the next round."""
        if self.phase != "next":
            raise TableError("there is no settled round on the table")
        self._settled = None

    def undo(self) -> None:
        """Take back everything since a person's last placement, that placement included."""
        if not self.practice:
            raise TableError("moves can be taken back in practice only: fiveup play --practice")
        if not self.sitting.undo():
            raise TableError("there is nothing to take back")
        del self.log[self._marks.pop() :]
        self._settled = self.error = None

    def new_match(self, seating: Sequence[str] | None = None) -> None:
        """Start another match with the same number of people and agents of `choices`; None keeps the seating."""
        wanted = self.seating if seating is None else tuple(seating)
        if wanted.count(PERSON) != len(self.people):
            raise TableError(f"the number of people must stay the same: {len(self.people)}")
        if len(wanted) not in self.choices:
            raise TableError(f"a table has two to four players, not {len(wanted)}")
        for name in wanted:
            if name != PERSON and name not in self.choices[len(wanted)]:
                raise TableError(f"{name!r} cannot be seated here; choices: {', '.join(self.choices[len(wanted)])}")
        self._sit(wanted)

    def hint(self, seat: int) -> dict[str, Any]:
        """Return the adviser's thoughts about the placements of the person to act (see `Thinker`)."""
        self._check_turn(seat)
        if self.adviser is None:
            raise TableError("there is no adviser")
        view = View.of(self.sitting.match)
        try:
            return self.adviser(view, int(keys_of(view.views, np.zeros(1, np.uint64))[0]))
        except AgentError as error:
            raise TableError(str(error)) from error

    def warm_up(self) -> None:
        """Compile the kernels of agents and hints before people wait for them."""
        match = Match(len(self.seating), 0)
        while len(match.legal_actions()) == 1:
            match.play(match.legal_actions()[0])
        view = View.of(match)
        for name in self.seating:
            if name != PERSON and is_policy(agent := self._agents(name, len(self.seating))):
                agent.choose(view, 0)
        if self.adviser is not None:
            self.adviser(view, 0)

    def save(self) -> None:
        """Write the record."""
        if self.record is None:
            return
        file = self.record
        if self._matches > 1:
            file = file.with_name(f"{file.stem}-{self._matches}{file.suffix}")
        file.parent.mkdir(parents=True, exist_ok=True)
        self.sitting.recorder.save(file)

    def _note(self, before: Match, seat: int, action: int) -> None:
        """Log an action; if it ended the round, keep that round on the table."""
        match = self.sitting.match
        events = tuple(event_text(event) for event in match.events)
        self.log.append(LogEntry(before.round_number, seat, describe(action), events))
        if match.round_number == before.round_number and match.winner is None:
            return
        ended = before.copy()
        ended.play(action, deal=False)
        self.log.append(LogEntry(before.round_number, None, end_text(ended)))
        if match.winner is None:
            self._settled = ended


def seat_state(table: WebTable, seat: int) -> dict[str, Any]:
    """Return the JSON state of one seat's page, built from its view and the public log alone (R2.2, D6).

    Scores are display points; places are in units of the plan.
    """
    match, phase = table.shown, table.phase
    view = View.of(match, seat)
    scene = Scene.of_view(view, plan=table.plan())
    to_act = phase == "person" and match.turn == seat
    return {
        "match": table.match_number,
        "round": view.round_number,
        "seat": seat,
        "players": [_name(table, other, seat) for other in range(match.num_players)],
        "seating": list(table.seating),
        "sides": match.num_sides,
        "phase": phase,
        "turn": match.turn if phase in ("person", "agents") else None,
        "your_turn": to_act,
        "scores": [score / RAW_PER_POINT for score in view.scores],
        "target": match.variant.target,
        "winner": match.winner,
        "boneyard": view.boneyard_size,
        "hands": [hand if isinstance(hand, int) else [list(tile) for tile in hand] for hand in scene.hands],
        "end_sum": view.layout.end_sum,
        "board": _board(scene),
        "options": [_option(table, action) for action in view.legal_actions()] if to_act else [],
        "log": [
            {"round": entry.round_number, "seat": entry.seat, "text": entry.text, "events": list(entry.events)}
            for entry in table.log[-LOG:]
        ],
        "practice": table.practice,
        "can_undo": table.can_undo,
        "can_hint": to_act and table.adviser is not None,
        "agents": table.choices,
        "error": table.error,
    }


def _name(table: WebTable, other: int, seat: int) -> str:
    name = table.sitting.players[other]
    return name if table.seating[other] != PERSON else "you" if other == seat else f"person at seat {other}"


def _board(scene: Scene) -> dict[str, Any]:
    box = scene.plan.box.grown(3)
    width, height = max(box.width, SHORTEST[0]), max(box.height, SHORTEST[1])
    x, y = (box.x0 + box.x1 - width) / 2, (box.y0 + box.y1 - height) / 2
    return {"view": f"{x:g} {y:g} {width} {height}", "svg": "".join(placed_tiles(scene.layout, scene.plan))}


def _option(table: WebTable, action: int) -> dict[str, Any]:
    """A placement: its tile, and the spot on the board where it would join."""
    option: dict[str, Any] = {"action": action, "text": describe(action), "tile": list(TILES[ACTION_TILE[action]])}
    if (joined := table.spot(action)) is not None:
        x, y = mark_spot(table.plan(), *joined, counted=True)
        option["spot"] = [round(x, 2), round(y, 2)]
    return option
