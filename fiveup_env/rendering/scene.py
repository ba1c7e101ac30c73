"""What a picture shows: gathered from a view or from a whole match, so that whoever draws needs to know neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fiveup_env.rendering.geometry import Plan, place
from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.layout import FreePlace, Layout
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT
from fiveup_env.views.view import View


@dataclass(frozen=True)
class Scene:
    """A table and what stands beside it.

    Attributes:
        layout, plan: what lies, and where.
        names: of the seats.
        hands: per seat its tiles, or their number where they are hidden (R2.2, D6).
        seat: whose hand is shown large.
        turn: seat to act, None if nobody is.
        scores, target: raw points, per side.
        boneyard: tiles left to draw.
        round_number: from 1.
        news: the last action and what it scored, or how the round or the match ended.
    """

    layout: Layout
    plan: Plan
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
    def of_view(cls, view: View, names: Sequence[str] | None = None, plan: Plan | None = None) -> Scene:
        """What one seat sees; after a settlement that no deal followed, all hands (D5)."""
        return _scene(Match.of(view.game), view.seat, [view.seat], names, plan)

    @classmethod
    def of_match(
        cls, match: Match, seat: int | None = None, names: Sequence[str] | None = None, plan: Plan | None = None
    ) -> Scene:
        """All hands, that of `seat` (default: who is to act) large."""
        return _scene(match, match.turn if seat is None else seat, range(match.num_players), names, plan)

    @property
    def newest(self) -> Tile | None:
        """The tile that was laid last."""
        return self.layout.tiles[-1] if self.layout.tiles else None


def _scene(match: Match, seat: int, shown: Sequence[int], names: Sequence[str] | None, plan: Plan | None) -> Scene:
    game, layout, last = match.game, match.layout, match.last_round
    going_on = bool(game.phase == PLAYING)
    hands: list[tuple[Tile, ...] | int] = [
        tiles if other in shown else int(game.hand_sizes[other]) for other, tiles in enumerate(match.hands)
    ]
    if not going_on and last is not None and last["hands"] is not None:
        hands = list(last["hands"])
    called = tuple(f"player_{other}" for other in range(match.num_players)) if names is None else tuple(names)
    return Scene(
        layout=layout,
        plan=place(layout) if plan is None else plan,
        names=called,
        hands=tuple(hands),
        seat=seat,
        turn=match.turn if going_on else None,
        scores=match.scores,
        target=int(game.target),
        boneyard=int(game.boneyard_end) - int(game.boneyard_next),
        round_number=match.round_number,
        news=tuple(_news(match, called, going_on)),
    )


def _news(match: Match, names: Sequence[str], going_on: bool) -> list[str]:
    last, told = match.last_round, []
    if match.history:
        seat, action = match.history[-1]
        told.append(f"{names[seat]}: {describe(action)}")
    elif last is not None:
        told.append(f"The last round: {end_text(match)}")
    told += [event_text(event) for event in match.events]
    if match.winner is not None:
        told.append(f"side {match.winner} wins the match")
    elif not going_on:
        told.append(end_text(match))
    return told


def end_text(match: Match) -> str:
    """How the last round ended."""
    last = match.last_round
    assert last is not None
    winner = "nobody wins it" if last["winner"] is None else f"side {last['winner']} wins it"
    return f"{ {'domino': 'domino', 'blocked': 'blocked', 'exact': 'target hit'}[last['end']] }, {winner}"


def event_text(event: Event) -> str:
    """A scoring event in display points."""
    fate = "" if event.accepted else " discarded"
    return f"{event.kind} {event.net / RAW_PER_POINT:+g} side {event.side}{fate}"


@dataclass(frozen=True)
class Mark:
    """What is drawn at an open place.

    Attributes:
        place: the free place.
        value: what the end counts, None for a place that counts nothing (R4.4, R4.5, R5.1).
    """

    place: FreePlace
    value: int | None


def marks(layout: Layout) -> tuple[Mark, ...]:
    """All free places; a counted end carries its value once, so the second line side of a lone double has none."""
    values: dict[Tile, list[int]] = {end.tile: [] for end in layout.contributions}
    for end in layout.contributions:
        values[end.tile].append(end.value)
    marked = []
    for spot in layout.free_places:
        left = values.get(spot.tile)
        marked.append(Mark(spot, left.pop(0) if left else None))
    return tuple(marked)
