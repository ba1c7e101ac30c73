"""Check a wheel installed without extras. `.ci/run` runs this in a clean environment outside of the repository."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

# Direct and indirect dependencies. Every user installs each package listed here.
OWN = {"gymnasium", "numba", "numpy", "pettingzoo", "pydantic", "pyyaml", "rich", "safetensors", "typer"}
THEIRS = {
    *("annotated-doc", "annotated-types", "click", "cloudpickle", "colorama", "exceptiongroup", "farama-notifications"),
    *("llvmlite", "markdown-it-py", "mdurl", "pip", "pydantic-core", "pygments", "setuptools", "shellingham"),
    *("typing-extensions", "typing-inspection"),
}


def command(*words: str, code: int = 0) -> str:
    """Run a command line, check its exit code and that there is no traceback; return its output."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


installed = {found.metadata["Name"].lower().replace("_", "-") for found in distributions()} - {"fiveup-env"}
assert installed >= OWN, OWN - installed
assert installed <= OWN | THEIRS, f"the wheel installs unexpected packages: {installed - OWN - THEIRS}"
size = sum(file.stat().st_size for file in Path(sys.prefix).rglob("*") if file.is_file() and not file.is_symlink())
print(f"{len(installed)} packages, {size / 1e6:.0f} MB: {', '.join(sorted(installed))}")

import gymnasium

import fiveup_env
from fiveup_env import Match, board_svg, check_agent, fiveup_v0, load

package = Path(fiveup_env.__file__).parent
assert package.is_relative_to(sys.prefix), package
for part in ("py.typed", "training", "configs/smoke.yaml", "policies/partnership-v1.safetensors"):
    assert (package / part).exists(), f"the wheel lacks {part}"
env = fiveup_v0.env(num_players=4, render_mode="ansi")
env.reset(seed=0)
assert "player_0" in env.render()
gymnasium.make("fiveup_env/FiveUp-v0").reset(seed=0)
assert board_svg(Match(2, seed=0).layout).startswith("<svg")
check_agent(load("partnership-v1"), matches=1, decisions=4)

assert "fiveup-env" in command("fiveup", "--version")
command("fiveup", "info")
command("fiveup", "evaluate", "heuristic", "greedy", "--players", "2", "--matches", "20", "--record", "records")
record = sorted(Path("records").glob("*.jsonl"))[0]
command("fiveup", "replay", str(record), "--quiet", "--html", "match.html")
assert Path("match.html").read_text(encoding="utf-8").startswith("<!")
message = command("fiveup", "train", "smoke", "--out", "run", code=2)
assert "pip install 'fiveup-env[train]'" in message, message
print(f"{sum(1 for _ in package.rglob('*'))} files; environments, agents, records, pages and messages work")
