"""TargetOnly: labelled rows in, a model of the target rows out."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from refold._typing import Array
from refold.base.learning import NoModel
from refold.base.parameters import HasMethods, validate_parameters
from refold.columns.frames import read_weights, take_rows
from refold.decisions.labelled import read_labels, target_rows


class Labelled(NoModel, OutlierMixin, MetaEstimatorMixin, BaseEstimator):
    """An outlier detector around another one that learns from labelled rows."""

    def fit_predict(self, X: Array, y: Array = None, sample_weight: Array | None = None) -> Array:
        """Fit, and judge the same rows, outliers included.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Target rows and outliers.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Weights for fitting.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def _take_columns_from(self, fitted: Any) -> None:
        """Know the columns that the fitted estimator knows."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


class TargetOnly(Labelled):
    """Fit a one-class estimator on the target rows of labelled data.

    ``fit(X, y)`` keeps the rows whose label is `target`, and their weights; everything else is
    the estimator's. With it, ``GridSearchCV`` over a ``StratifiedKFold`` validates on target rows
    and outliers and still never trains on an outlier, in its last fit either.

    Parameters
    ----------
    estimator : estimator
        A one-class estimator that predicts 1 for normal rows.
    target : label, default=1
        The label of target rows in y; all other rows are outliers.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on the target rows.
    outlier_ : label
        What `predict` calls a rejected row: the label of the outliers in y if they have just one;
        otherwise -1 (for text labels ``"outlier"``, for boolean ones ``not target``; 1 if the
        target itself is -1).

    Notes
    -----
    `predict` answers in the labels of y, so that any scorer that compares labels works, as long as
    it counts all labels but `target` as one kind, as :func:`gmean_score` does, or y has two labels
    only. `score_samples` and `decision_function` keep scikit-learn's sign for outlier detectors:
    higher is more normal. An integer ``cv`` of a search means folds that are not stratified, since
    this is no classifier: give it a ``StratifiedKFold``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
    >>> from sklearn.svm import OneClassSVM
    >>> from refold.model_selection import TargetOnly, gmean_scorer
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(size=(100, 2)), rng.normal(4.0, size=(20, 2))]
    >>> y = np.repeat([1, -1], [100, 20])
    >>> search = GridSearchCV(
    ...     TargetOnly(OneClassSVM()),
    ...     {"estimator__nu": [0.05, 0.5]},
    ...     scoring=gmean_scorer,
    ...     cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ... ).fit(X, y)
    >>> search.best_params_
    {'estimator__nu': 0.05}
    """

    _why_no_model = "ask its estimator_, which has learned the target rows."
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit", "predict")],
    }

    def __init__(self, estimator: Any, target: Any = 1) -> None:
        self.estimator = estimator
        self.target = target

    def fit(self, X: Array, y: Array = None, sample_weight: Array | None = None) -> Self:
        """Fit the estimator on the rows of X whose label is `target`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Target rows and outliers.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Weights; those of the target rows are handed on.

        Returns
        -------
        TargetOnly
            The estimator itself.
        """
        validate_parameters(self)
        labels = read_labels(y)
        X, labels = indexable(X, labels)
        rows = target_rows(labels, self.target)
        weights = _target_weights(self.estimator, sample_weight, rows, len(labels))
        self.estimator_ = clone(self.estimator).fit(take_rows(X, rows), **weights)
        self.outlier_ = _outlier_label(labels, self.target)
        self._take_columns_from(self.estimator_)
        return self

    def predict(self, X: Array) -> Array:
        """Return `target` for each row taken for normal and ``outlier_`` for the others.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return np.where(self.estimator_.predict(X) == 1, self.target, self.outlier_)

    @available_if(lambda self: _has(self, "score_samples"))
    def score_samples(self, X: Array) -> Array:
        """Return the estimator's ``score_samples``: the higher, the more normal."""
        check_is_fitted(self)
        return self.estimator_.score_samples(X)

    @available_if(lambda self: _has(self, "decision_function"))
    def decision_function(self, X: Array) -> Array:
        """Return the estimator's ``decision_function``: positive is normal."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


def _target_weights(
    estimator: Any, sample_weight: Array | None, rows: NDArray[np.intp], n: int
) -> dict[str, Array]:
    """Return the keyword arguments of ``fit`` that carry the target rows' weights."""
    weights = read_weights(n, sample_weight)
    if weights is None:
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(
            f"{type(estimator).__name__}.fit takes no sample_weight; leave the weights out."
        )
    return {"sample_weight": weights[rows]}


def _outlier_label(labels: NDArray[Any], target: Any) -> Any:
    others = np.unique(labels[labels != target])
    if others.size == 1:
        return others[0].item() if isinstance(others[0], np.generic) else others[0]
    if labels.dtype.kind in "UO":
        return "outlier"
    if labels.dtype.kind == "b":
        return not target
    return 1 if target == -1 else -1


def _has(search: TargetOnly, method: str) -> bool:
    return hasattr(getattr(search, "estimator_", search.estimator), method)
