"""Cases that take turns: what else the machine does hits all of them alike, so ratios hold where speeds do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, thread_time
from types import MappingProxyType
from typing import Any

Clock = Callable[[], float]
CLOCKS: Mapping[str, Clock] = MappingProxyType({"wall": perf_counter, "cpu": thread_time})
"""What seconds are: those that pass, or those in which the calling thread had a core. On a busy machine the second is
close to what the first would be on an idle one."""

Seconds = Mapping[str, float]
"""Time of one turn by what it was spent on; the key "" is the whole."""


@dataclass(frozen=True)
class Case:
    """Something whose speed is measured.

    Attributes:
        name: what it is, for the table.
        run: does its work `calls` times by a clock; returns parts of the time that are told apart, or None.
        steps: agent-steps of a call.
        facts: what else to say of it: number of matches, threads, bytes written per step, ...
    """

    name: str
    run: Callable[[int, Clock], Seconds | None]
    steps: int = 1
    facts: Mapping[str, Any] = field(default_factory=dict)

    def time(self, calls: int, clock: Clock) -> dict[str, float]:
        """Seconds of so many calls. The time of several threads is always the time that passes."""
        clock = clock if self.facts.get("threads", 1) == 1 else perf_counter
        begun = clock()
        taken = self.run(calls, clock)
        return {"": clock() - begun} | dict(taken or {})

    def calls_for(self, seconds: float, clock: Clock) -> int:
        """How many calls take about so long; the first one, which may compile, does not count."""
        self.time(1, clock)
        calls, taken = 1, self.time(1, clock)[""]
        while taken < seconds / 4:
            calls *= 2
            taken = self.time(calls, clock)[""]
        return max(1, round(calls * seconds / taken))


@dataclass(frozen=True)
class Speed:
    """Agent-steps per second of a case, one value a turn.

    Attributes:
        name: of the case, with what the time was spent on if that is a part of it.
        values: in the order of the turns.
        facts: of the case.
    """

    name: str
    values: tuple[float, ...]
    facts: Mapping[str, Any]

    @property
    def median(self) -> float:
        """The middle one of the turns."""
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The slowest and the fastest turn."""
        return min(self.values), max(self.values)

    def over(self, other: Speed) -> float:
        """How many times as fast as another case: the median of the ratios turn by turn."""
        return median(mine / theirs for mine, theirs in zip(self.values, other.values, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and text for JSON."""
        low, high = self.spread
        return {"name": self.name, "median": self.median, "min": low, "max": high, "turns": list(self.values)} | dict(
            self.facts
        )


def in_turns(
    cases: Sequence[Case],
    turns: int,
    seconds: float,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> list[Speed]:
    """Speeds of cases that run one after the other, again and again.

    Args:
        cases: with different names.
        turns: how many each gets.
        seconds: how long a turn is, about.
        progress: called with the numbers of turns that are done and that there are.
        clock: see `CLOCKS`.
    """
    tell = progress or (lambda done, total: None)
    calls = []
    total = len(cases) * (turns + 1)
    for number, case in enumerate(cases):
        calls.append(case.calls_for(seconds, clock))
        tell(number + 1, total)
    values: dict[tuple[int, str], list[float]] = {}
    for turn in range(turns):
        for number, case in enumerate(cases):
            for what, taken in case.time(calls[number], clock).items():
                values.setdefault((number, what), []).append(calls[number] * case.steps / taken)
            tell(len(cases) * (turn + 1) + number + 1, total)
    return [
        Speed(f"{cases[number].name}, {what}" if what else cases[number].name, tuple(found), cases[number].facts)
        for (number, what), found in sorted(values.items())
    ]
