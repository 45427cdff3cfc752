"""Subspace support vector data description."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from refold._typing import Array, Floats
from refold.peers._base import OneClassDetector, read_rows
from refold.peers._sphere import SOLVER_CONSTRAINTS, LinearSphere, Solver


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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Find the subspace and the sphere in it.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        SubspaceSVDD
            The estimator itself.
        """
        X = read_rows(self, X, reset=True)
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
        return self

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
