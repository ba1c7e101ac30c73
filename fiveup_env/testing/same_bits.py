"""Comparing what was handed out, to the last bit, and saying where it differs."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def difference(left: Any, right: Any, where: str = "") -> str | None:
    """Where two nested things differ, as `observation['hand']`; None if they are equal to the last bit."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        if left.keys() != right.keys():
            return f"{where} has the keys {sorted(map(str, left))} and {sorted(map(str, right))}"
        return _first(difference(left[key], right[key], f"{where}[{key!r}]") for key in left)
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        if len(left) != len(right):
            return f"{where} has {len(left)} and {len(right)} entries"
        return _first(difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(left, right, strict=True)))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return None if _same_array(left, right) else f"{where or 'the array'} differs{_first_index(left, right)}"
    same = type(left) is type(right) and (left is right or bool(left == right) or _both_nan(left, right))
    return None if same else f"{where or 'the value'} is {left!r} and {right!r}"


def _first(found: Iterator[str | None]) -> str | None:
    return next((text for text in found if text is not None), None)


def _both_nan(left: Any, right: Any) -> bool:
    return isinstance(left, float) and left != left and right != right


def _same_array(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype == object:
        return difference(left.tolist(), right.tolist()) is None
    return left.tobytes() == right.tobytes()


def _first_index(left: np.ndarray, right: np.ndarray) -> str:
    if left.dtype != right.dtype or left.shape != right.shape:
        return f" ({left.dtype} {list(left.shape)} and {right.dtype} {list(right.shape)})"
    at = tuple(int(i) for i in np.argwhere(left != right)[0]) if (left != right).any() else ()
    return f" at index {at[0] if len(at) == 1 else at}: {left[at]!r} and {right[at]!r}" if at else ""


def kept(value: Any) -> Any:
    """A copy that later writes cannot reach."""
    return copy.deepcopy(value)


@contextlib.contextmanager
def other_global_chance(seed: int) -> Iterator[None]:
    """Global random generators in another state, to find who draws from them; as they were afterwards."""
    python, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 (what others draw from)
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)
