"""CreasedREF, the estimator: stores parameters, validates, hands over."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats
from refold.base.errors import UserError
from refold.base.learning import check_learned, snapshot
from refold.base.parameters import N_JOBS, RANDOM_STATE, Interval, StrOptions, takes_no_rules
from refold.base.progress import advance, part
from refold.columns.frames import check_enough, validate_table
from refold.decisions.thresholds import DecisionMixin
from refold.models.creased import reasons, row_sample
from refold.models.creased.creased_findings import findings
from refold.models.creased.creased_mixin import CreasedMixin
from refold.models.creased.reasons import CreasedScorer, Reasons
from refold.models.creased.refits import CrossFitParts
from refold.models.creased.scoring import Learned
from refold.models.creased.state import TrainingState
from refold.models.draws import draw_weights
from refold.models.trim import MOST_TRIM

MOST_GAIN = 1e9


# So many rows are enough to calibrate on, and so many beyond the threshold: what another sample of
# rows would change of the rate is a few percent of it, and all rows take as long as learning them.
_CALIBRATING, _BEYOND = 20_000, 200


def _calibrating(alpha: float) -> int:
    """Return how many rows at most to calibrate on."""
    return max(_CALIBRATING, math.ceil(_BEYOND / alpha))


class CreasedREF(CreasedMixin, DecisionMixin, OutlierMixin, BaseEstimator):
    """Folds along data-driven creases: REF for features that depend on each other.

    REF folds each feature by itself. Here the standardized rows are folded along random oblique
    creases, through rows and between pairs of rows, and the folded values are judged together: a
    row is far off if it would pull hard on a ridge regression over the training rows. As good as
    nearest neighbours at a cost that is linear in the rows; there is nothing to tune.

    Read more in ``docs/creased.md``.

    Parameters
    ----------
    n_creases : int or "auto", default="auto"
        How many creases; ``"auto"`` is 256, more where the rows are many.
    n_levels : int, default=2
        How often each is folded; the values after every level count.
    ridge : float, default=0.01
        What is added to the sums of squares of the folded values.
    box : float, default=10.0
        What a column adds to the score that is one unit outside of all that was learned of it, the
        unit being its spread; three units are as far as it goes. 0 is no box: a fault in one of
        many columns then easily goes unnoticed.
    alpha : float or "auto", default="auto"
        The share of normal rows that may be rejected. ``"auto"`` is 0.01, or 5/(n + 1) if the n
        rows are fewer than 499; a number needs at least 1/alpha − 1 rows.
    trim : float, default=0.0
        The share of the rows to leave out of training because they look least like the rest, for
        tables that may have bad rows in them. They count for the threshold all the same. See
        ``docs/trim.md``.
    n_init : int, default=10_000
        The creases are made from the first rows of this total weight and then stay.
    random_state : int, RandomState instance or None, default=0
        Draws the creases, and the sample that ``partial_fit`` calibrates on.
    n_jobs : int or None, default=None
        Threads that learn and score; None is all cores that the process may use. No result depends
        on it.

    Attributes
    ----------
    creases_ : Creases
        What maps a row to its features: ``center``, ``scale``, ``varying``, ``directions``,
        ``offsets``, ``shifts``, ``spreads``, ``precision``. Frozen.
    sums_ : Sums
        ``weight``, ``total`` and sums of products of the features over all rows.
    scoring_ : Scoring
        What scoring needs: ``leverage`` (``weight``, ``center``, ``factor``, ``ridge``, ``dual``)
        and ``unit``, the T of distance = s/T.
    calibration_ : Calibration
        Leave-one-out distances of training rows, or what ``calibrate`` was given.
    threshold_ : float
        1, until ``calibrate`` sets another.
    alpha_ : float or None
        The rate that ``threshold_`` was set for; None after ``tune_threshold``.
    offset_ : float
        ``-threshold_``; ``decision_function = score_samples - offset_``.
    summary_ : Summary
        Number of rows, missing values, range and quantiles of each feature in training.
    noticed_ : tuple of Finding
        What ``fit`` noticed about the table and the threshold, cells that were not taken as normal
        among it; each was also a ``RateWarning``.
    dropped_ : ndarray of int
        The rows that `trim` has left out of ``fit``, by number, those that look least like the rest
        first. Rows that come in parts have no numbers: ``noticed_`` says how many were left out.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    See Also
    --------
    refold.REF : Folds each feature by itself; exact shares.
    refold.Detector : For tables of any kind of columns.
    refold.merge : Add up models that were learned apart.

    Notes
    -----
    NaN is a missing value: it is filled with what the observed values of its row lead to expect.
    Infinity is refused. A row's result does not depend on the rows beside it. The model keeps up to
    10,000 of the rows, so that it can go on learning and calibrate itself anew.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import CreasedREF
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> model = CreasedREF().fit(np.column_stack([x, x + 0.1 * rng.normal(size=500)]))
    >>> new = [[1.0, 1.1], [1.0, -3.0]]
    >>> model.predict(new)
    array([ 1, -1])
    >>> reason = model.explain(new)[1].reasons[0]
    >>> reason.feature, round(reason.expected, 2)
    ('x1', 0.99)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_creases": [Interval(Integral, 1, None, closed="left"), StrOptions("auto")],
        "n_levels": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0.0, None, closed="neither")],
        "box": [Interval(Real, 0.0, MOST_GAIN, closed="both")],
        "alpha": [StrOptions("auto"), Interval(Real, 0.0, 1.0, closed="neither")],
        "trim": [Interval(Real, 0.0, MOST_TRIM, closed="left")],
        "n_init": [Interval(Integral, 2, None, closed="left")],
        "random_state": [*RANDOM_STATE],
        "n_jobs": [*N_JOBS],
    }

    @takes_no_rules
    def __init__(
        self,
        *,
        n_creases: int | Literal["auto"] = "auto",
        n_levels: int = 2,
        ridge: float = 0.01,
        box: float = 10.0,
        alpha: float | Literal["auto"] = "auto",
        trim: float = 0.0,
        n_init: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_creases = n_creases
        self.n_levels = n_levels
        self.ridge = ridge
        self.box = box
        self.alpha = alpha
        self.trim = trim
        self.n_init = n_init
        self.random_state = random_state
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
        CreasedREF
            The estimator itself.
        """
        with self._learning() as model:
            model._forget_feedback()
            model._fit(X, y, sample_weight)
        return self

    def _fit_encoded(self, X: Floats, weights: Floats | None, divided: CrossFitParts) -> Self:
        """Learn from rows that an encoder has made, and that it makes anew without some."""
        with self._learning() as model:
            model._fit(X, None, weights, divided)
        return self

    def _fit(
        self,
        X: Array,
        y: object,
        sample_weight: Array | None,
        divided: CrossFitParts | None = None,
    ) -> None:
        X = validate_table(self, X, reset=True, native=False)
        weights = self._weights(X, y, sample_weight)
        check_enough(X.shape[0], weights)
        counts = row_sample.counted(X, weights)
        if np.count_nonzero(counts) < 2 and weights is None:
            raise UserError(
                f"{np.count_nonzero(counts)} of {len(X):,} rows has a value; a standard deviation "
                "needs at least 2. Add rows."
            )
        nothing = TrainingState.nothing(self._recipe(), X.shape[1])
        self._learn(nothing.plus_rows(X, weights, last=True, n_jobs=self.n_jobs))
        advance(0.4)
        some = draw_weights(
            counts, _calibrating(self._learned.rate), self._learned.state.recipe.seed
        )
        with part(0.4, 1.0):
            Learned.scoring.keep(self._learned, self._learned.calibrated(X, some, divided))
        if (cut := self._learned.state.cut) is not None:
            self.dropped_ = cut.dropped(X, counts, self.n_jobs)
        self._notice(findings(self, X, weights))

    def partial_fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:
        """Go on learning.

        As long as the rows weigh less than `n_init` they are kept; then the creases are made from
        them and stay. If it fails, the model stays as it was.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            More normal rows.
        y : array-like of shape (n,), default=None
            Labels, if known: rows of label -1 are left out, with a warning. Not used if it holds
            anything but 1 and -1.
        sample_weight : array-like of shape (n,), default=None
            How many times each row counts.

        Returns
        -------
        CreasedREF
            The estimator itself.
        """
        with self._learning_on() as model:
            first = not hasattr(model, "_learned")
            X = validate_table(model, X, reset=first, native=False)
            weights = model._weights(X, y, sample_weight)
            nothing = TrainingState.nothing(model._recipe(), X.shape[1])
            state = nothing if first else model._learned.state
            model._learn(state.plus_rows(X, weights, last=False, n_jobs=model.n_jobs))
        return self

    def _of_magnitudes(self, columns: int) -> Self:
        """Take the last columns as magnitudes, made by an encoder: they have no discrete values."""
        self._magnitudes = columns
        return self

    def empty_like(self) -> CreasedREF:
        """Return a model with the same creases that has seen no rows, to be trained elsewhere.

        Train it by ``partial_fit``; ``refold.merge`` makes one model of several that share their
        creases.

        Returns
        -------
        CreasedREF
            A new model.
        """
        check_is_fitted(self)
        state = self._underneath.state
        if state.creases is None:
            raise ValueError(
                f"The creases are not final yet: {state.weight:g} of n_init={state.recipe.n_init} "
                "rows have been learned. Learn more rows, set a smaller n_init, or use fit."
            )
        return self._with(state.emptied())

    def score_samples(self, X: Array) -> Floats:
        """Return the negative distance of each row: the lower, the less normal.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        model, X = self._read(X)
        with model._naming_columns():
            return -model._learned.scoring.distances(X, model.n_jobs)

    def scorer(self) -> CreasedScorer:
        """Return what judges plain arrays, columns in the model's order, without further checks.

        Returns
        -------
        CreasedScorer
            It does not change when the model learns on.
        """
        check_learned(self)
        return CreasedScorer(self.scoring_, self.n_jobs)

    def _reasons(self, X: Array) -> Reasons:
        """Return what each value was expected to be and what difference that makes."""
        model, X = self._read(X)
        with model._naming_columns():
            row_sample.check_rows(X)
        return reasons.reasons(model.scoring_, X, model.n_jobs)

    def training_sample(self) -> Floats:
        """Return the training rows that the model has kept, NaN where missing.

        Returns
        -------
        ndarray of shape (n, d)
            At most 10,000 rows, a uniform sample of all that were not left out.
        """
        check_is_fitted(self)
        state = self._learned.state
        return np.array(state.sample.rows[state.kept > 0.0], dtype=np.float64)

    def _read(self, X: Array) -> tuple[CreasedREF, NDArray[Any]]:
        """Return the model as it is now, and the rows as it takes them."""
        check_learned(self)
        model = snapshot(self)
        return model, validate_table(model, X, reset=False, native=False)
