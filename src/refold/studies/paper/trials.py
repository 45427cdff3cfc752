"""Ways of doing a thing otherwise that the errata point to."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone

from refold._typing import Floats

# As in NonlinearProjection.
SMALLEST_EIGENVALUE = 1e-6


class RowsReversed(MetaEstimatorMixin, BaseEstimator):
    """An estimator that reads its training rows from the last to the first.

    In exact arithmetic, and with a solver that finds the optimum, nothing would change.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Floats, y: object = None) -> Self:
        """Fit the estimator on the rows in reverse."""
        self.estimator_ = clone(self.estimator).fit(X[::-1])
        return self

    def predict(self, X: Floats) -> Any:
        """Return the estimator's labels."""
        return self.estimator_.predict(X)


class GeneralProjection(TransformerMixin, BaseEstimator):
    """NPT by an eigensolver that does not know that the kernel is symmetric.

    Where rounding leaves the kernel not quite symmetric and it has equal eigenvalues, such a solver
    finds complex eigenvectors. Their absolute values are taken here, which is no projection.

    Parameters
    ----------
    gamma : float
        Of the kernel.
    """

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def fit(self, X: Floats, y: object = None) -> Self:
        """Decompose the kernel of the training rows."""
        n = len(X)
        centring = np.eye(n) - 1.0 / n
        K = self._kernel(X, X)
        values, vectors = np.linalg.eig(centring @ K @ centring)
        if np.iscomplexobj(vectors):
            vectors = np.abs(vectors)
        kept = values.real > SMALLEST_EIGENVALUE
        self.rows_, self.row_means_ = X, K.mean(axis=1)
        self.projection_ = centring @ vectors[:, kept] / np.sqrt(values.real[kept])
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the features of rows."""
        return np.asarray((self._kernel(X, self.rows_) - self.row_means_) @ self.projection_)

    def _kernel(self, X: Floats, Y: Floats) -> Floats:
        return np.asarray(np.exp(-self.gamma * cdist(X, Y, "sqeuclidean")))
