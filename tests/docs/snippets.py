"""The snippets of README.md and docs/*.md.

Every fence of Python is run by a test, alone, in an empty folder. On the line before it may stand:

    <!-- needs: torch sb3_contrib -->    skip it where one of these cannot be imported
    <!-- not run: why -->                do not run it

and a fence of text after `<!-- output -->` must be what the snippet before it prints.

Every line of a fence of bash, and every indented line, that begins with "fiveup" must be a command line that the
program takes; it is parsed, not run. A capital letter alone stands for a number.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.docs.tables import ROOT, pages

FENCE = re.compile(r"(?:^<!-- ([^\n]*?) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^(?: {4})?(fiveup .*)$", re.M)


@dataclass(frozen=True)
class Snippet:
    """Python on a page.

    Attributes:
        page: relative to the repository.
        line: of its first line.
        code: the text.
        needs: modules without which it is skipped.
        not_run: why it is not run, None if it is.
        output: what it must print, None if anything.
    """

    page: str
    line: int
    code: str
    needs: tuple[str, ...]
    not_run: str | None
    output: str | None

    @property
    def name(self) -> str:
        """For the test's id."""
        return f"{self.page}:{self.line}"


def snippets_of(page: Path) -> list[Snippet]:
    """All Python of a page."""
    text, found = page.read_text(encoding="utf-8"), list[Snippet]()
    for fence in FENCE.finditer(text):
        note, language, content = fence[1] or "", fence[2], fence[3]
        if language == "python":
            needs = tuple(note.removeprefix("needs:").split()) if note.startswith("needs:") else ()
            not_run = note.removeprefix("not run:").strip() if note.startswith("not run:") else None
            line = text.count("\n", 0, fence.start(3)) + 1
            found.append(Snippet(str(page.relative_to(ROOT)), line, content, needs, not_run, None))
        elif note == "output":
            last = found.pop()
            found.append(Snippet(last.page, last.line, last.code, last.needs, last.not_run, content))
    return found


def all_snippets() -> list[Snippet]:
    """Of all pages."""
    return [snippet for page in pages() for snippet in snippets_of(page)]


def commands() -> list[tuple[str, list[str]]]:
    """(page, arguments) of every command line `fiveup ...` that a page shows."""
    found = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            if fence[2] in ("bash", "sh", "shell"):
                found += [(page.name, line) for line in re.findall(r"\bfiveup [^&|\n]*", fence[3])]
        outside = FENCE.sub("", text)
        found += [(page.name, line) for line in COMMAND.findall(outside)]
    return [(name, [_number(word) for word in shlex.split(line, comments=True)[1:]]) for name, line in found]


def _number(word: str) -> str:
    return "2" if word in ("N", "M") else word
