"""The placed layout in box-drawing characters: one unit is two columns wide and one row high."""

from __future__ import annotations

from fiveup_env.rendering.scene import Scene, marks

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
# What a crossing of lines looks like, by the directions in which lines leave it.
_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
COUNTED, OPEN = "●", "○"


def unicode_board(scene: Scene) -> list[str]:
    """Rows of text, at most about 140 columns wide.

    Halves show their number of pips, the newest tile's in brackets; ● is a counted end, a double's with what it counts;
    ○ is a free place that counts nothing.
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
