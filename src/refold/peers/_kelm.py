"""The one-class kernel extreme learning machine."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats
from refold.peers._kernel_ridge import KernelRidgeDetector


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
