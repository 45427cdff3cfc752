"""The autoassociative kernel extreme learning machine."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats
from refold.peers._kernel_ridge import KernelRidgeDetector


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
