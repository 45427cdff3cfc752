"""The naive Parzen density."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from refold._typing import Array, Floats
from refold.peers._base import OneClassDetector, read_rows
from refold.peers._blocks import by_rows
from refold.peers._ridge import FRACTION
from refold.peers._width import most_likely_width

# The smallest normal float: keeps logarithms and quotients finite.
TINY = float(np.finfo(np.float64).tiny)


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
        "width": [Interval(Real, 0.0, np.inf, closed="neither"), StrOptions({"ml"})],
        "fracrej": [FRACTION],
    }

    def __init__(self, *, width: float | Literal["ml"] = 0.5, fracrej: float = 0.1) -> None:
        self.width = width
        self.fracrej = fracrej

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Learn the widths and the threshold.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        NaiveParzen
            The estimator itself.
        """
        by_likelihood = self.width == "ml"
        self.rows_ = read_rows(self, X, reset=True, at_least=2 if by_likelihood else 1)
        n, width = self.rows_.shape
        if by_likelihood:
            self.widths_ = np.array([most_likely_width(x) for x in self.rows_.T])
        else:
            self.widths_ = np.full(width, float(self.width))
        scores = np.sort(by_rows(self._score, self.rows_))
        k = math.floor(self.fracrej * n + 0.5)
        # At the ends, k = 0 and k = n, both terms are the same score.
        self.offset_ = float(scores[max(k, 1) - 1] + scores[min(k, n - 1)]) / 2.0
        return self

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
