"""Edges and boxes in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns.box import Box, Side
from refold.columns.edges import DEPTH, MOST_LEVELS, UNKNOWN, Counted, Edge, Edges
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_COUNTED = ("values", "weights", "rows")


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


def written(box: Box) -> list[dict[str, Any]]:
    """Return a box as the document has it, an object for each column."""
    return [
        {
            "low": float(box.low[column]),
            "high": float(box.high[column]),
            "apart": _counted_written(box.apart[column]),
            "levels": None if levels is None else arrays.written(levels),
            "unit": float(box.unit[column]),
            "middle": float(box.middle[column]),
        }
        for column, levels in enumerate(box.levels)
    ]


def read(field: Field, n_features: int) -> Box:
    """Return a checked box."""
    sides = [_side(item) for item in field.items(n_features)]
    low, high, apart, levels, unit, middle = zip(*sides, strict=True)
    return Box(np.array(low), np.array(high), apart, levels, np.array(unit), np.array(middle))


def _side(field: Field) -> Side:
    low, high, apart, levels, unit, middle = field.members(
        "low", "high", "apart", "levels", "unit", "middle"
    )
    if high.number() < low.number():
        high.refuse("must not be below the lower end")
    if middle.number() < 0.0:
        middle.refuse("must not be negative")
    return Side(
        float(low.number()),
        float(high.number()),
        _counted(apart, 2 * DEPTH),
        None if levels.is_null() else _rising(levels, MOST_LEVELS),
        float(unit.positive()),
        float(middle.number()),
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
