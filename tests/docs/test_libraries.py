"""The tables of docs/libraries.md are those of the last run, and what it names is there.

`python -m tests.docs.test_libraries` rewrites them in place.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from training.libraries import EXAMPLES, table

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "libraries.md"
MARKS = re.compile(r"(<!-- libraries -->\n).*?(<!-- /libraries -->)", re.S)


def rewritten(text: str) -> str:
    data = json.loads((DOCS / "data" / "libraries.json").read_text(encoding="utf-8"))
    assert len(MARKS.findall(text)) == 1
    return MARKS.sub(lambda found: f"{found[1]}{table(data)}\n{found[2]}", text)


def test_the_tables_are_those_of_the_last_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rewritten(text) == text, "run: python -m tests.docs.test_libraries"


def test_there_is_a_script_of_every_example() -> None:
    for name in EXAMPLES:
        assert (DOCS.parent / "training" / "examples" / f"{name}.py").exists()


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
