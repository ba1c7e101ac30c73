"""Who may talk to the server: only pages that it served itself, from names that are its own, with a seat's key.

A page of another site cannot read answers (no CORS headers), and cannot send what changes anything: an `Origin` that is
not ours is refused, and every request to the table needs the key in a header that such a page cannot set. A name that
somebody has pointed at this machine (DNS rebinding) is no host of ours.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


def host_names(host: str) -> frozenset[str]:
    """The names under which a server at this address may be asked for, besides numeric addresses if it is at all."""
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
    """Refuses requests from elsewhere, and gives every answer the headers that keep a page to itself.

    Args:
        app: what is guarded.
        host: the address that the server is bound to.
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
        """Why a request is not answered, None if it is."""
        given = headers.getlist("host")
        try:
            name = urlsplit(f"//{given[0]}").hostname if len(given) == 1 else None
        except ValueError:
            name = None
        if name is None or not (name in self._names or (self._any and _is_address(name))):
            return "this server does not go by that name"
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{given[0]}"]:
            return "another site may not ask this server"
        if path.startswith(API) and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "another site may not ask this server"
        return None


def seat_of(headers: Mapping[str, str], keys: Mapping[int, str], seats: Collection[int]) -> int | None:
    """The seat whose key a request brings as `Authorization: Bearer KEY`, None if none of them."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    found = None
    for seat in seats:  # all of them, so that time does not tell
        if hmac.compare_digest(given.encode(), keys[seat].encode()) and scheme.lower() == "bearer":
            found = seat
    return found
