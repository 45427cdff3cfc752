"""A box as a graph of plain ONNX operators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refold._typing import Floats
from refold.columns.box import MOST_EXCESS, Box
from refold.export._graph import Graph
from refold.models.creased import BEYOND_ZERO


def write_outside(graph: Graph, box: Box, gain: float, X: str) -> str:
    """Write what rows `X` add to their scores because they lie outside a box, shape (n,)."""
    special = dict(box.special())
    plain = np.array([column for column in range(len(box.unit)) if column not in special])
    parts = []
    if len(plain):
        values = graph.node("Gather", X, graph.constant(plain.astype(np.int64)), axis=1)
        away = _away(graph, values, box.low[plain], box.high[plain])
        squares = _squares(graph, away, box.unit[plain], gain)
        parts.append(graph.row_sum(squares, keepdims=0))
    for column, known in special.items():
        values = graph.node("Gather", X, graph.constant(np.array([column])), axis=1)
        away = _away(graph, values, known[[0]], known[[-1]])
        away = graph.node("Add", away, _between(graph, values, *box.gaps(column, known)))
        squares = _squares(graph, away, box.unit[[column]], gain)
        parts.append(graph.row_sum(squares, keepdims=0))
    return graph.node("Sum", *parts)


def write_beyond_zero(graph: Graph, box: Box, X: str) -> Iterator[str]:
    """Write what values beyond zero add to distances, in columns that never cross it."""
    for compare, ends in (("Less", box.floor), ("Greater", box.ceiling)):
        columns = np.flatnonzero([] if ends is None else np.isfinite(ends))
        if ends is not None and len(columns):
            values = graph.node("Gather", X, graph.constant(columns.astype(np.int64)), axis=1)
            beyond = graph.node(compare, values, graph.numbers(ends[columns]))
            added = graph.node("Where", beyond, graph.number(BEYOND_ZERO), graph.number(0.0))
            yield graph.row_sum(added, keepdims=0)


def _between(graph: Graph, values: str, begins: Floats, ends: Floats) -> str:
    """Write the distance to the nearer end of the gap that a value is in, shape (n, 1)."""
    if len(begins) == 0:
        return graph.number(0.0)
    since = graph.node("Sub", values, graph.numbers(begins))
    until = graph.node("Sub", graph.numbers(ends), values)
    inside = graph.node("Max", graph.node("Min", since, until), graph.number(0.0))
    return graph.row_sum(inside)


def _away(graph: Graph, values: str, low: Floats, high: Floats) -> str:
    below = graph.node("Sub", graph.numbers(low), values)
    above = graph.node("Sub", values, graph.numbers(high))
    return graph.node("Max", below, above, graph.number(0.0))


def _squares(graph: Graph, away: str, unit: Floats, gain: float) -> str:
    """Write gain · min(away/unit, 3)²; a gap is in no box."""
    units = graph.node("Div", away, graph.scales(unit))
    units = graph.node("Min", units, graph.number(MOST_EXCESS))
    units = graph.node("Where", graph.node("IsNaN", away), graph.number(0.0), units)
    return graph.node("Mul", graph.node("Mul", units, units), graph.number(gain))
