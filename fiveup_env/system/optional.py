"""Errors for optional libraries that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingLibraryError(ImportError):
    """An optional library is not installed; the one-line message names the extra that installs it."""


@contextmanager
def library(extra: str) -> Iterator[None]:
    """Context manager for the imports of an optional library, which `extra` of this package installs.

    Raises:
        MissingLibraryError: if a module outside this project cannot be found.

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
    """The same for a script: a missing library ends the program with the one-line message."""
    try:
        with library(extra):
            yield
    except MissingLibraryError as error:
        raise SystemExit(str(error)) from None
