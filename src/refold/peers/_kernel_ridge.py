"""What the two kernel extreme learning machines share: they differ in what they regress on."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from refold._typing import Array, Floats
from refold.peers._base import read_rows
from refold.peers._kernel import rbf
from refold.peers._ridge import RIDGE_CONSTRAINTS, RidgeDetector, solve_ridge


class KernelRidgeDetector(RidgeDetector):
    """A kernel ridge regression of targets that each machine names."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0.0, np.inf, closed="neither")],
        **RIDGE_CONSTRAINTS,
    }

    def __init__(self, *, gamma: float = 0.01, reg: float = 1e-4, fracrej: float = 0.1) -> None:
        self.gamma = gamma
        self.reg = reg
        self.fracrej = fracrej

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Solve the regression.

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
        self.rows_ = read_rows(self, X, reset=True)
        K = rbf(self.rows_, self.rows_, self.gamma)
        self.coef_ = solve_ridge(K, self._targets(self.rows_), self.reg)
        self._reject(self.rows_)
        return self

    def _predicted(self, X: Floats) -> Floats:
        return np.asarray(rbf(X, self.rows_, self.gamma) @ self.coef_)

    @abstractmethod
    def _targets(self, X: Floats) -> Floats:
        """Return what the regression should give for each row."""
