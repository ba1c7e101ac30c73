"""`Host`: keeps a table going in an event loop, and tells whoever waits when it has changed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fiveup_env.play.web.seat_state import seat_state
from fiveup_env.play.web.web_table import Table, TableError

PACES = (0.0, 0.25, 0.8, 2.0)
"""Seconds before an agent's move that can be chosen on the page."""
WAIT = 20.0  # seconds that a page waits for news before it asks again
LOOK = 0.5  # seconds after which whoever waits looks whether the server is closing


class StaleError(TableError):
    """The page that asked had not seen the latest state."""


class Host:
    """A table in an event loop.

    Everything that changes the table runs under one lock. A page says which version it saw, so what a person meant for
    one position, in an old tab or by a second click, is never taken for another.

    Args:
        table: the table.
        pace: seconds before an agent's move.
        closing: whether the server is about to stop, so that nobody is to wait any longer.

    Attributes:
        version: number of the state, which grows with every change.
        states: per person's seat what its page is told, as JSON text.
        warning: why the record is not kept, None if it is.
    """

    def __init__(self, table: Table, pace: float, closing: Callable[[], bool]) -> None:
        self.table, self.pace, self.closing, self.version = table, pace, closing, 0
        self.states: dict[int, bytes] = {}
        self.warning: str | None = None
        self._lock, self._changed, self._poked = asyncio.Lock(), asyncio.Condition(), asyncio.Event()
        self._publish()

    def _publish(self) -> None:
        try:
            self.table.save()
            self.warning = None
        except OSError as error:
            self.warning = f"the record cannot be kept: {error.strerror or error}"
        self.version += 1
        for seat in self.table.people:
            state = seat_state(self.table, seat)
            state |= {"version": self.version, "pace": self.pace, "warning": self.warning}
            self.states[seat] = json.dumps(state, separators=(",", ":")).encode()

    async def _tell(self) -> None:
        self._publish()
        self._poked.set()
        async with self._changed:
            self._changed.notify_all()

    async def run(self) -> None:
        """Let the agents play whenever it is their turn; until cancelled."""
        while True:
            if self.table.phase != "agents":
                self._poked.clear()
                await self._poked.wait()
                continue
            await asyncio.sleep(self.pace)
            async with self._lock:
                if self.table.phase == "agents":
                    await asyncio.to_thread(self.table.step)
                    await self._tell()

    async def newer(self, seat: int, version: int) -> bytes:
        """The state of a seat, as soon as it is not of that version, or after a while."""
        until = time.monotonic() + WAIT
        while version == self.version and time.monotonic() < until and not self.closing():
            with suppress(asyncio.TimeoutError):  # not the built-in one before Python 3.11
                async with self._changed:
                    await asyncio.wait_for(self._changed.wait_for(lambda: self.version != version), LOOK)
        return self.states[seat]

    async def change(self, version: int, what: Callable[[], None]) -> None:
        """Change the table.

        Raises:
            StaleError: if it is not of that version any more; nothing is changed then.
            ValueError: what `what` raises.
        """
        async with self._lock:
            self._check(version)
            what()
            await self._tell()

    async def ask(self, version: int, what: Callable[[], Any]) -> Any:
        """Let something be computed about the table as it stands, beside the event loop; errors as of `change`."""
        async with self._lock:
            self._check(version)
            return await asyncio.to_thread(what)

    def _check(self, version: int) -> None:
        if version != self.version:
            raise StaleError("the table has changed in the meantime")
