"""ThresholdSearchCV: one fit per fold, all thresholds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from refold._typing import Array
from refold.base.findings import RateWarning
from refold.base.parameters import HasMethods, validate_parameters
from refold.columns.frames import read_weights, take_rows
from refold.decisions.labelled import read_labels, scores_of, target_rows
from refold.model_selection._target_only import Labelled, TargetOnly


class ThresholdSearchCV(Labelled):
    """Choose the threshold by cross-validation, with one fit per fold for all thresholds.

    A row is normal if its distance, ``-score_samples``, is at most the threshold. For each fold
    the estimator is fitted on the target rows of the others; its distances on the fold are compared
    with every threshold. The first threshold with the best mean score wins, and the estimator is
    fitted again on all target rows.

    Parameters
    ----------
    estimator : estimator
        A one-class estimator with ``score_samples``. If it has a parameter `threshold`, as REF
        has, the winner is put there for the last fit, and a rate `alpha` is set aside.
    thresholds : sequence of float, default=(0.3, 0.4, …, 1.1)
        What to choose from, in order; the default is the paper's grid.
    cv : int, splitter or iterable, default=5
        An integer means stratified folds, in the order of rows.
    target : label, default=1
        The label of target rows in y; all other rows are outliers.
    metric : callable, default=None
        ``metric(y_true, y_pred)``, larger is better, on labels that are 1 for target and -1 for
        the others; None is :func:`gmean_score`.

    Attributes
    ----------
    best_threshold_ : float
        The winner.
    best_params_ : dict
        The winner as ``{"threshold": …}``.
    best_score_ : float
        Its mean score over the folds.
    best_estimator_ : estimator
        Fitted on all target rows.
    cv_results_ : dict
        ``threshold``, ``split_test_score`` (thresholds × folds) and ``mean_test_score``.
    outlier_ : label
        What `predict` calls a rejected row, as for :class:`TargetOnly`.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.model_selection import ThresholdSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(size=(100, 2)), rng.normal(4.0, size=(20, 2))]
    >>> y = np.repeat([1, -1], [100, 20])
    >>> search = ThresholdSearchCV(REF()).fit(X, y)
    >>> search.best_threshold_, round(search.best_score_, 3)
    (0.3, 0.99)
    """

    _why_no_model = "ask its best_estimator_, which has learned the target rows."
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit", "score_samples")],
        "metric": [callable, None],
    }

    def __init__(
        self,
        estimator: Any,
        thresholds: Sequence[float] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1),
        *,
        cv: Any = 5,
        target: Any = 1,
        metric: Callable[[Array, Array], float] | None = None,
    ) -> None:
        self.estimator = estimator
        self.thresholds = thresholds
        self.cv = cv
        self.target = target
        self.metric = metric

    def fit(self, X: Array, y: Array = None, sample_weight: Array | None = None) -> Self:
        """Choose the threshold, then fit on all target rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Target rows and outliers.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Weights for fitting, and for Gmean; a `metric` of your own is not given them.

        Returns
        -------
        ThresholdSearchCV
            The estimator itself.
        """
        validate_parameters(self)
        labels = read_labels(y)
        X, labels = indexable(X, labels)
        thresholds = _numbers(self.thresholds)
        sample_weight = read_weights(len(labels), sample_weight)
        signs = np.where(labels == self.target, 1, -1)
        target_rows(labels, self.target)  # refuse labels without a target before any work
        folds = check_cv(self.cv, signs, classifier=True)
        scores = np.array(
            [
                self._scores(X, signs, sample_weight, fold, thresholds)
                for fold in folds.split(X, signs)
            ]
        ).T
        mean = scores.mean(axis=1)
        best = int(mean.argmax())  # the first of equals
        self.cv_results_ = {
            "threshold": thresholds,
            "split_test_score": scores,
            "mean_test_score": mean,
        }
        self.best_threshold_, self.best_score_ = float(thresholds[best]), float(mean[best])
        self.best_params_ = {"threshold": self.best_threshold_}
        estimator = self._plain_estimator()
        if "threshold" in estimator.get_params():
            estimator.set_params(threshold=self.best_threshold_)
        fitted = TargetOnly(estimator, self.target).fit(X, labels, sample_weight)
        self.best_estimator_, self.outlier_ = fitted.estimator_, fitted.outlier_
        self._take_columns_from(self.best_estimator_)
        return self

    def _plain_estimator(self) -> Any:
        """Return the estimator without a rate that would set the threshold instead."""
        estimator = clone(self.estimator)
        if {"threshold", "alpha"} <= estimator.get_params().keys():
            estimator.set_params(alpha=None)
        return estimator

    def _scores(
        self,
        X: Array,
        signs: Array,
        sample_weight: Array | None,
        fold: tuple[Array, Array],
        thresholds: NDArray[np.float64],
    ) -> list[float]:
        """Score every threshold on one fold."""
        train, test = fold
        weights = None if sample_weight is None else sample_weight[train]
        with warnings.catch_warnings():  # what there is to say of all rows, the last fit says
            warnings.simplefilter("ignore", RateWarning)
            model = TargetOnly(self._plain_estimator()).fit(
                take_rows(X, train), signs[train], weights
            )
        distances = -np.asarray(model.score_samples(take_rows(X, test)))
        weights = None if sample_weight is None else sample_weight[test]
        return scores_of(thresholds, distances, signs[test], self.metric, weights)

    def score_samples(self, X: Array) -> Array:
        """Return the fitted estimator's ``score_samples``: the negative distances."""
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def decision_function(self, X: Array) -> Array:
        """Return how far each row is inside the chosen threshold; negative is not normal."""
        return self.score_samples(X) + self.best_threshold_

    def predict(self, X: Array) -> Array:
        """Return `target` for each row within the chosen threshold, ``outlier_`` for the others.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        inside = -np.asarray(self.score_samples(X)) <= self.best_threshold_
        return np.where(inside, self.target, self.outlier_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")


def _numbers(thresholds: Array) -> NDArray[np.float64]:
    numbers = np.asarray(thresholds)
    real = all(isinstance(t, Real) for t in numbers.ravel().tolist())
    if numbers.ndim != 1 or numbers.size == 0 or not real or np.isnan(numbers.astype(float)).any():
        raise ValueError(f"thresholds must be a list of one or more numbers, not {thresholds!r}.")
    return numbers.astype(np.float64)
