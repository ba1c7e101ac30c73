"""Every rule and decision of the rules page is cited by at least one test, and no test cites one that is not there."""

import ast
import re
from pathlib import Path

RULES = {
    *("R1.1", "R1.2", "R2.1", "R2.2", "R2.3", "R2.4", "R2.5", "R3.1", "R3.2", "R3.3"),
    *("R4.1", "R4.2", "R4.3", "R4.4", "R4.5", "R5.1", "R5.2", "R5.3", "R6.1", "R6.2"),
    *("R7.0", "R7.1", "R7.2", "R7.3", "R7.4", "R8.1", "R8.2", "R8.3", "R8.4", "R8.5", "R9.1"),
    *(f"D{number}" for number in range(1, 11)),
}
CITATION = re.compile(r"\b(?:R\d+\.\d+|D\d+)\b")
HERE = Path(__file__).parent


def cited(file):
    """Citations in the docstrings of a file's test functions, by test."""
    tree = ast.parse(file.read_text())
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {test.name: set(CITATION.findall(ast.get_docstring(test) or "")) for test in tests}


def test_every_rule_is_cited():
    found = set().union(*(names for file in HERE.glob("test_*.py") for names in cited(file).values()))
    assert RULES - found == set()


def test_no_test_cites_what_does_not_exist():
    for folder in (HERE, HERE.parent / "views", HERE.parent / "belief", HERE.parent / "oracle"):
        for file in folder.glob("*.py"):
            assert set(CITATION.findall(file.read_text())) - {"D417"} <= RULES, file
