"""Tables for the terminal, HTML and Markdown, and the format of their numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fiveup_env.evaluation.statistics import Estimate

Shown = Callable[[float], str]
"""Format of a number."""


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:.1f}%"


def points(value: float) -> str:
    """Signed display points."""
    return f"{value:+.2f}"


def amount(value: float) -> str:
    """Unsigned display points."""
    return f"{value:.2f}"


def between(estimate: Estimate, shown: Shown) -> str:
    """Interval of an estimate; "unknown" for a single start."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return "unknown"
    return f"{shown(estimate.low)} to {shown(estimate.high)}"


def within(estimate: Estimate | None, shown: Shown) -> str:
    """Estimate with its interval in one cell; a dash if there is no case."""
    if estimate is None:
        return "–"
    return f"{shown(estimate.value)} [{between(estimate, shown).replace(' to ', ', ')}]"


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Attributes:
        title: title of the table.
        head: column heads.
        rows: cells.
        notes: lines below the table.
        texts: number of left-aligned text columns, from the left; the others are right-aligned.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: int = 1

    def rich(self) -> Group:
        """Table for the terminal."""
        table = Table(title=Text(self.title), title_justify="left")
        for i, heading in enumerate(self.head):
            table.add_column(heading, justify="left" if i < self.texts else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        return Group(table, *(Text(line, style="dim") for line in self.notes))

    def html(self) -> str:
        """HTML of the table; a wide table scrolls in a frame."""
        head = "".join(f"<th{self._kind(i)}>{escape(cell)}</th>" for i, cell in enumerate(self.head))
        rows = "".join(
            f"<tr>{''.join(f'<td{self._kind(i)}>{_cell(cell)}</td>' for i, cell in enumerate(row))}</tr>"
            for row in self.rows
        )
        notes = "".join(f'<p class="small">{escape(line)}</p>' for line in self.notes)
        return (
            f'<h2>{escape(self.title)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{notes}"
        )

    def _kind(self, column: int) -> str:
        return ' class="text"' if column < self.texts else ""

    def markdown(self) -> str:
        """Markdown of the table, without the title."""
        lines = [
            list(self.head),
            ["---" if i < self.texts else "---:" for i in range(len(self.head))],
            *[list(row) for row in self.rows],
        ]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return table + "".join(f"\n\n{line}" for line in self.notes)


def _cell(text: str) -> str:
    """HTML of a cell, with the interval below its estimate."""
    found = re.fullmatch(r"(\S+) (\[.*\])", text)
    return f'{escape(found[1])}<br><span class="small">{escape(found[2])}</span>' if found else escape(text)
