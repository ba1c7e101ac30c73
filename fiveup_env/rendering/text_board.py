"""Text boards: the placed layout in box-drawing characters, and the whole table as one seat sees it."""

from __future__ import annotations

from fiveup_env.rendering.scene import Scene, marks
from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT
from fiveup_env.views.view import View

RECENT = 4  # actions shown in the last line
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
# Box-drawing character by the set of directions (bits) in which lines leave a crossing.
_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
COUNTED, OPEN = "●", "○"


def text_board(view: View) -> str:
    """Public state and the view's own hand; the other seats show hand sizes only (R2.2, D6).

    After a settlement that ends the match all hands are shown (D5). Scores are display points.
    """
    game = view.game
    playing = game.phase == PLAYING
    target = int(game.target) // RAW_PER_POINT
    state = f"player_{view.turn} to act" if playing else "over"
    rows = [f"Round {view.round_number}, {points_text(view.scores)} of {target} points, {state}"]
    rows += [f"  {line}" for line in unicode_board(Scene.of_view(view))]
    rows.append(f"  ends sum to {view.layout.end_sum}, boneyard {view.boneyard_size}")
    shown = None if playing or view.last_round is None else view.last_round["hands"]
    for seat, size in enumerate(view.hand_sizes):
        hand = view.hand if seat == view.seat else f"{size} tile{'' if size == 1 else 's'}"
        if isinstance(shown, tuple):
            hand = shown[seat]
        mark = "*" if playing and seat == view.turn else " "
        rows.append(f"  player_{seat}{mark} {hand if isinstance(hand, str) else tiles_text(hand)}")
    if view.history:
        actions = (f"player_{seat}: {describe(action)}" for seat, action in view.history[-RECENT:])
        rows.append(f"  {'; '.join(actions)}")
    return "\n".join(rows)


def tiles_text(tiles: tuple[Tile, ...]) -> str:
    """Tiles side by side, for example `[0|3] [2|5]`."""
    return " ".join(f"[{low}|{high}]" for low, high in tiles)


def points_text(scores: tuple[int, ...]) -> str:
    """Raw scores as display points, for example `12 : 3`."""
    return " : ".join(f"{score / RAW_PER_POINT:g}" for score in scores)


def unicode_board(scene: Scene) -> list[str]:
    """Rows of box-drawing characters, at most about 140 columns; a unit of the plan is two columns wide, one row high.

    Halves show their number of pips, the newest tile's in brackets. ● is a counted end (a double's shows its value),
    ○ a free place that counts nothing.
    """
    if not scene.plan.tiles:
        return ["(empty)"]
    around = scene.plan.box.grown(2)
    columns, rows = 2 * around.width + 1, around.height + 1
    lines = [[0] * columns for _ in range(rows)]
    text: dict[tuple[int, int], str] = {}
    for placed in scene.plan.tiles:
        box = placed.box
        x0, y0, x1, y1 = 2 * (box.x0 - around.x0), box.y0 - around.y0, 2 * (box.x1 - around.x0), box.y1 - around.y0
        for x in range(x0, x1):
            for y in (y0, y1):
                lines[y][x] |= RIGHT
                lines[y][x + 1] |= LEFT
        for y in range(y0, y1):
            for x in (x0, x1):
                lines[y][x] |= DOWN
                lines[y + 1][x] |= UP
        for pip, (x, y) in zip(placed.tile, (placed.low, placed.high), strict=True):
            at = (2 * (x - around.x0), y - around.y0)
            text[at] = str(pip)
            if placed.tile == scene.newest:
                text[at[0] - 1, at[1]], text[at[0] + 1, at[1]] = "[", "]"
    for mark in marks(scene.layout):
        anchor = scene.plan.anchor(mark.place.tile, mark.place.port)
        x, y = 2 * (anchor.x + anchor.dx - around.x0), anchor.y + anchor.dy - around.y0
        text[x, y] = OPEN if mark.value is None else COUNTED
        if mark.value is not None and mark.place.tile[0] == mark.place.tile[1]:
            for i, digit in enumerate(str(mark.value)):
                text[x + 1 + i, y] = digit
    shown = ["".join(text.get((x, y), _LINES[lines[y][x]]) for x in range(columns)) for y in range(rows)]
    while shown and not shown[0].strip():
        shown.pop(0)
    while shown and not shown[-1].strip():
        shown.pop()
    indent = min(len(row) - len(row.lstrip()) for row in shown if row.strip())
    return [row[indent:].rstrip() for row in shown]
