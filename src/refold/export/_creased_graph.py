"""CreasedREF as a graph: its box, creases and known rows; and which models have a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats, Integers
from refold.columns.box import MOST_EXCESS, Box
from refold.export._graph import Graph, Operand, Results, Value, check_exportable, write
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


def write_outside(box: Box, gain: float, X: Value) -> Value:
    """Write what rows `X` add to their scores because they lie outside a box, shape (n,)."""
    special = dict(box.special())
    plain = [column for column in range(len(box.unit)) if column not in special]
    parts = []
    if plain:
        away = _away(X.column(*plain), box.low[plain], box.high[plain])
        parts.append(_squares(away, box.unit[plain], gain))
    for column, known in special.items():
        values = X.column(column)
        away = _away(values, known[[0]], known[[-1]])
        away = away + _between(values, *box.gaps(column, known))
        parts.append(_squares(away, box.unit[[column]], gain))
    return X.graph.node("Sum", *parts)


def write_beyond_zero(box: Box, X: Value) -> Iterator[Value]:
    """Write what values beyond zero add to distances, in columns that never cross it."""
    for compare, ends in (("Less", box.floor), ("Greater", box.ceiling)):
        columns = np.flatnonzero([] if ends is None else np.isfinite(ends))
        if ends is not None and len(columns):
            beyond = X.graph.node(compare, X.column(*columns), ends[columns])
            yield beyond.where(BEYOND_ZERO, 0.0).sum(keepdims=0)


def _between(values: Value, begins: Floats, ends: Floats) -> Operand:
    """Write the distance to the nearer end of the gap that a value is in, shape (n, 1)."""
    if len(begins) == 0:
        return 0.0
    nearer = values.graph.node("Min", values - begins, ends - values)
    return values.graph.node("Max", nearer, 0.0).sum()


def _away(values: Value, low: Floats, high: Floats) -> Value:
    return values.graph.node("Max", low - values, values - high, 0.0)


def _squares(away: Value, unit: Floats, gain: float) -> Value:
    """Write the sum of gain · min(away/unit, 3)²; a gap is in no box."""
    units = away.graph.node("Min", away / away.graph.scales(unit), MOST_EXCESS)
    units = away.is_nan().where(0.0, units)
    return (units * units * gain).sum(keepdims=0)


# Marks that a row is compared with at most: a graph that must compare more does not recognise rows.
_MOST_COMPARED = 1024
# No row has marks as large as this.
_NOBODY = 1e30


def write_known(scoring: Scoring, z: Value, distance: Value) -> Value:
    """Write the distances, those of rows that were learned being their leave-one-out distances.

    The first mark of a row, modulo 1, leads to a few rows that were learned; it is one of them if
    all marks agree.
    """
    graph, known = z.graph, scoring.known
    tolerance = _tolerance(graph, scoring.creases)
    if len(known.marks) == 0:
        return distance
    table = _table(known.marks[:, 0], tolerance)
    if table.shape[1] > _MOST_COMPARED:
        return distance
    weights, gaps = weights_of_marks(len(scoring.creases.center))
    marks = graph.node("MatMul", z.is_nan().where(gaps, z), weights)
    first = graph.node("Gather", marks, 0, axis=1)
    bucket = first - graph.node("Floor", first)
    bucket = graph.node("Floor", bucket * float(len(table))).to_integer()
    bucket = graph.node("Min", graph.node("Max", bucket, 0), len(table) - 1)
    rows = graph.look_up(table, bucket)
    n_marks = known.marks.shape[1]
    theirs = graph.look_up(np.append(known.marks, np.full((1, n_marks), _NOBODY), 0), rows)
    apart = theirs - graph.node("Unsqueeze", marks, np.array([1]))
    agree = (abs(apart) <= tolerance).where(1.0, 0.0).sum(axis=2, keepdims=0)
    same: Value = agree > n_marks - 0.5
    found = same.where(graph.look_up(np.append(known.distances, 0.0), rows), 0.0).sum(keepdims=0)
    times = same.where(1.0, 0.0).sum(keepdims=0)
    return (times > 0.5).where(found / times, distance)


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
    """What :func:`write_creased` computes: both have shape (n,)."""

    label: Value
    distance: Value


def write_creased(model: CreasedREF, X: Value) -> CreasedResults:
    """Write a fitted model as nodes that take rows `X` of the graph's type."""
    distance = write_creased_distance(model, X)
    return CreasedResults(X.graph.label(distance, model.threshold_), distance)


def write_creased_distance(model: CreasedREF, X: Value) -> Value:
    """Write the distances of rows `X`, shape (n,).

    What a missing value is filled with takes the solution of linear equations, another set for
    every pattern of gaps, for which there is no plain operator: such a row has no distance here
    (NaN), nor has one with an infinite value. A gap in a constant column is none.
    """
    graph, scoring = X.graph, model.scoring_
    creases = scoring.creases
    z = (X - creases.center) / graph.scales(creases.scale)
    z = z.clip(-LARGEST, LARGEST)
    score = _score(scoring.leverage, _features(creases, z)) / graph.scales(scoring.typical)
    if scoring.box is not None:
        score = score + write_outside(scoring.box, float(scoring.gain), X)
    distance = write_known(scoring, z, score / graph.scales(scoring.unit))
    if scoring.box is not None:
        distance = graph.node("Sum", distance, *write_beyond_zero(scoring.box, X))
    # An infinite value, which the steps above take for a very large one, is refused in Python.
    gaps = X.is_nan().where(0.0, X * 0.0)
    return distance + gaps.sum(keepdims=0)


def _features(creases: Creases, z: Value) -> Value:
    """Project, fold: all y_j, j ≥ 1, and what constant columns have changed."""
    graph, Z = z.graph, z.column(*np.flatnonzero(creases.varying))
    plain, bent = n_plain(len(creases.offsets)), _bent(creases.gauss, Z)
    here = graph.node("MatMul", Z, _transposed(creases.directions[:plain]))
    there = graph.node("MatMul", bent, _transposed(creases.directions[plain:]))
    y = graph.side_by_side([here, there]) - creases.offsets
    levels = []
    for shift, slope in zip(creases.shifts, creases.slopes, strict=True):
        y = (abs(y) - shift) * slope
        levels.append(y)
    if creases.has_constants:
        levels.append(_changed(creases, z))
    return graph.side_by_side(levels)


def _bent(gauss: RankGauss, Z: Value) -> Value:
    """Write the rank-gauss copy: each line adds its slope times how far a value has come on it."""
    graph = Z.graph
    knots, heights = (_padded(gauss.starts, each) for each in (gauss.knots, gauss.heights))
    widths = np.diff(knots, axis=1)
    rises = np.divide(np.diff(heights, axis=1), widths, out=np.zeros_like(widths), where=widths > 0)
    along = graph.node("Unsqueeze", Z, np.array([2])) - knots[:, :-1]
    along = graph.node("Min", graph.node("Max", along, 0.0), widths)
    bent = (along * rises).sum(axis=2, keepdims=0) + heights[:, 0]
    inside = graph.node("Min", graph.node("Max", Z, knots[:, 0]), knots[:, -1])
    return bent + (Z - inside) * gauss.slopes


def _padded(starts: Integers, values: Floats) -> Floats:
    """Return the values of each column in a row, filled up with its last one."""
    width = max(2, int(np.diff(starts).max(initial=0)))
    at = np.minimum(starts[:-1, None] + np.arange(width), starts[1:, None] - 1)
    return np.asarray(values[at])


def _changed(creases: Creases, z: Value) -> Value:
    """Write what constant columns would add to REF's distance; a gap adds nothing."""
    size = z.graph.of(creases.varying).where(0.0, abs(z))
    there = size.is_nan().where(0.0, size)
    return there.sum() / float(len(creases.varying))


def _transposed(rows: Floats) -> Floats:
    return np.ascontiguousarray(rows.T)


def _score(leverage: Leverage, phi: Value) -> Value:
    """Write s, as in :class:`Leverage`."""
    v = phi - leverage.center
    form = _square(_times(v, leverage))
    if leverage.dual:
        form = phi.graph.node("Max", _square(v) - form, 0.0) / phi.graph.scales(leverage.ridge)
    return form + 1.0 / leverage.weight


def _times(v: Value, leverage: Leverage) -> Value:
    """Write L⁻¹v, the quarters of it that score, or Gv in the dual form."""
    factor = leverage.factor
    if leverage.quarters is not None:
        factor = leverage.quarters.rows()
    elif not leverage.dual:
        factor = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return v.graph.node("MatMul", v, _transposed(factor))


def _square(v: Value) -> Value:
    return (v * v).sum(keepdims=0)


class Exporter(NamedTuple):
    """How a kind of model is written."""

    outputs: tuple[str, ...]
    check: Callable[[Any], None]
    write: Callable[[Any, Value], tuple[Value, ...]]


EXPORTERS: dict[type, Exporter] = {
    REF: Exporter(Results._fields, check_exportable, write),
    CreasedREF: Exporter(CreasedResults._fields, check_is_fitted, write_creased),
}
