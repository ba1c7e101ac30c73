"""External programs as agents, in any language: JSON lines on standard input and output.

For every decision the program reads one line, a JSON object with the view of its seat, and writes one line,
`{"action": ID}`. It is started at the first decision, may be restarted after a failure, and should exit at the end of
its input. It may write nothing else to standard output; standard error is free. docs/evaluation.md lists the keys.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import shlex
import subprocess
import threading
import weakref
from typing import Any

from fiveup_env.agents.protocol import AgentError, AgentTimeout, Policy
from fiveup_env.rules.actions import DRAW, LAY_DOUBLE, Lay, Lead, decode, describe
from fiveup_env.views.view import View

PROTOCOL = 1
TIMEOUT = 10.0
LONGEST_LINE = 1 << 16
KEY_BITS = 53  # bits of a key that are sent: JSON readers of all languages read them exactly


def request(view: View, key: int) -> dict[str, Any]:
    """Return the message to the program, as JSON values; scores, credits and sums are raw (5 raw = 1 display point)."""
    game, layout = view.game, view.layout
    return {
        "protocol": PROTOCOL,
        "players": view.num_players,
        "seat": view.seat,
        "round": view.round_number,
        "scores": list(view.scores),
        "target": int(game.target),
        "hand": view.hand,
        "hand_sizes": view.hand_sizes,
        "boneyard": view.boneyard_size,
        "opener": int(game.opener),
        "history": view.history,
        "tiles": layout.tiles,
        "ends": [[pip, int(game.ends[pip]).bit_count()] for pip in range(7) if game.ends[pip]],
        "spinners": [pip for pip in range(7) if int(game.spinner_pips) >> pip & 1],
        "end_sum": layout.end_sum,
        "legal": [_option(view, action) for action in view.legal_actions()],
        "key": key >> (64 - KEY_BITS),
    }


def _option(view: View, action: int) -> dict[str, Any]:
    named = decode(action)
    option: dict[str, Any] = {"action": action, "text": describe(action)}
    if isinstance(named, Lead):
        both = sum(named.tile)  # R5.1, R4.4: the opening tile counts both halves, doubles too
        room = int(view.game.target) - view.scores[view.seat % len(view.scores)]
        option |= {"tile": named.tile, "onto": "table", "credit": both if both % 5 == 0 and both <= room else 0}
    elif isinstance(named, Lay):
        points = float(view.sections()["credits"][action - LAY_DOUBLE]) * 8
        option |= {"tile": named.tile, "pip": named.pip, "onto": named.onto, "credit": 5 * round(points)}
    return option


class ProcessAgent(Policy):
    """Agent that runs a program; its name is `exec:COMMAND` or `exec:timeout=2 COMMAND`.

    Args:
        command: the program and its arguments, split as a shell would (no shell is used).
        timeout: time limit of an answer in seconds, including the start of the program.

    Raises:
        AgentError: if the command is empty or the timeout is not positive. At a decision: if the program cannot be
            started, exits, or gives another answer; `AgentTimeout` if it exceeds the limit.
    """

    together = 32

    def __init__(self, command: str, *, timeout: float = TIMEOUT) -> None:
        if not command.strip():
            raise AgentError("exec: needs a command, for example exec:python my_agent.py")
        if not 0 < timeout < 1e6:
            raise AgentError(f"timeout must be a positive number of seconds, not {timeout!r}")
        try:
            self.command = shlex.split(command)
        except ValueError as error:
            raise AgentError(f"the command {command!r} cannot be split into words: {error}") from None
        self.name = f"exec:{command}"
        self.timeout = float(timeout)
        self._line: _Line | None = None

    @classmethod
    def named(cls, rest: str) -> ProcessAgent:
        """Make the agent from the text after `exec:`."""
        found = re.match(r"timeout=([0-9.]+)\s+", rest)
        return cls(rest[found.end() :], timeout=float(found[1])) if found else cls(rest)

    def choose(self, view: View, key: int) -> int:
        """Send the view to the program and return its action."""
        try:
            if self._line is None:
                self._line = _Line(self.command)
            answer = self._line.ask(json.dumps(request(view, key)), self.timeout)
            return _action_in(answer)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the program; the next decision restarts it."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_line": None}


def _action_in(answer: str) -> int:
    try:
        found = json.loads(answer)
        action = found["action"]
        if isinstance(action, bool) or not isinstance(action, int) or not 0 <= action <= DRAW + 1:
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        shown = answer.strip()
        shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
        raise AgentError(f'answered {shown!r}, not {{"action": ID}} with an ID from 0 to 120') from None
    return int(action)


class _Line:
    """Running program and its unread output; it is stopped with this object."""

    def __init__(self, command: list[str]) -> None:
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        except OSError as error:
            raise AgentError(f"{command[0]} cannot be started: {error.strerror or error}") from error
        self._said: queue.Queue[str] = queue.Queue(4)
        threading.Thread(target=_listen, args=(self.process, self._said), daemon=True).start()
        self.close = weakref.finalize(self, _end, self.process)

    def ask(self, line: str, seconds: float) -> str:
        if not self._said.empty():
            self._refuse(self._said.get())
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self._said.get(timeout=seconds)
        except queue.Empty:
            raise AgentTimeout(f"took more than {seconds:g} s") from None
        except OSError:
            answer = ""
        if not answer:
            self._refuse(answer)
        return answer

    def _refuse(self, said: str) -> None:
        if said:
            raise AgentError(f"answered twice: {said.strip()[:80]!r}")
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            raise AgentError("closed its output and did not answer") from None
        raise AgentError(f"ended with exit code {code} and did not answer")


def _listen(process: subprocess.Popen[str], said: queue.Queue[str]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        line = "?"
        while line:
            line = stream.readline(LONGEST_LINE)
            try:
                said.put(line, timeout=TIMEOUT)
            except queue.Full:  # unsolicited output that nobody reads
                return


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
