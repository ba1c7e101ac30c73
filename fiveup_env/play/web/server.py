"""Web server of `fiveup play --web`: the page, its requests, and access control.

| request           | body                              | answer                                                       |
|-------------------|-----------------------------------|--------------------------------------------------------------|
| GET `/`           |                                   | the page; it contains no secret                              |
| GET `/api/state`  | query `after`: a version          | the seat's state (`seat_state`), once its version differs    |
| POST `/api/act`   | `version`, `action`               | 204; 422 if the action is illegal                            |
| POST `/api/next`  | `version`                         | 204; the next round starts                                   |
| POST `/api/undo`  | `version`                         | 204, in practice only                                        |
| POST `/api/hint`  | `version`                         | the adviser's thoughts (`Thinker`), with names of actions    |
| POST `/api/pace`  | `version`, `pace`: one of `PACES` | 204                                                          |
| POST `/api/new`   | `version`, `seating`              | 204; another match with that seating, null keeps it          |
| GET `/api/record` |                                   | the record, after the match                                  |
| GET `/api/replay` |                                   | the replay page, after the match                             |

Every request to `/api` needs a seat's key as `Authorization: Bearer KEY`; the key decides the seat. An error is JSON
with the key `error`: 400 (malformed), 401 (no key), 403 (another site), 404, 405, 409 (not possible now), 413, 415,
422.

A page of another site cannot read answers (no CORS headers) and cannot change anything: a foreign `Origin` is refused,
and the key travels in a header that such a page cannot set. A foreign host name that points to this machine (DNS
rebinding) is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fiveup_env.play.web.table_host import PACES, TableHost
from fiveup_env.play.web.web_table import PERSON, TableError, WebTable
from fiveup_env.records.record_reader import parse_record
from fiveup_env.rendering.replays import replay_page, theme_styles
from fiveup_env.rendering.scene_svg import DEFINITIONS, FONT
from fiveup_env.rules.actions import describe

API = "/api/"
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
MOST_BYTES = 4096  # of a request body
KEY_BYTES = 24  # of randomness
Handler = Callable[[Request, int, Mapping[str, Any]], Awaitable[Response]]


class App:
    """ASGI application of one table.

    Args:
        table: the table.
        host: address that the server is bound to.
        pace: seconds before an agent's move.
        keys: key of the page of each person's seat; None draws them.

    Attributes:
        asgi: the application to serve.
        closing: function that says whether the server is about to stop; the caller sets it.
    """

    def __init__(
        self, table: WebTable, host: str = "127.0.0.1", pace: float = 0.8, keys: Mapping[int, str] | None = None
    ) -> None:
        self._table, self._pace = table, pace
        self.closing: Callable[[], bool] = lambda: False
        drawn = {seat: secrets.token_urlsafe(KEY_BYTES) for seat in table.people}
        self._keys = list((drawn if keys is None else dict(keys)).values())
        self._files = _files()
        self.asgi = Starlette(
            routes=[
                *[Route(path, self._file, methods=["GET"]) for path in self._files],
                Route("/api/state", self._guarded(self._state, body=None), methods=["GET"]),
                Route("/api/record", self._guarded(self._record, body=None), methods=["GET"]),
                Route("/api/replay", self._guarded(self._replay, body=None), methods=["GET"]),
                Route("/api/act", self._guarded(self._act, body={"action": int}), methods=["POST"]),
                Route("/api/next", self._guarded(self._next, body={}), methods=["POST"]),
                Route("/api/undo", self._guarded(self._undo, body={}), methods=["POST"]),
                Route("/api/hint", self._guarded(self._hint, body={}), methods=["POST"]),
                Route("/api/pace", self._guarded(self._set_pace, body={"pace": float}), methods=["POST"]),
                Route("/api/new", self._guarded(self._new, body={"seating": list}), methods=["POST"]),
            ],
            middleware=[Middleware(Guard, host=host)],
            exception_handlers={HTTPException: _error},
            lifespan=self._lifespan,
        )

    def key(self, person: int) -> str:
        """Key of the page of person number `person`, in seat order."""
        return self._keys[person]

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._host = TableHost(self._table, self._pace, lambda: self.closing())
        playing = asyncio.create_task(self._host.run())
        yield
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing

    def _guarded(self, handler: Handler, body: Mapping[str, type] | None) -> Callable[[Request], Awaitable[Response]]:
        """Wrap a handler: find the seat of the key, check the body, turn errors into answers."""

        async def answer(request: Request) -> Response:
            # People keep their keys when a new match changes their seats.
            keys = dict(zip(self._table.people, self._keys, strict=True))
            seat = seat_of(request.headers, keys, self._table.people)
            if seat is None:
                raise HTTPException(401, "this page has no seat at this table: open the link that the server printed")
            given = {} if body is None else await _checked_body(request, {"version": int, **body})
            try:
                return await handler(request, seat, given)
            except TableError as error:
                raise HTTPException(409, str(error)) from None
            except ValueError as error:
                raise HTTPException(422, str(error)) from None

        return answer

    async def _file(self, request: Request) -> Response:
        content, kind = self._files[request.url.path]
        return Response(content, media_type=kind)

    async def _state(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) < 16):
            raise HTTPException(400, "after must be a version number")
        state = await self._host.newer(seat, int(after))
        return Response(state, media_type="application/json")

    async def _act(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        return await self._change(given, lambda: self._table.act(seat, given["action"]))

    async def _next(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        return await self._change(given, self._table.proceed)

    async def _undo(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        return await self._change(given, self._table.undo)

    async def _set_pace(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        if given["pace"] not in PACES:
            raise HTTPException(422, f"pace must be one of {', '.join(map(str, PACES))}")

        def set_pace() -> None:
            self._host.pace = float(given["pace"])

        return await self._change(given, set_pace)

    async def _new(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        seating = given["seating"]
        if seating is not None and not all(isinstance(name, str) for name in seating):
            raise HTTPException(400, f"seating must be null or a list of names, {PERSON!r} for a person")
        return await self._change(given, lambda: self._table.new_match(seating))

    async def _change(self, given: Mapping[str, Any], what: Callable[[], None]) -> Response:
        await self._host.change(given["version"], what)
        return Response(status_code=204)

    async def _hint(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        hint = await self._host.ask(given["version"], lambda: self._table.hint(seat))
        names = {action: describe(action) for key in ("values", "probabilities") for action in hint.get(key, {})}
        return JSONResponse({**hint, "names": names})

    async def _record(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        return Response(self._finished(), media_type="application/jsonl")

    async def _replay(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        text = self._finished()
        return Response(await asyncio.to_thread(lambda: replay_page(parse_record(text))), media_type="text/html")

    def _finished(self) -> str:
        """Text of the record of a finished match."""
        if self._table.phase != "over":
            raise TableError("a record shows all hands: it is available after the match")
        return self._table.sitting.recorder.text()


async def _checked_body(request: Request, keys: Mapping[str, type]) -> Mapping[str, Any]:
    """Read a JSON object with exactly these keys; null is allowed for a list only."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be JSON with Content-Type: application/json")
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BYTES:
            raise HTTPException(413, f"the body is limited to {MOST_BYTES} bytes")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(body, dict) or set(body) != set(keys):
        raise HTTPException(400, f"the body must be an object with the keys {', '.join(keys)}")
    for name, kind in keys.items():
        value = body[name]
        kinds = (int, float) if kind is float else (list, type(None)) if kind is list else (kind,)
        if not isinstance(value, kinds) or isinstance(value, bool):
            wanted = "a list or null" if kind is list else "a number"
            raise HTTPException(400, f"{name} must be {wanted}, not {value!r:.50}")
    return body


async def _error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


def _files() -> dict[str, tuple[bytes, str]]:
    """Static files by path: content and media type."""
    web, drawings = files("fiveup_env.play.web") / "data", files("fiveup_env.rendering") / "data"
    html = (web / "play.html").read_text(encoding="utf-8").replace("@@DEFINITIONS@@", DEFINITIONS)
    face = f"@font-face{{font-family:'{FONT}';font-weight:bold;src:url(board.ttf)}}"
    css = face + theme_styles() + (web / "play.css").read_text(encoding="utf-8")
    return {
        "/": (html.encode(), "text/html"),
        "/play.css": (css.encode(), "text/css"),
        "/play.js": ((web / "play.js").read_bytes(), "text/javascript"),
        "/board.ttf": ((drawings / "FiveUpSans-Bold.ttf").read_bytes(), "font/ttf"),
    }


def host_names(host: str) -> frozenset[str]:
    """Host names that a request to a server at this address may use; a server at 0.0.0.0 also takes any address."""
    return frozenset({"127.0.0.1", "localhost", "::1", host, *([socket.gethostname()] if _is_any(host) else [])})


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """ASGI middleware that refuses requests of other sites and adds the security headers.

    Args:
        app: the guarded application.
        host: address that the server is bound to.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app, self._names, self._any = app, host_names(host), _is_any(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(Headers(scope=scope), scope["path"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self.app if refusal is None else JSONResponse({"error": refusal}, 403)
        await answer(scope, receive, send_with_headers)

    def refusal(self, headers: Headers, path: str) -> str | None:
        """Reason to refuse a request, None if it is allowed."""
        given = headers.getlist("host")
        try:
            name = urlsplit(f"//{given[0]}").hostname if len(given) == 1 else None
        except ValueError:
            name = None
        if name is None or not (name in self._names or (self._any and _is_address(name))):
            return "the host name is not one of this server"
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{given[0]}"]:
            return "requests of another site are refused"
        if path.startswith(API) and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "requests of another site are refused"
        return None


def seat_of(headers: Mapping[str, str], keys: Mapping[int, str], seats: Collection[int]) -> int | None:
    """Seat whose key the request carries as `Authorization: Bearer KEY`, None if there is none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    found = None
    for seat in seats:  # compare all keys, so that the time reveals nothing
        if hmac.compare_digest(given.encode(), keys[seat].encode()) and scheme.lower() == "bearer":
            found = seat
    return found
