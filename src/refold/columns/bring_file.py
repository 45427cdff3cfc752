"""Rows of a table as they were brought, in a model file: column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn
from refold.modelfile import arrays, texts
from refold.modelfile.fields import Field

# Dataframes count microseconds in 64 bits.
_LATEST = 2.0**63 / 1e6


def written(table: Table) -> dict[str, Any]:
    """Return a table as the document has it."""
    few = table.rows * len(table.columns) <= arrays.READABLE
    columns = zip(table.names, table.columns, strict=True)
    return {
        "rows": table.rows,
        "guessed": table.guessed,
        "columns": [{"name": name} | _written(column.raw, few) for name, column in columns],
    }


def _written(column: Column, few: bool) -> dict[str, Any]:
    if isinstance(column, TextColumn):
        used = column.take(np.arange(len(column)))  # there may be values that no row has
        codes = used.codes.tolist() if few else arrays.encoded(used.codes)
        return {"texts": texts.written(used.values), "codes": codes}
    if isinstance(column, NumberColumn):
        return {"numbers": _values_written(column.values, few)}
    return {
        "seconds": _values_written(column.seconds, few),
        "has_date": column.has_date,
        "has_clock": column.has_clock,
    }


def _values_written(values: Floats, few: bool) -> list[float | None] | dict[str, Any]:
    return arrays.written_column(values) if few else arrays.encoded(values)


def read(field: Field, most: int) -> Table:
    """Return a checked table of at most so many rows."""
    rows, guessed, columns = field.members("rows", "guessed", "columns")
    n = rows.integer(0, most)
    items = list(columns.items())
    names = [_name(item) for item in items]
    texts.check_different(columns, names)
    return Table(names, [_read(item, n) for item in items], n, guessed.boolean())


def _name(field: Field) -> str:
    field.object()
    if "name" not in field.value:
        field.refuse("lacks the member 'name'")
    return field.member("name").text()


def _read(field: Field, n: int) -> Column:
    if "texts" in field.value:
        _, values, codes = field.members("name", "texts", "codes")
        return _texts(values, codes, n)
    if "numbers" in field.value:
        _, numbers = field.members("name", "numbers")
        return NumberColumn(arrays.column_of(numbers, n))
    _, seconds, has_date, has_clock = field.members("name", "seconds", "has_date", "has_clock")
    times = arrays.column_of(seconds, n)
    within = np.isnan(times) | (np.abs(times) <= _LATEST)
    arrays.require(seconds, times, within, "must be a time within 300,000 years")
    return DateColumn(times, has_date.boolean(), has_clock.boolean())


def _texts(values: Field, codes: Field, n: int) -> TextColumn:
    found = texts.read(values, n)
    which: Integers = arrays.integers(codes, n)
    known = (which >= -1) & (which < len(found))
    arrays.require(codes, which, known, f"must be from -1 to {len(found) - 1}")
    return TextColumn(found, which)
