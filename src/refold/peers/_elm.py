"""The one-class extreme learning machine."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt

from refold._typing import Array, Floats
from refold.peers._base import read_rows
from refold.peers._ridge import RIDGE_CONSTRAINTS, RidgeDetector, solve_ridge


class OneClassELM(RidgeDetector):
    """One-class extreme learning machine: a ridge regression of 1 on random sigmoids.

    With random weights W ~ U(-1, 1) and biases b ~ U(0, 1) of M hidden neurons::

        h(x) = sigmoid(x'W + b),   beta = H'(HH' + I/reg)⁻¹ 1,   e(x) = |h(x)'beta - 1|,

    where H has the rows h(x_i), and a row is normal if its error e is at most the
    ceil(n (1 - fracrej))-th smallest of the n training rows' errors.

    Parameters
    ----------
    n_hidden : int or float, default=1.5
        M; a float is a multiple of the number of training rows.
    reg : float, default=1e-4
        The inverse of the ridge: the default is a ridge of 10,000.
    fracrej : float, default=0.1
        The fraction of training rows to reject, between 0 and 1.
    random_state : int, RandomState or None, default=None
        What weights and biases are drawn with.

    Attributes
    ----------
    hidden_weights_ : ndarray of shape (d, M)
        W.
    hidden_bias_ : ndarray of shape (M,)
        b.
    coef_ : ndarray of shape (M,)
        beta.
    threshold_ : float
        The largest error of a normal row.
    offset_ : float
        ``-threshold_``; ``score_samples`` is the negative error.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    Results vary much from seed to seed; the kernel machine :class:`OneClassKernelELM` has no such
    randomness.

    References
    ----------
    Q. Leng, H. Qi, J. Miao, W. Zhu and G. Su, "One-Class Classification with Extreme Learning
    Machine", Mathematical Problems in Engineering, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import OneClassELM
    >>> rng = np.random.default_rng(0)
    >>> model = OneClassELM(reg=100.0, random_state=0).fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.1, -0.2], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_hidden": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, np.inf, closed="neither"),
        ],
        **RIDGE_CONSTRAINTS,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_hidden: float = 1.5,
        reg: float = 1e-4,
        fracrej: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.reg = reg
        self.fracrej = fracrej
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Draw the hidden neurons and solve the regression.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        OneClassELM
            The estimator itself.
        """
        X = read_rows(self, X, reset=True)
        n, width = X.shape
        m = _number_of_neurons(self.n_hidden, n)
        random = check_random_state(self.random_state)
        self.hidden_weights_ = random.uniform(-1.0, 1.0, (width, m))
        self.hidden_bias_ = random.uniform(0.0, 1.0, m)
        H = self._hidden(X)
        # The same beta either way; the smaller system is the faster one.
        if m < n:
            self.coef_ = solve_ridge(H.T @ H, H.sum(axis=0), self.reg)
        else:
            self.coef_ = H.T @ solve_ridge(H @ H.T, np.ones(n), self.reg)
        self._reject(X)
        return self

    def _hidden(self, X: Floats) -> Floats:
        return np.asarray(expit(X @ self.hidden_weights_ + self.hidden_bias_))

    def _score(self, X: Floats) -> Floats:
        return -np.abs(self._hidden(X) @ self.coef_ - 1.0)


def _number_of_neurons(n_hidden: Any, n: int) -> int:
    return int(n_hidden) if isinstance(n_hidden, Integral) else max(1, round(n_hidden * n))
