"""The naive Parzen density, and the width with the largest leave-one-out likelihood."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from refold._typing import Floats
from refold.base.parameters import Interval, StrOptions
from refold.peers._base import OneClassDetector, by_rows, row_blocks

# The smallest normal float: keeps logarithms and quotients finite.
TINY = float(np.finfo(np.float64).tiny)
# Kernels are cut off where they have fallen to exp(-20) of the nearest neighbour's.
CUT = 20.0
# Iteration ends where the derivative or its relative change is this small, or that of the width.
ZERO, SAME_SLOPE, SAME_WIDTH = 1e-70, 1e-4, 1e-3
# For features without a most likely width.
NARROWEST = 1e-12


class NaiveParzen(OneClassDetector):
    """Naive Parzen density: a product of one kernel density per feature.

    With e the smallest normal float, feature i of n training rows has the density

        f_i(x) = mean_n exp(-1/2 ((x_i - x_ni) / h_i)²) / (sqrt(2 pi) h_i + e) + e,

    a row's score is sum_i log f_i(x), and a row is normal if its score is at least the threshold:
    midway between the k-th and (k+1)-th smallest score of training rows, k = floor(fracrej n + 1/2)
    (the smallest if k = 0, the largest if k = n).

    Parameters
    ----------
    width : float or "ml", default=0.5
        h, the same for all features, or ``"ml"``: for each feature the width with the largest
        leave-one-out likelihood.
    fracrej : float, default=0.1
        The fraction of training rows to reject, between 0 and 1.

    Attributes
    ----------
    rows_ : ndarray of shape (n, d)
        The training rows.
    widths_ : ndarray of shape (d,)
        h_i.
    offset_ : float
        The threshold.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    Features with many equal values have no most likely width (the narrower, the likelier, without
    end); such a feature gets 1e-12, and then accepts the values seen in training and no others.

    Time grows with n² per feature, in ``fit`` and to score as many rows; memory does not.

    References
    ----------
    R. P. W. Duin, "On the Choice of Smoothing Parameters for Parzen Estimators of Probability
    Density Functions", IEEE Transactions on Computers, 1976.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import NaiveParzen
    >>> rng = np.random.default_rng(0)
    >>> model = NaiveParzen(width="ml").fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "width": [Interval(Real, 0.0, np.inf, closed="neither"), StrOptions("ml")],
        "fracrej": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(self, *, width: float | Literal["ml"] = 0.5, fracrej: float = 0.1) -> None:
        self.width = width
        self.fracrej = fracrej

    @property
    def _min_rows(self) -> int:
        return 2 if self.width == "ml" else 1

    def _learn(self, X: Floats) -> None:
        self.rows_ = X
        n, width = X.shape
        if self.width == "ml":
            self.widths_ = np.array([most_likely_width(x) for x in self.rows_.T])
        else:
            self.widths_ = np.full(width, float(self.width))
        scores = np.sort(by_rows(self._score, self.rows_))
        k = math.floor(self.fracrej * n + 0.5)
        # At the ends, k = 0 and k = n, both terms are the same score.
        self.offset_ = float(scores[max(k, 1) - 1] + scores[min(k, n - 1)]) / 2.0

    def _score(self, X: Floats) -> Floats:
        total = np.zeros(X.shape[0])
        for x, seen, h in zip(X.T, self.rows_.T, self.widths_, strict=True):
            with np.errstate(over="ignore", under="ignore"):
                u = (x[:, None] - seen) / h
                u *= u
                u *= -0.5
                bumps = np.exp(u, out=u)
                total += np.log(bumps.mean(axis=1) / (math.sqrt(2.0 * math.pi) * h + TINY) + TINY)
        return total


def most_likely_width(x: Floats) -> float:
    """Return the width for one feature."""
    with np.errstate(all="ignore"):
        width = float(_root(_Slope(x)))
    return width if math.isfinite(width) else NARROWEST


class _Slope:
    """F(h), the derivative of the log likelihood by log h.

    F(h) = sum_i [sum_j D_ij P_ij / sum_j P_ij] / h² - n with the squared distances D, their column
    minima E and P_ij = exp(-(D_ij - E_j) / (2h²)). That E is taken by column while the sums run
    over rows is as in the program that the paper used.
    """

    def __init__(self, x: Floats) -> None:
        self.x, self.n = np.sort(x), x.shape[0]
        gaps = np.concatenate([[np.inf], np.diff(self.x), [np.inf]])
        self.nearest = np.minimum(gaps[:-1], gaps[1:]) ** 2

    def __call__(self, h: np.float64) -> np.float64:
        weights, moments = np.zeros(self.n), np.zeros(self.n)
        for columns in row_blocks(self.n):
            rows = self._neighbours(columns, h)
            squares = (self.x[columns, None] - self.x[rows]) ** 2
            falls = (squares - self.nearest[columns, None]) / (2.0 * h * h)
            P = np.exp(-falls)
            P[~(falls < CUT)] = 0.0
            np.fill_diagonal(P[:, columns.start - rows.start :], 0.0)  # no row is its neighbour
            weights[rows] += P.sum(axis=0)
            squares *= P
            moments[rows] += squares.sum(axis=0)
        inverses = np.where(weights == 0.0, np.finfo(np.float64).max, 1.0 / weights)
        return np.float64((moments * inverses).sum() / h**2 - self.n)

    def _neighbours(self, columns: slice, h: np.float64) -> slice:
        """Return the rows, sorted as they are, for which some of the columns is not cut off."""
        reach = np.sqrt(2.0 * CUT * h * h + self.nearest[columns].max()) * (1.0 + 1e-9)
        first = np.searchsorted(self.x, self.x[columns.start] - reach, side="left")
        last = np.searchsorted(self.x, self.x[columns.stop - 1] + reach, side="right")
        return slice(int(first), int(last))

    def fixed_point(self, F: np.float64, h: np.float64) -> np.float64:
        """Return the width that would make F zero if the neighbours' weights stayed."""
        return np.float64(np.sqrt((F + self.n) * h * h / self.n))


def _root(slope: _Slope) -> np.float64:
    """Solve F(h) = 0 by a damped secant rule in 1/h²."""
    h1 = np.float64(np.sqrt(slope.nearest.max()))
    F1 = slope(h1)
    if abs(F1) < ZERO:
        return h1
    h2 = slope.fixed_point(F1, h1)
    F2 = slope(h2)
    if abs(F2) < ZERO or abs(1.0 - h1 / h2) < 1e-6:
        return h2
    damping = 1.0
    while abs(1.0 - F2 / F1) > SAME_SLOPE and abs(1.0 - h2 / h1) > SAME_WIDTH and abs(F2) > ZERO:
        v = h1**2 * h2**2 * (F2 - F1) / (F2 * h2**2 - F1 * h1**2)
        h3 = slope.fixed_point(F2, h2) if v < 0.0 else np.float64(np.sqrt(v))
        h3 = h2 + damping * (h3 - h2)
        h1, F1, h2, F2 = h2, F2, h3, slope(h3)
        damping *= 0.99
    return h2
