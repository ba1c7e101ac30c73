"""The README tells the truth: its snippets run, its tables are the live environment's, its links lead somewhere."""

from __future__ import annotations

import re

import pytest

from tests.docs.tables import README, rewritten

TEXT = README.read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)


def test_tables_are_those_of_the_live_environment() -> None:
    assert rewritten(TEXT) == TEXT, "run: python -m tests.docs.tables"


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) >= 3


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet_runs(snippet: str) -> None:
    exec(compile(snippet, "README.md", "exec"), {"__name__": "__main__"})


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
