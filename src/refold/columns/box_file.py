"""Edges and boxes in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats
from refold.columns.box import Box
from refold.columns.edges import DEPTH, MOST_LEVELS, UNKNOWN, Counted, Edge, Edges
from refold.modelfile import arrays
from refold.modelfile.fields import Field

_COUNTED = ("values", "weights", "rows")
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
    """Return a box as the document has it; in which rows cells were cut off is not kept."""
    return {
        **{name: arrays.written(getattr(box, name)) for name in _ENDS},
        "apart": [each.values.tolist() for each in box.apart],
        "levels": [None if each is None else each.tolist() for each in box.levels],
    }


def read(field: Field, n_features: int) -> Box:
    """Return a checked box."""
    *ends, apart, levels = field.members(*_ENDS, "apart", "levels")
    low, high, unit, middle = (arrays.floats(end, n_features) for end in ends)
    arrays.require(ends[1], high, high >= low, "must not be below the lower end")
    arrays.require(ends[2], unit, unit > 0.0, "must be above 0")
    arrays.require(ends[3], middle, middle >= 0.0, "must not be negative")
    return Box(
        low=low,
        high=high,
        apart=tuple(_apart(item) for item in apart.items(n_features)),
        levels=tuple(
            None if item.is_null() else _rising(item, MOST_LEVELS)
            for item in levels.items(n_features)
        ),
        unit=unit,
        middle=middle,
    )


def _apart(field: Field) -> Counted:
    values = _rising(field, 2 * DEPTH, least=0)
    return Counted(values, np.ones(len(values)), np.full(len(values), UNKNOWN))


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
