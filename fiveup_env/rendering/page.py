"""A record as one HTML page that needs nothing else: step through it, play it, jump to what scored.

The pieces of the pictures are stored once each and every picture as the numbers of its pieces, which keeps a match of
a thousand moves under three megabytes.
"""

from __future__ import annotations

import base64
import json
from html import escape
from importlib.resources import files
from typing import Any

from fiveup_env.encoding.view import View
from fiveup_env.records.reader import Move, Record
from fiveup_env.rendering.geometry import Plan, Plane
from fiveup_env.rendering.scene import Scene, event_text
from fiveup_env.rendering.svg import DEFINITIONS, FONT, HEIGHT, THEMES, WIDTH, parts, style
from fiveup_env.rules.actions import describe
from fiveup_env.rules.game import PLAYING, RAW_PER_POINT
from fiveup_env.rules.match import Match


def page(record: Record) -> str:
    """The page as text."""
    pieces: dict[str, int] = {}
    frames = [_frame(_scenes(record.start, record, None), pieces, None, record.start)]
    drawn = _Drawn()
    for move, _, after in record.positions():
        frames.append(_frame(_scenes(after, record, drawn.plan(move, after)), pieces, move, after))
    data = {
        "players": list(record.players),
        "frames": frames,
        "pieces": list(pieces),
    }
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")
    folder = files("fiveup_env.rendering") / "data"
    font = base64.b64encode((folder / "FiveUpSans-Bold.ttf").read_bytes()).decode()
    face = f"@font-face{{font-family:'{FONT}';font-weight:bold;src:url(data:font/ttf;base64,{font})}}"
    themes = "".join(scoped(theme, style(theme)) for theme in THEMES)
    title = escape(f"Five Up: {', '.join(record.players)}")
    filled = (folder / "replay.html").read_text(encoding="utf-8")
    for name, value in (
        ("TITLE", title),
        ("STYLE", face + themes),
        ("VIEWBOX", f"0 0 {WIDTH} {HEIGHT}"),
        ("FONT", FONT),
        ("DEFINITIONS", DEFINITIONS),
        ("DATA", text),
    ):
        filled = filled.replace(f"@@{name}@@", value, 1)
    return filled


def scoped(theme: str, rules: str) -> str:
    """Style rules for where the page has chosen that theme."""
    return "".join(f'[data-theme="{theme}"] {rule}}}' for rule in rules.split("}") if rule)


class _Drawn:
    """Where the tiles of the round lie, continued from move to move."""

    def __init__(self) -> None:
        self._round = 0
        self._plan: Plan | None = None
        self._laid = -1

    def plan(self, move: Move, match: Match) -> Plan:
        layout = match.layout
        if (move.round_number, len(layout.tiles)) != (self._round, self._laid) or self._plan is None:
            plane = Plane(layout)
            for level in range(len(layout.tiles)):
                plane.add(level)
            self._plan, self._round, self._laid = plane.plan(), move.round_number, len(layout.tiles)
        return self._plan


def _scenes(match: Match, record: Record, plan: Plan | None) -> list[Scene]:
    """With all hands, and as the seat to act sees it."""
    opened = Scene.of_match(match, names=record.players, plan=plan)
    return [opened, Scene.of_view(View.of(match), record.players, opened.plan)]


def _frame(scenes: list[Scene], pieces: dict[str, int], move: Move | None, match: Match) -> dict[str, Any]:
    numbered = [[pieces.setdefault(piece, len(pieces)) for piece in parts(scene)] for scene in scenes]
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
