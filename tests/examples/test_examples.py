"""Every example runs with finite losses, legal actions, and rewards for all seats.

All environments of the examples, and the evaluation (`strict`), raise on illegal actions. Missing libraries are
skipped. `-m slow` (or `python -m training.libraries`) checks that the examples learn.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from argparse import ArgumentTypeError
from importlib.util import find_spec

import pytest

from training.examples._example import Outcome, seed
from training.libraries import EXAMPLES, library_table

# Warnings of the libraries.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning"),
    pytest.mark.filterwarnings("ignore:Creating \\w+WeightUpdater:DeprecationWarning"),  # raised by TorchRL
    pytest.mark.filterwarnings("ignore:MakeEvolvable will be deprecated:DeprecationWarning"),  # raised by AgileRL
    pytest.mark.filterwarnings("ignore:TensorDict.to_module\\(\\) is replacing:FutureWarning"),  # raised by AgileRL
]


def trained(name: str, samples: int) -> Outcome:
    example = EXAMPLES[name]
    if find_spec(example.module) is None:
        pytest.skip(f"{example.module} is not installed: pip install 'fiveup-env[{example.extra}]'")
    outcome = importlib.import_module(f"training.examples.{name}").train(samples, 1)
    assert outcome.samples >= samples
    outcome.check()
    return outcome


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs(name: str) -> None:
    outcome = trained(name, EXAMPLES[name].few)
    found = outcome.as_dict(matches=10)
    assert found["seconds"] > 0 and set(found["wins"]) == {"random", "greedy"}
    assert f"| `{name}` | {found['library']} {found['version']} | {found['samples']:,} |" in library_table(
        {"examples": {name: found}}
    )


def test_rlcard_uses_the_seed_for_all_its_random_numbers() -> None:
    """RLCard draws from NumPy's and Python's global generators, which `train` must seed."""
    assert trained("rlcard_dqn", 512).losses == trained("rlcard_dqn", 512).losses


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_learns(name: str) -> None:
    wins = trained(name, EXAMPLES[name].samples).as_dict(matches=2000)["wins"]
    assert wins["random"]["value"] >= EXAMPLES[name].wins > 0.5


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_missing_library_is_one_line(name: str) -> None:
    example = EXAMPLES[name]
    code = (
        f"import sys, runpy; sys.modules[{example.module!r}] = None; "
        f"runpy.run_module('training.examples.{name}', run_name='__main__')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1 and ended.stdout == ""
    [line] = ended.stderr.splitlines()
    assert line.endswith(f"is not installed: pip install 'fiveup-env[{example.extra}]'")


def test_bad_arguments_are_one_line() -> None:
    command = [sys.executable, "-m", "training.examples.torch_ppo", "--samples", "none"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2
    assert "argument --samples: must be a positive integer, not 'none'" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("text", ["-1", "2147483648", "1.5", "x"])
def test_seeds_are_integers_that_all_libraries_take(text: str) -> None:
    assert seed("0") == 0 and seed("2147483647") == 2**31 - 1
    with pytest.raises(ArgumentTypeError, match=f"must be an integer from 0 to .*, not '{text}'"):
        seed(text)


@pytest.mark.parametrize(
    ("losses", "rewards", "what"),
    [([], [1] * 4, "losses"), ([1.0, float("nan")], [1] * 4, "losses"), ([1.0], [1, 0, 1, 1], "a seat received")],
)
def test_invalid_outcomes(losses: list[float], rewards: list[float], what: str) -> None:
    outcome = Outcome("torch", losses=losses)
    outcome.note_rewards([0, 1, 2, 3], rewards)
    with pytest.raises(ValueError, match=what):
        outcome.check()


def test_the_table_has_a_row_per_measured_example() -> None:
    wins = {"value": 0.75, "interval": [0.7, 0.8]}
    found = {"library": "lib", "version": "1.2", "samples": 1000, "seconds": 3, "cpu_seconds": 2}
    text = library_table({"examples": {"torch_ppo": found | {"wins": {"random": wins, "greedy": wins}}}})
    assert [text.count(f"| `{name}` |") for name in EXAMPLES] == [name == "torch_ppo" for name in EXAMPLES]
    assert "| lib 1.2 | 1,000 | 330 | 500 | 75.0% [70.0, 80.0] |" in text
