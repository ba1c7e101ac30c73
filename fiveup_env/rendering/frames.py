"""The pictures of a record, one by one: what whoever makes a page or a film of it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fiveup_env.records.record_reader import Move, Record
from fiveup_env.rendering.geometry import Plan, place
from fiveup_env.rendering.scene import Scene
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View


@dataclass(frozen=True)
class Frame:
    """The table before the first move, or after one.

    Attributes:
        record: whose it is.
        move: the move, None for the first frame.
        match: the position after it; after the last move of a round that round's table still lies there.
        plan: where the tiles lie.
    """

    record: Record
    move: Move | None
    match: Match
    plan: Plan

    def opened(self) -> Scene:
        """With all hands."""
        return Scene.of_match(self.match, names=self.record.players, plan=self.plan)

    def seen_by(self, seat: int | None = None) -> Scene:
        """As a seat sees it, the seat to act by default."""
        return Scene.of_view(View.of(self.match, seat), self.record.players, self.plan)


def frames(record: Record) -> Iterator[Frame]:
    """All frames in order, one more than there are moves."""
    layout = record.start.layout
    plan = place(layout)
    yield Frame(record, None, record.start, plan)
    for move, _, after in record.positions():
        if after.layout != layout:
            layout = after.layout
            plan = place(layout)
        yield Frame(record, move, after, plan)
