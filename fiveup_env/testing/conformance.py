"""Running named checks, reporting them, and comparing results bit by bit."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fiveup_env.rules.match import Match


class ConformanceError(AssertionError):
    """The checked object violates its contract.

    Attributes:
        what: name of the checked object.
        check: name of the failing check, as in the report's table and in `skip`.
    """

    def __init__(self, what: str, check: str, problem: str) -> None:
        super().__init__(f"{what} fails the check {check!r}: {problem}")
        self.what, self.check = what, check


class Broken(Exception):
    """A fault found inside a check; `Checks` turns it into a `ConformanceError`."""


@dataclass(frozen=True)
class Report:
    """Checks that passed, and measured speeds.

    Attributes:
        what: name of the agent, environment or scheme.
        passed: name of a check -> its meaning.
        skipped: names of the skipped checks.
        figures: name of a figure, with its unit -> value.
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
        what: name of the checked object.
        known: name of each check -> its meaning, for the report.
        skip: names of checks to leave out.

    Raises:
        ValueError: if `skip` names an unknown check.
    """

    def __init__(self, what: str, known: Mapping[str, str], skip: Collection[str]) -> None:
        names = [skip] if isinstance(skip, str) else list(skip)
        for name in names:
            if name not in known:
                raise ValueError(f"there is no check {name!r} to skip: the checks are {', '.join(known)}")
        self.what, self._known, self._skip = what, known, names
        self._passed: dict[str, str] = {}
        self.figures: dict[str, float] = {}

    def run(self, name: str, check: Callable[..., object], *cases: Iterable[Any]) -> None:
        """Run a check unless it is skipped: once, or for each tuple of cases.

        Raises:
            ConformanceError: if the check finds a fault, or the checked object raises.
        """
        if not self.wanted(name):
            return
        with self.named(name):
            for case in zip(*cases, strict=True) if cases else [()]:
                check(*case)
        self.passed(name)

    def passed(self, name: str) -> None:
        """Report a check as passed unless it is skipped."""
        if self.wanted(name):
            self._passed[name] = self._known[name]

    @contextlib.contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Turn every exception raised inside into a failure of this check."""
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
        """Whether a check is not skipped."""
        return name not in self._skip

    def report(self) -> Report:
        """Return the report of the checks run so far."""
        return Report(self.what, dict(self._passed), tuple(self._skip), dict(self.figures))


def position_of(match: Match, seat: int | None = None) -> str:
    """Describe a position for an error message."""
    text = f"{match.num_players} players, match seed {match.seed}, round {match.round_number}"
    text += f", after {len(match.history)} actions"
    return text if seat is None else f"{text}, player_{seat}"


def difference(left: Any, right: Any, where: str = "") -> str | None:
    """Return the place where two nested values differ, such as `observation['hand']`; None if all bits are equal."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        if left.keys() != right.keys():
            return f"{where} has the keys {sorted(map(str, left))} and {sorted(map(str, right))}"
        return _first(difference(left[key], right[key], f"{where}[{key!r}]") for key in left)
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        if len(left) != len(right):
            return f"{where} has {len(left)} and {len(right)} entries"
        return _first(difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(left, right, strict=True)))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return _array_difference(left, right, where or "the array")
    both_nan = isinstance(left, float) and left != left and right != right
    same = type(left) is type(right) and (left is right or bool(left == right) or both_nan)
    return None if same else f"{where or 'the value'} is {left!r} and {right!r}"


def _array_difference(left: np.ndarray, right: np.ndarray, where: str) -> str | None:
    if left.dtype != right.dtype or left.shape != right.shape:
        return f"{where} differs ({left.dtype} {list(left.shape)} and {right.dtype} {list(right.shape)})"
    if left.dtype == object:
        return difference(left.tolist(), right.tolist(), where)
    if left.tobytes() == right.tobytes():
        return None
    if not (left != right).any():
        return f"{where} differs in the sign of a zero, or in padding"
    at = tuple(int(i) for i in np.argwhere(left != right)[0])
    return f"{where} differs at index {at[0] if len(at) == 1 else at}: {left[at]!r} and {right[at]!r}"


def check_same(left: Any, right: Any, why: str, where: str) -> None:
    """Require two nested values to be equal bit by bit."""
    found = difference(left, right)
    if found is not None:
        raise Broken(f"{why} {where}: {found}")


def _first(found: Iterator[str | None]) -> str | None:
    return next((text for text in found if text is not None), None)


@contextlib.contextmanager
def other_global_chance(seed: int) -> Iterator[None]:
    """Put the global random generators into another state, and restore them at the end."""
    python, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 (checked code may use it)
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)
