"""The tables of the README that describe spaces, made from the live environment.

`python -m tests.docs.tables` rewrites them in place; a test fails while they differ.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from fiveup_env.encoding.observation import offsets, sections
from fiveup_env.envs.options import EnvOptions
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, LAY_END, LAY_SPINNER, NUM_ACTIONS, PASS, describe

README = Path(__file__).resolve().parents[2] / "README.md"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def observation_table() -> str:
    """Sections with their index ranges for 2, 3 and 4 players."""
    rows = []
    for i, section in enumerate(sections(4)):
        ranges = []
        for players in (2, 3, 4):
            start, stop = (int(offset) for offset in offsets(players)[i : i + 2])
            ranges.append(f"{start}" if stop == start + 1 else f"{start}-{stop - 1}")
        unit = "0 or 1" if section.unit == 1 else f"count / {round(1 / section.unit)}"
        shape = "x".join(map(str, section.shape))
        rows.append([f"`{section.name}`", shape, *ranges, unit, section.meaning])
    total = ["**length**", "", *(f"**{int(offsets(n)[-1])}**" for n in (2, 3, 4)), "", ""]
    return table(["section", "shape (4)", "2 players", "3 players", "4 players", "values", "meaning"], [*rows, total])


def action_table() -> str:
    """Ranges of action ids with an example of each."""
    bounds = [0, LAY_DOUBLE, LAY_END, LAY_SPINNER, DRAW, PASS, NUM_ACTIONS]
    rows = []
    for first, stop in itertools.pairwise(bounds):
        ids = f"{first}" if stop == first + 1 else f"{first}-{stop - 1}"
        rows.append([ids, str(stop - first), f"`{describe(stop - 1)}`"])
    return table(["ids", "count", "for example, the last of them"], rows)


def option_table() -> str:
    """Options that all environments share, with their defaults."""
    attributes = EnvOptions.__doc__.split("Attributes:")[1].split("Raises:")[0]  # type: ignore[union-attr]
    meanings = {}
    for names, text in re.findall(r"^ {8}([\w, ]+): (.+?)(?=^ {8}\w|\Z)", attributes, re.M | re.S):
        for name in names.split(", "):
            meanings[name] = " ".join(text.split())
    defaults = EnvOptions()
    return table(
        ["option", "default", "meaning"],
        [[f"`{name}`", f"`{getattr(defaults, name)!r}`", text] for name, text in meanings.items()],
    )


TABLES = {"observation": observation_table, "actions": action_table, "options": option_table}


def rewritten(text: str) -> str:
    """The README's text with every table between its two markers made anew."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.S)
        if not pattern.search(text):
            raise ValueError(f"README.md has no markers for the table {name!r}")
        text = pattern.sub(lambda match, make=make: f"{match[1]}{make()}\n{match[2]}", text)
    return text


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
