"""CreasedREF as a graph of plain ONNX operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from refold._typing import Floats, Integers
from refold.export._box_graph import write_beyond_zero, write_outside
from refold.export._graph import Graph
from refold.export._known_graph import write_known
from refold.models.creased import LARGEST, CreasedREF, Creases, Leverage, RankGauss, n_plain


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
    """Write L⁻¹v, or Gv in the dual form."""
    factor = leverage.factor
    if not leverage.dual:
        factor = solve_triangular(factor, np.eye(len(factor)), lower=True)
    return graph.node("MatMul", v, _matrix(graph, factor))


def _square(graph: Graph, v: str) -> str:
    return graph.row_sum(graph.node("Mul", v, v), keepdims=0)
