"""Samples per second of self-play, with the share of each phase, and of sb3-contrib's MaskablePPO.

    python -m training.throughput --out docs/data/throughput.json
    python -m training.throughput --placements 128 --threads 2

Both play 1,024 parallel four-player matches with 32 decisions per match and iteration, one epoch, the same size of
minibatch and equity rewards per round. Self-play has one network for policy and value. SB3 has two with the same layers
and no placement scores; its opponents are `greedy` in compiled code. Iterations alternate, so the ratio is robust to
other load on the machine, and so is CPU time (of all threads), which is reported next to wall time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fiveup_env.system.optional import needs

with needs("train"):
    import torch

    from . import sb3_ppo, selfplay_ppo
    from ._checkpoint import write_json

MATCHES, STEPS, MINIBATCH = 1024, 32, 1024


def selfplay(width: int, blocks: int, placements: int, threads: int) -> selfplay_ppo.Run:
    """Return a self-play run before its first iteration."""
    config = {
        "script": "selfplay_ppo",
        "decisions": 10**9,
        "matches": MATCHES,
        "network": {"width": width, "blocks": blocks, "placements": placements},
        "ppo": {"steps": STEPS, "minibatch": MINIBATCH, "epochs": 1},
        "threads": threads,
    }
    run = selfplay_ppo.Run(selfplay_ppo.Config.model_validate(config))
    run.compile()
    run.begin()
    return run


def maskable_ppo(width: int, blocks: int, threads: int) -> Any:
    """Return MaskablePPO on `FiveUpSB3VecEnv`, with the same number of layers."""
    layers = [width] * (1 + 2 * blocks)
    config = {
        "script": "sb3_ppo",
        "decisions": 10**9,
        "matches": MATCHES,
        "reward": "equity",
        "opponents": {"greedy": 1},
        "network": {"policy": layers, "value": layers},
        "ppo": {"steps": STEPS, "batch": MINIBATCH, "epochs": 1},
        "threads": threads,
    }
    model, _ = sb3_ppo.make_learner(sb3_ppo.Config.model_validate(config))
    sb3_ppo.compile_kernels(model)
    return model


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result of `work`, its wall seconds and its CPU seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - processor


def measure_throughput(width: int, blocks: int, placements: int, threads: int, iterations: int) -> dict[str, Any]:
    """Return the medians over the iterations without the first."""
    torch.set_num_threads(threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    run, model = selfplay(width, blocks, placements, threads), maskable_ppo(width, blocks, threads)
    ours, theirs, phases = [], [], []
    for i in range(iterations + 1):
        metrics, *seconds = timed(run.iteration)
        _, *other = timed(lambda: model.learn(MATCHES * STEPS, reset_num_timesteps=False))
        if i:
            ours.append([len(run.rollout.judged) / spent for spent in seconds])
            theirs.append([MATCHES * STEPS / spent for spent in other])
            phases.append({k.removeprefix("speed/share_"): v for k, v in metrics.items() if "share_" in k})

    def medians(rows: list[list[float]]) -> dict[str, float]:
        return {name: median(row[i] for row in rows) for i, name in enumerate(("wall", "processor"))}

    return {
        "width": width,
        "blocks": blocks,
        "placements": placements,
        "threads": threads,
        "iterations": iterations,
        "selfplay_ppo": medians(ours) | {"shares": {p: median(row[p] for row in phases) for p in phases[0]}},
        "maskable_ppo": medians(theirs),
        "ratio": {
            k: median(a[i] / b[i] for a, b in zip(ours, theirs, strict=True))
            for i, k in enumerate(("wall", "processor"))
        },
    }


def main(
    width: Annotated[int, typer.Option(help="Width of the hidden layers")] = 256,
    blocks: Annotated[int, typer.Option(help="Residual blocks; SB3 has 1 + 2 * blocks layers")] = 1,
    placements: Annotated[int, typer.Option(help="Width of self-play's placement layers, 0 for none")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of torch")] = 1,
    iterations: Annotated[int, typer.Option(help="Iterations of each")] = 5,
    out: Annotated[Path | None, typer.Option(help="JSON file to extend")] = None,
) -> None:
    """Measure, print a table and save the figures."""
    found = measure_throughput(width, blocks, placements, threads, iterations)
    table = Table("samples per second", "wall time", "CPU time", "shares of the wall time")
    ours, theirs, ratio = found["selfplay_ppo"], found["maskable_ppo"], found["ratio"]
    shares = ", ".join(f"{name} {100 * share:.1f}%" for name, share in ours["shares"].items())
    table.add_row("selfplay_ppo", f"{ours['wall']:,.0f}", f"{ours['processor']:,.0f}", shares)
    table.add_row("MaskablePPO (sb3-contrib)", f"{theirs['wall']:,.0f}", f"{theirs['processor']:,.0f}", "")
    table.add_row("ratio", f"{ratio['wall']:.2f}", f"{ratio['processor']:.2f}", "")
    Console().print(table)
    if out:
        known = json.loads(out.read_text()) if out.exists() else []
        out.parent.mkdir(parents=True, exist_ok=True)
        write_json(out, [*known, found | {"torch": torch.__version__}])


if __name__ == "__main__":
    typer.run(main)
