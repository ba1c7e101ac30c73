"""Parts of a plan on a Ray cluster, with the same results as in one process.

A part is a task for one CPU. Its matches do not depend on where or when it is played. If a node dies, Ray plays its
parts again elsewhere.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fiveup_env.agents.protocol import Agent
from fiveup_env.agents.registry import CHECKPOINTS, PROGRAM, AgentSpec, make_agent, parse
from fiveup_env.evaluation.match_plan import MatchPlan, Results
from fiveup_env.evaluation.plan_parts import AHEAD, Job, pickled, play_part
from fiveup_env.system.machine import package_version
from fiveup_env.system.ray_cluster import ClusterError, connected

RETRIES = 10  # of a part whose worker or node died; finite, since an agent may kill its process every time
PURPOSE = "evaluation on a cluster"


@dataclass(frozen=True)
class Sent:
    """An agent's name with its checkpoint files, which other nodes do not have.

    Attributes:
        spec: the name.
        files: contents by path as written in the name.
    """

    spec: str
    files: dict[str, bytes]

    @classmethod
    def of(cls, spec: AgentSpec) -> Any:
        """`Sent` for a name with checkpoint files; any other agent unchanged."""
        if not isinstance(spec, str | os.PathLike) or os.fspath(spec).startswith(PROGRAM):
            return spec
        what, arguments = parse(os.fspath(spec))
        paths = [text for text in (what, *arguments.values()) if isinstance(text, str)]
        found = [path for path in paths if Path(path).suffix.lower() in CHECKPOINTS and Path(path).is_file()]
        return cls(os.fspath(spec), {path: Path(path).read_bytes() for path in found}) if found else spec

    def agent(self, num_players: int) -> Agent:
        """Make the agent from temporary files."""
        with tempfile.TemporaryDirectory(prefix="fiveup-") as folder:
            places = {}
            for number, (path, content) in enumerate(self.files.items()):
                places[path] = Path(folder, str(number), Path(path).name)  # the file's name is the agent's name
                places[path].parent.mkdir()
                places[path].write_bytes(content)
            what, _ = parse(self.spec)
            pieces = [piece.partition("=") for piece in self.spec[len(what) + 1 :].split(",") if piece]
            moved = ",".join(f"{key}={places.get(value, value)}" for key, _, value in pieces)
            return make_agent(f"{places.get(what, what)}{':' if moved else ''}{moved}", num_players)


@dataclass(frozen=True)
class ClusterJob(Job):
    """A job for other nodes.

    Attributes:
        a, b: agents, with their files if they need any.
        version: version of this package, which must be the same on every node.
    """

    version: str = ""

    @classmethod
    def of(cls, job: Job) -> ClusterJob:
        """A job as it is sent."""
        a, b = (Sent.of(spec) for spec in (job.a, job.b))
        return cls(a, b, job.num_players, job.strict, job.timeout, package_version("fiveup-env"))

    def agents(self) -> tuple[Agent, Agent]:
        """Make both agents.

        Raises:
            ClusterError: if this node has another version.
        """
        if self.version != (here := package_version("fiveup-env")):
            raise ClusterError(
                f"node {platform.node()} has fiveup-env {here}, this program {self.version}; install the same version"
            )
        a, b = (
            spec.agent(self.num_players) if isinstance(spec, Sent) else make_agent(spec, self.num_players)
            for spec in (self.a, self.b)
        )
        return a, b


@contextmanager
def over_cluster(address: str, job: Job, parts: list[MatchPlan]) -> Iterator[Iterator[Results]]:
    """Play parts on a cluster; yields their results in order.

    Args:
        address: see `connected`.
        job: the agents.
        parts: the parts to play.

    Raises:
        ClusterError: if Ray or the cluster is missing, a node has another version of this package, or the process of
            a part died `RETRIES` times.
        AgentError: as `play_parts`.
    """
    with connected(address, PURPOSE) as ray:
        yield _in_order(ray, pickled(ClusterJob.of(job)), parts)


def _in_order(ray: Any, job: bytes, parts: list[MatchPlan]) -> Iterator[Results]:
    """Results in order, with `AHEAD` parts in progress per CPU that the cluster has now.

    Parts in progress at the end are not cancelled: in Ray 2.60 a cancellation that crosses the end of its task can
    abort this process (a failed check in the task manager). They end by themselves or with the connection.
    """
    play = ray.remote(num_cpus=1, max_retries=RETRIES)(play_part)
    everywhere = ray.put(job)
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
