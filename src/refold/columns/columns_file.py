"""What is kept of columns, and rows of tables, in a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from refold.columns.box import Box
from refold.columns.extremes import (
    DEPTH,
    MOST_LEVELS,
    UNKNOWN,
    ColumnExtremes,
    CountedValues,
    TableExtremes,
)
from refold.columns.number_form import Kind, NumberForm
from refold.columns.summary import N_QUANTILES, Summary
from refold.columns.table import Column, DateColumn, NumberColumn, Table, TextColumn
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_COUNTED = ("values", "weights", "rows")
_ENDS = ("low", "high", "unit", "middle")
_NOTHING = CountedValues(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
# Dataframes count microseconds in 64 bits.
_LATEST = 2.0**63 / 1e6
_DAY = 86_400.0


def extremes_written(edges: TableExtremes) -> dict[str, Any]:
    """Return edges as the document has them."""
    return {
        "low": _counted_written([edge.low for edge in edges]),
        "high": _counted_written([edge.high for edge in edges]),
        "has_levels": [edge.levels is not None for edge in edges],
        "levels": _counted_written([edge.levels or _NOTHING for edge in edges]),
    }


def read_extremes(field: Field, n_features: int) -> TableExtremes:
    """Return checked edges."""
    ends_low, ends_high, has_levels, levels = field.members("low", "high", "has_levels", "levels")
    known = [item.boolean() for item in has_levels.items(n_features)]
    columns = zip(
        _read_counted(ends_low, n_features, DEPTH),
        _read_counted(ends_high, n_features, DEPTH),
        _read_counted(levels, n_features, MOST_LEVELS),
        known,
        strict=True,
    )
    return tuple(
        ColumnExtremes(low, high, each if has else None) for low, high, each, has in columns
    )


def _counted_written(columns: Sequence[CountedValues]) -> dict[str, Any]:
    """Return counted values of each column, those of all columns after each other."""
    return {
        "lengths": np.array([len(each.values) for each in columns]),
        **{name: np.concatenate([getattr(c, name) for c in columns]) for name in _COUNTED},
    }


def _read_counted(
    field: Field, n_features: int, most: int, *, rising: bool = True
) -> list[CountedValues]:
    lengths, values, weights, rows = field.members("lengths", *_COUNTED)
    begins = arrays.starts(lengths, n_features, most)
    n = begins[-1]
    distinct = arrays.floats(values, n)
    if rising:
        arrays.require_rising(values, distinct, begins)
    counts = arrays.floats(weights, n, above=0.0)
    numbers = arrays.integers(rows, n, least=UNKNOWN)
    return [
        CountedValues(distinct[begin:end], counts[begin:end], numbers[begin:end])
        for begin, end in pairwise(begins)
    ]


def _box_written(box: Box) -> dict[str, Any]:
    levels = [np.empty(0) if each is None else each for each in box.levels]
    return {
        **{name: getattr(box, name) for name in _ENDS},
        "apart": _counted_written(box.apart),
        "levels": {"lengths": np.array(list(map(len, levels))), "values": np.concatenate(levels)},
    }


def _read_box(field: Field, n_features: int) -> Box:
    *ends, apart, levels = field.members(*_ENDS, "apart", "levels")
    low, high = (arrays.floats(end, n_features) for end in ends[:2])
    arrays.require(ends[1], high, high >= low, "must not be below the lower end")
    lengths, values = levels.members("lengths", "values")
    begins = arrays.starts(lengths, n_features, MOST_LEVELS)
    found = arrays.floats(values, begins[-1])
    arrays.require_rising(values, found, begins)
    return Box(
        low,
        high,
        tuple(_read_counted(apart, n_features, 2 * DEPTH, rising=False)),
        tuple(found[begin:end] if end > begin else None for begin, end in pairwise(begins)),
        arrays.floats(ends[2], n_features, above=0.0),
        arrays.floats(ends[3], n_features, least=0.0),
    )


def summary_written(summary: Summary) -> dict[str, Any]:
    """Return a summary of rows, not of a sketch, as the document has it."""
    assert summary.box is not None
    return {
        "rows": summary.rows,
        "weight": summary.weight,
        "sampled": summary.sampled,
        "missing": summary.missing,
        "low": summary.low,
        "high": summary.high,
        "quantiles": summary.quantiles,
        "box": _box_written(summary.box),
    }


def read_summary(field: Field, n_features: int) -> Summary:
    """Return a checked summary."""
    rows, weight, sampled, missing, low, high, quantiles, box = field.members(
        "rows", "weight", "sampled", "missing", "low", "high", "quantiles", "box"
    )
    least, most = (arrays.floats(end, n_features) for end in (low, high))
    arrays.require(high, most, most >= least, "must not be below the smallest value")
    values = arrays.floats(quantiles, N_QUANTILES, n_features)
    within = (values >= least) & (values <= most)
    arrays.require(quantiles, values, within, "must lie between the smallest and the largest value")
    rising = np.vstack([within[:1], values[1:] >= values[:-1]])
    arrays.require(quantiles, values, rising, "must not be below the one before it")
    n_rows = rows.integer(1)
    return Summary(
        rows=n_rows,
        weight=weight.positive(),
        missing=arrays.floats(missing, n_features, least=0.0),
        low=least,
        high=most,
        quantiles=values,
        sampled=sampled.integer(1, n_rows),
        resolution=np.zeros(n_features),
        box=_read_box(box, n_features),
    )


def table_written(table: Table) -> dict[str, Any]:
    """Return rows of a table as the document has them, column by column, and as they came."""
    table = table.as_read
    columns = zip(table.names, table.columns, strict=True)
    return {
        "rows": table.rows,
        "guessed": table.guessed,
        "columns": [{"name": name} | _column_written(column.raw) for name, column in columns],
    }


def _column_written(column: Column) -> dict[str, Any]:
    if isinstance(column, TextColumn):
        used = column.take(np.arange(len(column)))  # there may be values that no row has
        return {"texts": arrays.StringArray(used.values), "codes": used.codes}
    if isinstance(column, NumberColumn):
        kind = None if column.form is None else column.form.kind
        return {"numbers": arrays.NullableArray(column.values), "kind": kind}
    written = {
        "seconds": arrays.NullableArray(column.seconds),
        "has_date": column.has_date,
        "has_clock": column.has_clock,
    }
    if column.offsets is None:
        return written
    return written | {"offsets": arrays.NullableArray(column.offsets), "zone": column.zone}


def read_table(field: Field, most: int) -> Table:
    """Return a checked table of at most so many rows."""
    rows, guessed, columns = field.members("rows", "guessed", "columns")
    n = rows.integer(0, most)
    items = list(columns.items())
    names = [_name(item) for item in items]
    arrays.check_different(columns, names)
    return Table(names, [_read_column(item, n) for item in items], n, guessed.boolean())


def _name(field: Field) -> str:
    field.object()
    if "name" not in field.value:
        field.refuse("lacks the member 'name'")
    return field.member("name").text()


def _read_column(field: Field, n: int) -> Column:
    if "texts" in field.value:
        _, values, codes = field.members("name", "texts", "codes")
        found = arrays.texts(values, n)
        return TextColumn(found, arrays.integers(codes, n, least=-1, most=len(found) - 1))
    if "numbers" in field.value:
        _, numbers, kind = field.members("name", "numbers", "kind")
        form = None
        if not kind.is_null():
            kind.text(get_args(Kind))
            form = NumberForm(kind=kind.value)
        return NumberColumn(arrays.rows_of(numbers, n), form=form)
    zoned = ("offsets", "zone") if "offsets" in field.value else ()
    _, seconds, has_date, has_clock, *zone_fields = field.members(
        "name", "seconds", "has_date", "has_clock", *zoned
    )
    times = arrays.rows_of(seconds, n)
    within = np.isnan(times) | (np.abs(times) <= _LATEST)
    arrays.require(seconds, times, within, "must be a time within 300,000 years")
    column = DateColumn(times, has_date.boolean(), has_clock.boolean())
    if not zoned:
        return column
    offsets, zone = zone_fields
    ahead = arrays.rows_of(offsets, n)
    small = np.isnan(ahead) | (np.abs(ahead) <= _DAY)
    arrays.require(offsets, ahead, small, "must be at most a day")
    return replace(column, offsets=ahead, zone=zone.text())
