"""Show a record: as text, as one HTML page, or as a film (GIF or animated PNG; extra `render`)."""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fiveup_env.records.record_reader import Move, Record
from fiveup_env.rendering.geometry import TablePlan, plan_layout
from fiveup_env.rendering.render_modes import check_raster, png
from fiveup_env.rendering.scene import Scene, end_text, event_text
from fiveup_env.rendering.scene_svg import DEFINITIONS, FONT, HEIGHT, THEMES, WIDTH, parts, style, svg
from fiveup_env.rendering.text_board import points_text, tiles_text
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT
from fiveup_env.views.view import View

if TYPE_CHECKING:
    from PIL import Image

MISTAKES = 5  # listed on the page
FORMATS = {".gif": "GIF", ".png": "PNG", ".apng": "PNG"}
COLOURS = 64  # enough for flat pictures
LONGER = 3  # a settled round is shown this many times as long as a move


# text


def story(record: Record, boards: bool = False) -> Iterator[str]:
    """Yield lines of text in display points, with the table after every round, or after every move if `boards`."""
    start = record.start
    yield f"{start.num_players} players: {', '.join(f'{s} {name}' for s, name in enumerate(record.players))}"
    round_number = 0
    for move, before, after in record.positions():
        if move.round_number != round_number:
            round_number = move.round_number
            yield f"Round {round_number}, {points_text(before.scores)}, player_{before.turn} opens"
            for seat, hand in enumerate(before.hands):
                yield f"  player_{seat} is dealt {tiles_text(hand)}"
        yield f"  {_move_text(move, record.players)}"
        over = after.game.phase != PLAYING
        if boards or over:
            yield from (f"      {line}" for line in after.layout.lines())
            yield f"      ends sum to {after.layout.end_sum}"
        if over and after.last_round is not None:
            yield f"  {end_text(after)}; {points_text(after.scores)}"
    winner, points = record.final.winner, points_text(record.final.scores)
    yield f"{f'side {winner} has won' if winner is not None else 'unfinished'}, {points}"
    yield f"verified: {len(record.moves)} moves in {round_number} rounds follow the rules"


def _move_text(move: Move, players: tuple[str, ...]) -> str:
    text = f"player_{move.seat} ({players[move.seat]}): {describe(move.action)}"
    for event in move.events:
        text += f"  [{event_text(event)}]"
    return text


# frames


@dataclass(frozen=True)
class RecordFrame:
    """The table before the first move, or after a move.

    `match` is the position after the move; after the last move of a round it still shows that round's table.
    """

    record: Record
    move: Move | None
    match: Match
    plan: TablePlan

    def opened(self) -> Scene:
        """Scene with all hands."""
        return Scene.of_match(self.match, names=self.record.players, plan=self.plan)

    def seen_by(self, seat: int | None = None) -> Scene:
        """Scene as a seat sees it; default: the seat to act."""
        return Scene.of_view(View.of(self.match, seat), self.record.players, self.plan)


def record_frames(record: Record) -> Iterator[RecordFrame]:
    """Yield all frames in order: one before the first move, then one per move."""
    layout = record.start.layout
    plan = plan_layout(layout)
    yield RecordFrame(record, None, record.start, plan)
    for move, _, after in record.positions():
        if after.layout != layout:
            layout = after.layout
            plan = plan_layout(layout)
        yield RecordFrame(record, move, after, plan)


# the HTML page


def replay_page(record: Record) -> str:
    """Return a self-contained HTML page: step through the record, play it, jump to scoring moves.

    Every piece of the pictures is stored once and a picture is a list of piece numbers. A match of 1,000 moves stays
    under 3 MB.
    """
    pieces: dict[str, int] = {}
    data = {
        "players": list(record.players),
        "sides": record.start.num_sides,
        "frames": [_frame(frame, pieces) for frame in record_frames(record)],
        "pieces": list(pieces),
        "win": _chances(record),
        "mistakes": [
            {"move": number, "cost": round(cost, 4), "best": describe(best)}
            for number, cost, best in mistakes(record)[:MISTAKES]
        ],
        "chances": any(move.info and "win" in move.info for move in record.moves),
    }
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")
    folder = files("fiveup_env.rendering") / "data"
    font = base64.b64encode((folder / "FiveUpSans-Bold.ttf").read_bytes()).decode()
    face = f"@font-face{{font-family:'{FONT}';font-weight:bold;src:url(data:font/ttf;base64,{font})}}"
    filled = (folder / "replay.html").read_text(encoding="utf-8")
    for name, value in (
        ("TITLE", escape(f"Five Up: {', '.join(record.players)}")),
        ("STYLE", face + theme_styles()),
        ("VIEWBOX", f"0 0 {WIDTH} {HEIGHT}"),
        ("FONT", FONT),
        ("DEFINITIONS", DEFINITIONS),
        ("DATA", text),
    ):
        filled = filled.replace(f"@@{name}@@", value, 1)
    return filled


def theme_styles() -> str:
    """Style rules of all themes, each valid where `data-theme` of the page names it."""
    rules = ((theme, rule) for theme in THEMES for rule in style(theme).split("}") if rule)
    return "".join(f'[data-theme="{theme}"] {rule}}}' for theme, rule in rules)


def mistakes(record: Record) -> list[tuple[int, float, int]]:
    """Moves whose recorded value is below the best action's value, costliest first.

    Returns:
        (move number from 1, cost in the unit of the recorded values, best action) of each.
    """
    found = []
    for number, move in enumerate(record.moves, 1):
        values = (move.info or {}).get("values", {})
        if str(move.action) in values:
            best = max(values, key=lambda action: values[action])
            cost = values[best] - values[str(move.action)]
            if cost > 0:
                found.append((number, cost, int(best)))
    return sorted(found, key=lambda mistake: -mistake[1])


def _chances(record: Record) -> list[tuple[int, list[float]]]:
    """(moves played so far, each side's chance to win the match), closed by the result."""
    found = [
        (number, list(move.info["win"])) for number, move in enumerate(record.moves) if move.info and "win" in move.info
    ]
    if found and record.final.winner is not None:
        sides = range(record.start.num_sides)
        found.append((len(record.moves), [float(side == record.final.winner) for side in sides]))
    return found


def _frame(shown: RecordFrame, pieces: dict[str, int]) -> dict[str, Any]:
    move, match = shown.move, shown.match
    numbered = [
        [pieces.setdefault(piece, len(pieces)) for piece in parts(scene)] for scene in (shown.opened(), shown.seen_by())
    ]
    frame: dict[str, Any] = {
        "open": numbered[0],
        "hidden": numbered[1],
        "round": match.round_number,
        "scores": [score / RAW_PER_POINT for score in match.scores],
        "over": bool(match.game.phase != PLAYING),
    }
    if move is not None:
        frame |= {"seat": move.seat, "action": move.action, "text": describe(move.action)}
        if move.events:
            frame["events"] = [event_text(event) for event in move.events]
        if move.info:
            frame["info"] = move.info
            frame["names"] = {
                action: describe(int(action))
                for key in ("probabilities", "values")
                for action in move.info.get(key, {})
            }
    return frame


# the film


def film(
    record: Record,
    path: str | os.PathLike[str],
    *,
    seconds: float = 1.0,
    width: int = 640,
    theme: str = "light",
    seat: int | None = None,
    round_number: int | None = None,
) -> int:
    """Write a film of a record: one picture per move, settled rounds longer.

    Args:
        record: a record.
        path: file; its suffix names the format: .gif, .png or .apng.
        seconds: time per move, 0.02 to 60.
        width: width in pixels, an integer from 120 to 1920; the height is three quarters of it.
        theme: see `svg`.
        seat: show the view of this seat; None shows all hands.
        round_number: show this round only.

    Returns:
        The number of pictures.

    Raises:
        ValueError: if an argument is out of range or the record has no such round.
        RenderingError: if the extra `render` is not installed.
        OSError: if the file cannot be written.
    """
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(f"a film ends in {', '.join(FORMATS)}, not {os.fspath(path)!r}")
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds must be from 0.02 to 60, not {seconds!r}")
    if not 120 <= width <= 1920:
        raise ValueError(f"width must be an integer from 120 to 1920, not {width!r}")
    if seat is not None and seat not in range(record.start.num_players):
        raise ValueError(f"seat must be from 0 to {record.start.num_players - 1}, not {seat!r}")
    check_raster()
    shown = [frame for frame in record_frames(record) if round_number in (None, _round_of(frame))]
    if not shown:
        raise ValueError(f"the record has no round {round_number}: its last round is {record.final.round_number}")
    pictures = _pictures(shown, width, theme, seat)
    first = next(pictures)
    times = [round(1000 * seconds * (1 if frame.match.game.phase == PLAYING else LONGER)) for frame in shown]
    times[-1] = max(times[-1], round(1000 * seconds * LONGER))
    draft = Path(path).with_name(f"{Path(path).name}.part")
    try:
        rest = pictures if kind == "GIF" else list(pictures)  # Pillow reads the pictures of a PNG twice
        first.save(draft, kind, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return len(shown)


def _round_of(frame: RecordFrame) -> int:
    return 1 if frame.move is None else frame.move.round_number


def _pictures(shown: list[RecordFrame], width: int, theme: str, seat: int | None) -> Iterator[Image.Image]:
    """Yield the pictures in few colours; all share the palette of the frame with the most tiles."""
    from PIL import Image

    def drawn(frame: RecordFrame) -> Image.Image:
        scene = frame.opened() if seat is None else frame.seen_by(seat)
        with Image.open(io.BytesIO(png(svg(scene, theme), width))) as image:
            return image.convert("RGB")

    fullest = max(shown, key=lambda frame: len(frame.match.layout.tiles))
    palette = drawn(fullest).quantize(COLOURS)
    images = (drawn(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in shown)
    yield from chain([next(images)], images)
