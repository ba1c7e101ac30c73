"""Run `fiveup play --web`: bind a port, print a link for every person, serve until Ctrl-C."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fiveup_env.agents.registry import make_agent
from fiveup_env.play.thoughts import Thinker
from fiveup_env.play.web.web_table import WebTable

if TYPE_CHECKING:
    import uvicorn

    from fiveup_env.play.web.server import App

PORT = 8061
FOLDER = Path("matches")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class WebError(ValueError):
    """The page cannot be served; the message is one line."""


def check_web() -> None:
    """Raise a WebError if the extra `web` is not installed."""
    for module in ("starlette", "uvicorn"):
        if find_spec(module) is None:
            raise WebError(f"a web page needs {module}, which is not installed: pip install 'fiveup-env[web]'")


def serve(
    seating: Sequence[str],
    *,
    seed: int | None = None,
    practice: bool = False,
    hints: str = "pimc",
    record: str | None = None,
    host: str = "127.0.0.1",
    port: int = PORT,
    show: Callable[[str], None] = print,
) -> None:
    """Serve a table until Ctrl-C.

    Args:
        seating: for every seat `you` or an agent.
        seed: see `WebTable`.
        practice: whether moves can be taken back.
        hints: agent whose opinion hints show next to search values.
        record: file for the record; None uses a file in the folder `matches`, named by the time.
        host: address to bind.
        port: port to bind, 0 for a free one.
        show: shows a line.

    Raises:
        WebError: if the extra is not installed, or the port cannot be bound.
        ValueError: if an agent cannot be made, or no person is seated.
        OSError: if the record cannot be written.
    """
    check_web()
    from fiveup_env.play.web.server import App

    kept = FOLDER / f"{datetime.now():%Y%m%d-%H%M%S}.jsonl" if record is None else Path(record)
    adviser = Thinker(make_agent(hints, len(seating)))
    table = WebTable(seating, seed, practice=practice, adviser=adviser, record=kept)
    with bound_socket(host, port) as bound:
        table.save()
        show("Preparing the agents ...")
        table.warm_up()
        app = App(table, host)
        name = f"[{host}]" if ":" in host else host
        for number, seat in enumerate(table.people):
            show(f"Play at http://{name}:{bound.getsockname()[1]}/#{app.key(number)} (seat {seat})")
        if host not in LOOPBACK:
            show("Anyone who can reach this address and has a link can play; the connection is not encrypted.")
        show(f"The record is saved in {kept}. Ctrl-C closes the table.")
        with suppress(KeyboardInterrupt):  # uvicorn shuts down first and then passes the signal on
            server_of(app).run(sockets=[bound])
        show("The table is closed.")


def server_of(app: App) -> uvicorn.Server:
    """Return a server for the table whose answers reveal neither the time nor the server software."""
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            app.asgi,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
    )
    app.closing = lambda: server.should_exit
    return server


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at this address.

    Raises:
        WebError: if the address cannot be bound.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # a link opened before the server runs waits instead of being refused
        except OSError:
            bound.close()
            raise
    except OSError as error:
        advice = "; another --port may be free" if error.errno == errno.EADDRINUSE else ""
        raise WebError(f"cannot serve at {host}, port {port}: {error.strerror or error}{advice}") from error
    return bound
