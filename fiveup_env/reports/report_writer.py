"""The report writer: one result as an HTML page, JSON and Markdown.

A page is one file without scripts, fonts or links, in light and dark colours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from fiveup_env.reports.tables import Grid
from fiveup_env.system.machine import describe_machine

STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --faint: #5b6873; --rule: #d5dce3; --ground: #fff; --panel: #f2f5f7;
--blue: #1f6fb2; --band: #cfe3f3 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --faint: #9aa7b3; --rule: #3a4550; --ground: #14191f;
--panel: #1f272f; --blue: #5aa9e6; --band: #234a69 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 50rem;
margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin-top: 2rem }
.wide { overflow-x: auto } table { border-collapse: collapse; min-width: 100% }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top }
th { font-weight: 600; vertical-align: bottom } td { font-variant-numeric: tabular-nums; white-space: nowrap }
td .small { font-size: .8rem } .text { text-align: left; white-space: normal; min-width: 5.5rem }
.text:first-child { min-width: 8.5rem }
svg { width: 100%; min-width: 28rem; height: auto; display: block }
pre { background: var(--panel); padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere }
.small { color: var(--faint); font-size: .9rem }
"""


@dataclass(frozen=True)
class ReportContent:
    """Content of a report.

    Attributes:
        title: plain text.
        content: figures for JSON.
        sections: tables, and HTML between them.
        notes: lines about the figures.
        markdown: whether the tables are written as Markdown too.
    """

    title: str
    content: Mapping[str, Any]
    sections: Sequence[Grid | str]
    notes: Sequence[str] = ()
    markdown: bool = True

    @property
    def grids(self) -> list[Grid]:
        """The tables alone."""
        return [section for section in self.sections if isinstance(section, Grid)]

    def html(self, command: str) -> str:
        """The page; `command` is the command line that made the report."""
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(self.title)}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(self.title)}</h1>\n"
            + "\n".join(self._body(command))
            + "\n</body>\n</html>\n"
        )

    def _body(self, command: str) -> Iterator[str]:
        for section in self.sections:
            yield section.html() if isinstance(section, Grid) else section
        yield f"<h2>How it was made</h2><pre>{escape(command)}</pre>"
        yield f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in self.notes)}</ul>"
        yield f'<p class="small">{escape(", ".join(f"{key} {value}" for key, value in describe_machine().items()))}</p>'

    def text(self, command: str) -> str:
        """The tables as Markdown, followed by the command."""
        return "\n\n".join([*(f"**{grid.title}**\n\n{grid.markdown()}" for grid in self.grids), f"`{command}`"]) + "\n"


def write_report(report: ReportContent, folder: str | os.PathLike[str], command: str) -> Path:
    """Write `index.html`, `report.json` and, for Markdown, `report.md` to a folder; return the page's path.

    Raises:
        OSError: if the folder or a file cannot be written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    content = {**report.content, "command": command, "machine": describe_machine()}
    files = {"report.json": json.dumps(content, allow_nan=False), "index.html": report.html(command)}
    if report.markdown:
        files["report.md"] = report.text(command)
    for name, text in files.items():
        new = target / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        os.replace(new, target / name)
    return target / "index.html"
