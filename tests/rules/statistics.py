"""Chi-square tests without SciPy."""

from __future__ import annotations

from collections.abc import Iterable


def chi_square_limits(degrees: int) -> tuple[float, float]:
    """Bounds that a chi-square value stays in with probability 99.98% (Wilson and Hilferty, 1931)."""
    spread = 2 / (9 * degrees)
    low, high = ((1 - spread + z * spread**0.5) ** 3 for z in (-3.72, 3.72))
    return max(0.0, degrees * low), degrees * high


def assert_uniform(counts: Iterable[int]) -> None:
    """Counts of equally likely outcomes: neither too far from even nor, for many cells, too even."""
    counts = list(counts)
    expected = sum(counts) / len(counts)
    value = sum((count - expected) ** 2 / expected for count in counts)
    low, high = chi_square_limits(len(counts) - 1)
    assert low <= value <= high, (value, counts)


def assert_independent(table: list[list[int]]) -> None:
    """A contingency table whose row and column say nothing about each other."""
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    total = sum(rows)
    value = sum(
        (count - row * column / total) ** 2 / (row * column / total)
        for row, line in zip(rows, table, strict=True)
        for column, count in zip(columns, line, strict=True)
    )
    assert value <= chi_square_limits((len(rows) - 1) * (len(columns) - 1))[1], (value, table)
