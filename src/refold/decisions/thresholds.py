"""How a distance becomes a decision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import array_api_compat
import numpy as np
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array, Floats, Integers
from refold.base.advice import Advice
from refold.base.arrays import is_foreign_array, to_numpy
from refold.base.errors import UserError
from refold.base.learning import learning, snapshot

# Scores kept one by one at the upper end, where small p-values are told apart, and steps below.
_KEPT, _STEPS = 10_000, 10_000


def check_rate(rate: object, name: str) -> float:
    """Return a rate as a number; refuse what is none."""
    number = np.nan if isinstance(rate, bool) or not isinstance(rate, Real) else float(rate)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name}={rate!r} is not a rate: it must be a number between 0 and 1.")
    return number


def auto_rate(rows: float) -> float:
    """Return the rate that so many rows allow: one in a hundred, if five rows are beyond it."""
    return float(min(max(0.01, 5.0 / (rows + 1.0)), 0.5))


def check_supported(alpha: float, rows: float) -> None:
    """Refuse a rate so small that even a row beyond all others would not be rare enough."""
    if _allowed(alpha, rows) < 0.0:
        needed = int(np.ceil(1.0 / alpha * (1.0 - 1e-12))) - 1
        raise UserError(
            f"alpha {alpha:g} needs at least {needed} rows to calibrate on; there are {rows:g}.",
            advice=Advice(
                "Add rows, or ask for a larger rate",
                "alpha",
                value=_rounded_up(1.0 / (rows + 1.0)),
                otherwise="or more",
            ),
        )


def _allowed(alpha: float, rows: float) -> float:
    """How many rows may lie above the threshold."""
    return (rows + 1.0) * alpha * (1.0 + 1e-12) - 1.0  # 1000 · 0.001 must not be 0.99…


def _rounded_up(rate: float) -> float:
    """Return two digits of a rate, not less than it."""
    unit = 10.0 ** (np.floor(np.log10(rate)) - 1.0)
    return float(f"{np.ceil(rate / unit * (1.0 - 1e-12)) * unit:.2g}")


@dataclass(frozen=True, eq=False)
class Calibration:
    """Distances of normal rows to a model that has not seen them."""

    # The distances, ascending, each once. Of very many the lower ones are rounded up to a few
    # thousand steps: that can only lower the rate of false alarms.
    scores: Floats
    weights: Floats  # how many rows have each
    source: str  # where they come from: ``"held-out"``, ``"leave-one-out"`` or ``"cross-fitted"``
    total: float = field(init=False, repr=False)  #: the number of rows
    # How many rows have each score or more, and last that none has more than all of them: added
    # up once, not for every row that is asked about.
    _at_least: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        at_least = np.cumsum(self.weights[::-1], dtype=np.float64)[::-1]
        object.__setattr__(self, "total", float(self.weights.sum()))
        object.__setattr__(self, "_at_least", np.append(at_least, 0.0))

    @classmethod
    def of(cls, distances: Floats, weights: Floats | None, source: str) -> Calibration:
        """Sort distances and add up those that are equal."""
        scores, group = np.unique(distances, return_inverse=True)
        counts = np.bincount(group, weights=weights).astype(np.float64)
        if len(scores) > _KEPT + _STEPS:
            below = len(scores) - _KEPT
            steps = np.linspace(0, below - 1, _STEPS + 1).astype(np.int64)[1:]
            kept = np.concatenate([steps, np.arange(below, len(scores))])
            counts = np.diff(np.cumsum(counts)[kept], prepend=0.0)
            scores = scores[kept]
        return cls(scores, counts, source)

    def plus(self, distances: Floats, weights: Floats | None) -> Calibration:
        """Return the same with the distances of further rows."""
        counts = np.ones(len(distances)) if weights is None else weights
        return Calibration.of(
            np.concatenate([self.scores, distances]),
            np.concatenate([self.weights, counts]),
            self.source,
        )

    def times(self, factor: float) -> Calibration:
        """Return the same of distances that are so many times as large."""
        return Calibration(self.scores * factor, self.weights, "cross-fitted")

    def above(self, threshold: float) -> float:
        """Return how many rows lie above a threshold."""
        return float(self.weights[self.scores > threshold].sum())

    def at(self, threshold: float) -> float:
        """Return how many rows lie at a threshold, to the bit."""
        return float(self.weights[self.scores == threshold].sum())

    def threshold(self, alpha: float) -> float:
        """Return the distance above which a new normal row lies with probability alpha.

        It is the (n+1)(1-alpha)-th smallest. Where that is not a whole number, held-out distances
        take the next one: the probability is then at most alpha, whatever the distribution. Others
        promise no such thing; they are interpolated, in logarithms, for the next one of a few
        rows can be farther by orders of magnitude.
        """
        check_supported(alpha, self.total)
        allowed = _allowed(alpha, self.total)
        whole = float(np.floor(allowed))
        upper, lower = self._with_above(whole), self._with_above(whole + 1.0)
        part = max(allowed - whole - 2e-12 * (allowed + 1.0), 0.0)  # a rounding error is none
        if self.source == "held-out" or part == 0.0 or upper == lower:
            return upper
        if lower == 0.0:
            return upper * (1.0 - part)
        between = float(np.exp((1.0 - part) * np.log(upper) + part * np.log(lower)))
        return min(max(between, lower), upper)

    def _with_above(self, rows: float) -> float:
        """Return the lowest score that at most so many rows lie above."""
        return float(self.scores[np.argmax(self._at_least[1:] <= rows)])

    def rejected(self, threshold: float) -> float:
        """Return how many rows a threshold rejects; between two scores, a number between theirs.

        One that :meth:`threshold` has interpolated thus rejects what it was asked for.
        """
        k = int(np.searchsorted(self.scores, threshold, side="right"))
        above = self.above(threshold)
        if k in (0, len(self.scores)) or threshold == self.scores[k - 1]:
            return above
        lower, upper = self.scores[k - 1 : k + 1]
        if lower == 0.0:
            return float(above - self.weights[k] * threshold / upper)
        part = np.log(threshold / lower) / np.log(upper / lower)
        return float(above - self.weights[k] * part)

    def p_values(self, distances: Floats) -> Floats:
        """Return for each distance how rare it is among normal rows, the new one counted in.

        They count rows: beyond an interpolated threshold they can exceed alpha, by less than one
        row's share, 1/(n+1).
        """
        found = self._at_least[np.searchsorted(self.scores, distances, side="left")]
        # Weights that are added up in another order can exceed their sum by a rounding error.
        return np.asarray(np.minimum((1.0 + found) / (1.0 + self.total), 1.0), dtype=np.float64)


class DecisionMixin:
    """What an estimator with ``score_samples`` and ``threshold_`` can say about a row.

    A row is normal if its distance, ``-score_samples``, is at most ``threshold_``. Where that comes
    from a rate, ``alpha_`` is the rate and ``calibration_`` what it was read from.
    """

    threshold_: float
    alpha_: float | None = None
    calibration_: Calibration

    if TYPE_CHECKING:  # what the estimator brings

        def score_samples(self, X: Array) -> Array:
            """Return the negative distances."""

    @property
    def offset_(self) -> float:
        """The negative threshold, by scikit-learn's convention."""
        return -self.threshold_

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
        model = snapshot(self)
        return model.score_samples(X) - model.offset_

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
        model = snapshot(self)
        scores = model.score_samples(X)
        xp = array_api_compat.array_namespace(scores)
        label = xp.ones_like(scores, dtype=xp.int64)
        return xp.where(-scores <= model.threshold_, label, -label)

    def calibrate(self, X_cal: Array | None = None, *, alpha: float) -> Self:
        """Set the threshold so that at most about `alpha` of normal rows are rejected.

        Parameters
        ----------
        X_cal : array-like or dataframe of shape (n, d), default=None
            Normal rows that the model has not been fitted on. A new row of the same kind is then
            rejected with a probability of at most `alpha`, whatever its distribution (split
            conformal prediction). None uses the distances that an earlier calibration stored:
            `alpha` changes without a refit.
        alpha : float
            The share of normal rows that may be rejected, between 0 and 1.

        Returns
        -------
        estimator
            Itself, with ``threshold_``, ``alpha_`` and ``calibration_`` set; as it was if it fails.

        Examples
        --------
        >>> import numpy as np
        >>> from refold import REF
        >>> rng = np.random.default_rng(0)
        >>> model = REF().fit(rng.normal(size=(500, 3)))
        >>> model = model.calibrate(rng.normal(size=(500, 3)), alpha=0.05)
        >>> bool(np.mean(model.predict(rng.normal(size=(10_000, 3))) == -1) < 0.06)
        True
        """
        check_is_fitted(self)
        alpha = check_rate(alpha, "alpha")
        with learning(self) as model:
            if X_cal is None:
                calibration = model._stored_calibration()
            else:
                distances = -to_numpy(model.score_samples(X_cal))
                calibration = Calibration.of(distances, None, "held-out")
            model._decide_by(calibration, alpha)
        return self

    def tune_threshold(
        self,
        X_val: Array | None = None,
        y_val: Array | None = None,
        metric: str | Callable[[Array, Array], float] = "gmean",
        *,
        target: Any = 1,
    ) -> Self:
        """Set the threshold that labels rows best of which it is known what they are.

        No rate is promised then: ``alpha_`` is None. P-values stay what they were.

        Parameters
        ----------
        X_val : array-like or dataframe of shape (n, d), default=None
            Normal rows, not those fitted on, and outliers. None takes what the model has: the rows
            that it was calibrated on and those that were accepted as normal, those that were
            rejected as outliers. A few outliers that somebody has met are no reason to report less:
            the threshold is then lowered, or stays.
        y_val : array-like of shape (n,), default=None
            Their labels; None if, and only if, `X_val` is.
        metric : "gmean" or callable, default="gmean"
            The paper's measure (:func:`~refold.model_selection.gmean_score`), or
            ``metric(y_true, y_pred)``, larger is better, on labels that are 1 for target and -1 for
            the others.
        target : label, default=1
            The label of normal rows in `y_val`; all others are outliers.

        Returns
        -------
        estimator
            Itself, with ``threshold_`` set halfway between a normal row and an outlier; as it was
            if it fails.

        Examples
        --------
        >>> import numpy as np
        >>> from refold import REF
        >>> rng = np.random.default_rng(0)
        >>> model = REF().fit(rng.normal(size=(500, 2)))
        >>> X_val = np.r_[rng.normal(size=(100, 2)), rng.normal(5.0, size=(20, 2))]
        >>> y_val = np.repeat([1, -1], [100, 20])
        >>> bool(np.mean(model.tune_threshold(X_val, y_val).predict(X_val) == y_val) > 0.95)
        True
        """
        # Imported here: scikit-learn's metrics take as long to import as all of refold.
        from refold.decisions.labelled import best_threshold, read_labels, signs_of

        check_is_fitted(self)
        with learning(self) as model:
            if X_val is None and y_val is None:
                distances, signs, weights = model._labelled()
                best = best_threshold(distances, signs, metric, weights)
                if best >= model.threshold_:
                    return self
            else:
                distances = -to_numpy(model.score_samples(X_val))
                labels = read_labels(to_numpy(y_val) if is_foreign_array(y_val) else y_val)
                best = best_threshold(distances, signs_of(labels, target, len(distances)), metric)
            model.threshold_, model.alpha_ = best, None
        return self

    def p_values(self, X: Array) -> Floats:
        """Return how rare each row's distance is among normal rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
            Conformal p-values: of normal rows at most a share p has one of p or less. The smallest
            possible is 1/(n+1), n being the rows calibrated on. A row with one of ``alpha_`` or
            less is rejected; one that is rejected has at most ``alpha_`` + 1/(n+1), and after
            ``calibrate(X_cal)`` at most ``alpha_``.
        """
        check_is_fitted(self)
        model = snapshot(self)
        return model._stored_calibration().p_values(-to_numpy(model.score_samples(X)))

    def _decide_by(self, calibration: Calibration, alpha: float) -> None:
        """Take the threshold that a rate needs."""
        self.threshold_ = calibration.threshold(alpha)
        self.calibration_, self.alpha_ = calibration, alpha

    def _decide_at(self, threshold: float) -> None:
        """Take a threshold that promises no rate."""
        self.threshold_, self.alpha_ = float(threshold), None
        self.__dict__.pop("calibration_", None)

    def _decide_anew(self, threshold: float) -> None:
        """Take a plain threshold because distances are no longer those it was set from."""
        if self.threshold_ != threshold or hasattr(self, "calibration_"):
            warnings.warn(
                f"The model has changed: the threshold {self.threshold_:g}, set for what it was, "
                f"is given up for the parameter's {threshold:g}. Call calibrate again.",
                stacklevel=4,
            )
        self._decide_at(threshold)

    def _labelled(self) -> tuple[Floats, Integers, Floats]:
        """Return distances, labels and weights of rows that the estimator has kept, if it can."""
        raise ValueError("X_val and y_val are needed: no rows with labels were kept.")

    def _stored_calibration(self) -> Calibration:
        calibration: Calibration | None = getattr(self, "calibration_", None)
        if calibration is None:
            raise ValueError(
                "There is nothing to calibrate with yet: fit with alpha set, or call "
                "calibrate(X_cal, alpha=...) with normal rows that were not used for fitting."
            )
        return calibration
