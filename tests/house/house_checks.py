"""House rules of the code base: `python -m tests.house.house_checks` lists every violation.

The exit code is 1 if there is one. Options: `--under PATH` shows only findings in a file or folder, `--summary` counts
them per check and folder, `--budget` also compares lines and files with the budgets.
"""

from __future__ import annotations

import argparse
import ast
import collections
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.house.old_style_words import old_style, texts

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGE = "fiveup_env"
CODE = (PACKAGE, "training", "tests")

# Each allow list holds exceptions with their reason.
REPEATED_NAMES: dict[str, str] = {}
REPEATED_FILES: dict[str, str] = {"__init__.py": "a package needs one"}
WIDE_KERNELS: dict[str, str] = {}
HEADLESS_DOCSTRINGS: dict[str, str] = {}

DEAD_REFERENCES: dict[str, str] = {
    "CHANGELOG.md": "describes former versions",
    "docs/research-log.md": "describes former versions",
    "tests/house/": "planted violations",
    "pyproject.toml": "places training and configs in the wheel",
}

REFERENCE = re.compile(rf"\b{PACKAGE}(?:(?:\.[a-z_]\w*)+|(?:/[a-z_][\w-]*)+(?:\.\w+)?)")
MOST_PARAMETERS = 8
HEADLESS = ("What", "Who", "Whoever", "How")
LINE_BUDGETS = {PACKAGE: 20_500, "training": 5_500, "tests": 19_000}
FILE_BUDGETS = {PACKAGE: 125}


@dataclass(frozen=True)
class Finding:
    """A violation of a house rule; `path` is relative to the repository."""

    check: str
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.check}: {self.text}"


def python_files(root: Path, *folders: str) -> Iterator[Path]:
    """All Python files in these folders of the repository, sorted."""
    for folder in folders:
        yield from sorted((root / folder).rglob("*.py"))


def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def _top_level(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes of a module, those inside a top-level `if` or `try` included."""
    ahead: list[ast.stmt] = list(module.body)
    while ahead:
        node = ahead.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            ahead += node.body + node.orelse


def repeated_names(root: Path) -> Iterator[Finding]:
    """Public top-level functions and classes defined in more than one file of the package."""
    homes: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for file in python_files(root, PACKAGE):
        for node in _top_level(parsed(file)):
            if not node.name.startswith("_"):
                homes[node.name].setdefault(str(file.relative_to(root)), node.lineno)
    for name, found in sorted(homes.items()):
        if len(found) > 1 and name not in REPEATED_NAMES:
            for path, line in found.items():
                others = ", ".join(other for other in found if other != path)
                yield Finding("repeated name", path, line, f"{name} is also in {others}")


def repeated_files(root: Path) -> Iterator[Finding]:
    """File names that occur more than once in the package."""
    homes: dict[str, list[str]] = collections.defaultdict(list)
    for file in python_files(root, PACKAGE):
        homes[file.name].append(str(file.relative_to(root)))
    for name, paths in sorted(homes.items()):
        if len(paths) > 1 and name not in REPEATED_FILES:
            for path in paths:
                others = ", ".join(other for other in paths if other != path)
                yield Finding("repeated file name", path, 1, f"{name} is also {others}")


def wide_kernels(root: Path) -> Iterator[Finding]:
    """Compiled functions with more than eight parameters."""
    for file in python_files(root, PACKAGE):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef) and _is_kernel(node) and node.name not in WIDE_KERNELS:
                given = node.args
                count = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
                if count > MOST_PARAMETERS:
                    text = f"{node.name} has {count} parameters, at most {MOST_PARAMETERS} are allowed"
                    yield Finding("wide kernel", str(file.relative_to(root)), node.lineno, text)


def _is_kernel(node: ast.FunctionDef) -> bool:
    names = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return any(ast.unparse(name).rpartition(".")[2] in ("kernel", "entry", "njit", "jit") for name in names)


def modules_without_layer(root: Path) -> Iterator[Finding]:
    """Modules outside the contract of layers, and layers without a module."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [one for one in contracts if one["type"] == "layers" and one["containers"] == [PACKAGE]]
    if not layers.get("exhaustive"):
        yield Finding("module without layer", "pyproject.toml", 1, "the contract of layers must be exhaustive")
    if layers.get("exhaustive_ignores"):
        text = f"exhaustive_ignores leaves out {layers['exhaustive_ignores']}"
        yield Finding("module without layer", "pyproject.toml", 1, text)
    named = {name.strip(" ()") for layer in layers["layers"] for name in layer.replace(":", "|").split("|")}
    for file in python_files(root, PACKAGE):
        parts = file.relative_to(root / PACKAGE).with_suffix("").parts
        if parts[0] not in named and parts != ("__init__",):
            text = f"{parts[0]} is in no layer of pyproject.toml"
            yield Finding("module without layer", str(file.relative_to(root)), 1, text)
        if len(parts) > 1 and not (file.parent / "__init__.py").exists():
            text = "the folder has no __init__.py, so that import contracts do not see it"
            yield Finding("module without layer", str(file.relative_to(root)), 1, text)
    for name in sorted(named):
        if not (root / PACKAGE / name).is_dir() and not (root / PACKAGE / f"{name}.py").is_file():
            yield Finding("module without layer", "pyproject.toml", 1, f"the layer {name} has no module")


def headless_docstrings(root: Path) -> Iterator[Finding]:
    """Docstrings that start with What, Who, Whoever or How."""
    for file in python_files(root, *CODE):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                line = (ast.get_docstring(node) or "-").splitlines()[0]
                first = line.split()[0].rstrip(",.:;")
                if first in HEADLESS and line not in HEADLESS_DOCSTRINGS:
                    yield Finding("headless docstring", str(file.relative_to(root)), getattr(node, "lineno", 1), line)


def old_style_words(root: Path) -> Iterator[Finding]:
    """Words that `old_style_words` lists."""
    for path, line, text in old_style(root):
        yield Finding("old-style words", path, line, text)


def dead_references(root: Path) -> Iterator[Finding]:
    """Dotted names and paths of the package, in text for people, that lead nowhere."""
    for path, first, text in texts(root):
        for match in REFERENCE.finditer(text):
            exists = _is_defined(root, match[0]) if "." in match[0].split("/")[0] else (root / match[0]).exists()
            if not exists and not any(path.startswith(start) for start in DEAD_REFERENCES):
                yield Finding("dead reference", path, first + text.count("\n", 0, match.start()), match[0])


def _is_defined(root: Path, dotted: str) -> bool:
    """Whether a dotted name is a module, or a name in one (attributes of that name are not checked)."""
    parts, folder = dotted.split("."), root
    while parts and (folder / parts[0]).is_dir():
        folder = folder / parts.pop(0)
    file = folder / f"{parts[0]}.py" if parts and (folder / f"{parts[0]}.py").is_file() else folder / "__init__.py"
    rest = parts[1:] if file.stem != "__init__" else parts
    return not rest or re.search(rf"\b{rest[0]}\b", file.read_text(encoding="utf-8")) is not None


def over_budget(root: Path) -> Iterator[Finding]:
    """Folders with more lines or files than their budget."""
    for folder, most in LINE_BUDGETS.items():
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in python_files(root, folder))
        if lines > most:
            yield Finding("budget", folder, 1, f"{lines:,} lines, at most {most:,} are planned")
    for folder, most in FILE_BUDGETS.items():
        files = len(list(python_files(root, folder)))
        if files > most:
            yield Finding("budget", folder, 1, f"{files} files, at most {most} are planned")


CHECKS = (
    repeated_names,
    repeated_files,
    wide_kernels,
    modules_without_layer,
    headless_docstrings,
    old_style_words,
    dead_references,
)


def main() -> int:
    """Print the findings; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.house_checks", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="Checkout to look at.")
    parser.add_argument("--under", default="", help="Show only findings whose path starts with this.")
    parser.add_argument("--summary", action="store_true", help="Count the findings per check and folder.")
    parser.add_argument("--budget", action="store_true", help="Compare lines and files with the budgets, too.")
    given = parser.parse_args()
    checks = [*CHECKS, over_budget] if given.budget else CHECKS
    found = [one for check in checks for one in check(given.root) if one.path.startswith(given.under)]
    if given.summary:
        counts = collections.Counter((one.check, "/".join(Path(one.path).parts[:-1][:3]) or one.path) for one in found)
        lines = [f"{count:5}  {check:<20}  {folder}" for (check, folder), count in sorted(counts.items())]
    else:
        lines = [str(one) for one in found]
    print("\n".join([*lines, f"{len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
