"""The server behind `fiveup play --web`: a page, and what it may ask of the table.

| request           | body                              | answer                                                       |
|-------------------|-----------------------------------|--------------------------------------------------------------|
| GET `/`           |                                   | the page; nothing on it is secret                            |
| GET `/api/state`  | query `after`: a version          | what the seat sees (`seat_state`), if it is another version, |
|                   |                                   | else once it is                                              |
| POST `/api/act`   | `version`, `action`               | 204; an illegal action is refused with 422                   |
| POST `/api/next`  | `version`                         | 204: the next round is begun                                 |
| POST `/api/undo`  | `version`                         | 204, in practice                                             |
| POST `/api/hint`  | `version`                         | what the adviser thinks (`Thinker`), with names of actions   |
| POST `/api/pace`  | `version`, `pace`: one of `PACES` | 204                                                          |
| POST `/api/new`   | `version`, `seating`              | 204: another match, with those names or the same (null)      |
| GET `/api/record` |                                   | the record, once the match is over                           |
| GET `/api/replay` |                                   | the replay page of it                                        |

Every request to `/api` needs a seat's key, as `Authorization: Bearer KEY`; the seat is that of the key. An error is
JSON with the key `error`: 400 (not understood), 401 (no key), 403 (from elsewhere), 404, 405, 409 (not now), 413, 415,
422.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fiveup_env.play.web.access_guard import Guard, seat_of
from fiveup_env.play.web.table_host import PACES, Host
from fiveup_env.play.web.web_table import PERSON, Table, TableError
from fiveup_env.records.record_reader import parse_record
from fiveup_env.rendering.replay_page import page, scoped
from fiveup_env.rendering.scene_svg import DEFINITIONS, FONT, THEMES, style
from fiveup_env.rules.actions import describe

MOST_BYTES = 4096
KEY_BYTES = 24  # of chance
Handler = Callable[[Request, int, Mapping[str, Any]], Awaitable[Response]]


class App:
    """The table of one server.

    Args:
        table: who plays.
        host: the address that the server is bound to.
        pace: seconds before an agent's move.
        keys: per person's seat the key of its page; drawn if None.

    Attributes:
        asgi: what a server serves.
        closing: whether that server is about to stop; set it when there is one.
    """

    def __init__(
        self, table: Table, host: str = "127.0.0.1", pace: float = 0.8, keys: Mapping[int, str] | None = None
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
        """The key of the page of the person number `person`, in the order of seats."""
        return self._keys[person]

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._host = Host(self._table, self._pace, lambda: self.closing())
        playing = asyncio.create_task(self._host.run())
        yield
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing

    def _guarded(self, handler: Handler, body: Mapping[str, type] | None) -> Callable[[Request], Awaitable[Response]]:
        """A handler that is given the seat of the key and the checked body; what it refuses becomes an answer."""

        async def answer(request: Request) -> Response:
            # People keep their keys when a new match seats them elsewhere.
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
            raise HTTPException(400, "after is the number of a version")
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
            raise HTTPException(422, f"pace is one of {', '.join(map(str, PACES))}")

        def set_pace() -> None:
            self._host.pace = float(given["pace"])

        return await self._change(given, set_pace)

    async def _new(self, request: Request, seat: int, given: Mapping[str, Any]) -> Response:
        seating = given["seating"]
        if seating is not None and not all(isinstance(name, str) for name in seating):
            raise HTTPException(400, f"seating is null or a list of names, {PERSON!r} for a person")
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
        return Response(await asyncio.to_thread(lambda: page(parse_record(text))), media_type="text/html")

    def _finished(self) -> str:
        """The record, which shows all hands."""
        if self._table.phase != "over":
            raise TableError("a record shows all hands: it can be had when the match is over")
        return self._table.sitting.recorder.text()


async def _checked_body(request: Request, keys: Mapping[str, type]) -> Mapping[str, Any]:
    """A JSON object with exactly these keys; null is allowed for a list only."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body is JSON, and says so: Content-Type: application/json")
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BYTES:
            raise HTTPException(413, f"the body has at most {MOST_BYTES} bytes")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(body, dict) or set(body) != set(keys):
        raise HTTPException(400, f"the body is an object with the keys {', '.join(keys)}")
    for name, kind in keys.items():
        value = body[name]
        kinds = (int, float) if kind is float else (list, type(None)) if kind is list else (kind,)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise HTTPException(400, f"{name} is {'a list or null' if kind is list else 'a number'}, not {value!r:.50}")
    return body


async def _error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


def _files() -> dict[str, tuple[bytes, str]]:
    """What every browser is given, by path: content and media type."""
    web, drawings = files("fiveup_env.play.web") / "data", files("fiveup_env.rendering") / "data"
    html = (web / "play.html").read_text(encoding="utf-8").replace("@@DEFINITIONS@@", DEFINITIONS)
    face = f"@font-face{{font-family:'{FONT}';font-weight:bold;src:url(board.ttf)}}"
    themes = "".join(scoped(theme, style(theme)) for theme in THEMES)
    css = face + themes + (web / "play.css").read_text(encoding="utf-8")
    return {
        "/": (html.encode(), "text/html"),
        "/play.css": (css.encode(), "text/css"),
        "/play.js": ((web / "play.js").read_bytes(), "text/javascript"),
        "/board.ttf": ((drawings / "FiveUpSans-Bold.ttf").read_bytes(), "font/ttf"),
    }
