"""Words that mark hard-to-read English, searched in docstrings, comments, strings, docs, notebooks and configs."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

UNITS = r"(?:seconds?|milliseconds?|microseconds?|ms|s|µs|us|worlds|playouts|iterations|searches|points|nodes|bytes|%)"

# Pattern -> better words. A space matches any white space and the marks at the beginning of a line.
WORDS = {
    r"anew": "again",
    r"so many": "N, or the number of …",
    r"(?:go|goes|going|went|gone) on": "continue",
    r"(?:told|tells|tell|telling) of": "report",
    r"stands? in": "is in",
    r"what [^.;:!?]{1,60}? (?:is|are|was|were) worth": "the value of …",
    r"that is none": "not a …",
    r"whoever": "the caller, the player, the user",
    r"beside": "next to, in addition to",
    r"of (?:its|his|her|their|our) own": "own, separate",
    r"(?:make|makes|made|making) of (?:it|them)": "derive, form",
    r"in that hour": "leave it out",
    r"a busy machine": "give the load",
    r"(?<![-\w])quiet(?!\s*[=:])": "give the load, or say what is missing",
    rf"{UNITS} a decision": "per decision",
    r"(?:come|comes|came|coming) to(?! an end)": "is, equals, reaches",
    r"none of it": "nothing, no …",
    r"as (?:many|much|few|long) [^.;:!?]{0,30}?as (?:is|are) (?:asked|wanted|given)": "give the number",
    r"with which": "say which first",
}

# (start of the path, what is allowed there, why)
ALLOWED: list[tuple[str, str, str]] = [
    ("tests/house/", "", "the list itself and its tests"),
]

TEXTS = (
    "*.md",
    "*.toml",
    "*.yml",
    "docs/*.md",
    "configs/*.yaml",
    "configs/*.md",
    ".ci/*",
    ".github/**/*.yml",
    "fiveup_env/**/*.md",
    "fiveup_env/**/*.html",
    "fiveup_env/**/*.js",
    "fiveup_env/**/*.css",
)
BREAK = r"(?:\s|\n\s*(?:#|//|\*|>|<!--)+\s)+"
PATTERNS = {re.compile(rf"(?<![\w`]){word.replace(' ', BREAK)}\b", re.I): better for word, better in WORDS.items()}


def texts(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield path, first line and text of everything in the checkout that is written for people."""
    for file in _files(root):
        for first, text in _pieces(file):
            yield file.relative_to(root).as_posix(), first, text


def old_style(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and text of every old-style word in the checkout."""
    for path, first, text in texts(root):
        for pattern, better in PATTERNS.items():
            for match in pattern.finditer(text):
                line = first + text.count("\n", 0, match.start())
                if not _allowed(path, text, match):
                    around = " ".join(text[max(0, match.start() - 25) : match.end() + 25].split())
                    yield path, line, f"“{' '.join(match[0].split())}” (better: {better}) in “{around}”"


def _files(root: Path) -> Iterator[Path]:
    for pattern in TEXTS:
        yield from sorted(root.glob(pattern))
    yield from sorted(root.glob("notebooks/*.ipynb"))
    for folder in ("fiveup_env", "training", "tests", "docs", ".ci"):
        yield from sorted((root / folder).rglob("*.py"))


def _allowed(path: str, text: str, match: re.Match[str]) -> bool:
    around = text[max(0, match.start() - 60) : match.end() + 60]
    return any(path.startswith(start) and re.search(words, around, re.I) for start, words, _ in ALLOWED)


def _pieces(file: Path) -> Iterator[tuple[int, str]]:
    """First line and text of everything in a file that is written for people."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from _strings(text)
        yield from _comments(text)
    elif file.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(text)["cells"], 1):
            yield number, "".join(cell["source"])
    elif file.suffix or file.parent.name == ".ci":
        yield 1, text


def _strings(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments on consecutive lines are one piece."""
    first, last, lines = 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and lines:
                yield first, "\n".join(lines)
                lines = []
            first, last = (token.start[0] if not lines else first), token.start[0]
            lines.append(token.string)
    if lines:
        yield first, "\n".join(lines)
