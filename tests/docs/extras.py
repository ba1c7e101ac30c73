"""Size of each extra in megabytes: `python -m tests.docs.extras` prints the table of docs/install.md.

For every extra whose requirements are installed here: the distributions that it needs, theirs included, beyond what the
package needs anyway, and the size of their files.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.docs.tables import ROOT, table

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


def requirements(extra: str | None) -> list[str]:
    """Requirements in pyproject.toml of an extra (None: of the package)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"] if extra is None else project["optional-dependencies"][extra])


def closure(wanted: list[str]) -> set[str]:
    """Names of all distributions that these requirements bring here.

    Raises:
        PackageNotFoundError: if one of them is not installed.
    """
    found: set[str] = set()
    ahead = [Requirement(text) for text in wanted]
    done: set[tuple[str, frozenset[str]]] = set()
    while ahead:
        need = ahead.pop()
        name = canonicalize_name(need.name)
        if name == "fiveup-env":
            ahead += [Requirement(text) for extra in need.extras for text in requirements(extra)]
            continue
        if (name, frozenset(need.extras)) in done:
            continue
        done.add((name, frozenset(need.extras)))
        found.add(name)
        for text in distribution(name).requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in ("", *need.extras)):
                ahead.append(inner)
    return found


@cache
def size(name: str) -> int:
    """Bytes of the files of an installed distribution."""
    installed: Distribution = distribution(name)
    paths = {Path(str(installed.locate_file(file))) for file in installed.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file())


def rows() -> list[list[str]]:
    """Extra, packages beyond the base, megabytes, what is largest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = closure(requirements(None))
    lines = [_line("(none)", base)]
    for extra in project["optional-dependencies"]:
        try:
            lines.append(_line(f"`{extra}`", closure(requirements(extra)) - base))
        except PackageNotFoundError as missing:
            print(f"{extra}: {missing.name} is not installed here")
    return lines


def _line(name: str, packages: set[str]) -> list[str]:
    largest = sorted(packages, key=size, reverse=True)[:3]
    return [
        name,
        str(len(packages)),
        f"{sum(map(size, packages)) / 1e6:,.0f}",
        ", ".join(f"{package} {size(package) / 1e6:,.0f}" for package in largest if size(package) > 1e6),
    ]


if __name__ == "__main__":
    print(table(["extra", "packages more", "MB", "largest"], rows()))
