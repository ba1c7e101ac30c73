"""What is said where an optional library is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingLibraryError(ImportError):
    """An optional library is not installed; the message is one line that names the extra that brings it."""


@contextmanager
def library(extra: str) -> Iterator[None]:
    """Imports of an optional library stand in a `with` block of this.

    Args:
        extra: of this package, which brings the library.

    Raises:
        MissingLibraryError: if a module that is not ours cannot be found.

    >>> with library("torchrl"):
    ...     import torchrl
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").split(".")[0]
        if module in ("", "fiveup_env", "training"):
            raise
        raise MissingLibraryError(f"{module} is not installed: pip install 'fiveup-env[{extra}]'") from error


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """The same in a script that is run by its name: the line, and no traceback."""
    try:
        with library(extra):
            yield
    except MissingLibraryError as error:
        raise SystemExit(str(error)) from None
