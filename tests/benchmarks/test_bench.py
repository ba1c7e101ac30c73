"""`fiveup bench`: arguments, cases that take turns, ratios, tables, and the AEC cases."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fiveup_env import fiveup_v0
from fiveup_env.benchmarks import peer_speed
from fiveup_env.benchmarks.bench import (
    BenchError,
    BenchPlan,
    BenchResult,
    bench_tables,
    checked_sizes,
    speed_ratios,
    speed_text,
)
from fiveup_env.benchmarks.peer_speed import EmptyAEC, aec_cases, hanabi_case, in_wrappers, peer_cases, play_aec
from fiveup_env.benchmarks.timing import Case, Clock, Seconds, Speed, in_turns
from fiveup_env.benchmarks.training_share import PARTS, Shares
from fiveup_env.cli.app import run_fiveup as run


class FakeClock:
    """A clock that only the cases move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []

    def read(self) -> float:
        return self.now

    def case(self, name: str, seconds: float) -> Case:
        def run(calls: int, clock: Clock) -> Seconds:
            self.order.append(name)
            self.now += calls * seconds
            return {"half": calls * seconds / 2}

        return Case(name, run, steps=10)


def test_cases_take_turns_and_speeds_are_steps_per_second() -> None:
    fake, told = FakeClock(), []
    cases = [fake.case("a", 0.001), fake.case("b", 0.1)]
    speeds = in_turns(cases, 3, 0.05, lambda done, total: told.append((done, total)), fake.read)
    assert fake.order[-6:] == ["a", "b"] * 3
    found = {speed.name: round(speed.median, 6) for speed in speeds}
    assert list(found.items()) == [("a", 1e4), ("a, half", 2e4), ("b", 100), ("b, half", 200)]
    assert told[0] == (1, 8) and told[-1] == (8, 8)


def test_turns_have_the_requested_length() -> None:
    fake = FakeClock()
    assert fake.case("a", 0.001).calls_for(0.05, fake.read) == 50
    assert fake.case("slow", 3.0).calls_for(0.05, fake.read) == 1


def test_median_spread_and_ratio_by_turn() -> None:
    one, two = Speed("one", (3.0, 1.0, 2.0), {}), Speed("two", (1.0, 1.0, 4.0), {"bytes": 7})
    assert one.median == 2 and one.spread == (1, 3) and one.over(two) == 1
    assert two.as_dict() == {"name": "two", "median": 1.0, "min": 1.0, "max": 4.0, "turns": [1.0, 1.0, 4.0], "bytes": 7}


def test_speed_text() -> None:
    shown = [speed_text(value) for value in (12_345_678, 1_234_567, 999_999, 45_600, 123.4, 0.5)]
    assert shown == ["12.3 M", "1.23 M", "1000 k", "45.6 k", "123", "0.50"]


def made_up() -> BenchResult:
    def speed(name: str, value: float, matches: int = 1024) -> Speed:
        return Speed(name, (value,), {"matches": matches, "bytes": 606})

    groups = {
        "1,024 matches": [
            speed("vector env uint8", 8e6),
            speed("vector env uint8, step() alone", 9e6),
            speed("vector env uint8, 2 threads, step() alone", 18e6),
            speed("memory copy of a step's bytes uint8", 32e6),
        ],
        "262,144 matches": [speed("vector env uint8, step() alone", 4.5e6, 262_144)],
        "peers": [
            speed("vector env float32", 6e6),
            speed("vector env float32, step() alone", 7e6),
            speed("AEC five up, raw", 9e4),
            Speed("OpenSpiel spades (C++), tensor and mask", (3e5,), {"peer": "open_spiel"}),
        ],
    }
    return BenchResult(
        BenchPlan(turns=1),
        {"cores": "2"},
        groups,
        memory={"record of a match": 440.0},
        ratios=list(speed_ratios(groups)),
        shares=Shares(8, 4, {part: [1.0, 1.0] for part in PARTS}),
        first_use={"import fiveup_env": (0.2, 0.1)},
        missing=["uno: not installed"],
    )


def test_ratios_compare_cases_of_one_group() -> None:
    ratios = dict(made_up().ratios)
    assert ratios["vector env uint8, 1,024 matches, of the memory copy"] == 0.25
    assert ratios["vector env uint8, step() alone, 1,024 matches, 2 threads to 1"] == 2
    assert ratios["cost of a step (vector env uint8, step() alone), 262,144 matches to 1,024"] == 2
    assert ratios["vector env float32 to OpenSpiel spades (C++), tensor and mask"] == 20
    assert ratios["AEC five up, raw to OpenSpiel spades (C++), tensor and mask"] == pytest.approx(0.3)


def test_tables_show_everything() -> None:
    out, plain = StringIO(), made_up().as_dict()
    Console(file=out, width=150).print(bench_tables(made_up()))
    shown = ("8.00 M", "606", "440 bytes", "25.0%", "left out: uno", "import fiveup_env", "0.20", "collection without")
    assert [piece for piece in shown if piece not in out.getvalue()] == []
    assert plain["training"]["collection without network"] == 0.5 and plain["missing"] == ["uno: not installed"]
    assert plain["groups"]["1,024 matches"][0]["median"] == 8e6


def test_sizes() -> None:
    assert checked_sizes(None, False) is None
    assert checked_sizes(None, True) == (1, 64, 1024, 16_384, 262_144)
    assert checked_sizes("64, 1", False) == (1, 64) and checked_sizes("8", True) == (8, 262_144)
    for wrong in ("", "many", "0", "1,-2", "262145", "1.5"):
        with pytest.raises(BenchError, match="sizes are numbers of matches from 1 to 262144"):
            checked_sizes(wrong, False)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sizes", "x"], "fiveup: sizes are numbers of matches from 1 to 262144, separated by commas, not 'x'"),
        (["--players", "5"], "fiveup: Invalid value for '--players'"),
        (["--soak", "0"], "fiveup: Invalid value for '--soak'"),
        (["--json", "no/such/folder/x.json"], "fiveup: cannot write no/such/folder/x.json: No such file or directory"),
    ],
)
def test_bad_arguments_are_one_line(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *given]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(said) and err.count("\n") == 1


@pytest.mark.jit
def test_soak_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--soak", "5000", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["2 players", "3 players", "4 players"]
    assert all(line.endswith("nothing found") for line in lines)


def test_missing_and_failing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_speed, "find_spec", lambda name: None)
    cases, missing = peer_cases()
    assert cases == [] and [line.rpartition(": ")[2] for line in missing] == [
        f"{name} is not installed" for name in ("pyspiel", "shimmy", "rlcard", "pgx")
    ]
    monkeypatch.setattr(peer_speed, "find_spec", lambda name: True if name == "pgx" else None)
    monkeypatch.setattr(peer_speed, "_pgx", lambda name: 1 / 0)
    assert "sparrow_mahjong: ZeroDivisionError: division by zero" in peer_cases()[1]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_aec_cases_run(num_players: int) -> None:
    assert all(speed.median > 0 for speed in in_turns(list(aec_cases(num_players)), 1, 0.001))
    play_aec(EmptyAEC(num_players), 300)


def test_the_empty_env_has_the_agents_and_spaces_of_the_game() -> None:
    empty, game = EmptyAEC(3), fiveup_v0.raw_env(num_players=3)
    game.reset(seed=0)
    empty.reset()
    assert empty.possible_agents == game.possible_agents
    seen, expected = empty.observe("player_1"), game.observe(game.agent_selection)
    assert all((seen[key] == expected[key]).all() for key in expected)
    for agent in empty.agents:
        assert empty.observation_space(agent) == game.observation_space(agent)
        assert empty.action_space(agent) == game.action_space(agent)


def test_the_wrappers_are_those_of_env() -> None:
    ours, compared = fiveup_v0.env(), in_wrappers(EmptyAEC())
    for _ in range(3):
        assert type(ours) is type(compared)
        ours, compared = ours.env, compared.env


@pytest.mark.slow
def test_faster_than_other_aec_environments() -> None:
    """At least 10 times hanabi raw, and 80% of an empty env in the same wrappers, in the best of five measurements."""
    cases = {case.name: case for case in aec_cases()}
    try:
        hanabi = hanabi_case("hanabi_v5.raw_env")
    except ImportError:
        hanabi = None

    def best_ratio(case: Case, other: Case) -> float:
        return max(speeds[0].over(speeds[1]) for speeds in (in_turns([case, other], 15, 0.02) for _ in range(5)))

    assert best_ratio(cases["AEC five up, wrapped"], cases["AEC empty, wrapped"]) >= 0.8
    if hanabi is None:
        pytest.skip("PettingZoo's hanabi needs shimmy and open_spiel")
    assert best_ratio(cases["AEC five up, raw"], hanabi) >= 10


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert run(["bench", "--quick", "--turns", "1", "--seconds", "0.01", "--json", str(file), "--peers"]) == 0
    shown = capsys.readouterr().out
    figures = json.loads(file.read_text())
    names = {speed["name"] for speeds in figures["groups"].values() for speed in speeds}
    assert {"rules", "rules, mask", "vector env uint8", "memory copy of a step's bytes uint8"} <= names
    assert all(name in shown for name in ("rules, mask", "memory copy", "ratios"))
    assert all(speed["median"] > 0 for speeds in figures["groups"].values() for speed in speeds)
    assert 400 < figures["memory"]["record of a match"] < 1000
