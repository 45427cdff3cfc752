"""Columns that say nothing, or number the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from refold.base.findings import Finding
from refold.checks._table.cells import LISTED
from refold.checks._table.table import CheckedColumn, CheckedTable
from refold.columns import role_findings as words
from refold.columns.noticed import notice_columns
from refold.columns.table import NumberColumn, as_texts

# What is said of a column by its first rows is true of them; this is said by all rows.
_OF_ALL_ROWS = frozenset({"constant", "sentinel"})
_HARDLY_ANY = 0.001  # the share of rows that a nearly constant column has other values in
_LEAST_ROWS = 100  # fewer than these are nearly constant by chance


def notice_roles(table: CheckedTable) -> Iterator[Finding]:
    """Say what columns were taken for where somebody should know, and which say nothing."""
    for column in table.columns:
        for found in column.noticed:
            if found.kind == "running-number" and isinstance(column.observed, NumberColumn):
                values = column.observed.values  # the first rows have said so, all say how far
                ends = (float(np.nanmin(values)), float(np.nanmax(values)))
                yield words.running_number(column.name, *ends, otherwise="number")
            elif found.kind not in _OF_ALL_ROWS:
                yield found
        if column.cells is not None:
            yield from _constant(column)
    numbers = [(c.name, c.numbers) for c in table.columns if c.numbers is not None]
    for name, values in numbers:
        yield from notice_columns(values[:, None], None, [name])


def _constant(column: CheckedColumn) -> Iterator[Finding]:
    """Find that all rows, or nearly all, have one value."""
    there = ~column.missing
    there[column.unreadable] = False
    rows = np.flatnonzero(there)
    if len(rows) < 2:
        return
    bits = column.bits[rows]
    middle = len(bits) // 2
    same = bits == np.partition(bits, middle)[middle]  # what more than half have is the median
    others = rows[~same]
    if len(others) > (_HARDLY_ANY * len(rows) if len(rows) >= _LEAST_ROWS else 0):
        return
    first = int(rows[same.argmax()])
    value = as_texts(column.observed.take(np.array([first]))).values[0]
    if column.numbers is not None:
        value = f"{column.numbers[first]:.10g}"
    found = words.constant(column.name, value)
    if len(others):
        but = f"all but {len(others):,} of {len(rows):,} rows"
        found = replace(
            found,
            message=f"{column.name} is {words.shown(value)} in {but}.",
            rows=tuple(others[:LISTED].tolist()),
        )
    yield found
