"""Rows that were learned are recognised in an ONNX graph as they are in Python."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats, Integers
from refold.export._graph import Graph
from refold.models.creased import TOLERANCE, Creases, Scoring, weights_of_marks

# Marks that a row is compared with at most: a graph that must compare more does not recognise rows.
_MOST_COMPARED = 1024
# No row has marks as large as this.
_NOBODY = 1e30


def write_known(graph: Graph, scoring: Scoring, z: str, distance: str) -> str:
    """Write the distances, those of rows that were learned being their leave-one-out distances.

    The first mark of a row, modulo 1, leads to a few rows that were learned; it is one of them if
    all marks agree.
    """
    known = scoring.known
    tolerance = _tolerance(graph, scoring.creases)
    if len(known.marks) == 0:
        return distance
    table = _table(known.marks[:, 0], tolerance)
    if table.shape[1] > _MOST_COMPARED:
        return distance
    weights, gaps = weights_of_marks(len(scoring.creases.center))
    there = graph.node("Where", graph.node("IsNaN", z), graph.numbers(gaps), z)
    marks = graph.node("MatMul", there, graph.numbers(weights))
    first = graph.node("Gather", marks, graph.constant(np.array(0)), axis=1)
    bucket = graph.node("Sub", first, graph.node("Floor", first))
    bucket = graph.node("Floor", graph.node("Mul", bucket, graph.number(len(table))))
    bucket = graph.node("Cast", bucket, to=_INT64)
    top = graph.constant(np.array(len(table) - 1))
    bucket = graph.node("Min", graph.node("Max", bucket, graph.constant(np.array(0))), top)
    rows = graph.node("Gather", graph.constant(table), bucket, axis=0)
    theirs = graph.numbers(np.append(known.marks, np.full((1, known.marks.shape[1]), _NOBODY), 0))
    one = graph.constant(np.array([1], dtype=np.int64))
    apart = graph.node(
        "Sub", graph.node("Gather", theirs, rows, axis=0), graph.node("Unsqueeze", marks, one)
    )
    near = graph.node("LessOrEqual", graph.node("Abs", apart), graph.number(tolerance))
    agree = graph.node("Where", near, graph.number(1.0), graph.number(0.0))
    last = graph.constant(np.array([2], dtype=np.int64))
    agree = graph.node("ReduceSum", agree, last, keepdims=0)
    same = graph.node("Greater", agree, graph.number(known.marks.shape[1] - 0.5))
    found = graph.node("Gather", graph.numbers(np.append(known.distances, 0.0)), rows, axis=0)
    found = graph.row_sum(graph.node("Where", same, found, graph.number(0.0)), keepdims=0)
    times = graph.node("Where", same, graph.number(1.0), graph.number(0.0))
    times = graph.row_sum(times, keepdims=0)
    learned = graph.node("Greater", times, graph.number(0.5))
    return graph.node("Where", learned, graph.node("Div", found, times), distance)


_INT64 = 7  # onnx.TensorProto.INT64


def _tolerance(graph: Graph, creases: Creases) -> float:
    """Return how far marks may be off in the arithmetic of the graph."""
    if graph.dtype == np.float64:
        return TOLERANCE
    weights, _ = weights_of_marks(len(creases.center))
    rounding = np.finfo(graph.dtype).eps * (1.0 + np.abs(creases.center / creases.scale))
    return float(TOLERANCE + (rounding @ np.abs(weights)).max())


def _table(first: Floats, tolerance: float) -> Integers:
    """Return which rows have a mark in each part of the unit interval, or close to it."""
    most = int(np.clip(0.25 / tolerance, 1, 2**16))
    n = min(most, 1 << int(np.ceil(np.log2(4 * len(first)))))
    parts: list[list[int]] = [[] for _ in range(n)]
    low, high = (np.floor((first + side) * n).astype(np.int64) for side in (-tolerance, tolerance))
    for row, (begin, end) in enumerate(zip(low, high, strict=True)):
        for part in range(begin, min(end, begin + n - 1) + 1):
            parts[part % n].append(row)
    table = np.full((n, max(map(len, parts))), len(first))
    for part, rows in enumerate(parts):
        table[part, : len(rows)] = rows
    return table
