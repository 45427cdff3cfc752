"""The non-linear projection trick."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from refold._typing import Array
from refold.peers._base import read_rows
from refold.peers._mapping import KernelMapper


class NonlinearProjection(KernelMapper):
    """The non-linear projection trick (NPT): a kernel method by way of explicit features.

    With k(x, y) = exp(-gamma ||x - y||²), K its matrix over the n training rows and
    H = I - 11'/n, the centred kernel HKH = U L U' gives a row x the features

        z(x) = L^-1/2 U'H (k(x) - K1/n),   k(x) = (k(x_1, x), ..., k(x_n, x))',

    whose inner products over training rows are HKH. A linear method on z is then the kernel method
    on x. Eigenvalues below 1e-6 are left out.

    Parameters
    ----------
    gamma : float, default=0.01
        Of the kernel. The paper prints a default of 0.1; its figures are those of 0.01.

    Attributes
    ----------
    eigenvalues_ : ndarray
        The diagonal of L that was kept, largest first.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    Time grows with n³ and memory with n².

    The features hold what the training rows span, and nothing of a row beyond that: a row that is
    far from all training rows (all k near 0) may land near the centre and be taken for normal.
    ``SVDD(kernel="rbf")`` counts the rest as distance; the paper's method is the one with NPT.

    If no eigenvalue is kept, because all rows are equal or nearly so for this gamma, the output is
    one column of zeros (a table cannot have no column). For :class:`SVDD` and
    :class:`SubspaceSVDD` all rows then lie at the centre of a sphere with radius 0, none strictly
    inside: all are outliers.

    References
    ----------
    N. Kwak, "Nonlinear Projection Trick in Kernel Methods: An Alternative to the Kernel Trick",
    IEEE Transactions on Neural Networks and Learning Systems, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from refold.peers import SVDD, NonlinearProjection
    >>> rng = np.random.default_rng(0)
    >>> model = make_pipeline(NonlinearProjection(gamma=0.01), SVDD(C=0.1))
    >>> model.fit(rng.normal(size=(200, 2))).predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0.0, np.inf, closed="neither")],
    }

    def __init__(self, *, gamma: float = 0.01) -> None:
        self.gamma = gamma

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Decompose the kernel of the training rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        NonlinearProjection
            The transformer itself.
        """
        return self._learn(read_rows(self, X, reset=True))
