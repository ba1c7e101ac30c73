"""Importing the package: cheap, lazy, and Gymnasium knows its ids."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fiveup_env

HEAVY = ("numba", "torch", "ray", "pygame", "stable_baselines3")


def output_of(code: str) -> str:
    """Output of a new interpreter; a warning is an error."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def test_importing_is_cheap() -> None:
    """Under 1 s, the best of three: only Gymnasium and PettingZoo are imported, to register the ids."""
    code = (
        "import sys, time; begun = time.perf_counter(); import fiveup_env; took = time.perf_counter() - begun; "
        f"print((took, [name for name in {HEAVY} if name in sys.modules]))"
    )
    results = [ast.literal_eval(output_of(code)) for _ in range(3)]
    assert min(took for took, _ in results) < 1
    assert all(heavy == [] for _, heavy in results)


@pytest.mark.parametrize(
    "code",
    [
        "import fiveup_env, gymnasium",
        "import gymnasium, fiveup_env",
        "from fiveup_env import fiveup_v0; import gymnasium",
    ],
)
def test_gymnasium_knows_the_ids_whatever_is_imported_first(code: str) -> None:
    assert output_of(f"{code}; print('fiveup_env/FiveUp-v0' in gymnasium.registry)") == "True"


def test_gymnasium_makes_it() -> None:
    code = (
        "import fiveup_env, gymnasium; env = gymnasium.make('fiveup_env/FiveUp-v0', num_players=2);"
        "print(env.action_space)"
    )
    assert output_of(code) == "Discrete(121)"


def test_every_exported_name_can_be_imported() -> None:
    for name in fiveup_env.__all__:
        assert name in dir(fiveup_env)
        if name == "FiveUpSB3VecEnv":
            pytest.importorskip("stable_baselines3")
        assert getattr(fiveup_env, name) is not None
    assert fiveup_env.Match(2, 0).num_players == 2
    with pytest.raises(AttributeError, match="no attribute 'Macth'"):
        _ = fiveup_env.Macth


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(fiveup_env.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {(alias.name, node.module) for node in block.body for alias in node.names}  # type: ignore[attr-defined]
    assert seen == {*fiveup_env._HOME.items(), ("fiveup_v0", "fiveup_env")}
