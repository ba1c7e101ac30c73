"""The tables of docs/training.md are those of docs/data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from training.ablation import BASE, CHANGES, merged, table

DOCS = Path(__file__).parents[2] / "docs"


def test_the_ablation_table_is_the_measured_one():
    text, data = (DOCS / "training.md").read_text(), json.loads((DOCS / "data" / "ablation.json").read_text())
    [shown] = re.findall(r"<!-- ablation -->\n(.*?)\n<!-- /ablation -->", text, re.DOTALL)
    assert shown == table(data)
    assert data["base"] == BASE
    assert all(found["changes"] == CHANGES[name] for name, found in data["runs"].items())


def test_changes_are_made_key_by_key_but_mixes_as_a_whole():
    base = {"ppo": {"clip": 0.2, "epochs": 1}, "opponents": {"self": 1}}
    changed = merged(base, {"ppo": {"epochs": 2}, "opponents": {"greedy": 1}, "seed": 3})
    assert changed == {"ppo": {"clip": 0.2, "epochs": 2}, "opponents": {"greedy": 1}, "seed": 3}
    assert base == {"ppo": {"clip": 0.2, "epochs": 1}, "opponents": {"self": 1}}
