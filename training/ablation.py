"""Ablation of self-play: runs with the same budget that differ in one setting each (table of `docs/training.md`).

    python -m training.ablation --out docs/data/ablation.json
    python -m training.ablation --out docs/data/ablation.json --only base --only entropy_low

Every run starts from random weights, with the base config and the changes of its name. Results in the file are kept.
The final policy plays its most likely action against `greedy` on duplicate deals.
"""

from __future__ import annotations

import json
import platform
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from fiveup_env.system.optional import needs

with needs("train"):
    import torch

    from ._checkpoint import write_json
    from .selfplay_ppo import main as train

BASE: dict[str, Any] = {
    "script": "selfplay_ppo",
    "players": 4,
    "decisions": 1_500_000,
    "network": {"width": 64, "blocks": 1, "placements": 0},
    "evaluation": {"opponents": ["greedy"], "every": 500_000, "matches": 1000, "final_matches": 4000},
    "checkpoint_seconds": 600.0,
}
"""Config of all runs; other keys have the defaults of `_config_parts`."""

CHANGES: dict[str, dict[str, Any]] = {
    "base": {},
    "opponents_mixed": {"opponents": {"self": 2, "snapshots": 1, "greedy": 1}},
    "reward_table": {"reward": "table"},
    "privileged_critic": {"network": {"privileged_critic": True, "critic_width": 64}},
    "critic_playouts": {"network": {"privileged_critic": True, "critic_playouts": True, "critic_width": 64}},
    "entropy_low": {"ppo": {"entropy": 0.01, "entropy_end": 0.003}},
    "entropy_high": {"ppo": {"entropy": 0.1, "entropy_end": 0.03}},
    "without_belief": {"network": {"ignore": ["may_hold"]}},
    "base_seed_1": {"seed": 1},
    "reward_points": {"reward": "points"},
    "episode_match_win": {"reward": "win", "episode": "match"},
    "opponents_snapshots": {"opponents": {"self": 1, "snapshots": 1}},
    "base_seed_2": {"seed": 2},
    "gae_lambda_0.5": {"ppo": {"gae_lambda": 0.5}},
    "epochs_2": {"ppo": {"epochs": 2}},
    "without_credits": {"network": {"ignore": ["credits"]}},
    "likely_belief": {"network": {"belief": True}},
    "advantages_as_they_are": {"ppo": {"normalize_advantages": False}},
}
"""Changes of the config, by name of the run."""


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the base with changed keys; sections change key by key, the mix of opponents as a whole."""
    result = deepcopy(base)
    for key, value in changes.items():
        inside = isinstance(value, dict) and key in result and key != "opponents"
        result[key] = merged(result[key], value) if inside else value
    return result


def run(name: str) -> dict[str, Any]:
    """Train and evaluate one of `CHANGES`."""
    with tempfile.TemporaryDirectory() as folder:
        config, out = Path(folder, f"{name}.yaml"), Path(folder, "run")
        config.write_text(yaml.safe_dump(merged(BASE, CHANGES[name])))
        train(config, out=str(out))
        curve = json.loads((out / "curve.json").read_text())
        results = json.loads((out / "results.json").read_text())
    return {"changes": CHANGES[name], "curve": curve, "results": results}


def ablation_table(known: dict[str, Any]) -> str:
    """Return the results as a Markdown table, in the order of `CHANGES`."""
    lines = ["| run | changes | wins against greedy | 95% interval | curve |", "| --- | --- | ---: | --- | --- |"]
    for name in (name for name in CHANGES if name in known["runs"]):
        found = known["runs"][name]
        rate = found["results"][0]["win_rate"]
        low, high = (100 * bound for bound in rate["interval"])
        changes = yaml.safe_dump(found["changes"], default_flow_style=True, width=1000).strip()
        curve = ", ".join(f"{100 * entry['greedy']:.0f}" for entry in found["curve"])
        lines.append(f"| {name} | `{changes}` | {100 * rate['value']:.1f}% | {low:.1f} to {high:.1f} | {curve} |")
    return "\n".join(lines)


def main(
    out: Annotated[Path, typer.Option(help="JSON file; its results are kept")],
    only: Annotated[list[str] | None, typer.Option(help=f"Run to add (default: all): {', '.join(CHANGES)}")] = None,
) -> None:
    """Add the missing runs to the file."""
    console = Console(stderr=True)
    known: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    facts = {"command": f"python -m training.ablation --out {out}", "base": BASE}
    facts |= {"machine": platform.processor() or platform.machine(), "torch": torch.__version__}
    for name in only or CHANGES:
        if name not in CHANGES:
            raise typer.BadParameter(f"there is no run {name!r}; there are {', '.join(CHANGES)}")
        runs = known.get("runs", {})
        if name in runs:
            continue
        console.print(f"{name}: {CHANGES[name]}")
        known = facts | {"runs": runs | {name: run(name)}}
        out.parent.mkdir(parents=True, exist_ok=True)
        write_json(out, known)


if __name__ == "__main__":
    typer.run(main)
