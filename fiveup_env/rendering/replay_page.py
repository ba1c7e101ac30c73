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

from fiveup_env.records.record_reader import Record
from fiveup_env.rendering.frames import Frame, frames
from fiveup_env.rendering.scene import event_text
from fiveup_env.rendering.scene_svg import DEFINITIONS, FONT, HEIGHT, THEMES, WIDTH, parts, style
from fiveup_env.rules.actions import describe
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT

MISTAKES = 5


def page(record: Record) -> str:
    """The page as text."""
    pieces: dict[str, int] = {}
    data = {
        "players": list(record.players),
        "sides": record.start.num_sides,
        "frames": [_frame(frame, pieces) for frame in frames(record)],
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


def mistakes(record: Record) -> list[tuple[int, float, int]]:
    """The choices that cost something by the values written beside them, the dearest first.

    Each is the number of the move, from 1; what it cost, in the unit of the values; and the best action.
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
    """The sides' chances to win the match, by the number of moves before; at last who has won."""
    found = [
        (number, list(move.info["win"])) for number, move in enumerate(record.moves) if move.info and "win" in move.info
    ]
    if found and record.final.winner is not None:
        sides = range(record.start.num_sides)
        found.append((len(record.moves), [float(side == record.final.winner) for side in sides]))
    return found


def _frame(shown: Frame, pieces: dict[str, int]) -> dict[str, Any]:
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
