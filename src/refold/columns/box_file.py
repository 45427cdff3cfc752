"""Edges and boxes in a model file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns.box import Box
from refold.columns.edges import DEPTH, MOST_LEVELS, UNKNOWN, Counted, Edge, Edges
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_COUNTED = ("values", "weights", "rows")
_LONG = 10  # more digits than a number of columns has
_ENDS = ("low", "high", "unit", "middle")


def edges_written(edges: Edges) -> list[dict[str, Any]]:
    """Return edges as the document has them, an object for each column."""
    return [
        {
            "low": _counted_written(edge.low),
            "high": _counted_written(edge.high),
            "levels": None if edge.levels is None else _counted_written(edge.levels),
        }
        for edge in edges
    ]


def read_edges(field: Field, n_features: int) -> Edges:
    """Return checked edges."""
    return tuple(_edge(item) for item in field.items(n_features))


def written(box: Box) -> dict[str, Any]:
    """Return a box as the document has it."""
    return {
        **{name: arrays.written(getattr(box, name)) for name in _ENDS},
        "apart": _apart_written(box.apart),
        "levels": {str(c): v.tolist() for c, v in enumerate(box.levels) if v is not None},
    }


def read(field: Field, n_features: int) -> Box:
    """Return a checked box."""
    *ends, apart, levels = field.members(*_ENDS, "apart", "levels")
    low, high, unit, middle = (arrays.floats(end, n_features) for end in ends)
    arrays.require(ends[1], high, high >= low, "must not be below the lower end")
    arrays.require(ends[2], unit, unit > 0.0, "must be above 0")
    arrays.require(ends[3], middle, middle >= 0.0, "must not be negative")
    return Box(low, high, _apart(apart, n_features), _levels(levels, n_features), unit, middle)


def _apart_written(apart: tuple[Counted, ...]) -> dict[str, Any]:
    """Return the cells that are cut off, side by side: there are few, or none."""
    column = np.repeat(np.arange(len(apart)), [len(each.values) for each in apart])
    columns = {name: [getattr(each, name) for each in apart] for name in _COUNTED}
    return {"column": column.tolist()} | {
        name: np.concatenate(values).tolist() for name, values in columns.items()
    }


def _apart(field: Field, n_features: int) -> tuple[Counted, ...]:
    column, *counted = field.members("column", *_COUNTED)
    n = arrays.length_of(column, 2 * DEPTH * n_features, least=0)
    of = arrays.integers(column, n)
    arrays.require(column, of, (of >= 0) & (of < n_features), "must be a column")
    arrays.require(column, of, np.diff(of, prepend=0) >= 0, "must not be below the one before it")
    values, weights = (arrays.floats(each, n) for each in counted[:2])
    rows = arrays.integers(counted[2], n)
    starts = np.searchsorted(of, np.arange(n_features + 1))
    return tuple(
        Counted(values[begin:end], weights[begin:end], rows[begin:end])
        for begin, end in pairwise(starts)
    )


def _levels(field: Field, n_features: int) -> tuple[Floats | None, ...]:
    field.object()
    for name in field.value:
        if not (name.isdecimal() and len(name) < _LONG and int(name) < n_features):
            field.refuse(f"{name[:60]!r} is no column")
    return tuple(
        _rising(field.member(str(c)), MOST_LEVELS) if str(c) in field.value else None
        for c in range(n_features)
    )


def _edge(field: Field) -> Edge:
    low, high, levels = field.members("low", "high", "levels")
    return Edge(
        _counted(low, DEPTH),
        _counted(high, DEPTH),
        None if levels.is_null() else _counted(levels, MOST_LEVELS),
    )


def _counted_written(counted: Counted) -> dict[str, Any]:
    return {name: arrays.written(getattr(counted, name)) for name in _COUNTED}


def _counted(field: Field, most: int) -> Counted:
    values, weights, rows = field.members(*_COUNTED)
    distinct = _rising(values, most, least=0)
    counts = arrays.floats(weights, len(distinct))
    arrays.require(weights, counts, counts > 0.0, "must be above 0")
    numbers = arrays.integers(rows, len(distinct))
    arrays.require(rows, numbers, numbers >= UNKNOWN, "must be a row, or -1")
    return Counted(distinct, counts, numbers)


def _rising(field: Field, most: int, *, least: int = 1) -> Floats:
    values = arrays.floats(field, arrays.length_of(field, most, least=least))
    rising = np.append(True, values[1:] > values[:-1])[: len(values)]
    arrays.require(field, values, rising, "must be above the one before it")
    return values
