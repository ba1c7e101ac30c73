"""What the page of one seat is told: made of that seat's view, and of what everybody saw, alone (R2.2, D6)."""

from __future__ import annotations

from typing import Any

from fiveup_env.play.web.web_table import PERSON, Table
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.scene_svg import laid, mark_spot
from fiveup_env.rules.actions import ACTION_TILE, describe
from fiveup_env.rules.record import RAW_PER_POINT
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.view import View

SHORTEST = (28, 16)  # width and height of the picture while little lies, in quarters of a tile
LOG = 80  # lines


def seat_state(table: Table, seat: int) -> dict[str, Any]:
    """The table as `seat` sees it, as JSON data. Scores are display points, places are in units of the plan."""
    match, phase = table.shown, table.phase
    view = View.of(match, seat)
    plan = table.plan()
    scene = Scene.of_view(view, plan=plan)
    to_lay = phase == "person" and match.turn == seat
    return {
        "match": table.match_number,
        "round": view.round_number,
        "seat": seat,
        "players": [_name(table, other, seat) for other in range(match.num_players)],
        "seating": list(table.seating),
        "sides": match.num_sides,
        "phase": phase,
        "turn": match.turn if phase in ("person", "agents") else None,
        "your_turn": to_lay,
        "scores": [score / RAW_PER_POINT for score in view.scores],
        "target": match.variant.target,
        "winner": match.winner,
        "boneyard": view.boneyard_size,
        "hands": [hand if isinstance(hand, int) else [list(tile) for tile in hand] for hand in scene.hands],
        "end_sum": view.layout.end_sum,
        "board": _board(table, scene),
        "options": [_option(table, action) for action in view.legal_actions()] if to_lay else [],
        "log": [
            {"round": entry.round_number, "seat": entry.seat, "text": entry.text, "events": list(entry.events)}
            for entry in table.log[-LOG:]
        ],
        "practice": table.practice,
        "can_undo": table.can_undo,
        "can_hint": to_lay and table.adviser is not None,
        "agents": table.choices,
        "error": table.error,
    }


def _name(table: Table, other: int, seat: int) -> str:
    name = table.sitting.players[other]
    return name if table.seating[other] != PERSON else "you" if other == seat else f"person at seat {other}"


def _board(table: Table, scene: Scene) -> dict[str, Any]:
    box = scene.plan.box.grown(3)
    width, height = max(box.width, SHORTEST[0]), max(box.height, SHORTEST[1])
    x, y = (box.x0 + box.x1 - width) / 2, (box.y0 + box.y1 - height) / 2
    return {"view": f"{x:g} {y:g} {width} {height}", "svg": "".join(laid(scene.layout, scene.plan))}


def _option(table: Table, action: int) -> dict[str, Any]:
    """A placement: its tile, and where it would be joined on."""
    option: dict[str, Any] = {"action": action, "text": describe(action), "tile": list(TILES[ACTION_TILE[action]])}
    if (joined := table.spot(action)) is not None:
        x, y = mark_spot(table.plan(), *joined, counted=True)
        option["spot"] = [round(x, 2), round(y, 2)]
    return option
