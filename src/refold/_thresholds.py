"""How a distance becomes a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from refold._arrays import to_numpy

Array = Any
Floats = NDArray[np.float64]

# Scores kept one by one at the upper end, where small p-values are told apart, and steps below.
_KEPT, _STEPS = 10_000, 10_000


@dataclass(frozen=True, eq=False)
class Calibration:
    """Distances of normal rows to a model that has not seen them.

    Parameters
    ----------
    scores : ndarray
        The distances, ascending, each once. Of very many the lower ones are rounded up to a few
        thousand steps: that can only lower the rate of false alarms.
    weights : ndarray
        How many rows have each.
    source : str
        Where they come from: ``"held-out"``, ``"leave-one-out"`` or ``"cross-fitted"``.
    """

    scores: Floats
    weights: Floats
    source: str

    @classmethod
    def of(cls, distances: Floats, weights: Floats | None, source: str) -> Calibration:
        """Sort distances and add up those that are equal."""
        scores, group = np.unique(distances, return_inverse=True)
        counts = np.bincount(group, weights=weights).astype(np.float64)
        if len(scores) > _KEPT + _STEPS:
            below = len(scores) - _KEPT
            steps = np.linspace(0, below - 1, _STEPS + 1).astype(np.int64)[1:]
            kept = np.concatenate([steps, np.arange(below, len(scores))])
            counts = np.diff(np.cumsum(counts)[kept], prepend=0.0)
            scores = scores[kept]
        return cls(scores, counts, source)

    @property
    def total(self) -> float:
        """The number of rows."""
        return float(self.weights.sum())

    def threshold(self, alpha: float) -> float:
        """Return the distance above which a new normal row lies with probability at most alpha."""
        allowed = (self.total + 1.0) * alpha * (1.0 + 1e-12) - 1.0  # 1000 · 0.001 must not be 0.99…
        if allowed < 0.0:
            needed = int(np.ceil(1.0 / alpha * (1.0 - 1e-12))) - 1
            raise ValueError(
                f"alpha={alpha:g} needs at least {needed} rows to calibrate on; there are "
                f"{self.total:g}. Add rows, or ask for alpha={1 / (self.total + 1):.2g} or more."
            )
        above = np.append(self._at_least()[1:], 0.0)  # the weight of rows strictly above each score
        return float(self.scores[np.argmax(above <= allowed)])

    def p_values(self, distances: Floats) -> Floats:
        """Return for each distance how rare it is among normal rows, the new one counted in."""
        at_least = np.append(self._at_least(), 0.0)
        found = at_least[np.searchsorted(self.scores, distances, side="left")]
        return np.asarray((1.0 + found) / (1.0 + self.total), dtype=np.float64)

    def _at_least(self) -> Floats:
        return np.cumsum(self.weights[::-1], dtype=np.float64)[::-1]


class DecisionMixin:
    """What an estimator with ``score_samples`` and ``threshold_`` can say about a row.

    A row is normal if its distance, ``-score_samples``, is at most ``threshold_``.
    """

    threshold_: float
    calibration_: Calibration

    def score_samples(self, X: Array) -> Array:
        """Return the negative distance of each row: the lower, the less normal."""
        raise NotImplementedError

    @property
    def offset_(self) -> float:
        """The negative threshold, by scikit-learn's convention."""
        return -self.threshold_

    def decision_function(self, X: Array) -> Array:
        """Return how far each row is inside the threshold; negative is not normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Array) -> Array:
        """Say of each row whether it is normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of int, shape (n,)
            1 for normal (target), -1 for not (outlier).
        """
        scores = self.score_samples(X)
        xp = array_api_compat.array_namespace(scores)
        label = xp.ones_like(scores, dtype=xp.int64)
        return xp.where(-scores <= self.threshold_, label, -label)

    def calibrate(self, X_cal: Array | None = None, *, alpha: float) -> Self:
        """Set the threshold so that at most about `alpha` of normal rows are rejected.

        Parameters
        ----------
        X_cal : array-like or dataframe of shape (n, d), default=None
            Normal rows that the model has not been fitted on. A new row of the same kind is then
            rejected with a probability of at most `alpha`, whatever its distribution (split
            conformal prediction). None uses the distances that an earlier calibration stored:
            `alpha` changes without a refit.
        alpha : float
            The share of normal rows that may be rejected, between 0 and 1.

        Returns
        -------
        estimator
            Itself, with ``threshold_`` and ``calibration_`` set.
        """
        check_is_fitted(self)
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha={alpha!r} is not a rate: it must lie between 0 and 1.")
        if X_cal is None:
            calibration = self._stored_calibration()
        else:
            distances = -to_numpy(self.score_samples(X_cal))
            calibration = Calibration.of(distances, None, "held-out")
        self.threshold_ = calibration.threshold(alpha)
        self.calibration_ = calibration
        return self

    def p_values(self, X: Array) -> Floats:
        """Return how rare each row's distance is among normal rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
            Conformal p-values: of normal rows at most a share p has one of p or less. The smallest
            possible is 1/(n+1), n being the rows calibrated on.
        """
        check_is_fitted(self)
        return self._stored_calibration().p_values(-to_numpy(self.score_samples(X)))

    def _stored_calibration(self) -> Calibration:
        calibration: Calibration | None = getattr(self, "calibration_", None)
        if calibration is None:
            raise ValueError(
                "There is nothing to calibrate with yet: fit with alpha set, or call "
                "calibrate(X_cal, alpha=...) with normal rows that were not used for fitting."
            )
        return calibration
