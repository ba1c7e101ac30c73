"""Cases in turns: what is counted, in what order, and what the tables and ratios make of it."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from fiveup_env.benchmarks.bench import Bench, Plan, _ratios
from fiveup_env.benchmarks.benchmark_tables import report, speed_text
from fiveup_env.benchmarks.timing import Case, Clock, Seconds, Speed, in_turns
from fiveup_env.benchmarks.training_share import PARTS, Shares


class Fake:
    """A clock that only the cases move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []

    def clock(self) -> float:
        return self.now

    def case(self, name: str, seconds: float, **facts: object) -> Case:
        def run(calls: int, clock: Clock) -> Seconds:
            self.order.append(name)
            self.now += calls * seconds
            return {"half": calls * seconds / 2}

        return Case(name, run, steps=10, facts=facts)


def test_cases_take_turns_and_speeds_are_steps_over_seconds() -> None:
    fake, told = Fake(), []
    cases = [fake.case("a", 0.001), fake.case("b", 0.1)]
    speeds = in_turns(cases, 3, 0.05, lambda done, total: told.append((done, total)), fake.clock)
    assert fake.order[-6:] == ["a", "b"] * 3
    found = {speed.name: speed for speed in speeds}
    assert list(found) == ["a", "a, half", "b", "b, half"]
    assert {name: round(speed.median, 6) for name, speed in found.items()} == {
        "a": 1e4,
        "a, half": 2e4,
        "b": 100,
        "b, half": 200,
    }
    assert round(found["a"].over(found["b"]), 6) == 100
    assert told[0] == (1, 8) and told[-1] == (8, 8)


def test_a_turn_is_as_long_as_asked_for() -> None:
    fake = Fake()
    assert fake.case("a", 0.001).calls_for(0.05, fake.clock) == 50
    assert fake.case("slow", 3.0).calls_for(0.05, fake.clock) == 1


def test_median_spread_and_ratio_by_turn() -> None:
    one, two = Speed("one", (3.0, 1.0, 2.0), {}), Speed("two", (1.0, 1.0, 4.0), {"bytes": 7})
    assert one.median == 2 and one.spread == (1, 3) and one.over(two) == 1
    assert two.as_dict() == {"name": "two", "median": 1.0, "min": 1.0, "max": 4.0, "turns": [1.0, 1.0, 4.0], "bytes": 7}


def test_speeds_are_short_to_read() -> None:
    shown = [speed_text(value) for value in (12_345_678, 1_234_567, 999_999, 45_600, 123.4, 0.5)]
    assert shown == ["12.3 M", "1.23 M", "1000 k", "45.6 k", "123", "0.50"]


def made_up() -> Bench:
    """Figures of no machine."""
    bench = Bench(Plan(turns=1), {"cores": "2"}, memory={"record of a match": 440.0}, missing=["uno: not installed"])

    def speed(name: str, value: float, matches: int = 1024) -> Speed:
        return Speed(name, (value,), {"matches": matches, "bytes": 606})

    bench.groups["1,024 matches"] = [
        speed("vector env uint8", 8e6),
        speed("vector env uint8, step() alone", 9e6),
        speed("vector env uint8, 2 threads, step() alone", 18e6),
        speed("memory copy of a step's bytes uint8", 32e6),
    ]
    bench.groups["262,144 matches"] = [speed("vector env uint8, step() alone", 4.5e6, 262_144)]
    bench.groups["peers"] = [
        speed("vector env float32", 6e6),
        speed("vector env float32, step() alone", 7e6),
        speed("AEC five up, raw", 9e4),
        Speed("OpenSpiel spades (C++), tensor and mask", (3e5,), {"peer": "open_spiel"}),
    ]
    bench.shares = Shares(8, 4, {part: [1.0, 1.0] for part in PARTS})
    bench.first_use = {"import fiveup_env": (0.2, 0.1)}
    return bench


def test_ratios_compare_what_took_turns() -> None:
    ratios = dict(_ratios(made_up()))
    assert ratios["vector env uint8, 1,024 matches, of the memory copy"] == 0.25
    assert ratios["vector env uint8, step() alone, 1,024 matches, 2 threads to 1"] == 2
    assert ratios["cost of a step (vector env uint8, step() alone), 262,144 matches to 1,024"] == 2
    assert ratios["vector env float32 to OpenSpiel spades (C++), tensor and mask"] == 20
    assert abs(ratios["AEC five up, raw to OpenSpiel spades (C++), tensor and mask"] - 0.3) < 1e-12


def test_the_report_shows_everything() -> None:
    bench, out = made_up(), StringIO()
    bench.ratios = list(_ratios(bench))
    Console(file=out, width=150).print(report(bench))
    shown = ("8.00 M", "606", "440 bytes", "25.0%", "left out: uno", "import fiveup_env", "0.20", "collection without")
    assert [piece for piece in shown if piece not in out.getvalue()] == []
    plain = bench.as_dict()
    assert plain["training"]["collection without network"] == 0.5 and plain["missing"] == ["uno: not installed"]
    assert plain["groups"]["1,024 matches"][0]["median"] == 8e6
