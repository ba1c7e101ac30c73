"""Plant one-line faults and check that the tests find them: `python -m tests.house.planted_faults`.

The checkout is copied to a temporary folder. Each fault is planted there alone, and its tests run until the first
failure, most of them as plain Python (NUMBA_DISABLE_JIT=1). The exit code is 1 if a fault is missed or its line is not
in the tree. Options: `--only N …` for some faults, `--root DIR` for another checkout, `--tests PATH …` for other tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST = 600
"""Seconds after which a run counts as a failure: a fault may cause an endless loop."""


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes:
        file: relative to the package.
        old, new: part of one line, which must occur once in the file, and its replacement.
        breaks: the property that no longer holds.
        tests: paths below tests/ that must find it.
        compiled: the tests need compiled kernels.
    """

    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    compiled: bool = False


LAYOUT, BLOCKED, TARGET, DOMINO = ((f"rules/test_{name}.py",) for name in ("layout", "blocked", "target", "domino"))
PARITY = ("envs/test_parity.py::test_match_aec_single_and_both_vector_envs_are_one_game",)
VIEW, OBSERVATION, REWARDS = ((f"views/test_{name}.py",) for name in ("view", "observation", "rewards"))
ENDS = ("rules/test_invariants.py", "oracle/test_oracle.py")
EXACT = ("belief/test_exact_belief.py",)
WON = ("evaluation/test_match_play.py::test_won_and_lead",)
FAULTS = [
    # rules
    Fault(
        "rules/scoring.py", "(pips + 2) // 5 * 5", "(pips + 3) // 5 * 5", "rounding to the nearest five (R7)", DOMINO
    ),
    Fault("rules/scoring.py", "total <= int64(game.target)", "total < int64(game.target)", "exact 61 (R6.2)", TARGET),
    Fault("rules/scoring.py", "- to_nearest_five(partner)", "", "a partner's pips count against a domino (R7)", DOMINO),
    Fault(
        "rules/scoring.py", "max(0, pip_sum(game.hands[other]) - own)", "pip_sum(game.hands[other])", "R8.2", BLOCKED
    ),
    Fault("rules/scoring.py", "elif pips == lowest and side != winner:", "elif False:", "tied blocks (R8.5)", BLOCKED),
    Fault(
        "rules/turn.py", "[open_pips(game)] == 0", "[int64(game.end_pips)] == 0", "blocks with open spinners", BLOCKED
    ),
    Fault("rules/turn.py", "game.just_drew = 1", "game.just_drew = 0", "the turn continues after a draw", OBSERVATION),
    Fault(
        "rules/layout.py", "if state + 1 == CLOSED:", "if state + 2 == CLOSED:", "four joins per spinner (R4.3)", LAYOUT
    ),
    Fault("rules/layout.py", "return lowest_bit(bits)", "return lowest_bit(bits & (bits - 1) or bits)", "D7", ENDS),
    Fault(
        "rules/record.py", "if opener < 0:", "if True:", "the opener of the next round (R2.5)", ("rules/test_deal.py",)
    ),
    # views
    Fault("views/view.py", "game.seed = 0", "game.seed = game.seed", "the seed is hidden (R2.2)", VIEW),
    Fault("views/view.py", "game.boneyard[i] = NO_TILE", "game.boneyard[i] += 0", "the boneyard is hidden", VIEW),
    Fault(
        "views/observation_kernels.py",
        "game.void[other]",
        "game.void[seat]",
        "tiles another seat may hold",
        OBSERVATION,
    ),
    Fault("views/observation_kernels.py", "seat += moved & 1", "seat += 0", "seats of recent actions", OBSERVATION),
    Fault("views/rewards.py", "best = min(best,", "best = max(best,", "the leader of three (equity)", REWARDS),
    Fault("views/rewards.py", "-1.0 / (sides - 1)", "-1.0", "losers share -1", REWARDS),
    Fault(
        "views/history.py",
        "(seat - me + players)",
        "(me - seat + players)",
        "relative seats",
        ("views/test_history.py",),
    ),
    # belief
    Fault("belief/evidence.py", "return group + 1", "return group", "a dry turn rules tiles out", EXACT),
    Fault("belief/evidence.py", "hand_size + int64(evidence.num_chosen[seat])", "hand_size", "dealt tiles", EXACT),
    Fault(
        "belief/resample.py", "game.seed = chance.getrandbits(64)", "pass", "another seed", ("belief/test_resample.py",)
    ),
    Fault(
        "belief/choice_model.py",
        "record.kept[who] -= 1",
        "record.kept[who] -= 0",
        "a drawn tile that is laid at once is no choice",
        ("belief/test_choice_model.py",),
        compiled=True,
    ),
    Fault(
        "belief/approximation.py",
        "*= rest / (rest + appeal)",
        "*= appeal / (rest + appeal)",
        "tiles that would have been laid are less likely",
        ("belief/test_approximation.py",),
        compiled=True,
    ),
    # environments
    Fault("envs/transition.py", "int64(game.round_number) >= max_rounds", "False", "truncation", PARITY),
    Fault("envs/transition.py", "if row.episode != 0:", "if False:", "later episodes have other deals", PARITY),
    Fault("envs/transition.py", "if options.auto_draws != 0:", "if False:", "draws are taken automatically", PARITY),
    Fault(
        "envs/pettingzoo_aec_kernels.py",
        "(seat + 1) % int64(game.num_players)",
        "seat",
        "the seat of forced moves in infos",
        ("envs/test_aec.py",),
    ),
    # evaluation
    Fault(
        "evaluation/statistics.py",
        "left[own::2] -= luck",
        "left[own::2] += luck",
        "luck is subtracted from results",
        ("evaluation/test_luck.py::test_less_luck_takes_away_what_luck_explains",),
    ),
    Fault(
        "evaluation/statistics.py",
        "t_quantile(deals - 1) * float",
        "float",
        "width",
        ("evaluation/test_statistics.py",),
    ),
    Fault(
        "evaluation/match_plan.py",
        "- own) / (sides - 1)",
        "- own) / sides",
        "lead of three",
        WON,
    ),
    Fault(
        "evaluation/match_plan.py",
        "self.winner < 0, 1 / sides,",
        "self.winner < 0, 0,",
        "draws",
        WON,
    ),
]


def main() -> int:
    """Run the tests without a fault and with each one; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.planted_faults", description=__doc__)
    parser.add_argument("--only", type=int, nargs="+", default=range(1, len(FAULTS) + 1), help="Numbers of faults.")
    parser.add_argument("--root", type=Path, default=ROOT, help="Checkout with the tests.")
    parser.add_argument("--tests", nargs="+", help="Paths below tests/ to run instead.")
    given = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(
            given.root, copy, ignore=shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "node_modules")
        )
        faults = [FAULTS[number - 1] for number in given.only]
        clean = True
        for compiled in {fault.compiled for fault in faults}:
            paths = {path for fault in faults if fault.compiled == compiled for path in given.tests or fault.tests}
            passed, seconds = run(copy, sorted(paths), compiled)
            clean &= passed
            print(
                f"without a fault: {'passed' if passed else 'FAILED'} in {seconds:.0f} s: {' '.join(sorted(paths))}",
                flush=True,
            )
        for number in given.only:
            fault = FAULTS[number - 1]
            outcome = plant(copy, fault, given.tests or fault.tests)
            missed += not outcome.startswith("caught")
            print(f"{number:3} {outcome:<22} {fault.file}: {fault.breaks}", flush=True)
    print(f"{missed} of {len(given.only)} missed")
    return 1 if missed or not clean else 0


def plant(copy: Path, fault: Fault, tests: list[str] | tuple[str, ...]) -> str:
    """Plant one fault in the copy, run the tests, and remove the fault."""
    file = copy / "fiveup_env" / fault.file
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    if source.count(fault.old) != 1:
        return f"NOT PLANTED ({source.count(fault.old)}x)"
    file.write_text(source.replace(fault.old, fault.new), encoding="utf-8")
    try:
        passed, seconds = run(copy, tests, fault.compiled)
    finally:
        file.write_text(source, encoding="utf-8")
    return f"{'MISSED' if passed else 'caught'} in {seconds:.0f} s"


def run(copy: Path, tests: list[str] | tuple[str, ...], compiled: bool) -> tuple[bool, float]:
    """Run tests up to the first failure; return whether all passed, and the seconds."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"XDG_CACHE_HOME": str(copy.parent / "cache")} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    marks = "not slow" if compiled else "not slow and not jit"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks]
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, *(f"tests/{path}" for path in tests)],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=LONGEST,
        )
        passed = done.returncode == 0
    except subprocess.TimeoutExpired:
        passed = False
    return passed, time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
