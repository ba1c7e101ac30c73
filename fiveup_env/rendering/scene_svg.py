"""Draw a scene as SVG: 960 x 720 pixels, self-contained, readable at half that size.

A filled mark is a counted end with its value, a hollow dot a free place that counts nothing, a heavy outline a spinner;
the newest tile has a halo and another colour. Colours are the colour-blind safe palette of Okabe and Ito, and every
colour comes with a shape.
"""

from __future__ import annotations

from html import escape

from fiveup_env.rendering.geometry import PlacedTile, TablePlan, plan_layout
from fiveup_env.rendering.scene import Scene, marks
from fiveup_env.rules.actions import Tile
from fiveup_env.rules.layout import Layout, is_double
from fiveup_env.rules.record import RAW_PER_POINT

WIDTH, HEIGHT = 960, 720
MARGIN = 16
BOARD = (96, 500)  # top and bottom of the board
LARGEST_UNIT = 22.0  # pixels per quarter of a tile, of a scene
LARGEST_BOARD_UNIT = 18.0  # the same, of `board_svg`
ROOM = 3  # units around the tiles of `board_svg`, for the marks
FONT = "FiveUp Sans"

_COLOURS = {  # light, dark
    "ground": ("#f4f1ea", "#16191c"),
    "felt": ("#dfeae3", "#22302a"),
    "tile": ("#ffffff", "#e9e6dc"),
    "new": ("#ffd98a", "#f0b840"),
    "ink": ("#1a1a1a", "#f2f2f2"),
    "dim": ("#5a5a5a", "#b4bcc2"),
    "count": ("#0072b2", "#56b4e9"),
    "on_count": ("#ffffff", "#10181c"),
    "open": ("#0072b2", "#56b4e9"),
    "halo": ("#d55e00", "#e69f00"),
    "back": ("#7d8a96", "#8794a0"),
    "bar": ("#cfd6d2", "#3c474d"),
    "spinner": ("#8e2f7a", "#cc79a7"),
}
THEMES = {theme: {part: pair[i] for part, pair in _COLOURS.items()} for i, theme in enumerate(("light", "dark"))}

# Pips of a 2 x 2 half of an upright tile, relative to its centre.
_L, _C, _R = -0.48, 0.0, 0.48
_PIPS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((_C, _C),),
    ((_L, _L), (_R, _R)),
    ((_L, _L), (_C, _C), (_R, _R)),
    ((_L, _L), (_L, _R), (_R, _L), (_R, _R)),
    ((_L, _L), (_L, _R), (_R, _L), (_R, _R), (_C, _C)),
    ((_L, _L), (_L, _C), (_L, _R), (_R, _L), (_R, _C), (_R, _R)),
)
PIP_RADIUS = 0.19


def svg(scene: Scene, theme: str = "light") -> str:
    """Return the picture as SVG text; `theme` is "light" or "dark".

    Raises:
        ValueError: if there is no such theme.
    """
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    ground = f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>'
    return _document(box, theme, [ground, *parts(scene)])


def board_svg(layout: Layout, theme: str = "light", *, width: int = 720) -> str:
    """Return the placed tiles alone as SVG text, cropped, at most `width` pixels wide; the newest tile has a halo.

    Raises:
        ValueError: if there is no such theme.

    >>> from fiveup_env import Match
    >>> match = Match(2, seed=0)
    >>> events = match.play(match.legal_actions()[0])
    >>> text = board_svg(match.layout)
    """
    plan = plan_layout(layout)
    box = plan.box.grown(ROOM)
    unit = min(LARGEST_BOARD_UNIT, width / box.width)
    frame = f'viewBox="{box.x0:g} {box.y0:g} {box.width:g} {box.height:g}"'
    size = f'width="{unit * box.width:.0f}" height="{unit * box.height:.0f}"'
    felt = f'<rect class="felt" x="{box.x0:g}" y="{box.y0:g}" width="{box.width:g}" height="{box.height:g}" rx=".5"/>'
    return _document(f"{frame} {size}", theme, [felt, *placed_tiles(layout, plan)])


def _document(box: str, theme: str, pieces: list[str]) -> str:
    font = f'font-family="{FONT}, DejaVu Sans, Verdana, sans-serif" font-weight="bold"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}><style>{style(theme)}</style>{DEFINITIONS}'
    return "".join([head, *pieces, "</svg>"])


def style(theme: str) -> str:
    """Style rules of the classes that the pictures use."""
    if theme not in THEMES:
        raise ValueError(f"there is no theme {theme!r}: {', '.join(map(repr, THEMES))}")
    c = THEMES[theme]
    return (
        f".ground{{fill:{c['ground']}}}.felt{{fill:{c['felt']}}}.text{{fill:{c['ink']}}}.dim{{fill:{c['dim']}}}"
        f".tile{{fill:{c['tile']};stroke:#1a1a1a;stroke-width:.14}}.spinner{{stroke:{c['spinner']};stroke-width:.3}}.new{{fill:{c['new']}}}"
        f".halo{{fill:none;stroke:{c['halo']};stroke-width:.3}}.pip{{fill:#1a1a1a}}"
        ".split{stroke:#1a1a1a;stroke-width:.1}"
        f".count{{fill:{c['count']}}}.on{{fill:{c['on_count']}}}"
        f".open{{fill:{c['felt']};stroke:{c['open']};stroke-width:.22}}"
        f".back{{fill:{c['back']};stroke:{c['ground']};stroke-width:.14}}"
        f".bar{{fill:{c['bar']}}}.full{{fill:{c['count']}}}.turn{{fill:{c['halo']}}}"
    )


def _definitions() -> str:
    halves = []
    for pip, spots in enumerate(_PIPS):
        dots = "".join(f'<circle class="pip" cx="{x:g}" cy="{y:g}" r="{PIP_RADIUS}"/>' for x, y in spots)
        halves.append(f'<g id="p{pip}">{dots}</g>')
    return f"<defs>{''.join(halves)}</defs>"


DEFINITIONS = _definitions()
"""Shapes of tile halves that the pieces refer to."""


def parts(scene: Scene) -> list[str]:
    """Pieces of the picture in drawing order; the pictures of a match share most of them."""
    return [*_scores(scene), *_board(scene), *_hands(scene)]


# the board


def _board(scene: Scene) -> list[str]:
    top, bottom = BOARD
    pieces = [
        f'<rect class="felt" x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{bottom - top}" rx="10"/>'
    ]
    box = scene.plan.box.grown(2)
    unit = min(LARGEST_UNIT, (WIDTH - 2 * MARGIN - 8) / box.width, (bottom - top - 60) / box.height)
    x = WIDTH / 2 - unit * (box.x0 + box.x1) / 2
    y = (top + bottom - 52) / 2 - unit * (box.y0 + box.y1) / 2
    pieces.append(f'<g transform="translate({x:.1f} {y:.1f}) scale({unit:.2f})">')
    pieces += placed_tiles(scene.layout, scene.plan)
    pieces.append("</g>")
    ends = f"ends {scene.layout.end_sum}" if scene.layout.tiles else "no tile laid"
    wide = WIDTH - 2 * MARGIN - 24
    pieces.append(_text(MARGIN + 12, bottom - 36, "".join(scene.news[:1]), 20, fit=wide))
    pieces.append(_text(MARGIN + 12, bottom - 10, " · ".join(scene.news[1:]), 20, fit=wide - 130))
    pieces.append(_text(WIDTH - MARGIN - 12, bottom - 10, ends, 20, anchor="end"))
    return pieces


def placed_tiles(layout: Layout, plan: TablePlan) -> list[str]:
    """The placed tiles and the marks at their free places, in units of the plan."""
    newest = layout.tiles[-1] if layout.tiles else None
    pieces = [_placed_tile(placed, placed.tile == newest) for placed in plan.tiles]
    for mark in marks(layout):
        x, y = mark_spot(plan, mark.place.tile, mark.place.port, counted=mark.value is not None)
        pieces.append(_mark(x, y, mark.value))
    return pieces


def mark_spot(plan: TablePlan, tile: Tile, port: str, *, counted: bool) -> tuple[float, float]:
    """Centre of the mark at a port, in units of the plan."""
    anchor = plan.anchor(tile, port)
    reach = 1.2 if counted else 1.05
    return anchor.x + reach * anchor.dx, anchor.y + reach * anchor.dy


def _placed_tile(placed: PlacedTile, newest: bool) -> str:
    box = placed.box
    upright = box.height > box.width
    piece = _tile(box.x0, box.y0, placed.tile, placed.low, placed.high, upright, newest)
    if newest:
        at, size = f'x="{box.x0 - 0.3}" y="{box.y0 - 0.3}"', f'width="{box.width + 0.6}" height="{box.height + 0.6}"'
        piece += f'<rect class="halo" {at} {size} rx=".5"/>'
    return piece


def _tile(
    x: float, y: float, tile: Tile, low: tuple[float, float], high: tuple[float, float], upright: bool, newest: bool
) -> str:
    classes = f"tile{' spinner' if is_double(tile) else ''}{' new' if newest else ''}"
    width, height = (2, 4) if upright else (4, 2)
    inset = 0.15 if is_double(tile) else 0.07
    turned = "" if upright else " rotate(90)"
    at, size = f'x="{x + inset:g}" y="{y + inset:g}"', f'width="{width - 2 * inset:g}" height="{height - 2 * inset:g}"'
    rect = f'<rect class="{classes}" {at} {size} rx=".3"/>'
    split = f"M{x + 0.35:g} {y + 2:g}h1.3" if upright else f"M{x + 2:g} {y + 0.35:g}v1.3"
    halves = "".join(
        f'<use href="#p{pip}" transform="translate({hx:g} {hy:g}){turned}"/>'
        for pip, (hx, hy) in zip(tile, (low, high), strict=True)
    )
    return f'{rect}<path class="split" d="{split}"/>{halves}'


def _mark(x: float, y: float, value: int | None) -> str:
    if value is None:
        return f'<circle class="open" cx="{x:g}" cy="{y:g}" r=".5"/>'
    size = 1.35 if value < 10 else 1.1
    return (
        f'<circle class="count" cx="{x:g}" cy="{y:g}" r=".95"/>'
        f'<text class="on" x="{x:g}" y="{y + size * 0.36:g}" font-size="{size}" text-anchor="middle">{value}</text>'
    )


# scores and hands


def _text(
    x: float, y: float, text: str, size: float, *, kind: str = "text", anchor: str = "start", fit: float | None = None
) -> str:
    if fit is not None:  # the width of a bold letter is about 0.65 of its height
        size = max(size * 0.6, min(size, fit / (0.65 * max(len(text), 1))))
        room = int(fit / (0.65 * size))
        text = text if len(text) <= room else f"{text[: room - 1]}…"
    return (
        f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:.3g}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _scores(scene: Scene) -> list[str]:
    sides, room = len(scene.scores), WIDTH - 2 * MARGIN - 150
    column, pieces = room / sides, []
    for side, score in enumerate(scene.scores):
        x, width = MARGIN + side * column, column - 24
        name = " + ".join(name for seat, name in enumerate(scene.names) if seat % sides == side)
        points, target = score / RAW_PER_POINT, scene.target / RAW_PER_POINT
        full = width * min(1.0, max(0.0, points / target))
        pieces.append(_text(x, 34, name, 20, kind="dim", fit=width - 110))
        pieces.append(_text(x + width, 34, f"{points:g} of {target:g}", 22, anchor="end"))
        pieces.append(f'<rect class="bar" x="{x:g}" y="46" width="{width:g}" height="16" rx="8"/>')
        if full:
            pieces.append(f'<rect class="full" x="{x:g}" y="46" width="{full:.4g}" height="16" rx="8"/>')
        pieces.append(_text(x, 84, f"side {side}", 17, kind="dim"))
    pieces.append(_text(WIDTH - MARGIN, 34, f"Round {scene.round_number}", 22, anchor="end"))
    pieces.append(_text(WIDTH - MARGIN, 62, f"boneyard {scene.boneyard}", 18, kind="dim", anchor="end"))
    return pieces


def _hands(scene: Scene) -> list[str]:
    count, pieces = len(scene.hands), []
    column = (WIDTH - 2 * MARGIN) / count
    for seat, hand in enumerate(scene.hands):
        x, size = MARGIN + seat * column, hand if isinstance(hand, int) else len(hand)
        marker = "▶ " if seat == scene.turn else ""
        kind = "turn" if seat == scene.turn else "text"
        pieces.append(_text(x, 530, f"{marker}{scene.names[seat]}", 20, kind=kind, fit=column - 60))
        pieces.append(_text(x + column - 16, 530, str(size), 20, kind="dim", anchor="end"))
        pieces.append(_row(x, 540, column - 16, 8.0, hand))
    own = scene.hands[scene.seat]
    pieces.append(_text(MARGIN, 604, f"{scene.names[scene.seat]}'s hand", 18, kind="dim"))
    pieces.append(_row(MARGIN, 614, WIDTH - 2 * MARGIN, 22.0, own))
    return pieces


def _row(x: float, y: float, room: float, unit: float, hand: tuple[Tile, ...] | int) -> str:
    """Upright tiles side by side, faces or backs."""
    size = hand if isinstance(hand, int) else len(hand)
    unit = min(unit, room / (2.3 * max(size, 1)))
    if isinstance(hand, int):
        tiles = "".join(f'<rect class="back" x="{2.3 * i:g}" width="2" height="4" rx=".3"/>' for i in range(hand))
    else:
        tiles = "".join(
            _tile(2.3 * i, 0, tile, (2.3 * i + 1, 1), (2.3 * i + 1, 3), True, False) for i, tile in enumerate(hand)
        )
    return f'<g transform="translate({x:g} {y:g}) scale({unit:.3g})">{tiles}</g>'
