"""The code base keeps the house rules, and the checks find violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house import house_checks
from tests.house.house_checks import ROOT, Finding

CONTRACT = """[[tool.importlinter.contracts]]
name = "layers"
type = "layers"
containers = ["fiveup_env"]
exhaustive = true
layers = ["envs | gone"]
"""
ENVS = '''"""How it works."""

@kernel
def walk(a, b, c, d, e, f, g, h, i):
    """Goes on anew, see fiveup_env.envs.nothing."""
'''


@pytest.mark.parametrize("check", house_checks.CHECKS, ids=lambda check: check.__name__)
def test_house_rules(check: Callable[[Path], Iterator[Finding]]) -> None:
    found = [str(one) for one in check(ROOT)]
    assert not found, "\n".join(found)


def test_violations_are_found(tmp_path: Path) -> None:
    for folder, text in {"envs": ENVS, "views": "def walk():\n    pass\n"}.items():
        (tmp_path / "fiveup_env" / folder).mkdir(parents=True)
        (tmp_path / "fiveup_env" / folder / "same.py").write_text(text, encoding="utf-8")
        (tmp_path / "fiveup_env" / folder / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(CONTRACT, encoding="utf-8")
    counts = {check.__name__: len(list(check(tmp_path))) for check in house_checks.CHECKS}
    assert counts == {
        "repeated_names": 2,
        "repeated_files": 2,
        "wide_kernels": 1,
        "modules_without_layer": 3,  # both files of views, and the layer without a module
        "headless_docstrings": 1,
        "old_style_words": 2,
        "dead_references": 1,
    }
