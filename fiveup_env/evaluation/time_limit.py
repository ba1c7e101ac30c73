"""A limit on the time of a call into somebody else's code.

Python can be interrupted in the main thread of a process, on systems that have `setitimer`; elsewhere, and inside
compiled code until it returns, there is no limit. A program of its own (`exec:COMMAND`) can be stopped anywhere.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fiveup_env.agents.protocol import AgentTimeout


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `AgentTimeout` inside the block after so many seconds; None for no limit."""
    here = threading.current_thread() is threading.main_thread()
    if seconds is None or not here or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise AgentTimeout(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
