"""Scene description for renderers, built from a seat's view or from a full match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fiveup_env.rendering.geometry import TablePlan, plan_layout
from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.layout import FreePlace, Layout
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT
from fiveup_env.views.view import View


@dataclass(frozen=True)
class Scene:
    """Everything a picture shows.

    Attributes:
        layout, plan: the placed tiles, and their places on the plane.
        names: names of the seats.
        hands: per seat its tiles, or the number of tiles where they are hidden (R2.2, D6).
        seat: the seat whose hand is drawn large.
        turn: seat to act, None if the round is over.
        scores, target: raw points, per side.
        boneyard: number of tiles left to draw.
        round_number: counted from 1.
        news: the last action and its scoring events, or the result of the round or match.
    """

    layout: Layout
    plan: TablePlan
    names: tuple[str, ...]
    hands: tuple[tuple[Tile, ...] | int, ...]
    seat: int
    turn: int | None
    scores: tuple[int, ...]
    target: int
    boneyard: int
    round_number: int
    news: tuple[str, ...]

    @classmethod
    def of_view(cls, view: View, names: Sequence[str] | None = None, plan: TablePlan | None = None) -> Scene:
        """Scene as one seat sees it; all hands after a settlement that ends the match (D5)."""
        return _scene(Match.of(view.game), view.seat, [view.seat], names, plan)

    @classmethod
    def of_match(
        cls, match: Match, seat: int | None = None, names: Sequence[str] | None = None, plan: TablePlan | None = None
    ) -> Scene:
        """Scene with all hands; the hand of `seat` (default: the seat to act) is drawn large."""
        return _scene(match, match.turn if seat is None else seat, range(match.num_players), names, plan)

    @property
    def newest(self) -> Tile | None:
        """The last placed tile, None before the first placement."""
        return self.layout.tiles[-1] if self.layout.tiles else None


def _scene(match: Match, seat: int, shown: Sequence[int], names: Sequence[str] | None, plan: TablePlan | None) -> Scene:
    game, layout, last = match.game, match.layout, match.last_round
    playing = bool(game.phase == PLAYING)
    hands: list[tuple[Tile, ...] | int] = [
        tiles if other in shown else int(game.hand_sizes[other]) for other, tiles in enumerate(match.hands)
    ]
    if not playing and last is not None and last["hands"] is not None:
        hands = list(last["hands"])
    seat_names = tuple(f"player_{other}" for other in range(match.num_players)) if names is None else tuple(names)
    return Scene(
        layout=layout,
        plan=plan_layout(layout) if plan is None else plan,
        names=seat_names,
        hands=tuple(hands),
        seat=seat,
        turn=match.turn if playing else None,
        scores=match.scores,
        target=int(game.target),
        boneyard=int(game.boneyard_end) - int(game.boneyard_next),
        round_number=match.round_number,
        news=tuple(_news(match, seat_names, playing)),
    )


def _news(match: Match, names: Sequence[str], playing: bool) -> list[str]:
    last, lines = match.last_round, []
    if match.history:
        seat, action = match.history[-1]
        lines.append(f"{names[seat]}: {describe(action)}")
    elif last is not None:
        lines.append(f"The last round: {end_text(match)}")
    lines += [event_text(event) for event in match.events]
    if match.winner is not None:
        lines.append(f"side {match.winner} wins the match")
    elif not playing:
        lines.append(end_text(match))
    return lines


def end_text(match: Match) -> str:
    """Result of the last round, for example `blocked, side 1 wins it`."""
    last = match.last_round
    assert last is not None
    winner = "nobody wins it" if last["winner"] is None else f"side {last['winner']} wins it"
    return f"{ {'domino': 'domino', 'blocked': 'blocked', 'exact': 'target hit'}[last['end']] }, {winner}"


def event_text(event: Event) -> str:
    """A scoring event in display points, for example `placement +2 side 0`."""
    fate = "" if event.accepted else " discarded"
    return f"{event.kind} {event.net / RAW_PER_POINT:+g} side {event.side}{fate}"


@dataclass(frozen=True)
class Mark:
    """Mark drawn at a free place; `value` is the counted end's value, None if it counts nothing (R4.4, R4.5, R5.1)."""

    place: FreePlace
    value: int | None


def marks(layout: Layout) -> tuple[Mark, ...]:
    """Marks of all free places. A lone double carries its value once, so its second line side has none."""
    values: dict[Tile, list[int]] = {end.tile: [] for end in layout.contributions}
    for end in layout.contributions:
        values[end.tile].append(end.value)
    marked = []
    for spot in layout.free_places:
        left = values.get(spot.tile)
        marked.append(Mark(spot, left.pop(0) if left else None))
    return tuple(marked)
