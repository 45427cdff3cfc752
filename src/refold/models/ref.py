"""REF, the estimator: stores parameters, validates, hands over to an engine."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    OneToOneFeatureMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Integers
from refold.algorithm.chain import MAX_GAIN, FoldChain
from refold.algorithm.distances import DISTANCES
from refold.algorithm.engines import ENGINES, Engine, choose_engine
from refold.algorithm.folds import FOLDS
from refold.algorithm.kernels import LEAST_BINS, MOST_BINS
from refold.base.arrays import is_foreign_array
from refold.base.learning import check_learned, snapshot
from refold.base.parameters import N_JOBS, Interval, StrOptions, takes_no_rules
from refold.columns.frames import check_enough, validate_table
from refold.columns.summary import Summary
from refold.decisions.crossfit import cross_fitted
from refold.decisions.thresholds import Calibration, DecisionMixin, check_supported
from refold.models import ref_findings, ref_trim
from refold.models.learned import FromRows, FromSketch
from refold.models.ref_parameters import check_decision, check_engine
from refold.models.ref_sketch import SketchMixin
from refold.models.ref_trim import FoldCut
from refold.models.scoring import FoldScorer
from refold.models.trim import MOST_TRIM

LEVELS = ("last", "all")


class REF(
    SketchMixin,
    DecisionMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
    OutlierMixin,
    BaseEstimator,
):
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
    alpha : float or None, default=None
        The share of normal rows that may be rejected, in place of a `threshold`. That is then set
        from the distances of training rows to models that have not seen them: each row left out
        in turn up to 1,000 rows (two or three together where there are more than 400 columns),
        every fiftieth together above. None keeps `threshold`.
    levels : {"auto", "last", "all"}, default="auto"
        ``"last"`` is the paper's distance, after the last level. ``"all"`` is the mean of the
        distances over all levels, the path score: it ranks rows better and changes less from one
        training sample to another. ``"auto"`` is ``"all"`` with `alpha`, for a rate needs that, and
        ``"last"`` without.
    trim : float, default=0.0
        The share of the rows to leave out of training because they look least like the rest, for
        tables that may have bad rows in them. They count for `alpha` all the same. See
        ``docs/trim.md``.
    engine : {"auto", "exact", "reference"}, default="auto"
        ``"exact"`` is compiled and threaded. ``"reference"`` is the paper's Algorithm 1 line by
        line on any array-API array (NumPy, PyTorch, CuPy…); it takes callables and answers in the
        array library of its input. ``"sketch"`` learns in one pass over the rows, can go on
        learning, forget and merge. ``"auto"`` is ``"exact"`` below 250,000 rows, then ``"sketch"``;
        ``"reference"`` where neither is possible.
    max_gain : "auto", float or None, default="auto"
        A feature stops folding before rounding errors would be amplified by more than this, so that
        labels do not depend on the processor or on the order of rows. Matters for features with few
        distinct values. ``"auto"`` is 1e6; with `alpha` at most the number of rows, for what few
        rows amplify further is chance. None, for ``engine="reference"`` alone, never stops and
        keeps the author's floor of 1e-3 under every standard deviation.
    n_bins : int, default=8192
        Bins per feature of the engine ``"sketch"``.
    n_jobs : int or None, default=None
        Threads of the compiled engine; None is all cores that the process may use. No result
        depends on it.

    Attributes
    ----------
    chain_ : FoldChain
        The learned shifts and scales, the levels used and the gain reached per feature.
    threshold_ : float
        The threshold in use.
    alpha_ : float or None
        The rate that ``threshold_`` was set for, by `alpha` or ``calibrate``; None if for none.
    calibration_ : Calibration
        The distances of normal rows that rates and p-values are read from, once there are any.
    offset_ : float
        ``-threshold_``; ``decision_function = score_samples - offset_``.
    summary_ : Summary
        Number of rows, missing values, range and quantiles of each feature in training.
    sketch_ : Sketch
        What the engine ``"sketch"`` has kept of the rows.
    levels_ : {"last", "all"}
        Which levels make the distance.
    max_gain_ : float or None
        The gain that features were allowed.
    noticed_ : tuple of Finding
        What ``fit`` noticed about the table and the threshold; each was also a ``RateWarning``.
    dropped_ : ndarray of int
        The rows that `trim` has left out of ``fit``, by number, those that look least like the rest
        first. Rows that come in parts have no numbers: ``noticed_`` says how many were left out.
    engine_ : str
        The engine that learned the chain and evaluates it.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    See Also
    --------
    refold.CreasedREF : Sees how features depend on each other.
    refold.Detector : For tables of any kind of columns.
    refold.merge : Add up models that were learned apart.

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
        "fold": [StrOptions(*FOLDS), callable],
        "distance": [StrOptions(*DISTANCES), callable],
        "threshold": [Interval(Real, 0.0, None, closed="left")],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "levels": [StrOptions("auto", *LEVELS)],
        "trim": [Interval(Real, 0.0, MOST_TRIM, closed="left")],
        "engine": [StrOptions("auto", *ENGINES)],
        "max_gain": [StrOptions("auto"), Interval(Real, 1.0, None, closed="left"), None],
        "n_bins": [Interval(Integral, LEAST_BINS, MOST_BINS, closed="both")],
        "n_jobs": [*N_JOBS],
    }

    _learned: FromRows | FromSketch
    _DECIDED = ("threshold_", "alpha_", "calibration_")
    # By what rows are left out; None if by nothing.
    _cut: FoldCut | None = None
    dropped_: Integers
    levels_: str
    max_gain_: float | None

    @takes_no_rules
    def __init__(
        self,
        *,
        n_iter: int = 101,
        fold: str | Callable[[Array], Array] = "abs",
        distance: str | Callable[[Array], Array] = "l1",
        threshold: float = 1.0,
        alpha: float | None = None,
        levels: Literal["auto", "last", "all"] = "auto",
        trim: float = 0.0,
        engine: str = "auto",
        max_gain: float | Literal["auto"] | None = "auto",
        n_bins: int = 8192,
        n_jobs: int | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.fold = fold
        self.distance = distance
        self.threshold = threshold
        self.alpha = alpha
        self.levels = levels
        self.trim = trim
        self.engine = engine
        self.max_gain = max_gain
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:
        """Learn what is normal. If it fails, a model learned before stays as it was.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Normal rows only.
        y : array-like of shape (n,), default=None
            Labels, if known: rows of label -1 are left out, with a warning. Not used if it holds
            anything but 1 and -1.
        sample_weight : array-like of shape (n,), default=None
            How many times each row counts. Zero is the same as leaving the row out.

        Returns
        -------
        REF
            The estimator itself.
        """
        with self._learning() as model:
            model._forget_feedback()
            model._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Array, y: object, sample_weight: Array | None) -> None:
        check_decision(self)
        rows = getattr(X, "shape", (0,))[0]
        engine = choose_engine(self.engine, self.fold, is_numpy=not is_foreign_array(X), rows=rows)
        check_engine(self, engine)
        X = validate_table(self, X, reset=True, native=engine == "reference")
        weights = self._weights(X, y, sample_weight)
        check_enough(X.shape[0], weights)
        weight = float(X.shape[0] if weights is None else weights.sum())
        if self.alpha is not None:
            check_supported(self.alpha, weight)
        self._settle(weight)
        self.engine_ = engine
        kept = ref_trim.kept_weights(self, X, weights, first=True)
        if engine == "sketch":
            self._learned = FromSketch(self._sketch(X, kept), self._recipe())
            self._learned.chain  # noqa: B018  # now: what is wrong with the rows is said by fit
        else:
            self._learned = FromRows.of(X, kept, engine, self._recipe())
        self._decide_at(self.threshold)
        if self.alpha is not None:
            calibration = self._cross_fitted(X, kept)
            if len(self.dropped_):
                calibration = ref_trim.calibrated(self, calibration, X, weights)
            self._decide_by(calibration, float(self.alpha))
        self._notice(ref_findings.findings(self, X, kept))

    @property
    def chain_(self) -> FoldChain:
        """The learned chain; after ``partial_fit`` or ``forget`` it is learned when asked for."""
        check_learned(self)
        with self._naming_columns():
            return self._learned.chain

    @property
    def summary_(self) -> Summary:
        """What is remembered of the training rows, feature by feature."""
        check_is_fitted(self)
        return self._learned.summary

    def _recipe(self) -> dict[str, Any]:
        names = ("n_iter", "fold", "n_jobs")
        return {"max_gain": self.max_gain_, **{name: getattr(self, name) for name in names}}

    def _settle(self, weight: float) -> None:
        """Decide what ``"auto"`` is for so many rows."""
        rated = self.alpha is not None
        self.levels_ = ("all" if rated else "last") if self.levels == "auto" else self.levels
        if self.max_gain == "auto":
            self.max_gain_ = min(weight, MAX_GAIN) if rated else MAX_GAIN
        else:
            self.max_gain_ = self.max_gain

    def _cross_fitted(self, X: Array, weights: Array | None) -> Calibration:
        chain, sketch = self.chain_, getattr(self, "sketch_", None)
        if not is_foreign_array(X) and (sketch is None or len(X) <= sketch.n_bins):
            some = (~np.isnan(X)).sum(axis=0) > 1  # without its only row a column has no value
            if some.any() and not some.all():
                X, chain, sketch = X[:, some], chain.of_features(some), None
        exact = sketch is None and self.engine_ == "sketch"
        return cross_fitted(
            X,
            weights,
            chain=chain,
            engine="exact" if exact else self.engine_,
            sketch=sketch,
            recipe=self._recipe(),
            distance=self.distance,
            path=self.levels_ == "all",
        )

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
        model, X, _ = self._read(X)
        with model._naming_columns():
            return -model._scorer().distances(X)

    def scorer(self) -> FoldScorer:
        """Return what judges plain arrays, columns in the model's order, without further checks.

        Returns
        -------
        FoldScorer
            It does not change when the model learns on.
        """
        check_learned(self)
        return snapshot(self)._scorer()

    def _scorer(self) -> FoldScorer:
        return FoldScorer(
            self.chain_, self.engine_, self.distance, self.levels_ == "all", self.n_jobs
        )

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
        model, X, _ = self._read(X)
        with model._naming_columns():
            return model._scorer().attribution(X).parts

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
        model, X, engine = self._read(X)
        with model._naming_columns():
            return engine.transform(model.chain_, X, n_jobs=model.n_jobs)

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
        model, X, engine = self._read(X)
        with model._naming_columns():
            return engine.trace(model.chain_, X, model.distance, n_jobs=model.n_jobs)

    def _read(self, X: Array) -> tuple[REF, Array, Engine]:
        """Return the model as it is now, the rows as it takes them, and who evaluates it."""
        check_learned(self)
        model = snapshot(self)
        X = validate_table(model, X, reset=False, native=model.engine_ == "reference")
        return model, X, ENGINES[model.engine_]
