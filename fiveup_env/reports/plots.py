"""Plots as inline SVG without library, script or font: intervals, a histogram, a curve with its band."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from fiveup_env.evaluation.statistics import Estimate

WIDTH, LEFT, RIGHT = 720, 110, 30
LONGEST = 32  # longest name shown, in characters
BLUE, BAND, GREY, INK = "var(--blue)", "var(--band)", "var(--faint)", "var(--ink)"  # colours of the page, light or dark


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from `low` to `high`, at most `most` + 1."""
    step = 10 ** math.floor(math.log10(max(high - low, 1e-9) / most))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= most)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


class Axis:
    """Map from values to positions on the page.

    Args:
        values: values that must be visible.
        start, end: first and last position.
    """

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        room = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def __call__(self, value: float) -> float:
        """Position of a value, clipped to the axis."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, colour: str = GREY, more: str = "") -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" {more}/>'


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<div class="wide"><svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title, quote=True)}" font-family="system-ui, sans-serif" font-size="14">'
        f"{''.join(parts)}</svg></div>"
    )


def _below(axis: Axis, y: float, shown: Callable[[float], str], title: str) -> list[str]:
    """A horizontal axis with its title."""
    parts = [_line(axis.start, y, axis.end, y)]
    for tick in ticks(axis.low, axis.high):
        parts += [_line(axis(tick), y, axis(tick), y + 5), _text(axis(tick), y + 20, shown(tick), colour=GREY)]
    return [*parts, _text((axis.start + axis.end) / 2, y + 42, title, colour=GREY)]


def intervals(
    rows: Sequence[tuple[str, Estimate]],
    equal: float,
    shown: Callable[[float], str],
    title: str,
    equal_name: str = "equal agents",
) -> str:
    """One line per estimate with its interval, and the value of equal agents."""
    values = [equal, *(v for _, e in rows for v in (e.low, e.value, e.high))]
    names = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name, _ in rows]
    left = max(LEFT, 30 + 8 * max(map(len, names)))
    axis, bottom = Axis(values, left, WIDTH - RIGHT), 40 + 44 * len(rows)
    parts = [_line(axis(equal), 22, axis(equal), bottom, GREY, 'stroke-dasharray="4 4"')]
    to_the_right = axis(equal) < (left + WIDTH - RIGHT) / 2
    parts.append(_text(axis(equal), 15, equal_name, "start" if to_the_right else "end", GREY))
    for i, (name, (_, e)) in enumerate(zip(names, rows, strict=True)):
        y = 56 + 44 * i
        parts += [
            _text(left - 12, y + 5, name, "end"),
            _line(axis(e.low), y, axis(e.high), y, BLUE, 'stroke-width="3"'),
        ]
        parts += [_line(axis(end), y - 6, axis(end), y + 6, BLUE, 'stroke-width="2"') for end in (e.low, e.high)]
        parts.append(f'<circle cx="{axis(e.value):.1f}" cy="{y}" r="5" fill="{BLUE}"/>')
        parts.append(_text(axis(e.value), y - 11, shown(e.value)))
    return _svg(bottom + 52, title, [*parts, *_below(axis, bottom, shown, title)])


def histogram(values: np.ndarray, title: str) -> str:
    """Histogram of one value per start."""
    count, edges = np.histogram(values, min(40, max(5, math.isqrt(len(values)))))
    across, height, bottom = Axis(edges.tolist(), LEFT, WIDTH - RIGHT), Axis([0, int(count.max())], 200, 15), 200
    parts = []
    for n, low, high in zip(count, edges[:-1], edges[1:], strict=True):
        top = height.start + (height.end - height.start) * n / count.max()
        width = max(across(high) - across(low) - 1, 0.5)
        parts.append(
            f'<rect x="{across(low):.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" fill="{BLUE}"/>'
        )
    mean = across(float(values.mean()))
    parts.append(_line(mean, 15, mean, bottom, INK, 'stroke-dasharray="4 4"'))
    parts.append(
        _text(LEFT - 12, 27, f"{int(count.max()):,}", "end", GREY) + _text(LEFT - 12, bottom, "0", "end", GREY)
    )
    return _svg(bottom + 52, title, [*parts, *_below(across, bottom, lambda tick: f"{tick:g}", title)])


def curve(at: Sequence[int], estimates: Sequence[Estimate], shown: Callable[[float], str], title: str) -> str:
    """Estimate and interval by number of starts, on a logarithmic axis."""
    across, bottom = Axis([math.log10(n) for n in at], LEFT, WIDTH - RIGHT), 210
    up = Axis([v for e in estimates for v in (e.low, e.high)], bottom, 15)
    places = [across(math.log10(n)) for n in at]
    top = [f"{x:.1f},{up(e.high):.1f}" for x, e in zip(places, estimates, strict=True)]
    low = [f"{x:.1f},{up(e.low):.1f}" for x, e in zip(places, estimates, strict=True)]
    line = " ".join(f"{x:.1f},{up(e.value):.1f}" for x, e in zip(places, estimates, strict=True))
    parts = [f'<polygon points="{" ".join([*top, *reversed(low)])}" fill="{BAND}"/>']
    parts.append(f'<polyline points="{line}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    for tick in ticks(up.low, up.high, 4):
        parts += [_line(LEFT - 5, up(tick), LEFT, up(tick)), _text(LEFT - 12, up(tick) + 5, shown(tick), "end", GREY)]
    parts += [_line(LEFT, 15, LEFT, bottom), _line(LEFT, bottom, WIDTH - RIGHT, bottom)]
    powers = [10**k for k in range(math.ceil(across.low), math.floor(across.high) + 1)]
    numbers = [n for n in powers if at[0] <= n <= at[-1]]
    last = across(math.log10(at[-1]))
    for n in [*(n for n in numbers if last - across(math.log10(n)) > 70), at[-1]]:
        x = across(math.log10(n))
        parts += [_line(x, bottom, x, bottom + 5), _text(x, bottom + 20, f"{n:,}", colour=GREY)]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 42, title, colour=GREY))
    return _svg(bottom + 52, title, parts)
