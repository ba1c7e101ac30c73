"""Play a plan in parts: in one or more processes, saved to a folder, until the result is precise enough.

The size of a part depends on the agents only, so results are the same for any number of processes.
"""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import pickle
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, is_policy
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.evaluation.behaviour import Conduct
from fiveup_env.evaluation.match_plan import Forfeit, MatchPlan, Results
from fiveup_env.evaluation.match_play import Progress, play_matches

COMPILED, ONE_BY_ONE = 4096, 32  # deals of a part if both agents are kernels, and if one is not a policy
KEPT_FORMAT = 2  # of saved parts
AHEAD = 2  # parts submitted per process, or per CPU of a cluster


@dataclass(frozen=True)
class Job:
    """Agents and options of all parts.

    Attributes:
        a, b: agents or their names, see `make_agent`.
        num_players: 2, 3 or 4.
        strict, timeout: see `play_matches`.
    """

    a: AgentSpec
    b: AgentSpec
    num_players: int
    strict: bool = False
    timeout: float | None = None

    def agents(self) -> tuple[Agent, Agent]:
        """Make both agents."""
        return make_agent(self.a, self.num_players), make_agent(self.b, self.num_players)


Spread = Callable[[Job, list[MatchPlan]], AbstractContextManager[Iterator[Results]]]
"""Plays parts elsewhere: within the block, yields results in order."""


def part_size(a: Agent, b: Agent) -> int:
    """Number of deals of a part."""
    if all(getattr(agent, "kernel", None) is not None for agent in (a, b)):
        return COMPILED
    return min(agent.together if is_policy(agent) else ONE_BY_ONE for agent in (a, b))


class Folder:
    """Finished parts as files, each written atomically.

    Args:
        path: a folder; it is created.
        about: everything that results depend on; a folder with other values is refused.

    Raises:
        ValueError: one line, if the folder holds another evaluation or cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any]) -> None:
        self.path = Path(path)
        about = {"format": KEPT_FORMAT, **about}
        text, note = json.dumps(about, indent=2, sort_keys=True), self.path / "about.json"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if note.exists():
                before = json.loads(note.read_text(encoding="utf-8"))
                differ = [key for key in sorted({*before, *about}) if before.get(key) != json.loads(text).get(key)]
                if differ:
                    raise ValueError(
                        f"{self.path} holds another evaluation: its {differ[0]} is {before.get(differ[0])!r}, "
                        f"not {about.get(differ[0])!r}; give an empty folder"
                    )
            else:
                self._write(note, text.encode())
        except (OSError, json.JSONDecodeError) as error:
            raise ValueError(f"{self.path} cannot be used for partial results: {error}") from error

    def _write(self, path: Path, data: bytes) -> None:
        new = path.with_suffix(f".{os.getpid()}.new")
        new.write_bytes(data)
        os.replace(new, path)

    def file(self, part: MatchPlan) -> Path:
        """File of a part."""
        return self.path / f"deals-{part.first:09d}-{part.deals}.npz"

    def save(self, part: MatchPlan, results: Results) -> None:
        """Save a part."""
        arrays: dict[str, Any] = {name: getattr(results, name) for name in Results.ARRAYS}
        forfeits = json.dumps([asdict(forfeit) for forfeit in results.forfeits])
        arrays |= {"conduct_sums": results.conduct.sums, "conduct_products": results.conduct.products}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, forfeits=np.array(forfeits), **arrays)
        self._write(self.file(part), buffer.getvalue())

    def load(self, part: MatchPlan) -> Results | None:
        """Load a part; None if it is missing."""
        if not self.file(part).exists():
            return None
        with np.load(self.file(part)) as arrays:
            forfeits = tuple(Forfeit(**forfeit) for forfeit in json.loads(str(arrays["forfeits"])))
            found: dict[str, Any] = {name: arrays[name] for name in Results.ARRAYS}
            conduct = Conduct(part.deals, arrays["conduct_sums"], arrays["conduct_products"])
            return Results(**found, forfeits=forfeits, conduct=conduct)


def subfolder(folder: str | os.PathLike[str] | None, *names: str) -> Path | None:
    """Folder for one of several match-ups, by its agents' names; None without a folder."""
    if folder is None:
        return None
    text = " against ".join(names)
    readable = re.sub(r"[^A-Za-z0-9.=+-]+", "_", text)[:80].strip("_")
    return Path(folder) / f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def play_parts(
    job: Job,
    plan: MatchPlan,
    progress: Progress,
    *,
    processes: int = 1,
    spread: Spread | None = None,
    folder: Folder | None = None,
    enough: Callable[[Results], bool] | None = None,
) -> Results:
    """Play a plan part by part.

    Args:
        job: the agents.
        plan: all matches (the maximum with `enough`).
        progress: called with the number of finished matches and of all matches.
        processes: number of processes; 1 plays in this one.
        spread: plays instead of processes of this machine.
        folder: finished parts are saved and looked for there.
        enough: called with the results so far after every part, in order; True stops.

    Raises:
        AgentError: if an agent cannot be made or sent to another process, or with `strict` fails.
    """
    a, b = job.agents()
    size = part_size(a, b)
    parts = [plan.part(first, min(size, plan.deals - first)) for first in range(0, plan.deals, size)]
    there = {i: kept for i, part in enumerate(parts) if folder and (kept := folder.load(part)) is not None}
    missing = [part for i, part in enumerate(parts) if i not in there]
    if not missing or (spread is None and (processes == 1 or len(missing) == 1)):
        done = [sum(results.winner.size for results in there.values())]

        def seen(now: int, total: int) -> None:
            progress(done[0] + now, plan.matches)

        def fresh() -> Iterator[Results]:
            for part in missing:
                yield play_matches(a, b, part, seen, strict=job.strict, timeout=job.timeout)
                done[0] += part.matches

        return _collect(parts, there, fresh(), folder, enough, lambda finished, total: None)
    with (spread or partial(over_processes, min(processes, len(missing))))(job, missing) as ahead:
        return _collect(parts, there, ahead, folder, enough, progress)


def _collect(
    parts: list[MatchPlan],
    there: dict[int, Results],
    fresh: Iterator[Results],
    folder: Folder | None,
    enough: Callable[[Results], bool] | None,
    progress: Progress,
) -> Results:
    """Join the parts in order, loaded and fresh ones, until `enough`."""
    found: list[Results] = []
    total, done = sum(part.matches for part in parts), 0
    for i, part in enumerate(parts):
        if i not in there:
            results = next(fresh)
            if folder:
                folder.save(part, results)
        else:
            results = there[i]
        found.append(results)
        done += part.matches
        progress(done, total)
        if enough and enough(Results.joined(found)):
            break
    return Results.joined(found)


@contextmanager
def over_processes(processes: int, job: Job, parts: list[MatchPlan]) -> Iterator[Iterator[Results]]:
    """Results of the parts in order, played by processes of this machine; see `Spread`."""
    with _pool(processes) as pool:
        try:
            yield _in_order(pool, pickled(job), parts, AHEAD * processes)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, job: bytes, parts: list[MatchPlan], ahead: int) -> Iterator[Results]:
    """Results of the parts in order, with `ahead` of them in progress."""
    waiting: list[Future[Results]] = []
    for part in parts:
        waiting.append(pool.submit(play_part, job, part))
        if len(waiting) == ahead:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def _pool(processes: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # forking after parallel kernels can kill the child
    return ProcessPoolExecutor(processes, context, initializer=_exit_with_parent)


def _exit_with_parent() -> None:
    """Leave Ctrl-C to the parent, and exit when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def pickled(job: object) -> bytes:
    """Pickle a job for other processes.

    Raises:
        AgentError: if an agent cannot be pickled.
    """
    try:
        return pickle.dumps(job)
    except Exception as error:
        raise AgentError(f"an agent cannot be sent to another process ({error}); give its name instead") from error


@cache
def _unpickled(job: bytes) -> tuple[Job, Agent, Agent]:
    """The job and its agents, made once per process because this may take seconds."""
    made: Job = pickle.loads(job)
    return made, *made.agents()


def play_part(job: bytes, part: MatchPlan) -> Results:
    """Play a part of a pickled job, in any process."""
    made, a, b = _unpickled(job)
    return play_matches(a, b, part, lambda done, total: None, strict=made.strict, timeout=made.timeout)
