"""The snippets of docs/openspiel.md run, and its table of parameters is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "openspiel.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)

pytest.importorskip("pyspiel", reason="needs open-spiel (pip install 'fiveup-env[openspiel]', Python 3.11 or later)")


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet_runs(snippet: str) -> None:
    exec(compile(snippet, "openspiel.md", "exec"), {"__name__": "__main__"})


def test_all_parameters_and_bots_are_told() -> None:
    from fiveup_env.adapters.openspiel.openspiel_agents import BOTS
    from fiveup_env.adapters.openspiel.openspiel_game import PARAMETERS

    assert len(SNIPPETS) == 4
    for name in PARAMETERS:
        assert re.search(rf"^\|.*`{name}`.*\|", TEXT, re.M), name
    for name in BOTS:
        assert f"| `openspiel:{name}` |" in TEXT
