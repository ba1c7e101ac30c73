"""`Table`: one match after another between people and agents, for a page that shows it. It knows nothing of the web."""

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
from fiveup_env.rendering.geometry import Plan, place
from fiveup_env.rendering.scene import end_text, event_text
from fiveup_env.rules.actions import describe
from fiveup_env.rules.layout import Layout
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MAX_PLAYERS
from fiveup_env.views.view import View

PERSON = "you"


class TableError(ValueError):
    """What a person asked for cannot be done now; the message is one line for that person, and nothing was changed."""


@dataclass(frozen=True)
class Entry:
    """A line of what everybody saw: who did what in which round, and the scoring events of it."""

    round_number: int
    seat: int | None
    text: str
    events: tuple[str, ...] = ()


class Table:
    """People and agents at one table, for one match after another.

    A round that is settled stays on the table, for all to look at, until a person asks for the next one.

    Args:
        seating: for every seat `you` or the name of an agent.
        seed: of the first match and what its agents draw; later ones follow from it. None draws every one anew.
        practice: whether moves can be taken back.
        adviser: who thinks about hints.
        record: where the record of the match is kept; later matches get the same name with a number.
        start: the first match, at its very beginning; by default one of that seed.

    Attributes:
        sitting: who sits, and the match.
        choices: by number of players the agents that a page may seat: the built-in ones, and those seated at first.
            No others, because a name may stand for a program to run.
        log: what happened in this match, for all to see.
        error: why the agents cannot go on, None if they can.

    Raises:
        AgentError: if an agent cannot be made.
        ValueError: if nobody is seated, or the seed is none.
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
        self._placed: tuple[Layout, Plan] | None = None
        self._sit(tuple(seating), start)
        self.choices = self._choices()

    def _choices(self) -> dict[int, tuple[str, ...]]:
        """See `choices`."""
        found: dict[int, list[str]] = {2: [], 3: [], 4: []}
        found[len(self.seating)] += [name for name in self.seating if name != PERSON]
        for players, names in found.items():
            for name in BUILT_IN:
                with suppress(AgentError):  # made for another number of players, or something is not installed
                    self._agents(name, players)
                    names.append(name)
        return {players: tuple(dict.fromkeys(names)) for players, names in found.items()}

    def _sit(self, seating: tuple[str, ...], start: Match | None = None) -> None:
        if not 2 <= len(seating) <= MAX_PLAYERS:
            raise ValueError(f"two to four players sit at the table, not {len(seating)}")
        if PERSON not in seating:
            raise ValueError(f"nobody would play: one of the players must be {PERSON!r}")
        agents: list[Agent | None] = [None if name == PERSON else self._agents(name, len(seating)) for name in seating]
        seed = self._match_seed()
        self.sitting = Sitting(Match(len(seating), seed) if start is None else start, agents, seed)
        self.seating = seating
        self._settled: Match | None = None
        self._matches += 1
        self.log: list[Entry] = []
        self._marks: list[int] = []  # length of the log before every choice of a person
        self.error: str | None = None

    def _match_seed(self) -> int:
        if self._seed is None:
            return checked_seed(None)
        return self._seed if self._matches == 0 else int(spread_seeds(self._seed, 1, self._matches)[0])

    # what there is

    @property
    def match_number(self) -> int:
        """From 1."""
        return self._matches

    @property
    def people(self) -> tuple[int, ...]:
        """Seats of people."""
        return self.sitting.people

    @property
    def shown(self) -> Match:
        """The match as it lies on the table: the settled round, if there is one to look at."""
        return self.sitting.match if self._settled is None else self._settled

    @property
    def phase(self) -> str:
        """What is waited for: "person" to lay, "agents" (forced moves too), "next" round, "over", or "error"."""
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

    def plan(self) -> Plan:
        """Where the tiles lie."""
        layout = self.shown.layout
        if self._placed is None or self._placed[0] != layout:
            self._placed = layout, place(layout)
        return self._placed[1]

    def spot(self, action: int) -> tuple[Any, str] | None:
        """Tile and port that a placement of the seat to act would be joined to; None for a lead."""
        after = self.sitting.match.copy()
        after.play(action, deal=False)
        joins = after.layout.joins
        return (joins[-1].parent.tile, joins[-1].parent.port) if joins else None

    # what can be done

    def step(self) -> None:
        """One action of an agent, or a forced one; an agent that fails is noted in `error`."""
        if self.phase != "agents":
            return
        before = self.sitting.match.copy()
        try:
            taken = self.sitting.advance()
        except AgentError as error:
            self.error = str(error)
            return
        except Exception as error:  # whatever somebody's agent does: the table must not stand still without a word
            seat = self.sitting.match.turn
            self.error = f"agent {self.seating[seat]} at player_{seat}: {type(error).__name__}: {error}"
            return
        if taken is not None:
            self._note(before, *taken)

    def act(self, seat: int, action: int) -> None:
        """A person's placement.

        Raises:
            TableError: if it is not this person's turn.
            ValueError: if it is no action, or the rules do not allow it (an `IllegalActionError`).
        """
        match = self.sitting.match
        if self.phase != "person" or match.turn != seat:
            raise TableError("it is not your turn")
        before, mark = match.copy(), len(self.log)
        self.sitting.choose(action)
        self._marks.append(mark)
        self._note(before, seat, action)

    def proceed(self) -> None:
        """On to the next round.

        Raises:
            TableError: if there is no settled round on the table.
        """
        if self.phase != "next":
            raise TableError("there is no settled round on the table")
        self._settled = None

    def undo(self) -> None:
        """Take back everything from a person's last placement on.

        Raises:
            TableError: if this is not practice, or there is nothing to take back.
        """
        if not self.practice:
            raise TableError("moves are taken back in practice only: fiveup play --practice")
        if not self.sitting.undo():
            raise TableError("there is nothing to take back")
        del self.log[self._marks.pop() :]
        self._settled = self.error = None

    def new_match(self, seating: Sequence[str] | None = None) -> None:
        """Another match; people keep their number of seats.

        Args:
            seating: who sits where; None for the same as before.

        Raises:
            TableError: if not as many people are seated as before, or an agent is none of the `choices`.
        """
        wanted = self.seating if seating is None else tuple(seating)
        if wanted.count(PERSON) != len(self.people):
            raise TableError(f"as many people as before are to be seated: {len(self.people)}")
        if len(wanted) not in self.choices:
            raise TableError(f"two to four players sit at the table, not {len(wanted)}")
        for name in wanted:
            if name != PERSON and name not in self.choices[len(wanted)]:
                raise TableError(f"{name!r} cannot be seated here; there are {', '.join(self.choices[len(wanted)])}")
        self._sit(wanted)

    def hint(self, seat: int) -> dict[str, Any]:
        """What the adviser thinks of the placements of a person who is to lay, see `Thinker`.

        Raises:
            TableError: if it is not this person's turn, or there is no adviser.
        """
        if self.phase != "person" or self.sitting.match.turn != seat:
            raise TableError("it is not your turn")
        if self.adviser is None:
            raise TableError("there is no adviser")
        view = View.of(self.sitting.match)
        try:
            return self.adviser(view, int(keys_of(view.views, np.zeros(1, np.uint64))[0]))
        except AgentError as error:
            raise TableError(str(error)) from error

    def warm_up(self) -> None:
        """Compile what agents and hints need, so that nobody waits for it at the table."""
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
        """Write the record.

        Raises:
            OSError: if it cannot be written.
        """
        if self.record is not None:
            self.record_file.parent.mkdir(parents=True, exist_ok=True)
            self.sitting.recorder.save(self.record_file)

    @property
    def record_file(self) -> Path:
        """Where the record of this match is kept."""
        assert self.record is not None
        if self._matches == 1:
            return self.record
        return self.record.with_name(f"{self.record.stem}-{self._matches}{self.record.suffix}")

    def _note(self, before: Match, seat: int, action: int) -> None:
        """Write down what happened, and keep a round that it ended on the table."""
        match = self.sitting.match
        told = tuple(event_text(event) for event in match.events)
        self.log.append(Entry(before.round_number, seat, describe(action), told))
        if match.round_number == before.round_number and match.winner is None:
            return
        ended = before.copy()
        ended.play(action, deal=False)
        self.log.append(Entry(before.round_number, None, end_text(ended)))
        if match.winner is None:
            self._settled = ended
