"""The one-class extreme learning machines: ridge regressions whose error tells outliers."""

from __future__ import annotations

import math
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, solve
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats
from refold.base.parameters import RANDOM_STATE, Interval
from refold.peers._base import OneClassDetector, by_rows, rbf, validate_rows

# The parameters that the machines have in common.
_RIDGE_CONSTRAINTS: dict[str, list[Any]] = {
    "reg": [Interval(Real, 0.0, np.inf, closed="neither")],
    "fracrej": [Interval(Real, 0.0, 1.0, closed="neither")],
}


class RidgeDetector(OneClassDetector):
    """A detector whose score is the negative error of a ridge regression."""

    fracrej: float

    def set_offset(self, X: Array) -> Self:
        """Set the offset anew after a change of ``fracrej``; nothing else has to be learned again.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows.

        Returns
        -------
        self
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from refold.peers import OneClassKernelELM
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> model = OneClassKernelELM(fracrej=0.1).fit(X)
        >>> int(np.sum(model.set_params(fracrej=0.2).set_offset(X).predict(X) == -1))
        40
        """
        check_is_fitted(self)
        self._reject(validate_rows(self, X, reset=False))
        return self

    def _reject(self, X: Floats) -> None:
        """Set the offset so that the given fraction of the training rows has larger errors."""
        errors = np.sort(-by_rows(self._score, X))
        n = errors.shape[0]
        self.threshold_ = float(errors[math.ceil(n * (1.0 - self.fracrej)) - 1])
        self.offset_ = -self.threshold_


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
            Interval(float, 0.0, np.inf, closed="neither"),
        ],
        **_RIDGE_CONSTRAINTS,
        "random_state": [*RANDOM_STATE],
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

    def _learn(self, X: Floats) -> None:
        n, width = X.shape
        m = _number_of_neurons(self.n_hidden, n)
        random = check_random_state(self.random_state)
        self.hidden_weights_ = random.uniform(-1.0, 1.0, (width, m))
        self.hidden_bias_ = random.uniform(0.0, 1.0, m)
        H = self._hidden(X)
        # The same beta either way; the smaller system is the faster one.
        if m < n:
            self.coef_ = _solve_ridge(H.T @ H, H.sum(axis=0), self.reg)
        else:
            self.coef_ = H.T @ _solve_ridge(H @ H.T, np.ones(n), self.reg)
        self._reject(X)

    def _hidden(self, X: Floats) -> Floats:
        return np.asarray(expit(X @ self.hidden_weights_ + self.hidden_bias_))

    def _score(self, X: Floats) -> Floats:
        return -np.abs(self._hidden(X) @ self.coef_ - 1.0)


def _number_of_neurons(n_hidden: Any, n: int) -> int:
    return int(n_hidden) if isinstance(n_hidden, Integral) else max(1, round(n_hidden * n))


class KernelRidgeDetector(RidgeDetector):
    """A kernel ridge regression of targets that each machine names."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0.0, np.inf, closed="neither")],
        **_RIDGE_CONSTRAINTS,
    }

    def __init__(self, *, gamma: float = 0.01, reg: float = 1e-4, fracrej: float = 0.1) -> None:
        self.gamma = gamma
        self.reg = reg
        self.fracrej = fracrej

    def _learn(self, X: Floats) -> None:
        self.rows_ = X
        K = rbf(self.rows_, self.rows_, self.gamma)
        self.coef_ = _solve_ridge(K, self._targets(self.rows_), self.reg)
        self._reject(self.rows_)

    def _predicted(self, X: Floats) -> Floats:
        return np.asarray(rbf(X, self.rows_, self.gamma) @ self.coef_)

    @abstractmethod
    def _targets(self, X: Floats) -> Floats:
        """Return what the regression should give for each row."""


class OneClassKernelELM(KernelRidgeDetector):
    """One-class kernel extreme learning machine: a kernel ridge regression of the constant 1.

    With k(x, y) = exp(-gamma ||x - y||²) and K its matrix over the n training rows::

        w = (K + I/reg)⁻¹ 1,   e(x) = |sum_i w_i k(x_i, x) - 1|,

    and a row is normal if its error e is at most the ceil(n (1 - fracrej))-th smallest of the
    training rows' errors.

    Parameters
    ----------
    gamma : float, default=0.01
        Of the kernel. The paper prints a default of 0.1; its figures are those of 0.01.
    reg : float, default=1e-4
        The inverse of the ridge: the default is a ridge of 10,000, which makes the regression
        nearly a kernel density.
    fracrej : float, default=0.1
        The fraction of training rows to reject, between 0 and 1.

    Attributes
    ----------
    rows_ : ndarray of shape (n, d)
        The training rows.
    coef_ : ndarray of shape (n,)
        w.
    threshold_ : float
        The largest error of a normal row.
    offset_ : float
        ``-threshold_``; ``score_samples`` is the negative error.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    Q. Leng, H. Qi, J. Miao, W. Zhu and G. Su, "One-Class Classification with Extreme Learning
    Machine", Mathematical Problems in Engineering, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import OneClassKernelELM
    >>> rng = np.random.default_rng(0)
    >>> model = OneClassKernelELM().fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    """

    def _targets(self, X: Floats) -> Floats:
        return np.ones(X.shape[0])

    def _score(self, X: Floats) -> Floats:
        return -np.abs(self._predicted(X) - 1.0)


class AutoassociativeKernelELM(KernelRidgeDetector):
    """Autoassociative kernel extreme learning machine: a kernel ridge regression of X on itself.

    With k(x, y) = exp(-gamma ||x - y||²) and K its matrix over the n training rows::

        W = (K + I/reg)⁻¹ X,   e(x) = ||sum_i k(x_i, x) W_i - x||²,

    and a row is normal if its squared reconstruction error e is at most the
    ceil(n (1 - fracrej))-th smallest of the training rows' errors.

    Parameters
    ----------
    gamma : float, default=0.01
        Of the kernel. The paper prints a default of 0.1; its figures are those of 0.01.
    reg : float, default=1e-4
        The inverse of the ridge: the default is a ridge of 10,000. With so large a ridge all is
        reconstructed near the origin, and the error is nearly ||x||²: standardize first.
    fracrej : float, default=0.1
        The fraction of training rows to reject, between 0 and 1.

    Attributes
    ----------
    rows_ : ndarray of shape (n, d)
        The training rows.
    coef_ : ndarray of shape (n, d)
        W.
    threshold_ : float
        The largest error of a normal row.
    offset_ : float
        ``-threshold_``; ``score_samples`` is the negative error.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    C. Gautam, A. Tiwari and Q. Leng, "On the Construction of Extreme Learning Machine for Online
    and Offline One-Class Classification: An Expanded Toolbox", Neurocomputing, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import AutoassociativeKernelELM
    >>> rng = np.random.default_rng(0)
    >>> model = AutoassociativeKernelELM().fit(rng.normal(size=(200, 2)))
    >>> model.predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    """

    def _targets(self, X: Floats) -> Floats:
        return X

    def _score(self, X: Floats) -> Floats:
        error = self._predicted(X) - X
        return -np.asarray((error**2).sum(axis=1))


def _solve_ridge(K: Floats, targets: Floats, reg: float) -> Floats:
    """Return (K + I/reg)⁻¹ targets for a positive semidefinite K, which is overwritten."""
    K[np.diag_indices_from(K)] += 1.0 / reg
    try:
        return np.asarray(solve(K, targets, assume_a="pos", overwrite_a=True))
    except LinAlgError:
        raise ValueError(
            f"With reg={reg:g} the ridge 1/reg is too small for these rows: the equations have no "
            "unique solution in double precision. Lower reg."
        ) from None
