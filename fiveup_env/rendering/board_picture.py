"""The table alone, without hands and scores, cropped to what lies: for pages and notebooks."""

from __future__ import annotations

from fiveup_env.rendering.geometry import place
from fiveup_env.rendering.scene import marks
from fiveup_env.rendering.scene_svg import DEFINITIONS, FONT, _mark, placed_tile, style
from fiveup_env.rules.layout import Layout

LARGEST_UNIT = 18.0  # pixels a quarter of a tile's length
ROOM = 3  # around the tiles, for the marks


def board(layout: Layout, theme: str = "light", *, width: int = 720) -> str:
    """What lies on the table as SVG text, at most `width` pixels wide; the newest tile has a halo.

    Counted ends carry their value in a filled mark, free places that count nothing a hollow dot (R4.4, R4.5, R5.1).

    Raises:
        ValueError: if there is no such theme.

    >>> from fiveup_env import Match
    >>> match = Match(2, seed=0)
    >>> events = match.play(match.legal_actions()[0])
    >>> text = board(match.layout)
    """
    plan = place(layout)
    box = plan.box.grown(ROOM)
    unit = min(LARGEST_UNIT, width / box.width)
    size = f'width="{unit * box.width:.0f}" height="{unit * box.height:.0f}"'
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box.x0:g} {box.y0:g} {box.width:g} {box.height:g}" {size} '
        f'font-family="{FONT}, DejaVu Sans, Verdana, sans-serif" font-weight="bold">',
        f"<style>{style(theme)}</style>{DEFINITIONS}",
        f'<rect class="felt" x="{box.x0:g}" y="{box.y0:g}" width="{box.width:g}" height="{box.height:g}" rx=".5"/>',
    ]
    newest = layout.tiles[-1] if layout.tiles else None
    pieces += [placed_tile(placed, placed.tile == newest) for placed in plan.tiles]
    for mark in marks(layout):
        anchor = plan.anchor(mark.place.tile, mark.place.port)
        reach = 1.05 if mark.value is None else 1.2
        pieces.append(_mark(anchor.x + reach * anchor.dx, anchor.y + reach * anchor.dy, mark.value))
    return "".join([*pieces, "</svg>"])
