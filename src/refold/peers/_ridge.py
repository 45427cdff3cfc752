"""What the one-class extreme learning machines share: a ridge and a rejected fraction."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, solve
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats
from refold.peers._base import OneClassDetector, read_rows
from refold.peers._blocks import by_rows

FRACTION = Interval(Real, 0.0, 1.0, closed="neither")

# The parameters that the machines have in common.
RIDGE_CONSTRAINTS: dict[str, list[Any]] = {
    "reg": [Interval(Real, 0.0, np.inf, closed="neither")],
    "fracrej": [FRACTION],
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
        self._reject(read_rows(self, X, reset=False))
        return self

    def _reject(self, X: Floats) -> None:
        """Set the offset so that the given fraction of the training rows has larger errors."""
        errors = np.sort(-by_rows(self._score, X))
        n = errors.shape[0]
        self.threshold_ = float(errors[math.ceil(n * (1.0 - self.fracrej)) - 1])
        self.offset_ = -self.threshold_


def solve_ridge(K: Floats, targets: Floats, reg: float) -> Floats:
    """Return (K + I/reg)⁻¹ targets for a positive semidefinite K, which is overwritten."""
    K[np.diag_indices_from(K)] += 1.0 / reg
    try:
        return np.asarray(solve(K, targets, assume_a="pos", overwrite_a=True))
    except LinAlgError:
        raise ValueError(
            f"With reg={reg:g} the ridge 1/reg is too small for these rows: the equations have no "
            "unique solution in double precision. Lower reg."
        ) from None
