"""Parts of a plan played all over a Ray cluster, with the results of one process.

A part is a task for one CPU. Which deals make a part, and what is played in it, depends neither on where nor on when it
is played, so neither do results. A node that dies takes along what is under way on it, and Ray plays that elsewhere.
"""

from __future__ import annotations

import os
import pickle
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fiveup_env.agents.protocol import Agent
from fiveup_env.agents.registry import CHECKPOINTS, PROGRAM, AgentSpec, make_agent, parse
from fiveup_env.evaluation.match_plan import MatchPlan, Results
from fiveup_env.evaluation.match_play import play_matches
from fiveup_env.evaluation.plan_parts import AHEAD, Job, pickled
from fiveup_env.system.machine import package_version
from fiveup_env.system.ray_cluster import ClusterError, connected

RETRIES = 10  # of a part whose worker or node died; an agent that kills its process does so every time
WHAT = "evaluation on a cluster"


@dataclass(frozen=True)
class Sent:
    """An agent's name, with the checkpoint files in it: other nodes do not have them.

    Attributes:
        spec: the name.
        files: contents by path, as the paths stand in the name.
    """

    spec: str
    files: dict[str, bytes]

    @classmethod
    def of(cls, spec: AgentSpec) -> AgentSpec | Sent:
        """A name that needs files together with them, anything else as it is."""
        if not isinstance(spec, str | os.PathLike) or os.fspath(spec).startswith(PROGRAM):
            return spec
        what, arguments = parse(os.fspath(spec))
        paths = [text for text in (what, *arguments.values()) if isinstance(text, str)]
        found = [path for path in paths if Path(path).suffix.lower() in CHECKPOINTS and Path(path).is_file()]
        return cls(os.fspath(spec), {path: Path(path).read_bytes() for path in found}) if found else spec

    def agent(self, num_players: int) -> Agent:
        """The agent, made from files that are gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="fiveup-") as folder:
            places = {}
            for number, (path, content) in enumerate(self.files.items()):
                places[path] = Path(folder, str(number), Path(path).name)  # agents are called by the file's name
                places[path].parent.mkdir()
                places[path].write_bytes(content)
            what, _ = parse(self.spec)
            pieces = [piece.partition("=") for piece in self.spec[len(what) + 1 :].split(",") if piece]
            moved = ",".join(f"{key}={places.get(value, value)}" for key, _, value in pieces)
            return make_agent(f"{places.get(what, what)}{':' if moved else ''}{moved}", num_players)


@dataclass(frozen=True)
class Order:
    """What every node has to know.

    Attributes:
        job: with the agents as they are sent.
        version: of this package, which must be the same everywhere.
    """

    job: Job
    version: str

    def agents(self) -> tuple[Agent, Agent]:
        """Both agents."""
        a, b = (
            spec.agent(self.job.num_players) if isinstance(spec, Sent) else make_agent(spec, self.job.num_players)
            for spec in (self.job.a, self.job.b)
        )
        return a, b


@contextmanager
def over_cluster(address: str, job: Job, parts: list[MatchPlan]) -> Iterator[Iterator[Results]]:
    """Results of the parts in order, as a cluster plays them.

    Args:
        address: see `connected`.
        job: the agents.
        parts: what is to be played.

    Raises:
        ClusterError: if there is no Ray or no cluster, a node has another version of this package, or a part could
            not be played at all because its process died again and again.
        AgentError: as of `play_parts`.
    """
    order: Any = Order(replace(job, a=_sent(job.a), b=_sent(job.b)), package_version("fiveup-env"))
    with connected(address, WHAT) as ray:
        yield _in_order(ray, pickled(order), parts)


def _sent(spec: AgentSpec) -> Any:
    return Sent.of(spec)


def _in_order(ray: Any, order: bytes, parts: list[MatchPlan]) -> Iterator[Results]:
    """Results in order; so many parts are under way that no CPU of the cluster as it is now runs out of work.

    What is under way when nobody asks any more ends by itself, or with the connection. It is not cancelled: in Ray 2.60
    a cancellation that crosses the end of its task can abort this process (a failed check in its task manager).
    """
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(_play)
    everywhere = ray.put(order)
    left = iter(parts)
    waiting: list[Any] = []
    for _ in parts:
        ahead = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        while len(waiting) < ahead and (part := next(left, None)) is not None:
            waiting.append(play.remote(everywhere, part))
        yield _result(ray, waiting.pop(0))


def _result(ray: Any, reference: Any) -> Results:
    try:
        results: Results = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause or error) from None
    except ray.exceptions.RayError as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ClusterError(f"a part could not be played on the cluster: {reason}") from error
    return results


def _play(order: bytes, part: MatchPlan) -> Results:
    """On some node: a part."""
    job, a, b = _made(order)
    return play_matches(a, b, part, lambda done, total: None, strict=job.strict, timeout=job.timeout)


@cache
def _made(order: bytes) -> tuple[Job, Agent, Agent]:
    """Once per process: making an agent may take seconds."""
    made: Order = pickle.loads(order)
    if made.version != (here := package_version("fiveup-env")):
        raise ClusterError(
            f"node {platform.node()} has fiveup-env {here}, this program {made.version}; install the same"
        )
    return made.job, *made.agents()
