"""The frame of every page that evaluation writes: one file without scripts, fonts or links, light and dark."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
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


def page(title: str, body: Iterable[str]) -> str:
    """A whole page; `title` is text, the body HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def how_it_was_made(command: str, notes: Iterable[str]) -> str:
    """The last section: the command, what is to be said about the figures, versions and machine."""
    return (
        f"<h2>How it was made</h2><pre>{escape(command)}</pre>"
        + "<ul>"
        + "".join(f"<li>{escape(line)}</li>" for line in notes)
        + "</ul>"
        + f'<p class="small">{escape(", ".join(f"{key} {value}" for key, value in describe_machine().items()))}</p>'
    )


def grids_page(title: str, grids: Iterable[Grid], command: str, *, lead: str = "", notes: Iterable[str] = ()) -> str:
    """A page of tables; `lead` is HTML above them."""
    return page(title, [lead, *(grid.html() for grid in grids), how_it_was_made(command, notes)])


def grids_text(grids: Iterable[Grid], command: str) -> str:
    """The tables as Markdown, with the command that made them."""
    return "\n\n".join([*(f"**{grid.title}**\n\n{grid.markdown()}" for grid in grids), f"`{command}`"]) + "\n"


def write_folder(
    folder: str | os.PathLike[str], html: str, content: Mapping[str, Any], markdown: str | None = None
) -> Path:
    """Write `index.html`, `report.json` and, if given, `report.md` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = {"report.json": json.dumps(content, allow_nan=False), "index.html": html}
    if markdown is not None:
        files["report.md"] = markdown
    for name, text in files.items():
        new = target / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        os.replace(new, target / name)
    return target / "index.html"
