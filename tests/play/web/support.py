"""A table served from a thread, and a client for its requests."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from fiveup_env.play.web.web_command import bound_socket, server_of
from fiveup_env.play.web.web_table import PERSON, WebTable
from fiveup_env.views.view import View

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("uvicorn", reason="the extra web is not installed")


class Scripted:
    """Plays action n of a script after n actions of the round; fails at the end of the script."""

    name = "scripted"

    def __init__(self, script: str) -> None:
        self.script = [int(action) for action in script.split("-")]

    def reset(self, seed: int) -> None:
        pass

    def act(self, view: View) -> int:
        try:
            return self.script[len(view.history)]
        except IndexError:
            raise ValueError("the script is over") from None


@dataclass
class Answer:
    """Status, headers and body of an answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"])


class Client:
    """Requests of one person's page."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key

    def ask(self, path: str, body: Any = None, method: str | None = None, raw: bytes | None = None, **headers: Any):
        """Answer to one request; headers that are None are left out, underscores become hyphens."""
        sent = {"Authorization": f"Bearer {self.key}"}
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        with contextlib.closing(connection):
            kept = {name: value for name, value in sent.items() if value is not None}
            connection.request(method or ("GET" if data is None else "POST"), path, data, kept)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())

    def state(self, after: int = 0) -> dict[str, Any]:
        answer = self.ask(f"/api/state?after={after}")
        assert answer.status == 200, answer.body
        return answer.json

    def settled(self) -> dict[str, Any]:
        """The state after the agents have played."""
        state = self.state()
        while state["phase"] == "agents":
            state = self.state(state["version"])
        return state

    def send(self, path: str, state: dict[str, Any], **body: Any) -> Answer:
        """Request a change of a state."""
        return self.ask(f"/api/{path}", {"version": state["version"], **body})


@contextlib.contextmanager
def served(table: WebTable, keys: list[str] | None = None, host: str = "127.0.0.1") -> Iterator[list[Client]]:
    """Serve the table; yield a client per person, in seat order."""
    from fiveup_env.play.web.server import App

    drawn = None if keys is None else dict(zip(table.people, keys, strict=True))
    app = App(table, host, 0, keys=drawn)
    with bound_socket(host, 0) as bound:
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            until = time.monotonic() + 30
            while not server.started:
                assert thread.is_alive() and time.monotonic() < until, "the server does not start"
                time.sleep(0.01)
            yield [Client(bound.getsockname()[1], app.key(number)) for number in range(len(table.people))]
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def seated(num_players: int, person: int = 0, agent: str = "greedy") -> list[str]:
    """Seating with one person."""
    return [PERSON if seat == person else agent for seat in range(num_players)]


@contextlib.contextmanager
def served_alone(num_players: int = 2, seed: int = 1, **options: Any) -> Iterator[Client]:
    """Serve a table with one person at seat 0; `options` are those of `WebTable`."""
    with served(WebTable(seated(num_players), seed, **options)) as (client,):
        yield client
