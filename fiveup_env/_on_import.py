"""Do something once another package is imported, without importing it.

Gymnasium takes a good part of a second to import, and who plays a `Match` has no use for it. Its ids must be there,
though, whichever of the two is imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


def when_imported(name: str, call: Callable[[], None]) -> None:
    """Call `call` once: now, if the package `name` is imported already, else right after it is."""
    if name in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Watch(name, call))


class _Watch:
    """A finder on `sys.meta_path` that leaves finding and loading to the others, and calls when it is loaded."""

    def __init__(self, name: str, call: Callable[[], None]) -> None:
        self.name, self.call = name, call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                self._call_after(spec)
                return spec
        return None

    def _call_after(self, spec: ModuleSpec) -> None:
        # Specs are made to be found, not only to be loaded: what is changed is this one's loader alone.
        if (loader := spec.loader) is None:
            return
        load = loader.exec_module

        def load_and_call(module: ModuleType) -> None:
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.call()

        loader.exec_module = load_and_call  # type: ignore[method-assign]
