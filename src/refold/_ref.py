"""REF, the estimator: stores parameters, validates, hands over to an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import array_api_compat
import numpy as np
from sklearn.base import (
    BaseEstimator,
    OneToOneFeatureMixin,
    OutlierMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from refold._arrays import is_foreign_array, to_numpy
from refold._chain import FoldChain
from refold._distances import DISTANCES
from refold._errors import TableError
from refold._folds import FOLDS
from refold._tables import read_table
from refold.engines import ENGINES, Engine, choose

Array = Any


class REF(OneToOneFeatureMixin, TransformerMixin, OutlierMixin, BaseEstimator):
    """Repeated Element-wise Folding, a linear-time one-class classifier.

    Each feature is standardized and then, `n_iter` - 1 times, folded (by default: its absolute
    value is taken) and standardized again. Folding brings normal rows together near the origin; a
    new row goes through the same shifts and scales, and is normal if its distance to the origin is
    at most `threshold`. There is nothing to tune.

    Read more in ``docs/ref.md``.

    Parameters
    ----------
    n_iter : int, default=101
        The number of standardizations, J in the paper; 1 is its *base* method.
    fold : {"abs", "sqr", "cos-abs", "cos", "sin", "tanh"} or callable, default="abs"
        The folding operation. A callable takes an array and returns one of the same shape, element
        by element.
    distance : {"l1", "l2"} or callable, default="l1"
        L1/D, L2/D, or a callable that takes folded rows, shape (n, d), and returns n distances.
    threshold : float, default=1.0
        A row is normal if its distance is at most this.
    levels : {"last", "all"}, default="last"
        ``"last"`` is the paper's distance, after the last level. ``"all"`` is the mean of the
        distances over all levels, the path score: it ranks rows better and changes less from one
        training sample to another.
    engine : {"auto", "exact", "reference"}, default="auto"
        ``"exact"`` is compiled and threaded. ``"reference"`` is the paper's Algorithm 1 line by
        line on any array-API array (NumPy, PyTorch, CuPy…); it takes callables and answers in the
        array library of its input. ``"auto"`` is ``"exact"`` where that is possible.
    max_gain : float or None, default=1e6
        A feature stops folding before rounding errors would be amplified by more than this, so that
        labels do not depend on the processor or on the order of rows. Matters for features with few
        distinct values. None, for ``engine="reference"`` alone, never stops and keeps the author's
        floor of 1e-3 under every standard deviation.
    n_jobs : int or None, default=None
        Threads of the compiled engine; None is all cores that the process may use. No result
        depends on it.

    Attributes
    ----------
    chain_ : FoldChain
        The learned shifts and scales, the levels used and the gain reached per feature.
    threshold_ : float
        The threshold in use.
    offset_ : float
        ``-threshold_``; ``decision_function = score_samples - offset_``.
    engine_ : str
        The engine that learned the chain and evaluates it.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Notes
    -----
    NaN is a missing value: it is skipped in training, and a row's distance is the mean over the
    features it has. Infinity is refused. A row's result never depends on the rows beside it.

    References
    ----------
    J. Raitoharju, "Linear-time One-Class Classification with Repeated Element-wise Folding".

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> rng = np.random.default_rng(0)
    >>> model = REF().fit(rng.normal(size=(500, 3)))
    >>> new = [[0.1, -0.4, 0.2], [0.1, 8.0, 0.2]]
    >>> model.predict(new)
    array([ 1, -1])
    >>> model.contributions(new)[1].argmax()  # because of column 1
    np.int64(1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "fold": [StrOptions(set(FOLDS)), callable],
        "distance": [StrOptions(set(DISTANCES)), callable],
        "threshold": [Interval(Real, 0.0, None, closed="left")],
        "levels": [StrOptions({"last", "all"})],
        "engine": [StrOptions({"auto", *ENGINES})],
        "max_gain": [Interval(Real, 1.0, None, closed="left"), None],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
    }

    def __init__(
        self,
        *,
        n_iter: int = 101,
        fold: str | Callable[[Array], Array] = "abs",
        distance: str | Callable[[Array], Array] = "l1",
        threshold: float = 1.0,
        levels: Literal["last", "all"] = "last",
        engine: str = "auto",
        max_gain: float | None = 1e6,
        n_jobs: int | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.fold = fold
        self.distance = distance
        self.threshold = threshold
        self.levels = levels
        self.engine = engine
        self.max_gain = max_gain
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:
        """Learn what is normal. If it fails, a model learned before stays as it was.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Normal rows only.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        sample_weight : array-like of shape (n,), default=None
            How many times each row counts. Zero is the same as leaving the row out.

        Returns
        -------
        REF
            The estimator itself.
        """
        with self._restored_on_error(), self._naming_columns():
            engine = choose(self.engine, self.fold, is_numpy=not is_foreign_array(X))
            if self.max_gain is None and engine != "reference":
                raise ValueError(
                    "max_gain=None, never stop folding, is for engine='reference' alone; "
                    f"engine={self.engine!r} needs a number, for example the default 1e6."
                )
            X = read_table(self, X, reset=True, native=engine == "reference")
            self.chain_: FoldChain = ENGINES[engine].learn(
                X,
                _frequencies(X, sample_weight),
                n_iter=self.n_iter,
                fold=self.fold,
                max_gain=self.max_gain,
                n_jobs=self.n_jobs,
            )
            self.engine_ = engine
            self.threshold_ = float(self.threshold)
        return self

    @property
    def offset_(self) -> float:
        """The negative threshold, by scikit-learn's convention."""
        return -self.threshold_

    def score_samples(self, X: Array) -> Array:
        """Return the negative distance of each row: the lower, the less normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        X, engine = self._read(X)
        with self._naming_columns():
            return -engine.distances(
                self.chain_, X, self.distance, path=self.levels == "all", n_jobs=self.n_jobs
            )

    def decision_function(self, X: Array) -> Array:
        """Return how far each row is inside the threshold; negative is not normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Array) -> Array:
        """Say of each row whether it is normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of int, shape (n,)
            1 for normal (target), -1 for not (outlier).
        """
        scores = self.score_samples(X)
        xp = array_api_compat.array_namespace(scores)
        label = xp.ones_like(scores, dtype=xp.int64)
        return xp.where(-scores <= self.threshold_, label, -label)

    def contributions(self, X: Array) -> Array:
        """Return each feature's share of each row's distance.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to explain.

        Returns
        -------
        ndarray of shape (n, d)
            Not negative, 0 for a missing value; a row's shares add up to its distance.
        """
        if callable(self.distance):
            raise ValueError(
                "Contributions need a distance that is a sum over features; the callable "
                f"{self.distance!r} cannot be divided. Use distance='l1' or 'l2'."
            )
        X, engine = self._read(X)
        with self._naming_columns():
            return engine.contributions(
                self.chain_, X, self.distance, path=self.levels == "all", n_jobs=self.n_jobs
            )

    def transform(self, X: Array) -> Array:
        """Return the folded features.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to fold.

        Returns
        -------
        ndarray of shape (n, d)
            Signed values after the last level; NaN stays NaN.
        """
        X, engine = self._read(X)
        with self._naming_columns():
            return engine.transform(self.chain_, X, n_jobs=self.n_jobs)

    def trace(self, X: Array) -> Array:
        """Return each row's distance after every level.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to follow.

        Returns
        -------
        ndarray of shape (n, n_iter)
            The last column is the distance of ``levels="last"``, the mean that of ``"all"``. A
            feature that has stopped folding keeps its last value.
        """
        X, engine = self._read(X)
        with self._naming_columns():
            return engine.trace(self.chain_, X, self.distance, n_jobs=self.n_jobs)

    def _read(self, X: Array) -> tuple[Array, Engine]:
        check_is_fitted(self)
        X = read_table(self, X, reset=False, native=self.engine_ == "reference")
        return X, ENGINES[self.engine_]

    @contextmanager
    def _naming_columns(self) -> Iterator[None]:
        """Let errors call columns by the user's names."""
        try:
            yield
        except TableError as error:
            raise error.named(getattr(self, "feature_names_in_", None)) from None

    @contextmanager
    def _restored_on_error(self) -> Iterator[None]:
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _frequencies(X: Array, sample_weight: Array | None) -> Array | None:
    """Return checked weights, None if all rows count once; too little in all is an error."""
    if sample_weight is None:
        if X.shape[0] < 2:
            raise ValueError(
                "Found array with 1 sample(s) (n_samples=1): a standard deviation needs at least 2 "
                "rows. Add rows, or give the row a sample_weight above 1 if it stands for several."
            )
        return None
    if is_foreign_array(sample_weight):
        sample_weight = to_numpy(sample_weight)
    rows = np.empty((X.shape[0], 1))  # scikit-learn asks for the number of rows only
    weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    total = float(weights.sum())
    if total <= 1.0:
        raise ValueError(
            f"sample_weight sums to {total:g}. Weights are frequencies and the variance divides by "
            "their sum minus 1: rescale them, for example to a mean of 1."
        )
    return weights
