"""The generalized reference mapping."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from refold._typing import Array
from refold.peers._base import read_rows
from refold.peers._mapping import KernelMapper


class ReferenceMapping(KernelMapper):
    """The generalized reference mapping (GRM): a kernel seen from random reference rows.

    The same as :class:`NonlinearProjection`, except that the kernel is decomposed over reference
    rows r_1, ..., r_m drawn from the standard normal distribution, not over the training rows:

        z(x) = L^-1/2 U'H (k(x) - K1/m),   k(x) = (k(r_1, x), ..., k(r_m, x))',

    with K the kernel matrix of the reference rows and HKH = U L U'. Eigenvalues below 1e-6 are left
    out. A linear method on z is a kernel method in the space that the reference rows span.

    Parameters
    ----------
    gamma : float, default=0.01
        Of the kernel k(x, y) = exp(-gamma ||x - y||²).
    n_references : int or None, default=None
        m; None is the number of training rows. Fewer are faster, with coarser features.
    random_state : int, RandomState or None, default=None
        What the reference rows are drawn with, anew in each ``fit``.

    Attributes
    ----------
    references_ : ndarray of shape (m, d)
        The reference rows.
    eigenvalues_ : ndarray
        The diagonal of L that was kept, largest first.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    The reference rows have mean 0 and standard deviation 1 in each feature: standardize first, or
    they lie where no data is. Of the training rows only their number and width are used.

    If no eigenvalue is kept the output is one column of zeros, as with
    :class:`NonlinearProjection`.

    References
    ----------
    J. Raitoharju and A. Iosifidis, "Generalized Reference Kernel for One-class Classification",
    International Joint Conference on Neural Networks, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from refold.peers import SVDD, ReferenceMapping
    >>> rng = np.random.default_rng(0)
    >>> model = make_pipeline(ReferenceMapping(gamma=0.01, random_state=0), SVDD(C=0.1))
    >>> model.fit(rng.normal(size=(200, 2))).predict([[0.1, -0.2], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0.0, np.inf, closed="neither")],
        "n_references": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        gamma: float = 0.01,
        n_references: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_references = n_references
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None) -> Self:
        """Draw reference rows and decompose their kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.

        Returns
        -------
        ReferenceMapping
            The transformer itself.
        """
        n, width = read_rows(self, X, reset=True).shape
        m = n if self.n_references is None else self.n_references
        self.references_ = check_random_state(self.random_state).standard_normal((m, width))
        return self._learn(self.references_)
