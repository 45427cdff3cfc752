"""From a kernel to explicit features: the non-linear projection trick and the reference mapping."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats
from refold.base.parameters import RANDOM_STATE, Interval
from refold.peers._base import RowLearner, by_rows, rbf, validate_rows

# Directions of the centred kernel below this eigenvalue are noise.
_SMALLEST_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class KernelMap:
    """Features whose inner products are those of the kernel, centred on the reference rows."""

    reference: Floats
    gamma: float
    row_means: Floats
    eigenvalues: Floats
    projection: Floats

    def __call__(self, X: Floats) -> Floats:
        return (rbf(X, self.reference, self.gamma) - self.row_means) @ self.projection


def learn_map(reference: Floats, gamma: float) -> KernelMap:
    """Decompose the centred kernel of the reference rows, largest eigenvalue first.

    Where no eigenvalue is large enough the space has no dimension, which no table can have; one
    column of zeros stands for it. All rows are then at the centre of a sphere without radius, and
    because only rows strictly inside are normal, all are outliers.
    """
    K = rbf(reference, reference, gamma)
    row_means = K.mean(axis=1)
    K -= row_means
    K -= K.mean(axis=1)[:, None]
    eigenvalues, vectors = eigh(K, overwrite_a=True)
    kept = eigenvalues >= _SMALLEST_EIGENVALUE
    eigenvalues, vectors = eigenvalues[kept][::-1], vectors[:, kept][:, ::-1]
    vectors = vectors - vectors.mean(axis=0)
    projection = vectors / np.sqrt(eigenvalues)
    if eigenvalues.size == 0:
        projection = np.zeros((reference.shape[0], 1))
    return KernelMap(reference, gamma, row_means, eigenvalues, np.ascontiguousarray(projection))


class KernelMapper(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowLearner):
    """A transformer to the features of a kernel map."""

    gamma: float

    def _decompose(self, reference: Floats) -> None:
        self._map = learn_map(reference, self.gamma)
        self.eigenvalues_ = self._map.eigenvalues

    def transform(self, X: Array) -> Floats:
        """Return the features of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to map.

        Returns
        -------
        ndarray of shape (n, n_kept)
        """
        check_is_fitted(self)
        return by_rows(self._map, validate_rows(self, X, reset=False))

    @property
    def _n_features_out(self) -> int:
        return int(self._map.projection.shape[1])


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

    def _learn(self, X: Floats) -> None:
        self._decompose(X)


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
        "random_state": [*RANDOM_STATE],
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

    def _learn(self, X: Floats) -> None:
        n, width = X.shape
        m = n if self.n_references is None else self.n_references
        self.references_ = check_random_state(self.random_state).standard_normal((m, width))
        self._decompose(self.references_)
