"""Draw the picture of docs/design.md from the import statements: `python -m tests.docs.architecture`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import grimp

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
PACKAGE = "fiveup_env"
BOX, ROW, MARGIN = (118, 38), 84, 24
WIDTH = 820
STYLE = (
    "svg{--ground:#ffffff;--box:#e7eef5;--edge:#41627f;--ink:#14202b}"
    "@media(prefers-color-scheme:dark){svg{--ground:#1e2129;--box:#2c3a4a;--edge:#9db8d2;--ink:#eef3f8}}"
    ".ground{fill:var(--ground)}.box{fill:var(--box);stroke:var(--edge);stroke-width:1.5}"
    ".name{fill:var(--ink);font:600 15px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}"
    ".edge{fill:none;stroke:var(--edge);stroke-width:1.4;marker-end:url(#tip)}.tip{fill:var(--edge)}"
)


def layers() -> dict[str, int]:
    """Package or module -> the number of its layer in pyproject.toml, highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name.strip(" ()"): i for i, row in enumerate(rows) for name in row.replace(":", "|").split("|")}


def imports() -> dict[str, set[str]]:
    """Package -> the packages of lower layers that its modules import."""
    known = layers()
    graph, found = grimp.build_graph(PACKAGE), {name: set[str]() for name in known}
    for module in graph.modules:
        for target in graph.find_modules_directly_imported_by(module):
            one, other = (name.split(".")[1:2] for name in (module, target))
            if one and other and known[one[0]] < known[other[0]]:
                found[one[0]].add(other[0])
    imported = set[str]().union(*found.values())
    return {name: targets for name, targets in found.items() if targets or name in imported}


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows without those to a package that a longer way reaches too."""

    def reach(name: str) -> set[str]:
        return edges[name].union(*(reach(other) for other in edges[name]))

    return {
        name: {other for other in targets if not any(other in reach(via) for via in targets - {other})}
        for name, targets in edges.items()
    }


def rows(edges: dict[str, set[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Return rows of names, highest first, and each arrow as the list of names that it passes.

    A name is one row above the highest that it imports. A place named "from>to>row" is left free where an arrow passes
    a row. The order in a row follows the mean position of the names that point there.
    """

    def height(name: str) -> int:
        return max((height(other) + 1 for other in edges[name]), default=0)

    top = max(height(name) for name in edges)
    table: list[list[str]] = [[] for _ in range(top + 1)]
    for name in sorted(edges):
        table[top - height(name)].append(name)
    paths = []
    for name in sorted(edges):
        for other in sorted(edges[name]):
            between = range(top - height(name) + 1, top - height(other))
            places = [f"{name}>{other}>{row}" for row in between]
            for row, place in zip(between, places, strict=True):
                table[row].append(place)
            paths.append([name, *places, other])
    before: dict[str, list[str]] = {after: [] for row in table for after in row}
    for path in paths:
        for one, other in pairwise(path):
            before[other].append(one)
    for row, above in zip(table[1:], table, strict=False):
        at = {name: (i + 1) / (len(above) + 1) for i, name in enumerate(above)}
        row.sort(key=lambda name: (_mean([at[one] for one in before[name] if one in at]), name))
    return table, paths


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.5


def picture() -> str:
    """Return the picture as SVG text."""
    table, paths = rows(reduced(imports()))
    height = 2 * MARGIN + ROW * (len(table) - 1) + BOX[1]
    middles: dict[str, tuple[float, float]] = {}
    for i, row in enumerate(table):
        for name, x in zip(row, _spread(row), strict=True):
            middles[name] = (x, MARGIN + BOX[1] / 2 + ROW * i)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="tip" d="M0 0 10 5 0 10z"/></marker></defs>',
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>',
    ]
    pieces += [_arrow([middles[name] for name in path]) for path in paths]
    for name, (x, y) in middles.items():
        if ">" not in name:
            at = f'x="{x - BOX[0] / 2:g}" y="{y - BOX[1] / 2:g}" width="{BOX[0]}" height="{BOX[1]}" rx="7"'
            pieces.append(f'<rect class="box" {at}/><text class="name" x="{x:g}" y="{y + 5:g}">{name}</text>')
    return "\n".join([*pieces, "</svg>"]) + "\n"


def _spread(row: list[str]) -> list[float]:
    """Horizontal centres of a row; boxes are wider than passing arrows."""
    sizes = [24.0 if ">" in name else float(BOX[0]) for name in row]
    gap = (WIDTH - sum(sizes)) / (len(row) + 1)
    return [gap * (i + 1) + sum(sizes[:i]) + size / 2 for i, size in enumerate(sizes)]


def _arrow(points: list[tuple[float, float]]) -> str:
    """Curve from the bottom of the first box to the top of the last."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    x1 += max(-BOX[0] / 3, min(BOX[0] / 3, (points[-2][0] - x1) / 4))
    stops = [(x0, y0 + BOX[1] / 2), *points[1:-1], (x1, y1 - BOX[1] / 2 - 1)]
    drawn = f"M{x0:.0f} {stops[0][1]:.0f}"
    for (ax, ay), (bx, by) in pairwise(stops):
        drawn += f"C{ax:.0f} {(ay + by) / 2:.0f} {bx:.0f} {(ay + by) / 2:.0f} {bx:.0f} {by:.0f}"
    return f'<path class="edge" d="{drawn}"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
