"""Tables of measurements in docs/ are those of docs/data; tables of names are complete.

`python -m tests.docs.test_measured` rewrites the table of docs/libraries.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from training.libraries import EXAMPLES, library_table

DOCS = Path(__file__).parents[2] / "docs"
LIBRARIES = DOCS / "libraries.md"
MARKS = re.compile(r"(<!-- libraries -->\n).*?(<!-- /libraries -->)", re.S)


def rewritten(text: str) -> str:
    """The page with the table of the last run."""
    data = json.loads((DOCS / "data" / "libraries.json").read_text(encoding="utf-8"))
    assert len(MARKS.findall(text)) == 1
    return MARKS.sub(lambda found: f"{found[1]}{library_table(data)}\n{found[2]}", text)


def test_libraries_are_those_of_the_last_run() -> None:
    text = LIBRARIES.read_text(encoding="utf-8")
    assert rewritten(text) == text, "run: python -m tests.docs.test_measured"
    for name in EXAMPLES:
        assert (DOCS.parent / "training" / "examples" / f"{name}.py").exists()
        assert text.count(f"| `{name}` |") == 2, "a row of features and a row of measurements"


def test_the_ablation_table_is_the_measured_one() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    from training.ablation import BASE, CHANGES, ablation_table, merged

    text, data = (DOCS / "training.md").read_text(), json.loads((DOCS / "data" / "ablation.json").read_text())
    [shown] = re.findall(r"<!-- ablation -->\n(.*?)\n<!-- /ablation -->", text, re.DOTALL)
    assert shown == ablation_table(data)
    assert data["base"] == BASE
    assert all(found["changes"] == CHANGES[name] for name, found in data["runs"].items())
    # changes are merged key by key, but opponents are replaced as a whole
    base = {"ppo": {"clip": 0.2, "epochs": 1}, "opponents": {"self": 1}}
    changed = merged(base, {"ppo": {"epochs": 2}, "opponents": {"greedy": 1}, "seed": 3})
    assert changed == {"ppo": {"clip": 0.2, "epochs": 2}, "opponents": {"greedy": 1}, "seed": 3}
    assert base == {"ppo": {"clip": 0.2, "epochs": 1}, "opponents": {"self": 1}}


def test_openspiel_parameters_and_bots_are_complete() -> None:
    pytest.importorskip("pyspiel", reason="needs the extra openspiel")
    from fiveup_env.adapters.openspiel.openspiel_agents import BOTS
    from fiveup_env.adapters.openspiel.openspiel_game import PARAMETERS

    text = (DOCS / "openspiel.md").read_text(encoding="utf-8")
    for name in PARAMETERS:
        assert re.search(rf"^\|.*`{name}`.*\|", text, re.M), name
    for name in BOTS:
        assert f"| `openspiel:{name}` |" in text


if __name__ == "__main__":
    LIBRARIES.write_text(rewritten(LIBRARIES.read_text(encoding="utf-8")), encoding="utf-8")
