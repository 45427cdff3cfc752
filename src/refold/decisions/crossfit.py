"""Distances of training rows to models that have not seen them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Array, Floats
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import ENGINES, exact
from refold.algorithm.engines.sketch import Sketch
from refold.base import errors
from refold.base.arrays import have_values, take_array_rows, to_numpy
from refold.decisions.thresholds import Calibration

# Up to so many rows each is left out on its own, above them every fiftieth together. With fewer
# folds the rate comes out too low: the last level is jagged, and a model of nine tenths of the rows
# is farther from a row it has not seen than the model of all. That holds for many columns too; but
# where all models together learn from so many values, two or three of up to 1,000 rows are left out
# together, which keeps the rate (benchmarks/parts.py).
_ROWS_ONE_BY_ONE = 1000
_FOLDS = 50
_MANY_VALUES, _FOLDS_OF_MANY = 400_000_000, 334
# Without being asked for, rows are left out up to so many of them, or ten for each column, in a few
# parts, if all models together fold fewer values than this: that takes milliseconds.
_FEW_ROWS, _LITTLE_WORK, _FEW_PARTS = 200, 100_000_000, 10
# The distances that are sums over features, of the last level and of all: these are compiled.
_SUMS = {False: ("l1", "l2"), True: ("l1",)}
# A row so many times as far out when it is left out has what no other has; such rows are as far out
# as each other up to this share.
_JUMP, _ALIKE = 10.0, 0.01
# The copies that a row counts as at most: all of them together are a 64-bit number.
_MOST_COPIES = 2.0**31


class Parts:
    """Which rows are left out together: row i in part i mod 50 (or another), or each on its own.

    Weights are frequencies: a row of weight w stands for ⌈w⌉ copies one after another, each of
    weight w/⌈w⌉, and the copies are counted like rows.
    """

    def __init__(
        self, shape: tuple[int, int], weights: Floats | None, most: int | None = None
    ) -> None:
        rows, columns = shape
        self._rows = rows
        self._copies: NDArray[np.int64] | None = None
        total = rows
        if weights is not None:
            self._copies = np.minimum(np.ceil(weights), _MOST_COPIES).astype(np.int64)
            self._each = weights / np.maximum(self._copies, 1)
            self._ends = np.cumsum(self._copies)
            self._starts = self._ends - self._copies
            total = int(self._ends[-1])
        if most is None:
            many = total * rows * columns > _MANY_VALUES
            most = _FOLDS if total > _ROWS_ONE_BY_ONE else _FOLDS_OF_MANY if many else total
        self.number = min(total, most)
        self.one_by_one = self.number == total

    def part(self, number: int) -> tuple[NDArray[np.intp], Floats]:
        """Return the rows that have copies in a part, and the weight of those."""
        if self._copies is None:
            rows = np.arange(number, self._rows, self.number)
            return rows, np.ones(len(rows))
        copies = self._copies_in(number)
        rows = np.flatnonzero(copies)
        return rows, copies[rows] * self._each[rows]

    def others(self, number: int) -> Floats:
        """Return the weight that each row has in all other parts."""
        if self._copies is None:
            weights = np.ones(self._rows)
            weights[number :: self.number] = 0.0
            return weights
        return np.asarray((self._copies - self._copies_in(number)) * self._each)

    def _copies_in(self, number: int) -> NDArray[np.int64]:
        """Return how many of the places of a row's copies are `number` in the count mod 50."""
        rounds = [(places - number - 1) // self.number for places in (self._starts, self._ends)]
        return np.asarray(rounds[1] - rounds[0], dtype=np.int64)


def cross_fitted(
    X: Array,
    weights: Floats | None,
    *,
    chain: FoldChain,
    engine: str,
    sketch: Sketch | None,
    recipe: dict[str, Any],
    distance: str | Callable[[Array], Array],
    path: bool,
    most: int | None = None,
    beside: Floats | None = None,
) -> Calibration:
    """Return the distances of rows to what is learned from the other parts of the table.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows that the engine has learned from without an error.
    weights : ndarray of shape (n,) or None
        How many times each counts.
    chain : FoldChain
        What was learned from all rows.
    engine : str
        The engine's name.
    sketch : Sketch or None
        Of all rows, for the engine that learns from it: a part is subtracted, so all parts
        together are one more read of X.
    recipe : dict
        What the engine needs for learning; its `n_jobs` parts are worked on at a time.
    distance, path
        What the engine needs for scoring.
    most : int or None
        How many parts there are at most; None is each row up to 1,000 of them, or 334 parts where
        columns are many, else 50.
    beside : ndarray of shape (k, d) or None
        Rows that were learned too, and are left out with none.
    """
    if sketch is not None and X.shape[0] <= sketch.n_bins:
        engine, sketch = "exact", None  # every value has a bin of its own: the chain is the same
    parts, ways = Parts(X.shape, weights, most), ENGINES[engine]
    if engine == "exact" and weights is None and beside is None and distance in _SUMS[path]:
        return _compiled(X, parts, str(distance), chain=chain, recipe=recipe, path=path)
    threads = _threads(X, parts, engine, distance, recipe)
    if threads > 1:
        recipe = recipe | {"n_jobs": 1}

    def distances_of(number: int) -> tuple[Floats, Floats, Floats]:
        rows, weight = parts.part(number)
        part = take_array_rows(X, rows)
        try:
            if sketch is None:
                others = ways.learn(*_with(X, parts.others(number), beside), **recipe)
            else:
                left_out = Sketch.of(part, weight, n_bins=sketch.n_bins, n_jobs=recipe["n_jobs"])
                others = sketch.minus(left_out).chain(**recipe)
        except errors.TableError as error:  # all rows together were fine
            raise errors.too_few_without_part(error) from None
        seen = have_values(part)
        if not seen.all():  # a row without any value has no distance, then or later
            part, weight = take_array_rows(part, np.flatnonzero(seen)), weight[seen]
        if len(weight) == 0:
            return weight, weight, weight
        unseen, known = (
            to_numpy(ways.distances(c, part, distance, path=path, n_jobs=recipe["n_jobs"]))
            for c in (others, chain)
        )
        return unseen, known, weight

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(distances_of, range(parts.number)))
    unseen, known, counted = (np.concatenate(column) for column in zip(*results, strict=True))
    return _calibration(unseen, known, counted, parts)


def _compiled(
    X: NDArray[Any],
    parts: Parts,
    distance: str,
    *,
    chain: FoldChain,
    recipe: dict[str, Any],
    path: bool,
) -> Calibration:
    """Do the same for rows that count once, all parts of a column in one go."""
    try:
        unseen = exact.leave_one_out(X, parts.number, distance, path=path, **recipe)
    except errors.TableError as error:  # all rows together were fine
        raise errors.too_few_without_part(error) from None
    seen = have_values(X)
    if not seen.all():
        X, unseen = X[seen], unseen[seen]
    known = exact.distances(chain, X, distance, path=path, n_jobs=recipe["n_jobs"])
    return _calibration(unseen, known, np.ones(len(unseen)), parts)


def _calibration(unseen: Floats, known: Floats, weights: Floats, parts: Parts) -> Calibration:
    source = "leave-one-out" if parts.one_by_one else "cross-fitted"
    unseen = _with_ties_above(unseen, known, weights)
    return Calibration.of(_with_first_values_alike(unseen, known), weights, source)


def few_left_out(
    X: NDArray[Any],
    weights: Floats | None,
    *,
    recipe: dict[str, Any],
    distance: str | Callable[[Array], Array],
    path: bool,
) -> Calibration | None:
    """Return the distances of left-out rows where rows are few and it costs next to nothing.

    Parameters
    ----------
    X, weights, recipe, distance, path
        As for :func:`cross_fitted`; the fold has a name.

    Returns
    -------
    Calibration or None
        None for many rows, and where there is no model without some of them.
    """
    rows, columns = X.shape
    work = _FEW_PARTS * rows * columns * recipe["n_iter"]
    if rows > max(_FEW_ROWS, 10 * columns) or work > _LITTLE_WORK:
        return None
    try:
        chain = exact.learn(X, weights, **recipe)
        return cross_fitted(
            X,
            weights,
            chain=chain,
            engine="exact",
            sketch=None,
            recipe=recipe,
            distance=distance,
            path=path,
            most=_FEW_PARTS,
        )
    except errors.TableError:  # a column has values in these rows only, or numbers overflow
        return None


def _with(X: Array, weights: Floats, beside: Floats | None) -> tuple[Array, Floats]:
    if beside is None:
        return X, weights
    return np.concatenate([X, beside]), np.concatenate([weights, np.ones(len(beside))])


def _with_ties_above(unseen: Floats, known: Floats, weights: Floats) -> Floats:
    """Return the distances to models of others, those of repeated rows not below the model of all.

    New copies of a row that comes often all have one distance, known already. Models of parts
    scatter around it, and a threshold among them would let that scatter decide about all copies.
    """
    _, group, count = np.unique(known, return_inverse=True, return_counts=True)
    repeated = (count[group] > 1) | (weights > 1.0)
    return np.where(repeated, np.maximum(unseen, known), unseen)


def _with_first_values_alike(unseen: Floats, known: Floats) -> Floats:
    """Return the same; rows that jump to about one distance when left out are raised above it.

    Such a row has the only other value of a column. A new row with the first other value of another
    column is as far out but for the few rows that one model lacks: that must not decide.
    """
    jumped = np.flatnonzero(unseen > _JUMP * known)
    rising = jumped[np.argsort(unseen[jumped])]
    far = unseen[rising]
    group = np.cumsum(np.diff(far, prepend=far[:1]) > _ALIKE * far)
    out = unseen.copy()
    for rows in np.split(rising, np.flatnonzero(np.diff(group)) + 1):
        if len(rows) > 1:
            out[rows] = (1.0 + _ALIKE) * unseen[rows[-1]]
    return out


def _threads(X: Array, parts: Parts, engine: str, distance: Any, recipe: dict[str, Any]) -> int:
    """How many parts to work on at a time; users' functions are called by one thread."""
    if engine == "reference" or callable(distance):
        return 1
    work = X.shape[0] * X.shape[1] * recipe["n_iter"] * parts.number
    return min(parts.number, exact.threads(work, recipe["n_jobs"]))
