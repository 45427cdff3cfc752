"""Support vector data description, and the one in a subspace: the smallest sphere around rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from refold._typing import Floats
from refold.algorithm import kernels
from refold.base.parameters import Interval, StrOptions
from refold.peers._base import OneClassDetector, by_rows, exponent, row_blocks

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
    for part in row_blocks(n):
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


class SVDD(OneClassDetector):
    """Support vector data description: the smallest sphere around most of the rows.

    A row is normal if it lies strictly inside the sphere with centre c = sum_i a_i x_i, where a
    solves

        min 1/2 a'Ka - 1/2 diag(K)'a   subject to   sum(a) = 1,  0 <= a <= C.

    Its squared distance to the centre is k(x, x) - 2 sum_i a_i k(x_i, x) + a'Ka, and the squared
    radius is that of rows with 0 < a < C.

    Parameters
    ----------
    kernel : {"linear", "rbf"}, default="linear"
        k(x, y) = x'y, or exp(-gamma ||x - y||²).
    gamma : float, default=0.01
        Of the kernel "rbf"; not used by "linear".
    C : float, default=0.1
        The most that one row may weigh: at most 1/C rows fall outside, and at least 1/C rows touch
        the sphere or lie outside. From 1 on, every row is inside or on the sphere. With C <= 1/n
        all rows weigh the same and the radius is 0: everything is an outlier.
    tol : float, default=1e-3
        The solver stops where the optimality conditions are violated by less than this. It is an
        absolute number in the units of k, so standardize the features first.
    max_iter : int, default=1_000_000
        The most steps of the solver; a warning says when they were not enough.

    Attributes
    ----------
    weights_ : ndarray of shape (n,)
        a, the weight of each training row.
    support_ : ndarray of int
        The rows whose weight is not 0.
    center_ : ndarray of shape (d,)
        c, with the kernel "linear".
    square_radius_ : float
        The squared radius.
    offset_ : float
        ``-square_radius_``; ``score_samples`` is the negative squared distance to the centre.
    n_iter_ : int
        Steps that the solver took.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    Two weights at a time are improved, the pair being chosen by second-order information. The
    kernel matrix is kept in single precision, its diagonal in double precision too: with that and
    this tolerance the paper's figures come out, and it takes half the memory, 100 MB at n = 5000.
    Where no row has 0 < a < C, which is common if 1/C is an integer, the radius is an interval and
    its middle is taken; the tolerance then shows in the labels of rows near the boundary.

    If all rows are equal the radius is 0, and nothing lies strictly inside.

    References
    ----------
    D. M. J. Tax and R. P. W. Duin, "Support Vector Data Description", Machine Learning, 2004.

    R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working Set Selection Using Second Order Information for
    Training Support Vector Machines", Journal of Machine Learning Research, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import SVDD
    >>> rng = np.random.default_rng(0)
    >>> model = SVDD(C=0.1).fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    >>> model.score_samples([model.center_])
    array([-0.])
    """

    _boundary_is_inside = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions("linear", "rbf")],
        "gamma": [Interval(Real, 0.0, np.inf, closed="neither")],
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf"] = "linear",
        gamma: float = 0.01,
        C: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 1_000_000,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, X: Floats) -> None:
        solver = Solver(self.C, self.tol, self.max_iter)
        self._sphere: LinearSphere | RBFSphere
        if self.kernel == "linear":
            self._sphere = LinearSphere(X, solver)
            self.center_ = self._sphere.centre
        else:
            self._sphere = RBFSphere(X, self.gamma, solver)
        self.weights_ = self._sphere.weights
        self.support_ = np.flatnonzero(self.weights_)
        self.square_radius_ = self._sphere.square_radius
        self.offset_ = -self.square_radius_
        self.n_iter_ = self._sphere.n_iter

    def _score(self, X: Floats) -> Floats:
        return -self._sphere.square_distances(X)


class SubspaceSVDD(OneClassDetector):
    """Support vector data description in a subspace that is learned with it.

    Rows are projected to Qx with orthonormal rows of Q, and the sphere of :class:`SVDD` is found
    there. Q starts at the principal directions of X; between fits it descends along the gradient of
    the sphere's objective,

        Q <- Q - 2 eta Q X'(diag(a) - aa')X,

    with the weights a of the last fit, and its rows are made orthonormal again. The last fit
    decides; a row is normal if it lies strictly inside.

    Parameters
    ----------
    n_components : int, default=3
        d, the dimension of the subspace; the number of features if that is smaller.
    eta : float, default=0.01
        The step of the descent. The paper prints 0.1; its figures are those of 0.01.
    n_updates : int, default=4
        How many times Q is improved; there is one fit more than that.
    C : float, default=0.1
        As in :class:`SVDD`.
    tol : float, default=1e-3
        As in :class:`SVDD`.
    max_iter : int, default=1_000_000
        As in :class:`SVDD`, for each fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        Q.
    weights_ : ndarray of shape (n,)
        a, the weight of each training row in the last fit.
    square_radius_ : float
        The squared radius of the last fit.
    offset_ : float
        ``-square_radius_``; ``score_samples`` is the negative squared distance to the centre within
        the subspace.
    n_iter_ : int
        Steps that the solver took, over all fits.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    Rows are taken as they are: this is the linear method. The paper's SSVDD is non-linear, by the
    features of :class:`NonlinearProjection` (see the example).

    References
    ----------
    F. Sohrab, J. Raitoharju, M. Gabbouj and A. Iosifidis, "Subspace Support Vector Data
    Description", International Conference on Pattern Recognition, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from refold.peers import NonlinearProjection, SubspaceSVDD
    >>> rng = np.random.default_rng(0)
    >>> model = make_pipeline(NonlinearProjection(gamma=0.01), SubspaceSVDD(n_components=2))
    >>> model.fit(rng.normal(size=(200, 4))).predict([[0.1, -0.2, 0.0, 0.1], [6.0, 6.0, 6.0, 6.0]])
    array([ 1, -1])
    """

    _boundary_is_inside = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "eta": [Interval(Real, 0.0, np.inf, closed="left")],
        "n_updates": [Interval(Integral, 0, None, closed="left")],
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_components: int = 3,
        eta: float = 0.01,
        n_updates: int = 4,
        C: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 1_000_000,
    ) -> None:
        self.n_components = n_components
        self.eta = eta
        self.n_updates = n_updates
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, X: Floats) -> None:
        solver = Solver(self.C, self.tol, self.max_iter)
        Q = _principal_directions(X, min(self.n_components, X.shape[1]))
        self._sphere = LinearSphere(X @ Q.T, solver)
        self.n_iter_ = self._sphere.n_iter
        for _ in range(self.n_updates):
            Q = _orthonormal(Q - 2.0 * self.eta * _times_scatter(Q, X, self._sphere.weights))
            self._sphere = LinearSphere(X @ Q.T, solver)
            self.n_iter_ += self._sphere.n_iter
        self.components_ = Q
        self.weights_ = self._sphere.weights
        self.square_radius_ = self._sphere.square_radius
        self.offset_ = -self.square_radius_

    def _score(self, X: Floats) -> Floats:
        return -self._sphere.square_distances(X @ self.components_.T)


def _principal_directions(X: Floats, d: int) -> Floats:
    """Return the first d principal directions of X, as rows."""
    X = X - X.mean(axis=0)
    n, width = X.shape
    # The smaller of X'X and XX' has them all.
    small = X.T @ X if width <= n else X @ X.T
    size = small.shape[0]
    top = eigh(small, subset_by_index=(max(size - d, 0), size - 1))[1][:, ::-1]
    return _orthonormal(top.T if width <= n else top.T @ X)


def _orthonormal(Q: Floats) -> Floats:
    """Return orthonormal rows that span the rows of Q."""
    return np.ascontiguousarray(np.linalg.qr(Q.T)[0].T)


def _times_scatter(Q: Floats, X: Floats, weights: Floats) -> Floats:
    """Return QX'(diag(a) - aa')X without forming a matrix that is as wide as X both ways."""
    projected = (X @ Q.T).T * weights
    return np.asarray(projected @ X - np.outer(projected.sum(axis=1), weights @ X))
