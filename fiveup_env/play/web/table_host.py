"""`TableHost`: runs a table in an event loop and notifies waiting pages of changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fiveup_env.play.web.web_table import TableError, WebTable, seat_state

PACES = (0.0, 0.25, 0.8, 2.0)
"""Choices of the page for the seconds before an agent's move."""
WAIT = 20.0  # seconds after which a waiting page gets an unchanged state
LOOK = 0.5  # seconds between checks whether the server is closing


class StaleError(TableError):
    """The request refers to an outdated state."""


class TableHost:
    """A table in an event loop.

    All changes run under one lock. A page names the version it saw, so a request for an earlier position (an old tab, a
    second click) is refused.

    Args:
        table: the table.
        pace: seconds before an agent's move.
        closing: function that says whether the server is about to stop, so that waiting requests end.

    Attributes:
        version: number of the state; every change increases it.
        states: per person's seat the state of its page as JSON text.
        warning: reason why the record is not saved, None if it is.
    """

    def __init__(self, table: WebTable, pace: float, closing: Callable[[], bool]) -> None:
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
            self.warning = f"the record cannot be saved: {error.strerror or error}"
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
        """Play the agents' moves until cancelled."""
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
        """Return the state of a seat once its version differs from `version`, at the latest after `WAIT` seconds."""
        until = time.monotonic() + WAIT
        while version == self.version and time.monotonic() < until and not self.closing():
            with suppress(asyncio.TimeoutError):  # before Python 3.11 not the built-in TimeoutError
                async with self._changed:
                    await asyncio.wait_for(self._changed.wait_for(lambda: self.version != version), LOOK)
        return self.states[seat]

    async def change(self, version: int, what: Callable[[], None]) -> None:
        """Run `what`, which changes the table; raise a StaleError instead if the table has another version."""
        async with self._lock:
            self._check(version)
            what()
            await self._tell()

    async def ask(self, version: int, what: Callable[[], Any]) -> Any:
        """Run `what`, which reads the table, in a thread and return its result; errors as in `change`."""
        async with self._lock:
            self._check(version)
            return await asyncio.to_thread(what)

    def _check(self, version: int) -> None:
        if version != self.version:
            raise StaleError("the table has changed in the meantime")
