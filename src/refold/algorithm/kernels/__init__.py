"""The compiled loops, one checked entry per call: arrays in, arrays out, errors in words.

Arrays of any layout and real type are taken; those that the loops cannot read where they lie are
copied first. Everything else the loops check themselves: wrong shapes and numbers out of range are
a ValueError. What is wrong with a table is a :class:`~refold.base.errors.TableError`. All of them
run without the GIL, and Ctrl-C stops them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm.kernels import _kernels
from refold.algorithm.kernels._kernels import (
    ANY_NUMBER_OF_BINS,
    ASCII,
    DISTANCES,
    FAR_FROM_ZERO,
    FOLDS,
    GAIN_SLACK,
    LARGEST,
    LEAST_BINS,
    LEAST_SLOPE,
    MARKS,
    MOST_BINS,
    MOST_THREADS,
    MOST_WEIGHT,
    Bends,
    BoxSides,
    CreaseMap,
    KnownMarks,
    LeverageForm,
    Steps,
    instruction_set,
    least_exponent,
)
from refold.base import errors

if TYPE_CHECKING:
    from refold.algorithm.kernels._kernels import CountedFields, HistogramFields

__all__ = [
    "ANY_NUMBER_OF_BINS",
    "ASCII",
    "DISTANCES",
    "FAR_FROM_ZERO",
    "FOLDS",
    "GAIN_SLACK",
    "LARGEST",
    "LEAST_BINS",
    "LEAST_SLOPE",
    "MARKS",
    "MOST_BINS",
    "MOST_THREADS",
    "MOST_WEIGHT",
    "Bends",
    "BoxSides",
    "CreaseMap",
    "KnownMarks",
    "LeverageForm",
    "SketchTally",
    "Steps",
    "bends",
    "bent",
    "box_excess",
    "box_sides",
    "characters",
    "cholesky",
    "contributions",
    "crease_distances",
    "crease_features",
    "crease_levels",
    "crease_map",
    "crease_norms",
    "crease_sums",
    "crease_variants",
    "distances",
    "edge",
    "extremes",
    "filled",
    "find_known",
    "hashes",
    "instruction_set",
    "known_marks",
    "learn",
    "learn_each",
    "least_exponent",
    "left_out",
    "leverage_form",
    "leverages",
    "order",
    "product",
    "quantiles",
    "rarest",
    "row_marks",
    "shapes",
    "sketch",
    "solve_lower",
    "standardized",
    "steps",
    "sum_products",
    "svdd",
    "trace",
    "transform",
]

Learned = tuple[Floats, Floats, Integers, Floats]
_READ_IN_PLACE = (np.dtype(np.float64), np.dtype(np.float32))

_PROBLEMS: dict[int, Callable[[int, int], Exception]] = {
    _kernels.INFINITE: errors.infinite,
    _kernels.NOTHING_OBSERVED: lambda row, column: (
        errors.empty_column(column) if row < 0 else errors.empty_row(row)
    ),
    _kernels.TOO_LITTLE_WEIGHT: lambda row, column: errors.light_column(column),
    _kernels.TOO_MUCH_WEIGHT: lambda row, column: errors.heavy_column(column),
}


def steps(
    fold: str, offset: Floats, unit: Floats, shift: Floats, factor: Floats, levels: Integers
) -> Steps:
    """Return a chain as the loops evaluate it, :class:`~refold.algorithm.chain.Steps`."""
    return Steps(_number(FOLDS, fold), offset, unit, shift, factor, levels)


def learn(
    X: NDArray[Any],
    weights: Floats | None,
    fold: str,
    n_iter: int,
    max_gain: float,
    n_threads: int,
) -> Learned:
    """Return shifts, scales, levels and gain of the chain of a table."""
    chain = _empty_chain(n_iter, X.shape[1])
    recipe = _number(FOLDS, fold), n_iter, max_gain, n_threads
    _check(_kernels.learn(_table(X), _weights(weights), *recipe, *chain))
    return chain


def learn_each(
    columns: Sequence[tuple[Floats, Floats]],
    fold: str,
    n_iter: int,
    max_gain: float,
    n_threads: int,
) -> Learned:
    """Return the chain of columns that have their own values and weights, all above zero."""
    chain = _empty_chain(n_iter, len(columns))
    values, weights = ([_plain(column[k]) for column in columns] for k in (0, 1))
    recipe = _number(FOLDS, fold), n_iter, max_gain, n_threads
    _check(_kernels.learn_each(values, weights, *recipe, *chain))
    return chain


def left_out(
    X: NDArray[Any],
    parts: int,
    fold: str,
    n_iter: int,
    max_gain: float,
    distance: str,
    n_threads: int,
    *,
    path: bool,
) -> Floats:
    """Return the distance of each row to the chain of the others, without every `parts`-th row.

    X holds no infinity; a row without any value has none.
    """
    out, recipe = np.empty(len(X)), (_number(FOLDS, fold), n_iter, max_gain)
    number = _number(DISTANCES, distance)
    _check(_kernels.left_out(_table(X), parts, *recipe, number, path, n_threads, out))
    return out


def distances(
    X: NDArray[Any], steps: Steps, distance: str, n_threads: int, *, path: bool
) -> Floats:
    """Return the distance of each row after the last level, or its mean over all levels."""
    out, number = np.empty(X.shape[0]), _number(DISTANCES, distance)
    _check(_kernels.distances(_table(X), steps, number, path, n_threads, out))
    return out


def trace(X: NDArray[Any], steps: Steps, distance: str, n_threads: int) -> Floats:
    """Return the distance of each row after each level."""
    out, number = np.empty((X.shape[0], steps.n_iter)), _number(DISTANCES, distance)
    _check(_kernels.trace(_table(X), steps, number, n_threads, out))
    return out


def transform(X: NDArray[Any], steps: Steps, n_threads: int) -> Floats:
    """Return the folded features, NaN where missing."""
    out = np.empty(X.shape)
    _check(_kernels.transform(_table(X), steps, n_threads, out))
    return out


def contributions(
    X: NDArray[Any], steps: Steps, distance: str, n_threads: int, *, path: bool
) -> tuple[Floats, Floats]:
    """Return each row's distance, and the share of each feature in it."""
    totals, out, number = np.empty(len(X)), np.empty(X.shape), _number(DISTANCES, distance)
    _check(_kernels.contributions(_table(X), steps, number, path, n_threads, totals, out))
    return totals, out


def sketch(
    X: NDArray[Any], weights: Floats | None, n_bins: int, n_threads: int
) -> list[HistogramFields]:
    """Return the fields of a histogram of each column."""
    problem, histograms = _kernels.sketch(_table(X), _weights(weights), n_bins, n_threads)
    _check(problem)
    return histograms


def extremes(
    X: NDArray[Any], weights: Floats | None, n_threads: int
) -> tuple[Floats, Floats, Floats]:
    """Return each column's smallest and largest value and the weight of what is missing."""
    low, high, missing = np.empty((3, X.shape[1]))
    _kernels.extremes(_table(X), _weights(weights), n_threads, low, high, missing)
    return low, high, missing


def order(values: Floats) -> Integers:
    """Return the numbers of values without NaN, ascending; equal ones stay in their order."""
    out = np.empty(len(values), dtype=np.int64)
    _kernels.order(_plain(values), out)
    return out


def quantiles(X: NDArray[Any], rows: Integers, number: int, n_threads: int) -> Floats:
    """Return, of these rows, each column's smallest values with k/(number-1) at or below them.

    A column that has no value in them has NaN.
    """
    out = np.empty((number, X.shape[1]))
    _kernels.quantiles(_table(X), _plain(rows, np.int64), n_threads, out)
    return out


def edge(
    values: Floats, weights: Floats, rows: Integers, *, depth: int, most: int
) -> tuple[CountedFields, ...]:
    """Return all different values if they are not more than `most`, else the outermost ones.

    Those are the `depth` smallest, and then the `depth` largest. Each comes with the weight of its
    rows and the first of them. NaN, and what weighs nothing, does not count.
    """
    numbers = _plain(rows, np.int64)
    return _kernels.edge(_plain(values), _plain(weights), numbers, depth, most)


class SketchTally:
    """The histogram of a column that comes in parts; threads may add to it at the same time."""

    def __init__(self, n_bins: int) -> None:
        self._compiled = _kernels.Tally(n_bins)

    def add(
        self, values: NDArray[Any], weights: Floats | None = None, *, first: int, column: int
    ) -> None:
        """Count values; errors number the rows from `first` on and name `column`."""
        _check(self._compiled.add(_plain(values), _weights(weights), first, column))

    def histogram(self) -> HistogramFields:
        """Return the fields of the histogram of all values so far."""
        return self._compiled.histogram()


def standardized(rows: Floats, center: Floats, scale: Floats, largest: float, out: Floats) -> bool:
    """Write (x-center)/scale, within ±largest, to `out`; return whether a value is missing."""
    return _kernels.standardized(_plain(rows), _plain(center), _plain(scale), largest, out)


def filled(Z: Floats, precision: Floats) -> None:
    """Replace NaN in rows, in place, by what the other values of the row lead to expect."""
    _kernels.filled(Z, _plain(precision))


def bends(knots: Floats, heights: Floats, starts: Integers, slopes: Floats) -> Bends:
    """Return piecewise linear maps, one per column, as the loops evaluate them."""
    return Bends(_plain(knots), _plain(heights), _plain(starts, np.int64), _plain(slopes))


def bent(bends: Bends, z: Floats) -> Floats:
    """Return rows without gaps after the map of each column."""
    out = np.empty(z.shape)
    _kernels.bent(bends, _plain(z), out)
    return out


def crease_map(
    center: Floats,
    scale: Floats,
    varying: NDArray[np.bool_],
    directions: Floats,
    offsets: Floats,
    shifts: Floats,
    slopes: Floats,
    precision: Floats,
    bends: Bends,
    *,
    constants: bool,
    largest: float,
) -> CreaseMap:
    """Return creases as the loops use them: what maps a row to its features."""
    return CreaseMap(
        _plain(center),
        _plain(scale),
        np.flatnonzero(varying).astype(np.int64),
        _plain(directions),
        _plain(offsets),
        _plain(shifts),
        _plain(slopes),
        _plain(precision),
        bends,
        constants,
        largest,
    )


def crease_levels(
    rows: Floats,
    directions: Floats,
    offsets: Floats,
    weights: Floats,
    n_levels: int,
    *,
    least: float,
    n_threads: int,
) -> tuple[Floats, Floats]:
    """Return mean and spread of folded projections, level by level.

    A spread below the share `least` of the size is 0.
    """
    shifts, spreads = np.empty((2, n_levels, len(offsets)))
    arrays = _plain(rows), _plain(directions), _plain(offsets), _plain(weights)
    _kernels.crease_levels(*arrays, least, n_threads, shifts, spreads)
    return shifts, spreads


def crease_features(creases: CreaseMap, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the features of each row."""
    out = np.empty((len(X), creases.outputs))
    _kernels.crease_features(creases, _table(X), n_threads, out)
    return out


def crease_norms(creases: CreaseMap, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the sum of the squares of each row's features."""
    out = np.empty(len(X))
    _kernels.crease_norms(creases, _table(X), n_threads, out)
    return out


def crease_sums(
    creases: CreaseMap, X: NDArray[Any], weights: Floats, n_threads: int
) -> tuple[Floats, Floats]:
    """Return the sums of w φ and of w φ φᵀ, the lower triangle of the latter."""
    total, gram = np.empty(creases.outputs), np.zeros((creases.outputs,) * 2)
    _kernels.crease_sums(creases, _table(X), _plain(weights), n_threads, total, gram)
    return total, gram.T


def sum_products(phi: Floats, weights: Floats, n_threads: int) -> Floats:
    """Return the sum of w φ φᵀ over rows, its lower triangle."""
    total, gram = np.empty(phi.shape[1]), np.zeros((phi.shape[1],) * 2)
    _kernels.sum_products(_plain(phi), _plain(weights), n_threads, total, gram)
    return gram.T


def leverage_form(
    creases: CreaseMap,
    center: Floats,
    factor: Floats,
    *,
    weight: float,
    ridge: float,
    dual: bool,
    n_threads: int,
) -> LeverageForm:
    """Return the quadratic form of features, as the loops evaluate it."""
    return LeverageForm(creases, _plain(center), _plain(factor), weight, ridge, dual, n_threads)


def leverages(creases: CreaseMap, form: LeverageForm, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the quadratic form of each row's features."""
    out = np.empty(len(X))
    _check(_kernels.leverages(creases, form, _table(X), n_threads, out))
    return out


def box_sides(
    low: Floats,
    high: Floats,
    unit: Floats,
    known: Floats,
    starts: Integers,
    discrete: NDArray[np.bool_],
) -> BoxSides:
    """Return a box, column by column, as the loops look at it.

    From ``starts[c]`` to ``starts[c + 1]`` are the values that column c is known to have, if its
    ends are not enough; where it is discrete, only they are inside.
    """
    ends = _plain(low), _plain(high), _plain(unit), _plain(known)
    return BoxSides(*ends, _plain(starts, np.int64), discrete.astype(np.int64))


def box_excess(box: BoxSides, X: Floats) -> Floats:
    """Return how far outside its column's box each value is, in the column's unit; of NaN 0."""
    out = np.empty(X.shape)
    _kernels.box_excess(box, _plain(X), out)
    return out


def row_marks(z: Floats, weights: Floats, gaps: Floats) -> Floats:
    """Return weighted sums of standardized rows, column after column; NaN counts as its gap."""
    out = np.empty((len(z), MARKS))
    _kernels.row_marks(_plain(z), _plain(weights), _plain(gaps), out)
    return out


def known_marks(
    marks: Floats, distances: Floats, weights: Floats, gaps: Floats, tolerance: float
) -> KnownMarks:
    """Return the marks of rows, ascending by the first, as the loops look for them."""
    arrays = _plain(marks), _plain(distances), _plain(weights), _plain(gaps)
    return KnownMarks(*arrays, tolerance)


def find_known(known: KnownMarks, z: Floats) -> Integers:
    """Return the number of the known row that each standardized row is, -1 if it is none."""
    out = np.empty(len(z), dtype=np.int64)
    _kernels.find_known(known, _plain(z), out)
    return out


def crease_distances(
    creases: CreaseMap,
    form: LeverageForm,
    box: BoxSides | None,
    known: KnownMarks | None,
    X: NDArray[Any],
    n_threads: int,
    *,
    typical: float,
    unit: float,
    gain: float,
    most: float,
) -> Floats:
    """Return (form/typical + gain · Σ min(excess, most)²)/unit of rows, or what is known."""
    out = np.empty(len(X))
    scales = typical, unit, gain, most
    _check(_kernels.crease_distances(creases, form, box, known, *scales, _table(X), n_threads, out))
    return out


def crease_variants(
    creases: CreaseMap,
    form: LeverageForm,
    z: Floats,
    instead: Floats,
    owners: Integers,
    changed: Floats,
    n_threads: int,
) -> tuple[Floats, Floats]:
    """Return the form of rows, and of them with the values of each group replaced.

    Parameters
    ----------
    creases, form : CreaseMap, LeverageForm
        What scores.
    z, instead : ndarray of shape (n, v)
        Standardized rows without gaps, and what their values are replaced by.
    owners : ndarray of int, shape (v,)
        The group that each column is replaced with; -1 if it never is.
    changed : ndarray of shape (n, 1 + groups)
        How far constant columns have changed, in the row itself and without each group.
    n_threads : int
        Threads.

    Returns
    -------
    scores, across : ndarray of shape (n, 1 + groups)
        The form, and the product of each with the row itself in the form.
    """
    scores, across = np.empty((2, *changed.shape))
    rows = _plain(z), _plain(instead), _plain(owners, np.int64), _plain(changed)
    _kernels.crease_variants(creases, form, *rows, n_threads, scores, across)
    return scores, across


def product(A: Floats, B: Floats, n_threads: int = 1) -> Floats:
    """Return A Bᵀ; every number is added up in the order of the columns."""
    out = np.empty((len(A), len(B)))
    _kernels.product(_plain(A), _plain(B), n_threads, out)
    return out


def cholesky(
    A: Floats, *, center: Floats | None = None, weight: float = 0.0, ridge: float = 0.0
) -> Floats:
    """Return the lower factor of A − weight · center centerᵀ + ridge · I, by A's lower half."""
    L = np.empty(A.shape)
    if not _kernels.cholesky(_plain(A.T), _weights(center), weight, ridge, L):
        raise ValueError("The sums of products are not positive definite.")
    return L


def solve_lower(L: Floats, B: Floats | None = None, n_threads: int = 1) -> Floats:
    """Return L⁻¹B with a lower triangle L; without B its inverse."""
    out = np.empty(L.shape if B is None else B.shape)
    _kernels.solve_lower(_plain(L), None if B is None else _plain(B), n_threads, out)
    return out


def svdd(
    kernel: NDArray[np.float32], diagonal: Floats, box: float, tol: float, max_steps: int
) -> tuple[Floats, Floats, int, float]:
    """Return weights, gradient, steps taken and violation left of an SVDD problem."""
    weights, gradient = np.empty((2, len(diagonal)))
    steps, violation = _kernels.svdd(
        _plain(kernel, np.float32), _plain(diagonal), box, tol, max_steps, weights, gradient
    )
    return weights, gradient, steps, violation


def shapes(texts: list[str], *, collapsed: bool, looked_at: int) -> tuple[Integers, list[str]]:
    """Return which shape each text has, -1 if it is not ASCII, and the different shapes."""
    codes = np.empty(len(texts), dtype=np.int64)
    return codes, _kernels.shapes(texts, collapsed, looked_at, codes)


def characters(texts: list[str], counts: Integers, *, looked_at: int) -> tuple[Integers, list[int]]:
    """Return how many rows have each ASCII character, and which texts have others too.

    Those are not counted.
    """
    rows_with = np.empty(ASCII, dtype=np.int64)
    others = _kernels.characters(texts, _plain(counts, np.int64), looked_at, rows_with)
    return rows_with, others


def rarest(texts: list[str], rows_with: Integers, *, looked_at: int) -> Integers:
    """Return how many rows have the rarest character of each text, -1 if it is not ASCII."""
    out = np.empty(len(texts), dtype=np.int64)
    _kernels.rarest(texts, _plain(rows_with, np.int64), looked_at, out)
    return out


def hashes(texts: list[str]) -> Integers:
    """Return 63 bits of each text, the same on every machine."""
    out = np.empty(len(texts), dtype=np.int64)
    _kernels.hashes(texts, out)
    return out


def _table(X: NDArray[Any]) -> NDArray[Any]:
    """Return X itself unless its bytes are laid out as no loop can read them."""
    if X.dtype not in _READ_IN_PLACE:
        X = X.astype(np.float64)
    flags = X.flags
    if flags.aligned and flags.c_contiguous:
        return X  # nearly always, and for one row what follows takes as long as a column of it
    regular = flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)
    return X if regular else X.copy()


def _plain(values: NDArray[Any], dtype: type = np.float64) -> NDArray[Any]:
    """Return an array whose values lie side by side, aligned and in the machine's own bytes."""
    if values.dtype == dtype and values.flags.c_contiguous and values.flags.aligned:
        return values  # what np.require finds out too, but in more time than a row takes
    return np.require(values, dtype, ("C", "A"))


def _weights(weights: NDArray[Any] | None) -> Floats | None:
    return None if weights is None else _plain(weights)


def _empty_chain(n_iter: int, columns: int) -> Learned:
    """Return the chain of features that do not fold."""
    shape = max(n_iter, 0), columns
    return np.zeros(shape), np.ones(shape), np.zeros(columns, dtype=np.int64), np.ones(columns)


def _number(names: Sequence[str], name: str) -> int:
    """Return what the loops call a fold or a distance."""
    if name not in names:
        raise ValueError(f"{name!r} is none of {', '.join(names)}.")
    return names.index(name)


def _check(problem: tuple[int, int, int]) -> None:
    """Turn what a loop found wrong with a table into an error."""
    kind, row, column = problem
    if kind:
        raise _PROBLEMS[kind](row, column)
