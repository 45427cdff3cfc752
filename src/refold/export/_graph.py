"""REF as a graph of plain ONNX operators, for whoever collects the nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
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
_INT64 = 7  # onnx.TensorProto.INT64

# Folds of any number into [-1, 1]: the next level cannot saturate.
_BOUNDED = ("cos", "sin", "tanh")


def utf8(text: str) -> bytes:
    """Return a text as a graph holds it; half a surrogate pair is in no string of a runtime's."""
    return text.encode("utf-8", "surrogatepass")


def _operation(operator: str) -> Callable[[Value, Operand], Value]:
    return lambda value, other: value.graph.node(operator, value, other)


class Value:
    """A value of a graph, with which one calculates as with an array.

    In its place a number stands for one of the graph's type, a whole number for an index, an array
    for a constant.
    """

    # An array before an operator leaves the operation to this class.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    __add__ = _operation("Add")
    __sub__ = _operation("Sub")
    __mul__ = _operation("Mul")
    __truediv__ = _operation("Div")
    __lt__ = _operation("Less")
    __gt__ = _operation("Greater")
    __le__ = _operation("LessOrEqual")
    __ge__ = _operation("GreaterOrEqual")
    __and__ = _operation("And")
    __or__ = _operation("Or")
    equals = _operation("Equal")

    def __rsub__(self, other: Operand) -> Value:
        return self.graph.of(other) - self

    def __abs__(self) -> Value:
        return self.graph.node("Abs", self)

    def is_nan(self) -> Value:
        """Say where it is NaN."""
        return self.graph.node("IsNaN", self)

    def where(self, this: Operand, other: Operand) -> Value:
        """Take `this` where it is true, else `other`."""
        return self.graph.node("Where", self, this, other)

    def clip(self, low: float, high: float) -> Value:
        """Keep it between two numbers."""
        return self.graph.node("Clip", self, low, high)

    def column(self, *columns: int) -> Value:
        """Take some of the columns."""
        return self.graph.node("Gather", self, np.array(columns, dtype=np.int64), axis=1)

    def sum(self, axis: int = 1, *, keepdims: int = 1) -> Value:
        """Add up each row, or along another axis."""
        axes = np.array([axis], dtype=np.int64)
        return self.graph.node("ReduceSum", self, axes, keepdims=keepdims)

    def to_integer(self) -> Value:
        """Return whole numbers."""
        return self.graph.node("Cast", self, to=_INT64)


Operand = Value | float | NDArray[Any]


class Graph(ABC):
    """Collects nodes. An equal constant is stored once."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    @abstractmethod
    def add(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""

    @abstractmethod
    def store(self, value: NDArray[Any]) -> str:
        """Add a constant and return its name."""

    def node(self, operator: str, *inputs: Operand, **attributes: Any) -> Value:
        """Add a node with one output and return it."""
        names = [self.of(each).name for each in inputs]
        return Value(self, self.add(operator, names, **attributes))

    def of(self, operand: Operand) -> Value:
        """Return a value as it is, anything else as a constant: fractions in the graph's type."""
        if isinstance(operand, Value):
            return operand
        value = np.asarray(operand)
        if value.dtype.kind == "f":
            value = self._in_type(value)
        elif value.dtype.kind == "i":
            value = value.astype(np.int64)
        return self.constant(value)

    def constant(self, value: NDArray[Any]) -> Value:
        """Return a constant, which is stored if it is new."""
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._names:
            self._names[key] = self.store(value)
        return Value(self, self._names[key])

    def _in_type(self, values: NDArray[np.float64]) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            constant = values.astype(self.dtype)
        if np.isinf(constant).any():
            raise self._beyond()
        return constant

    def scales(self, values: NDArray[np.float64] | float) -> Value:
        """Return a constant to multiply with or divide by: none may become 0."""
        if (np.asarray(values) < np.finfo(self.dtype).tiny).any():
            raise self._beyond()
        return self.of(values)

    def _beyond(self) -> ValueError:
        return ValueError(
            f"The fold chain has numbers beyond the range of {self.dtype}. Learn it with a smaller "
            "max_gain, or use dtype='float64'."
        )

    def look_up(self, table: NDArray[Any], at: Value) -> Value:
        """Take entries of a table, rows of one of two axes."""
        return self.node("Gather", table, at, axis=0)

    def codes(
        self, cells: Value, places: Mapping[bytes, int] | Mapping[int, int], otherwise: int
    ) -> Value:
        """Return the place of each text or whole number."""
        keys = list(places)
        return self.node(
            "LabelEncoder",
            cells,
            domain="ai.onnx.ml",
            **{"keys_strings" if isinstance(keys[0], bytes) else "keys_int64s": keys},
            values_int64s=list(places.values()),
            default_int64=otherwise,
        )

    def side_by_side(self, columns: Sequence[Value]) -> Value:
        """Join columns."""
        return self.node("Concat", *columns, axis=1)

    def label(self, distance: Value, threshold: float) -> Value:
        """Say 1 where a distance is normal, -1 where it is not, 0 where it is NaN: not judged."""
        normal = distance <= float(min(threshold, np.finfo(self.dtype).max))
        return distance.is_nan().where(0, normal.where(1, -1))

    def saturate(self, y: Value) -> Value:
        """Keep magnitudes where a square still is a finite number."""
        largest = _LARGEST[self.dtype]
        return y.clip(-largest, largest)


class Results(NamedTuple):
    """What :func:`write` computes: shapes (n,), (n,) and (n, d)."""

    label: Value
    distance: Value
    contributions: Value


def write(model: REF, X: Value) -> Results:
    """Write a fitted model as nodes that take rows `X` of the graph's type.

    A row that Python refuses, because nothing is observed or a value is infinite, has no number of
    observed features here (0 or NaN): its distance becomes NaN and its label 0.
    """
    missing = X.is_nan()
    counted = X.graph.node("IsInf", X).where(np.nan, 1.0)
    observed = missing.where(0.0, counted)
    contributions = write_shares(model.scorer(), X, missing) / observed.sum()
    distance = contributions.sum(keepdims=0)
    return Results(X.graph.label(distance, model.threshold_), distance, contributions)


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


def write_shares(model: FoldScorer, X: Value, missing: Value) -> Value:
    """Return each feature's share of the distance, not yet divided by the features observed."""
    return missing.where(0.0, X.graph.saturate(_shares(model, X, missing)))


def _shares(model: FoldScorer, X: Value, missing: Value) -> Value:
    chain, total = _layout(X.graph, model), None
    v = chain.enter(X)
    for level in range(chain.depth):
        if level > 0:
            v = chain.step(v, level)
        if model.path or level == chain.depth - 1:
            share = _share(model, chain.magnitude(v, level), missing)
            total = share if total is None else total + share
    assert total is not None
    if not model.path:
        return total
    n_iter = model.chain.n_iter
    if chain.depth < n_iter:  # the last level stands for all that were not folded
        total += share * float(n_iter - chain.depth)
    return total / float(n_iter)


def _share(model: FoldScorer, magnitude: Value, missing: Value) -> Value:
    """Divide a level's distance among the features; what stands for a missing one is not used."""
    if model.distance == "l1":
        return magnitude
    graph = magnitude.graph
    magnitude = graph.saturate(magnitude)
    square = missing.where(0.0, magnitude * magnitude)
    norm = graph.node("Sqrt", square.sum())
    return square / graph.node("Max", norm, _LEAST_NORM[graph.dtype])


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

    def enter(self, X: Value) -> Value:
        return abs(_centred(self.chain, X))

    def step(self, v: Value, level: int) -> Value:
        return abs(v - self.chain.steps.shift[:, level])

    def magnitude(self, v: Value, level: int) -> Value:
        return v * self.graph.scales(self.chain.steps.factor[:, level])


class _StandardizedChain:
    """A level folds, subtracts and scales; a feature that has stopped keeps its value."""

    def __init__(self, graph: Graph, chain: FoldChain, *, literal: bool) -> None:
        self.graph, self.chain, self.literal = graph, chain, literal
        self.depth = int(chain.levels.max())
        if literal:  # as in the paper; without max_gain even the last bit of a quotient matters
            scales = chain.scales.copy()
            scales[0] /= chain.unit
            self.shift, self.scale = chain.shifts, scales
        else:
            self.shift, self.scale = chain.steps.shift.T, chain.steps.factor.T

    def enter(self, X: Value) -> Value:
        return self.graph.saturate(self._scaled(_centred(self.chain, X), 0))

    def step(self, v: Value, level: int) -> Value:
        folded = _fold(str(self.chain.fold), v)
        stepped = self._scaled(folded - self.shift[level], level)
        if self.chain.fold not in _BOUNDED:
            stepped = self.graph.saturate(stepped)
        folding = self.chain.levels > level
        return stepped if folding.all() else self.graph.of(folding).where(stepped, v)

    def magnitude(self, v: Value, level: int) -> Value:
        return abs(v)

    def _scaled(self, v: Value, level: int) -> Value:
        scale = self.graph.scales(self.scale[level])
        return v / scale if self.literal else v * scale


def _centred(chain: FoldChain, X: Value) -> Value:
    """Subtract the mean, in units of a power of two near the standard deviation.

    A float32 cannot hold the mean of, say, timestamps. What it loses is subtracted on its own: near
    the mean the first difference is exact.
    """
    offset = chain.shifts[0] / chain.unit
    rest = offset - offset.astype(X.graph.dtype)
    centred: Value = X * (1.0 / chain.unit) - offset
    return centred - rest if rest.any() else centred


def _fold(name: str, y: Value) -> Value:
    match name:
        case "abs":
            return abs(y)
        case "sqr":
            return y * y
        case "sin":
            return y.graph.node("Sin", y)
        case "tanh":
            return y.graph.node("Tanh", y)
        case "cos":
            return _cos(y)
        case "cos-abs":
            size = abs(y)
            return (size <= 1.0).where(_cos(y), size)
    raise ValueError(f"There is no ONNX form of the fold {name!r}.")


def _cos(y: Value) -> Value:
    """Write 1 - 2 sin²(y/2): most releases of ONNX Runtime have no Cos for float64."""
    half = y.graph.node("Sin", y * 0.5)
    square = half * half
    return 1.0 - (square + square)
