"""What `fiveup play --web` does: it binds a port, prints a link for every person, and serves until Ctrl-C."""

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
from fiveup_env.play.web.web_table import Table

if TYPE_CHECKING:
    import uvicorn

    from fiveup_env.play.web.server import App

PORT = 8061
FOLDER = Path("matches")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class WebError(ValueError):
    """A page cannot be served; the message is one line."""


def check_web() -> None:
    """Raise a WebError unless what the extra `web` brings is installed."""
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
    tell: Callable[[str], None] = print,
) -> None:
    """Serve a table until Ctrl-C.

    Args:
        seating: for every seat `you` or an agent.
        seed: see `Table`.
        practice: whether moves can be taken back.
        hints: the agent that is asked for hints, beside values by search.
        record: file of the record; None takes one in the folder `matches`, named by the time.
        host: address to bind.
        port: port to bind, 0 for any that is free.
        tell: shows a line.

    Raises:
        WebError: if the libraries are missing, or the port cannot be had.
        ValueError: if an agent cannot be made, or nobody would play.
        OSError: if the record cannot be written.
    """
    check_web()
    from fiveup_env.play.web.server import App

    kept = FOLDER / f"{datetime.now():%Y%m%d-%H%M%S}.jsonl" if record is None else Path(record)
    adviser = Thinker(make_agent(hints, len(seating)))
    table = Table(seating, seed, practice=practice, adviser=adviser, record=kept)
    with bound_socket(host, port) as bound:
        table.save()
        tell("Getting the agents ready ...")
        table.warm_up()
        app = App(table, host)
        shown = f"[{host}]" if ":" in host else host
        for number, seat in enumerate(table.people):
            tell(f"Play at http://{shown}:{bound.getsockname()[1]}/#{app.key(number)} (seat {seat})")
        if host not in LOOPBACK:
            tell("Anybody who can reach this address and has a link may play; nothing is encrypted.")
        tell(f"The record is kept in {kept}. Ctrl-C ends the table.")
        with suppress(KeyboardInterrupt):  # it has shut down, and passes the signal on
            server_of(app).run(sockets=[bound])
        tell("The table is closed.")


def server_of(app: App) -> uvicorn.Server:
    """A server for the table; its answers tell neither the time nor what serves them."""
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
    """A socket that listens at this address.

    Raises:
        WebError: if it cannot be had.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # so that whoever follows the link at once waits for the server and is not refused
        except OSError:
            bound.close()
            raise
    except OSError as error:
        advice = "; another --port may be free" if error.errno == errno.EADDRINUSE else ""
        raise WebError(f"cannot serve at {host}, port {port}: {error.strerror or error}{advice}") from error
    return bound
