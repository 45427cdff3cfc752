"""The smallest sphere around most of the rows: the problem that the SVDD family solves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from refold._typing import Floats
from refold.algorithm import kernels
from refold.peers._base import by_rows, exponent, slices

# The parameters of Solver, for the estimators that have them.
SOLVER_CONSTRAINTS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class LinearSphere:
    """The sphere in the space of the rows themselves."""

    def __init__(self, X: Floats, solver: Solver) -> None:
        # Distances do not depend on the origin, but digits do: put it amid the rows. (Where all
        # rows are equal this difference is 0 to the last bit.)
        origin = X[0] + (X - X[0]).mean(axis=0)
        X = X - origin
        solution = solver.solve(lambda part: X[part] @ X.T, X.shape[0])
        centre = solution.weights @ X
        self.weights, self.n_iter = solution.weights, solution.n_iter
        self.centre = origin + centre
        self.square_radius = solution.square_radius(float(centre @ centre))

    def square_distances(self, X: Floats) -> Floats:
        """Return ||x - centre||² of each row."""
        return np.asarray(((X - self.centre) ** 2).sum(axis=1))


class RBFSphere:
    """The sphere in the feature space of the Gaussian kernel."""

    def __init__(self, X: Floats, gamma: float, solver: Solver) -> None:
        self.gamma = gamma
        solution = solver.solve(lambda part: self._kernel(X[part], X), X.shape[0])
        self.weights, self.n_iter = solution.weights, solution.n_iter
        support = np.flatnonzero(self.weights)
        self._rows, self._row_weights = X[support], self.weights[support]
        self._square_centre = float(by_rows(self._along, self._rows) @ self._row_weights)
        self.square_radius = solution.square_radius(self._square_centre)

    def square_distances(self, X: Floats) -> Floats:
        """Return ||phi(x) - centre||² of each row."""
        return np.maximum(self._square_centre - 2.0 * self._along(X), 0.0)

    def _along(self, X: Floats) -> Floats:
        return np.asarray(self._kernel(X, self._rows) @ self._row_weights)

    def _kernel(self, X: Floats, Y: Floats) -> Floats:
        # A constant added to a kernel moves no distance. k - 1 keeps the digits that k near 1 would
        # lose in single precision, and k(x, x) is 0.
        K = exponent(X, Y, self.gamma)
        return np.expm1(K, out=K)


@dataclass(frozen=True)
class Solution:
    """Weights of the rows, whose weighted mean is the centre, and the multiplier of their sum."""

    weights: Floats
    rho: float | None  # None: the radius is 0 by definition
    n_iter: int

    def square_radius(self, square_centre: float) -> float:
        """Return R² = a'Ka - 2 rho, where a'Ka is the squared norm of the centre."""
        return 0.0 if self.rho is None else square_centre - 2.0 * self.rho


@dataclass(frozen=True)
class Solver:
    """How the dual problem is solved: the box and when to stop."""

    C: float
    tol: float
    max_iter: int

    def solve(self, rows_of_kernel: Callable[[slice], Floats], n: int) -> Solution:
        """Solve the problem for a kernel matrix that is given by blocks of its rows."""
        if 1.0 / n >= self.C:
            # Equal weights are all that the box has room for, and no radius is worth its price.
            return Solution(np.full(n, 1.0 / n), None, 0)
        kernel, diagonal = _in_single_precision(rows_of_kernel, n)
        box = min(float(self.C), 1.0)
        weights, gradient, n_iter, violation = kernels.svdd(
            kernel, diagonal, box, self.tol, self.max_iter
        )
        if violation >= self.tol:
            warnings.warn(
                f"SVDD stopped after max_iter={self.max_iter} steps where optimality is violated "
                f"by {violation:.3g}, more than tol={self.tol:g}. Standardize the features, or "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return Solution(weights, _rho(weights, gradient, box), n_iter)


def _in_single_precision(
    rows_of_kernel: Callable[[slice], Floats], n: int
) -> tuple[NDArray[np.float32], Floats]:
    """Return the kernel matrix in single and its diagonal in double precision."""
    kernel, diagonal = np.empty((n, n), dtype=np.float32), np.empty(n)
    for part in slices(n):
        with np.errstate(over="ignore"):
            kernel[part] = block = rows_of_kernel(part)
        diagonal[part] = np.diagonal(block, offset=part.start)
    if not np.isfinite(kernel).all():
        raise ValueError(
            "The values of X are so large that their squares are beyond single precision (3e38). "
            "Standardize the features first."
        )
    return kernel, diagonal


def _rho(weights: Floats, gradient: Floats, box: float) -> float:
    """Return the multiplier of sum(a) = 1: the gradient of rows on the sphere."""
    on_it = (weights > 0.0) & (weights < box)
    if on_it.any():
        return float(gradient[on_it].mean())
    # Every radius between the rows inside and those outside is optimal: take the middle.
    inside, outside = gradient[weights <= 0.0], gradient[weights >= box]
    if inside.size == 0:
        return float(outside.max())
    return float(inside.min() + outside.max()) / 2.0
