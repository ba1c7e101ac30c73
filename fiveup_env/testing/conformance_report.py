"""What a conformance check says: an error that names what broke, or a report of what was looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class ConformanceError(AssertionError):
    """What was checked does not keep to its contract.

    Attributes:
        what: what was checked.
        check: the name of the check, to be looked up in the report's table or left out by `skip`.
    """

    def __init__(self, what: str, check: str, problem: str) -> None:
        super().__init__(f"{what} fails the check {check!r}: {problem}")
        self.what, self.check = what, check


class Broken(Exception):
    """Raised inside a check; `Checks` makes a `ConformanceError` of it."""


@dataclass(frozen=True)
class Report:
    """What was checked, and how fast it was.

    Attributes:
        what: the name of the agent, environment or scheme.
        passed: name of a check -> what it says.
        skipped: names of those left out.
        figures: name of a figure -> its value, units in the name.
    """

    what: str
    passed: Mapping[str, str]
    skipped: tuple[str, ...]
    figures: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        wide = max(map(len, [*self.passed, *self.skipped, ""]))
        lines = [self.what]
        lines += [f"  ok       {name:<{wide}}  {meaning}" for name, meaning in self.passed.items()]
        lines += [f"  skipped  {name}" for name in self.skipped]
        lines += [f"  {value:,.6g} {name}" for name, value in self.figures.items()]
        return "\n".join(lines)


class Checks:
    """Runs named checks in order.

    Args:
        what: the name of what is checked.
        known: every check's name -> what it says, for the report.
        skip: names of checks to leave out.

    Raises:
        ValueError: if `skip` names none of them.
    """

    def __init__(self, what: str, known: Mapping[str, str], skip: Collection[str]) -> None:
        names = [skip] if isinstance(skip, str) else list(skip)
        for name in names:
            if name not in known:
                raise ValueError(f"there is no check {name!r} to skip: the checks are {', '.join(known)}")
        self.what, self._known, self._skip = what, known, names
        self._passed: dict[str, str] = {}
        self.figures: dict[str, float] = {}

    def run(self, name: str, check: Callable[[], object]) -> None:
        """Run a check unless it is to be skipped.

        Raises:
            ConformanceError: if it finds something broken, or whatever is checked raises.
        """
        if not self.wanted(name):
            return
        with self.named(name):
            check()
        self._passed[name] = self._known[name]

    def each(self, name: str, check: Callable[..., object], *cases: Iterable[Any]) -> None:
        """Run a check for each case (several iterables: for each tuple of them), as one."""

        def all_of_them() -> None:
            for case in zip(*cases, strict=True):
                check(*case)

        self.run(name, all_of_them)

    @contextlib.contextmanager
    def named(self, name: str) -> Iterator[None]:
        """What is raised inside counts as a failure of this check."""
        try:
            yield
        except Broken as problem:
            raise ConformanceError(self.what, name, str(problem)) from problem.__cause__
        except ConformanceError:
            raise
        except Exception as error:
            problem_text = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ConformanceError(self.what, name, problem_text) from error

    def wanted(self, name: str) -> bool:
        """Whether a check is not left out."""
        return name not in self._skip

    def report(self) -> Report:
        """What passed."""
        return Report(self.what, dict(self._passed), tuple(self._skip), dict(self.figures))
