"""A table once, for the terminal, for a page and for Markdown; and how numbers are written in it."""

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
"""How a number is written."""


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.1f}%"


def points(value: float) -> str:
    """Display points for people, with their sign."""
    return f"{value:+.2f}"


def amount(value: float) -> str:
    """Display points that have no sign to speak of."""
    return f"{value:.2f}"


def between(estimate: Estimate, shown: Shown) -> str:
    """The interval of an estimate; a lone start has none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return "unknown"
    return f"{shown(estimate.low)} to {shown(estimate.high)}"


def within(estimate: Estimate | None, shown: Shown) -> str:
    """An estimate with its interval in a cell; a dash where there was no case."""
    if estimate is None:
        return "–"
    return f"{shown(estimate.value)} [{between(estimate, shown).replace(' to ', ', ')}]"


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Attributes:
        title: what it shows.
        head: of the columns.
        rows: as many cells each.
        notes: lines below it.
        texts: how many columns, from the left, hold text and are left-aligned; the others are right-aligned.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: int = 1

    def rich(self) -> Group:
        """For the terminal."""
        table = Table(title=Text(self.title), title_justify="left")
        for i, heading in enumerate(self.head):
            table.add_column(heading, justify="left" if i < self.texts else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        return Group(table, *(Text(line, style="dim") for line in self.notes))

    def html(self) -> str:
        """For a page; a wide one scrolls in its own frame."""
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
        """For a document, without the title."""
        lines = [
            list(self.head),
            ["---" if i < self.texts else "---:" for i in range(len(self.head))],
            *[list(row) for row in self.rows],
        ]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return table + "".join(f"\n\n{line}" for line in self.notes)


def _cell(text: str) -> str:
    """HTML of a cell; the interval behind an estimate goes below it."""
    found = re.fullmatch(r"(\S+) (\[.*\])", text)
    return f'{escape(found[1])}<br><span class="small">{escape(found[2])}</span>' if found else escape(text)
