"""CreasedREF as a graph: its box, creases and known rows; and which models have a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats, Integers
from refold.columns.box import MOST_EXCESS, Box
from refold.export._graph import Graph, Results, check_exportable, write
from refold.models.creased import (
    BEYOND_ZERO,
    LARGEST,
    TOLERANCE,
    CreasedREF,
    Creases,
    Leverage,
    RankGauss,
    Scoring,
    n_plain,
    weights_of_marks,
)
from refold.models.ref import REF


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


class CreasedResults(NamedTuple):
    """The names of what :func:`write_creased` computes: both have shape (n,)."""

    label: str
    distance: str


def write_creased(graph: Graph, model: CreasedREF, X: str) -> CreasedResults:
    """Write a fitted model as nodes that take rows `X` of the graph's type."""
    distance = write_creased_distance(graph, model, X)
    return CreasedResults(graph.label(distance, model.threshold_), distance)


def write_creased_distance(graph: Graph, model: CreasedREF, X: str) -> str:
    """Write the distances of rows `X`, shape (n,).

    What a missing value is filled with takes the solution of linear equations, another set for
    every pattern of gaps, for which there is no plain operator: such a row has no distance here
    (NaN), nor has one with an infinite value. A gap in a constant column is none.
    """
    scoring = model.scoring_
    z = _standardized(graph, scoring.creases, X)
    score = _score(graph, scoring.leverage, _features(graph, scoring.creases, z))
    score = graph.node("Div", score, graph.scales(np.array(scoring.typical)))
    if scoring.box is not None:
        score = graph.node("Add", score, write_outside(graph, scoring.box, scoring.gain, X))
    distance = graph.node("Div", score, graph.scales(np.array(scoring.unit)))
    distance = write_known(graph, scoring, z, distance)
    if scoring.box is not None:
        distance = graph.node("Sum", distance, *write_beyond_zero(graph, scoring.box, X))
    # An infinite value, which the steps above take for a very large one, is refused in Python.
    finite = graph.node("Mul", X, graph.number(0.0))
    gaps = graph.node("Where", graph.node("IsNaN", X), graph.number(0.0), finite)
    return graph.node("Add", distance, graph.row_sum(gaps, keepdims=0))


def _standardized(graph: Graph, creases: Creases, X: str) -> str:
    z = graph.node("Sub", X, graph.numbers(creases.center))
    z = graph.node("Div", z, graph.scales(creases.scale))
    return graph.node("Clip", z, graph.number(-LARGEST), graph.number(LARGEST))


def _features(graph: Graph, creases: Creases, z: str) -> str:
    """Project, fold: all y_j, j ≥ 1, and what constant columns have changed."""
    varying = graph.constant(np.flatnonzero(creases.varying))
    Z = graph.node("Gather", z, varying, axis=1)
    plain, bent = n_plain(len(creases.offsets)), _bent(graph, creases.gauss, Z)
    here = graph.node("MatMul", Z, _matrix(graph, creases.directions[:plain]))
    there = graph.node("MatMul", bent, _matrix(graph, creases.directions[plain:]))
    y = graph.node("Concat", here, there, axis=1)
    y = graph.node("Sub", y, graph.numbers(creases.offsets))
    levels = []
    for shift, slope in zip(creases.shifts, creases.slopes, strict=True):
        y = graph.node("Sub", graph.node("Abs", y), graph.numbers(shift))
        y = graph.node("Mul", y, graph.numbers(slope))
        levels.append(y)
    if creases.has_constants:
        levels.append(_changed(graph, creases, z))
    return graph.node("Concat", *levels, axis=1)


def _bent(graph: Graph, gauss: RankGauss, Z: str) -> str:
    """Write the rank-gauss copy: each line adds its slope times how far a value has come on it."""
    knots, heights = (_padded(gauss.starts, each) for each in (gauss.knots, gauss.heights))
    widths = np.diff(knots, axis=1)
    rises = np.divide(np.diff(heights, axis=1), widths, out=np.zeros_like(widths), where=widths > 0)
    last = graph.constant(np.array([2], dtype=np.int64))
    along = graph.node("Sub", graph.node("Unsqueeze", Z, last), graph.numbers(knots[:, :-1]))
    along = graph.node("Max", along, graph.number(0.0))
    along = graph.node("Min", along, graph.numbers(widths))
    risen = graph.node(
        "ReduceSum", graph.node("Mul", along, graph.numbers(rises)), last, keepdims=0
    )
    bent = graph.node("Add", risen, graph.numbers(heights[:, 0]))
    inside = graph.node("Max", Z, graph.numbers(knots[:, 0]))
    inside = graph.node("Min", inside, graph.numbers(knots[:, -1]))
    beyond = graph.node("Mul", graph.node("Sub", Z, inside), graph.numbers(gauss.slopes))
    return graph.node("Add", bent, beyond)


def _padded(starts: Integers, values: Floats) -> Floats:
    """Return the values of each column in a row, filled up with its last one."""
    width = max(2, int(np.diff(starts).max(initial=0)))
    at = np.minimum(starts[:-1, None] + np.arange(width), starts[1:, None] - 1)
    return np.asarray(values[at])


def _changed(graph: Graph, creases: Creases, z: str) -> str:
    """Write what constant columns would add to REF's distance; a gap adds nothing."""
    nothing = graph.number(0.0)
    size = graph.node("Where", graph.constant(creases.varying), nothing, graph.node("Abs", z))
    there = graph.node("Where", graph.node("IsNaN", size), nothing, size)
    return graph.node("Div", graph.row_sum(there), graph.number(len(creases.varying)))


def _matrix(graph: Graph, rows: NDArray[np.float64]) -> str:
    return graph.numbers(np.ascontiguousarray(rows.T))


def _score(graph: Graph, leverage: Leverage, phi: str) -> str:
    """Write s, as in :class:`Leverage`."""
    v = graph.node("Sub", phi, graph.numbers(leverage.center))
    if leverage.dual:
        form = graph.node("Sub", _square(graph, v), _square(graph, _times(graph, v, leverage)))
        form = graph.node("Max", form, graph.number(0.0))
        form = graph.node("Div", form, graph.scales(np.array(leverage.ridge)))
    else:
        form = _square(graph, _times(graph, v, leverage))
    return graph.node("Add", form, graph.number(1.0 / leverage.weight))


def _times(graph: Graph, v: str, leverage: Leverage) -> str:
    """Write L⁻¹v, the quarters of it that score, or Gv in the dual form."""
    factor = leverage.factor
    if leverage.quarters is not None:
        factor = leverage.quarters.rows()
    elif not leverage.dual:
        factor = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return graph.node("MatMul", v, _matrix(graph, factor))


def _square(graph: Graph, v: str) -> str:
    return graph.row_sum(graph.node("Mul", v, v), keepdims=0)


class Exporter(NamedTuple):
    """How a kind of model is written."""

    outputs: tuple[str, ...]
    check: Callable[[Any], None]
    write: Callable[[Graph, Any, str], tuple[str, ...]]


EXPORTERS: dict[type, Exporter] = {
    REF: Exporter(Results._fields, check_exportable, write),
    CreasedREF: Exporter(CreasedResults._fields, check_is_fitted, write_creased),
}
