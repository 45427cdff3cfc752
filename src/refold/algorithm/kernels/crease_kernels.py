"""Columns together: creases, leverages, the box, and what is solved over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm.kernels import _kernels
from refold.algorithm.kernels._kernels import (
    MARKS,
    Bends,
    BoxSides,
    CreaseMap,
    KnownMarks,
    LeverageForm,
)
from refold.algorithm.kernels.loop_arrays import contiguous, plain_weights, raise_problem, readable


def standardize(rows: Floats, center: Floats, scale: Floats, largest: float, out: Floats) -> bool:
    """Write (x-center)/scale, within ±largest, to `out`; return whether a value is missing."""
    return _kernels.standardized(
        contiguous(rows), contiguous(center), contiguous(scale), largest, out
    )


def filled(Z: Floats, precision: Floats) -> None:
    """Replace NaN in rows, in place, by what the other values of the row lead to expect."""
    _kernels.filled(Z, contiguous(precision))


def bends(knots: Floats, heights: Floats, starts: Integers, slopes: Floats) -> Bends:
    """Return piecewise linear maps, one per column, as the loops evaluate them."""
    return Bends(
        contiguous(knots), contiguous(heights), contiguous(starts, np.int64), contiguous(slopes)
    )


def bent(bends: Bends, z: Floats) -> Floats:
    """Return rows without gaps after the map of each column."""
    out = np.empty(z.shape)
    _kernels.bent(bends, contiguous(z), out)
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
        contiguous(center),
        contiguous(scale),
        np.flatnonzero(varying).astype(np.int64),
        contiguous(directions),
        contiguous(offsets),
        contiguous(shifts),
        contiguous(slopes),
        contiguous(precision),
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
    arrays = contiguous(rows), contiguous(directions), contiguous(offsets), contiguous(weights)
    _kernels.crease_levels(*arrays, least, n_threads, shifts, spreads)
    return shifts, spreads


def crease_features(creases: CreaseMap, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the features of each row."""
    out = np.empty((len(X), creases.outputs))
    _kernels.crease_features(creases, readable(X), n_threads, out)
    return out


def crease_norms(creases: CreaseMap, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the sum of the squares of each row's features."""
    out = np.empty(len(X))
    _kernels.crease_norms(creases, readable(X), n_threads, out)
    return out


def crease_sums(
    creases: CreaseMap, X: NDArray[Any], weights: Floats, n_threads: int
) -> tuple[Floats, Floats]:
    """Return the sums of w φ and of w φ φᵀ, the lower triangle of the latter."""
    total, gram = np.empty(creases.outputs), np.zeros((creases.outputs,) * 2)
    _kernels.crease_sums(creases, readable(X), contiguous(weights), n_threads, total, gram)
    return total, gram.T


def sum_products(phi: Floats, weights: Floats, n_threads: int) -> Floats:
    """Return the sum of w φ φᵀ over rows, its lower triangle."""
    total, gram = np.empty(phi.shape[1]), np.zeros((phi.shape[1],) * 2)
    _kernels.sum_products(contiguous(phi), contiguous(weights), n_threads, total, gram)
    return gram.T


def leverage_form(
    creases: CreaseMap,
    center: Floats,
    factor: Floats,
    *,
    weight: float,
    ridge: float,
    dual: bool,
    some: tuple[Integers, Floats] | None = None,
    n_threads: int = 1,
) -> LeverageForm:
    """Return the quadratic form of features, as the loops evaluate it.

    A factor of fewer rows than features that is not `dual` is multiplied by as it is; what `some`
    features give by a lower triangle, which is multiplied by, too, is added.
    """
    features, inverted = some or (np.empty(0, dtype=np.int64), np.empty((0, 0)))
    return LeverageForm(
        creases,
        contiguous(center),
        contiguous(factor),
        weight,
        ridge,
        dual,
        n_threads,
        contiguous(features, np.int64),
        contiguous(inverted),
    )


def leverages(creases: CreaseMap, form: LeverageForm, X: NDArray[Any], n_threads: int) -> Floats:
    """Return the quadratic form of each row's features."""
    out = np.empty(len(X))
    raise_problem(_kernels.leverages(creases, form, readable(X), n_threads, out))
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
    ends = contiguous(low), contiguous(high), contiguous(unit), contiguous(known)
    return BoxSides(*ends, contiguous(starts, np.int64), discrete.astype(np.int64))


def box_excess(box: BoxSides, X: Floats) -> Floats:
    """Return how far outside its column's box each value is, in the column's unit; of NaN 0."""
    out = np.empty(X.shape)
    _kernels.box_excess(box, contiguous(X), out)
    return out


def row_marks(z: Floats, weights: Floats, gaps: Floats) -> Floats:
    """Return weighted sums of standardized rows, column after column; NaN counts as its gap."""
    out = np.empty((len(z), MARKS))
    _kernels.row_marks(contiguous(z), contiguous(weights), contiguous(gaps), out)
    return out


def known_marks(
    marks: Floats, distances: Floats, weights: Floats, gaps: Floats, tolerance: float
) -> KnownMarks:
    """Return the marks of rows, ascending by the first, as the loops look for them."""
    arrays = contiguous(marks), contiguous(distances), contiguous(weights), contiguous(gaps)
    return KnownMarks(*arrays, tolerance)


def find_known(known: KnownMarks, z: Floats) -> Integers:
    """Return the number of the known row that each standardized row is, -1 if it is none."""
    out = np.empty(len(z), dtype=np.int64)
    _kernels.find_known(known, contiguous(z), out)
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
    raise_problem(
        _kernels.crease_distances(creases, form, box, known, *scales, readable(X), n_threads, out)
    )
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
    rows = contiguous(z), contiguous(instead), contiguous(owners, np.int64), contiguous(changed)
    _kernels.crease_variants(creases, form, *rows, n_threads, scores, across)
    return scores, across


def product(A: Floats, B: Floats, n_threads: int = 1) -> Floats:
    """Return A Bᵀ; every number is added up in the order of the columns."""
    out = np.empty((len(A), len(B)))
    _kernels.product(contiguous(A), contiguous(B), n_threads, out)
    return out


@dataclass(frozen=True, eq=False)
class Scatter:
    """A − weight · center centerᵀ + ridge · I, by A's lower half; it must be positive definite."""

    A: Floats
    center: Floats | None = None
    weight: float = 0.0
    ridge: float = 0.0

    def cholesky(self) -> Floats:
        """Return the lower factor L."""
        L = np.empty(self.A.shape)
        _check_positive(_kernels.cholesky(*self._arrays, L))
        return L

    def pivots(self, steps: int) -> Integers:
        """Return the order in which a pivoted factorization takes the features.

        It always takes the one of most variance that those taken do not explain, of equal ones the
        first; after so many steps the rest ascends.
        """
        order = np.empty(len(self.A), dtype=np.int64)
        _check_positive(_kernels.pivots(*self._arrays, steps, order))
        return order

    def last_rows(self, features: Integers, count: int, n_threads: int) -> Floats:
        """Return the last rows of L⁻¹ of some features in their order; a column for each of all."""
        out = np.zeros((count, len(self.A)))
        order = contiguous(features, np.int64)
        _check_positive(_kernels.last_rows(*self._arrays, order, n_threads, out))
        return out

    @property
    def _arrays(self) -> tuple[Floats, Floats | None, float, float]:
        return contiguous(self.A.T), plain_weights(self.center), self.weight, self.ridge


def _check_positive(found: bool) -> None:
    if not found:
        raise ValueError("The sums of products are not positive definite.")


def solve_lower(L: Floats, B: Floats | None = None, n_threads: int = 1) -> Floats:
    """Return L⁻¹B with a lower triangle L; without B its inverse."""
    out = np.empty(L.shape if B is None else B.shape)
    _kernels.solve_lower(contiguous(L), None if B is None else contiguous(B), n_threads, out)
    return out


def svdd(
    kernel: NDArray[np.float32], diagonal: Floats, box: float, tol: float, max_steps: int
) -> tuple[Floats, Floats, int, float]:
    """Return weights, gradient, steps taken and violation left of an SVDD problem."""
    weights, gradient = np.empty((2, len(diagonal)))
    steps, violation = _kernels.svdd(
        contiguous(kernel, np.float32), contiguous(diagonal), box, tol, max_steps, weights, gradient
    )
    return weights, gradient, steps, violation
