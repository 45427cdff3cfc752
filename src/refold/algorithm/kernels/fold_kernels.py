"""Columns by themselves: chains of folds, histograms, ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm.kernels import _kernels
from refold.algorithm.kernels._kernels import DISTANCES, FOLDS, Steps
from refold.algorithm.kernels.loop_arrays import (
    contiguous,
    number_of,
    plain_weights,
    raise_problem,
    readable,
)

if TYPE_CHECKING:
    from refold.algorithm.kernels._kernels import CountedFields, HistogramFields

Learned = tuple[Floats, Floats, Integers, Floats]


def fold_steps(
    fold: str, offset: Floats, unit: Floats, shift: Floats, factor: Floats, levels: Integers
) -> Steps:
    """Return a chain as the loops evaluate it, :class:`~refold.algorithm.chain.Steps`."""
    return Steps(number_of(FOLDS, fold), offset, unit, shift, factor, levels)


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
    recipe = number_of(FOLDS, fold), n_iter, max_gain, n_threads
    raise_problem(_kernels.learn(readable(X), plain_weights(weights), *recipe, *chain))
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
    values, weights = ([contiguous(column[k]) for column in columns] for k in (0, 1))
    recipe = number_of(FOLDS, fold), n_iter, max_gain, n_threads
    raise_problem(_kernels.learn_each(values, weights, *recipe, *chain))
    return chain


def leave_one_out(
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
    out, recipe = np.empty(len(X)), (number_of(FOLDS, fold), n_iter, max_gain)
    number = number_of(DISTANCES, distance)
    raise_problem(_kernels.left_out(readable(X), parts, *recipe, number, path, n_threads, out))
    return out


def distances(
    X: NDArray[Any], steps: Steps, distance: str, n_threads: int, *, path: bool
) -> Floats:
    """Return the distance of each row after the last level, or its mean over all levels."""
    out, number = np.empty(X.shape[0]), number_of(DISTANCES, distance)
    raise_problem(_kernels.distances(readable(X), steps, number, path, n_threads, out))
    return out


def trace(X: NDArray[Any], steps: Steps, distance: str, n_threads: int) -> Floats:
    """Return the distance of each row after each level."""
    out, number = np.empty((X.shape[0], steps.n_iter)), number_of(DISTANCES, distance)
    raise_problem(_kernels.trace(readable(X), steps, number, n_threads, out))
    return out


def transform(X: NDArray[Any], steps: Steps, n_threads: int) -> Floats:
    """Return the folded features, NaN where missing."""
    out = np.empty(X.shape)
    raise_problem(_kernels.transform(readable(X), steps, n_threads, out))
    return out


def contributions(
    X: NDArray[Any], steps: Steps, distance: str, n_threads: int, *, path: bool
) -> tuple[Floats, Floats]:
    """Return each row's distance, and the share of each feature in it."""
    totals, out, number = np.empty(len(X)), np.empty(X.shape), number_of(DISTANCES, distance)
    raise_problem(_kernels.contributions(readable(X), steps, number, path, n_threads, totals, out))
    return totals, out


def sketch(
    X: NDArray[Any], weights: Floats | None, n_bins: int, n_threads: int
) -> list[HistogramFields]:
    """Return the fields of a histogram of each column."""
    problem, histograms = _kernels.sketch(readable(X), plain_weights(weights), n_bins, n_threads)
    raise_problem(problem)
    return histograms


def extremes(
    X: NDArray[Any], weights: Floats | None, n_threads: int
) -> tuple[Floats, Floats, Floats]:
    """Return each column's smallest and largest value and the weight of what is missing."""
    low, high, missing = np.empty((3, X.shape[1]))
    _kernels.extremes(readable(X), plain_weights(weights), n_threads, low, high, missing)
    return low, high, missing


def order(values: Floats) -> Integers:
    """Return the numbers of values without NaN, ascending; equal ones stay in their order."""
    out = np.empty(len(values), dtype=np.int64)
    _kernels.order(contiguous(values), out)
    return out


def quantiles(X: NDArray[Any], rows: Integers, number: int, n_threads: int) -> Floats:
    """Return, of these rows, each column's smallest values with k/(number-1) at or below them.

    A column that has no value in them has NaN.
    """
    out = np.empty((number, X.shape[1]))
    _kernels.quantiles(readable(X), contiguous(rows, np.int64), n_threads, out)
    return out


def edge(
    values: Floats, weights: Floats, rows: Integers, *, depth: int, most: int
) -> tuple[CountedFields, ...]:
    """Return all different values if they are not more than `most`, else the outermost ones.

    Those are the `depth` smallest, and then the `depth` largest. Each comes with the weight of its
    rows and the first of them. NaN, and what weighs nothing, does not count.
    """
    numbers = contiguous(rows, np.int64)
    return _kernels.edge(contiguous(values), contiguous(weights), numbers, depth, most)


class SketchTally:
    """The histogram of a column that comes in parts; threads may add to it at the same time."""

    def __init__(self, n_bins: int) -> None:
        self._compiled = _kernels.Tally(n_bins)

    def add(
        self, values: NDArray[Any], weights: Floats | None = None, *, first: int, column: int
    ) -> None:
        """Count values; errors number the rows from `first` on and name `column`."""
        raise_problem(self._compiled.add(contiguous(values), plain_weights(weights), first, column))

    def histogram(self) -> HistogramFields:
        """Return the fields of the histogram of all values so far."""
        return self._compiled.histogram()


def _empty_chain(n_iter: int, columns: int) -> Learned:
    """Return the chain of features that do not fold."""
    shape = max(n_iter, 0), columns
    return np.zeros(shape), np.ones(shape), np.zeros(columns, dtype=np.int64), np.ones(columns)
