"""CreasedREF as a graph of plain ONNX operators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from refold.export._graph import Graph
from refold.models.creased import LARGEST, CreasedREF, Creases, Leverage


class CreasedResults(NamedTuple):
    """The names of what :func:`write_creased` computes: both have shape (n,)."""

    label: str
    distance: str


def write_creased(graph: Graph, model: CreasedREF, X: str) -> CreasedResults:
    """Write a fitted model as nodes that take rows `X` of the graph's type.

    What a missing value is filled with takes the solution of linear equations, another set for
    every pattern of gaps, for which there is no plain operator: such a row has no distance here
    (NaN), nor has one with an infinite value; its label is 0. A gap in a constant column is none.
    """
    scoring = model.scoring_
    score = _score(graph, scoring.leverage, _features(graph, scoring.creases, X))
    distance = graph.node("Div", score, graph.scales(np.array(scoring.unit)))
    # An infinite value, which the steps above take for a very large one, is refused in Python.
    finite = graph.node("Mul", X, graph.number(0.0))
    gaps = graph.node("Where", graph.node("IsNaN", X), graph.number(0.0), finite)
    distance = graph.node("Add", distance, graph.row_sum(gaps, keepdims=0))
    return CreasedResults(graph.label(distance, model.threshold_), distance)


def _features(graph: Graph, creases: Creases, X: str) -> str:
    """Standardize, project, fold: all y_j, j ≥ 1, and what constant columns have changed."""
    z = graph.node("Sub", X, graph.numbers(creases.center))
    z = graph.node("Div", z, graph.scales(creases.scale))
    z = graph.node("Clip", z, graph.number(-LARGEST), graph.number(LARGEST))
    varying, nothing = graph.constant(creases.varying), graph.number(0.0)
    directions = np.zeros((len(creases.offsets), len(creases.varying)))
    directions[:, creases.varying] = creases.directions
    Z = graph.node("Where", varying, z, nothing)
    y = graph.node("MatMul", Z, _matrix(graph, directions))
    y = graph.node("Sub", y, graph.numbers(creases.offsets))
    levels = []
    for shift, slope in zip(creases.shifts, creases.slopes, strict=True):
        y = graph.node("Sub", graph.node("Abs", y), graph.numbers(shift))
        y = graph.node("Mul", y, graph.numbers(slope))
        levels.append(y)
    if creases.n_outputs > creases.shifts.size:
        levels.append(_changed(graph, creases, z))
    return graph.node("Concat", *levels, axis=1)


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
