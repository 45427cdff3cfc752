"""What all detectors share: rows in, scores, labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from refold._typing import Array, Floats
from refold.peers._blocks import by_rows

# Larger magnitudes saturate here, so that a square still is a finite number.
LARGEST = 1e150


def read_rows(estimator: Any, X: Array, *, reset: bool, at_least: int = 1) -> Floats:
    """Return X as finite C-ordered float64; learn (`reset`) or check its columns."""
    rows = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", ensure_min_samples=at_least
    )
    return np.asarray(np.clip(rows, -LARGEST, LARGEST))


class OneClassDetector(OutlierMixin, BaseEstimator, ABC):
    """A detector that learns a score of rows and the offset at which rows become outliers."""

    offset_: float

    # Whether a row exactly at the boundary is a target.
    _boundary_is_inside = True

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
        return by_rows(self._score, read_rows(self, X, reset=False))

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
