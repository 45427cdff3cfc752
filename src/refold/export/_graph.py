"""REF as a graph of plain ONNX operators, for whoever collects the nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold.algorithm.chain import FoldChain
from refold.algorithm.kernels import LARGEST
from refold.base.parameters import validate_parameters
from refold.models.ref import REF
from refold.models.scoring import FoldScorer

# Oldest opset in which every operator below takes its present form and float64.
OLDEST_OPSET = 13

# float32 has no 1e150. As there, a square and the sum of very many squares are finite.
_LARGEST = {np.dtype(np.float64): LARGEST, np.dtype(np.float32): 1e15}
# Less than the norm of any row that has one: it replaces the norm 0.
_LEAST_NORM = {np.dtype(np.float64): 1e-200, np.dtype(np.float32): 1e-30}

# Folds of any number into [-1, 1]: the next level cannot saturate.
_BOUNDED = ("cos", "sin", "tanh")


class Graph(ABC):
    """Collects nodes; values go by their names. An equal constant is stored once."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    @abstractmethod
    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""

    @abstractmethod
    def store(self, value: NDArray[Any]) -> str:
        """Add a constant and return its name."""

    def constant(self, value: NDArray[Any]) -> str:
        """Return the name of a constant, which is stored if it is new."""
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._names:
            self._names[key] = self.store(value)
        return self._names[key]

    def numbers(self, values: NDArray[np.float64]) -> str:
        """Return the name of a constant in the type of the arithmetic."""
        with np.errstate(over="ignore"):
            constant = values.astype(self.dtype)
        if np.isinf(constant).any():
            raise self._beyond()
        return self.constant(constant)

    def scales(self, values: NDArray[np.float64]) -> str:
        """Return the name of a constant to multiply with or divide by: none may become 0."""
        if (values < np.finfo(self.dtype).tiny).any():
            raise self._beyond()
        return self.numbers(values)

    def _beyond(self) -> ValueError:
        return ValueError(
            f"The fold chain has numbers beyond the range of {self.dtype}. Learn it with a smaller "
            "max_gain, or use dtype='float64'."
        )

    def number(self, value: float) -> str:
        """Return the name of one number."""
        return self.numbers(np.array(value, dtype=np.float64))

    def row_sum(self, values: str, *, keepdims: int = 1) -> str:
        """Add up each row."""
        axes = self.constant(np.array([1], dtype=np.int64))
        return self.node("ReduceSum", values, axes, keepdims=keepdims)

    def label(self, distance: str, threshold: float) -> str:
        """Say 1 where a distance is normal, -1 where it is not, 0 where it is NaN: not judged."""
        threshold = min(threshold, float(np.finfo(self.dtype).max))
        normal = self.node("LessOrEqual", distance, self.number(threshold))
        here, beyond, unknown = (self.constant(np.array(label)) for label in (1, -1, 0))
        label = self.node("Where", normal, here, beyond)
        return self.node("Where", self.node("IsNaN", distance), unknown, label)

    def saturate(self, y: str) -> str:
        """Keep magnitudes where a square still is a finite number."""
        largest = _LARGEST[self.dtype]
        return self.node("Clip", y, self.number(-largest), self.number(largest))


class Results(NamedTuple):
    """The names of what :func:`write` computes: shapes (n,), (n,) and (n, d)."""

    label: str
    distance: str
    contributions: str


def write(graph: Graph, model: REF, X: str) -> Results:
    """Write a fitted model as nodes that take rows `X` of the graph's type.

    A row that Python refuses, because nothing is observed or a value is infinite, has no number of
    observed features here (0 or NaN): its distance becomes NaN and its label 0.
    """
    missing = graph.node("IsNaN", X)
    infinite = graph.node("IsInf", X)
    nothing, one = graph.number(0.0), graph.number(1.0)
    counted = graph.node("Where", infinite, graph.number(np.nan), one)
    observed = graph.node("Where", missing, nothing, counted)
    shares = write_shares(graph, model.scorer(), X, missing)
    contributions = graph.node("Div", shares, graph.row_sum(observed))
    distance = graph.row_sum(contributions, keepdims=0)
    return Results(graph.label(distance, model.threshold_), distance, contributions)


def check_exportable(model: REF) -> None:
    """Refuse what no graph of plain operators can say."""
    check_is_fitted(model)
    validate_parameters(model)  # they can have been changed since
    for name, operation in (("fold", model.chain_.fold), ("distance", model.distance)):
        if callable(operation):
            raise ValueError(
                f"{name}={operation!r} is a Python function, which ONNX cannot hold. Only models "
                f"with a named {name} can be exported."
            )


def write_shares(graph: Graph, model: FoldScorer, X: str, missing: str) -> str:
    """Return each feature's share of the distance, not yet divided by the features observed."""
    shares = graph.saturate(_shares(graph, model, X, missing))
    return graph.node("Where", missing, graph.number(0.0), shares)


def _shares(graph: Graph, model: FoldScorer, X: str, missing: str) -> str:
    chain, path = _layout(graph, model), model.path
    v, total = chain.enter(X), ""
    for level in range(chain.depth):
        if level > 0:
            v = chain.step(v, level)
        if path or level == chain.depth - 1:
            share = _share(graph, model, chain.magnitude(v, level), missing)
            total = graph.node("Add", total, share) if total else share
    if not path:
        return total
    n_iter = model.chain.n_iter
    if chain.depth < n_iter:  # the last level stands for all that were not folded
        kept = graph.number(n_iter - chain.depth)
        total = graph.node("Add", total, graph.node("Mul", share, kept))
    return graph.node("Div", total, graph.number(n_iter))


def _share(graph: Graph, model: FoldScorer, magnitude: str, missing: str) -> str:
    """Divide a level's distance among the features; what stands for a missing one is not used."""
    if model.distance == "l1":
        return magnitude
    magnitude = graph.saturate(magnitude)
    square = graph.node("Mul", magnitude, magnitude)
    square = graph.node("Where", missing, graph.number(0.0), square)
    norm = graph.node("Sqrt", graph.row_sum(square))
    least = graph.number(_LEAST_NORM[graph.dtype])
    return graph.node("Div", square, graph.node("Max", norm, least))


def _layout(graph: Graph, model: FoldScorer) -> _AbsChain | _StandardizedChain:
    """Choose the arithmetic of the engine that evaluates the model in Python."""
    chain, literal = model.chain, model.engine == "reference"
    if chain.fold == "abs" and not literal:
        return _AbsChain(graph, chain)
    return _StandardizedChain(graph, chain, literal=literal)


class _AbsChain:
    """A level is one subtraction in the feature's own units; reading a value multiplies it.

    Only magnitudes are kept. A feature that has stopped has shifts of 0, which change nothing.
    """

    def __init__(self, graph: Graph, chain: FoldChain) -> None:
        self.graph, self.chain = graph, chain
        self.depth = int(chain.levels.max())

    def enter(self, X: str) -> str:
        return self.graph.node("Abs", _centred(self.graph, self.chain, X))

    def step(self, v: str, level: int) -> str:
        shift = self.graph.numbers(self.chain.steps.shift[:, level])
        return self.graph.node("Abs", self.graph.node("Sub", v, shift))

    def magnitude(self, v: str, level: int) -> str:
        return self.graph.node("Mul", v, self.graph.scales(self.chain.steps.factor[:, level]))


class _StandardizedChain:
    """A level folds, subtracts and scales; a feature that has stopped keeps its value."""

    def __init__(self, graph: Graph, chain: FoldChain, *, literal: bool) -> None:
        self.graph, self.chain = graph, chain
        self.depth = int(chain.levels.max())
        if literal:  # as in the paper; without max_gain even the last bit of a quotient matters
            scales = chain.scales.copy()
            scales[0] /= chain.unit
            self.shift, self.scale, self.scaling = chain.shifts, scales, "Div"
        else:
            self.shift, self.scale = chain.steps.shift.T, chain.steps.factor.T
            self.scaling = "Mul"

    def enter(self, X: str) -> str:
        return self.graph.saturate(self._scaled(_centred(self.graph, self.chain, X), 0))

    def step(self, v: str, level: int) -> str:
        folded = _fold(self.graph, str(self.chain.fold), v)
        shifted = self.graph.node("Sub", folded, self.graph.numbers(self.shift[level]))
        stepped = self._scaled(shifted, level)
        if self.chain.fold not in _BOUNDED:
            stepped = self.graph.saturate(stepped)
        folding = self.chain.levels > level
        if folding.all():
            return stepped
        return self.graph.node("Where", self.graph.constant(folding), stepped, v)

    def magnitude(self, v: str, level: int) -> str:
        return self.graph.node("Abs", v)

    def _scaled(self, v: str, level: int) -> str:
        return self.graph.node(self.scaling, v, self.graph.scales(self.scale[level]))


def _centred(graph: Graph, chain: FoldChain, X: str) -> str:
    """Subtract the mean, in units of a power of two near the standard deviation.

    A float32 cannot hold the mean of, say, timestamps. What it loses is subtracted on its own: near
    the mean the first difference is exact.
    """
    offset = chain.shifts[0] / chain.unit
    rest = offset - offset.astype(graph.dtype)
    centred = graph.node("Mul", X, graph.numbers(1.0 / chain.unit))
    centred = graph.node("Sub", centred, graph.numbers(offset))
    return graph.node("Sub", centred, graph.numbers(rest)) if rest.any() else centred


def _fold(graph: Graph, name: str, y: str) -> str:
    match name:
        case "abs":
            return graph.node("Abs", y)
        case "sqr":
            return graph.node("Mul", y, y)
        case "sin":
            return graph.node("Sin", y)
        case "tanh":
            return graph.node("Tanh", y)
        case "cos":
            return _cos(graph, y)
        case "cos-abs":
            size = graph.node("Abs", y)
            near = graph.node("LessOrEqual", size, graph.number(1.0))
            return graph.node("Where", near, _cos(graph, y), size)
    raise ValueError(f"There is no ONNX form of the fold {name!r}.")


def _cos(graph: Graph, y: str) -> str:
    """Write 1 - 2 sin²(y/2): most releases of ONNX Runtime have no Cos for float64."""
    half = graph.node("Sin", graph.node("Mul", y, graph.number(0.5)))
    square = graph.node("Mul", half, half)
    return graph.node("Sub", graph.number(1.0), graph.node("Add", square, square))
