"""What all peers share: rows in, a block of them at a time; scores, labels; the Gaussian kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from refold._typing import Array, Floats
from refold.base.learning import NoModel
from refold.base.parameters import validate_parameters

# Larger magnitudes saturate here, so that a square still is a finite number.
LARGEST = 1e150
# Rows at once: enough for BLAS to be fast, few enough that a block against 5000 rows is 5 MB.
BLOCK = 128


def validate_rows(estimator: Any, X: Array, *, reset: bool, at_least: int = 1) -> Floats:
    """Return X as finite C-ordered float64; learn (`reset`) or check its columns."""
    rows = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", ensure_min_samples=at_least
    )
    return np.asarray(np.clip(rows, -LARGEST, LARGEST))


def row_blocks(n: int) -> Iterator[slice]:
    """Yield the blocks of `n` rows."""
    for begin in range(0, n, BLOCK):
        yield slice(begin, min(begin + BLOCK, n))


def by_rows(function: Callable[[Floats], Floats], X: Floats) -> Floats:
    """Apply `function`, which maps rows to rows (or to one number each), block by block.

    Every block has the same height, the last one being filled up with zeros: BLAS sums in an order
    that depends on the shape, and a row's result must not depend on the rows beside it. Otherwise a
    training row that sits exactly at the threshold could change sides when it is judged alone.
    """
    results = []
    for part in row_blocks(X.shape[0]):
        block = np.zeros((BLOCK, X.shape[1]))
        height = part.stop - part.start
        block[:height] = X[part]
        results.append(function(block)[:height])
    return np.concatenate(results)


def exponent(X: Floats, Y: Floats, gamma: float) -> Floats:
    """Return -gamma ||x - y||² for all pairs of rows."""
    # From differences, not from inner products: equal rows have distance 0 to the last bit, and a
    # large offset costs no digits.
    squares = cdist(X, Y, "sqeuclidean")
    squares *= -gamma
    return np.asarray(squares)


def rbf(X: Floats, Y: Floats, gamma: float) -> Floats:
    """Return k(x, y) = exp(-gamma ||x - y||²) for all pairs of rows."""
    K = exponent(X, Y, gamma)
    return np.exp(K, out=K)


class RowLearner(BaseEstimator, ABC):
    """An estimator that learns from rows of finite numbers."""

    @property
    def _min_rows(self) -> int:
        return 1

    def fit(self, X: Array, y: object = None) -> Self:
        """Learn from normal rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        self
            The estimator itself.
        """
        validate_parameters(self)
        self._learn(validate_rows(self, X, reset=True, at_least=self._min_rows))
        return self

    @abstractmethod
    def _learn(self, X: Floats) -> None:
        """Set all that ends in an underscore."""


class ScoreDetector(NoModel, OutlierMixin, BaseEstimator, ABC):
    """A detector with a score of rows and an offset at which rows become outliers."""

    offset_: float

    # Whether a row exactly at the boundary is a target.
    _boundary_is_inside = True

    _why_no_model = (
        "it is here to be compared with, as it was published. REF, CreasedREF and Detector have it."
    )

    @abstractmethod
    def _score(self, X: Floats) -> Floats:
        """Return the score of each of a few rows; higher is more normal."""

    def score_samples(self, X: Array) -> Floats:
        """Return the score of each row: the lower, the less normal.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return by_rows(self._score, validate_rows(self, X, reset=False))

    def decision_function(self, X: Array) -> Floats:
        """Return how far each row is inside the boundary; negative is not normal.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
            ``score_samples(X) - offset_``.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Array) -> NDArray[np.int64]:
        """Say of each row whether it is normal.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of int, shape (n,)
            1 for normal (target), -1 for not (outlier).
        """
        decision = self.decision_function(X)
        inside = decision >= 0.0 if self._boundary_is_inside else decision > 0.0
        return np.where(inside, 1, -1)


class OneClassDetector(ScoreDetector, RowLearner):
    """A detector that learns its score and its offset from normal rows alone."""
