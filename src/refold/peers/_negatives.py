"""GRKneg: a one-class support vector machine whose kernel has seen a few known outliers."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.svm import OneClassSVM
from sklearn.utils import Tags, check_consistent_length, check_random_state

from refold._typing import Array, Floats
from refold.base.parameters import RANDOM_STATE, Interval, validate_parameters
from refold.decisions.labelled import read_labels, target_rows
from refold.peers._base import ScoreDetector, validate_rows
from refold.peers._mapping import KernelMap, learn_map


class GRKneg(ScoreDetector):
    """Generalized reference kernel with negative samples, for few known outliers.

    A Gaussian kernel is decomposed over reference rows, as by :class:`ReferenceMapping`, which
    here are the known outliers and as many rows as there are normal ones, drawn from normal
    distributions with the outliers' mean and standard deviation in each feature. A one-class
    support vector machine then learns from the normal rows in these features: outliers shape the
    kernel, and no label enters its optimization.

    Parameters
    ----------
    sigma : float, default=1.0
        Width of the kernel exp(-‖x - y‖² / (2 sigma m)), where m is the mean squared distance
        between reference rows.
    nu : float, default=0.01
        Share of normal rows that the machine may leave outside.
    random_state : int, RandomState or None, default=None
        What the reference rows are drawn with.

    Attributes
    ----------
    references_ : ndarray of shape (m, d)
        The reference rows, known outliers first.
    offset_ : float
        The score at which rows become outliers.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    This is the approach that the author recommends (number 7 of nine in her code). Standardize
    by normal rows first. Directions of the kernel with an eigenvalue below 1e-6 are left out.

    References
    ----------
    J. Raitoharju, "Generalized Reference Kernel With Negative Samples For Support Vector One-class
    Classification", European Signal Processing Conference, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from refold.peers import GRKneg
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(10, 2)) + 5.0])
    >>> model = GRKneg(random_state=0).fit(X, np.repeat([1, -1], [100, 10]))
    >>> model.predict([[0.1, -0.2], [5.0, 4.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [Interval(Real, 0.0, np.inf, closed="neither")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "random_state": [*RANDOM_STATE],
    }
    _map: KernelMap

    def __init__(
        self,
        *,
        sigma: float = 1.0,
        nu: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.sigma = sigma
        self.nu = nu
        self.random_state = random_state

    def fit(self, X: Array, y: Array = None) -> Self:
        """Learn from normal rows and a few known outliers.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows and outliers.
        y : array-like of shape (n,)
            1 for normal rows, anything else for outliers, of which there must be two.

        Returns
        -------
        self
            The estimator itself.
        """
        validate_parameters(self)
        rows, labels = validate_rows(self, X, reset=True, at_least=3), read_labels(y)
        check_consistent_length(rows, labels)
        normal = rows[target_rows(labels, 1)]
        outliers = rows[labels != 1]
        if len(outliers) < 2:
            raise ValueError(
                f"y has {len(outliers)} outlier(s), and GRKneg needs two or more. Without any, "
                "take make_pipeline(ReferenceMapping(), OneClassSVM(kernel='linear'))."
            )
        self._learn_from(normal, outliers)
        return self

    def fit_predict(self, X: Array, y: Array = None) -> NDArray[np.int64]:
        """Fit, and judge the same rows, outliers included.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Normal rows and outliers.
        y : array-like of shape (n,)
            Their labels, as for ``fit``.

        Returns
        -------
        ndarray of int, shape (n,)
        """
        return self.fit(X, y).predict(X)

    def _learn_from(self, normal: Floats, outliers: Floats) -> None:
        random = check_random_state(self.random_state)
        drawn = random.normal(outliers.mean(axis=0), outliers.std(axis=0, ddof=1), normal.shape)
        self.references_ = np.vstack([outliers, drawn])
        width = cdist(self.references_, self.references_, "sqeuclidean").mean()
        if width == 0.0:
            raise ValueError("All outliers are the same row: a kernel needs two different ones.")
        self._map = learn_map(self.references_, 1.0 / (2.0 * self.sigma * width))
        machine = OneClassSVM(kernel="linear", nu=self.nu).fit(self._map(normal))
        self._coefficients = machine.coef_.ravel()
        self.offset_ = float(-machine.intercept_[0])

    def _score(self, X: Floats) -> Floats:
        return np.asarray(self._map(X) @ self._coefficients)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
