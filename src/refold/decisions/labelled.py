"""Rows of which it is known what they are: labels, Gmean and the threshold that suits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer
from sklearn.utils import column_or_1d

from refold._typing import Array, Floats, Integers

Metric = Callable[..., float]

# So many thresholds are tried at most: each costs a look at all rows.
_MOST = 1000
# Rows that a metric of the user's is asked about so often.
_MOST_ROWS = 100_000


def read_labels(y: Array) -> NDArray[Any]:
    """Return labels as one flat array."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: labels say which "
            "rows are targets. To learn from target rows alone, fit the estimator inside itself."
        )
    return np.asarray(column_or_1d(y))


def target_rows(labels: NDArray[Any], target: Any) -> NDArray[np.intp]:
    """Return where the target rows are; there must be one."""
    rows = np.flatnonzero(labels == target)
    if rows.size == 0:
        some = np.unique(labels)[:5].tolist()
        raise ValueError(
            f"No row of y has the target label {target!r}; its labels are {some}. Set `target` to "
            "the label of normal rows; in cross-validation, use StratifiedKFold."
        )
    return rows


def signs_of(labels: NDArray[Any], target: Any, rows: int) -> Integers:
    """Return 1 for target rows and -1 for others; there is a label for each of so many rows."""
    if len(labels) != rows:
        raise ValueError(f"X_val has {rows} rows and y_val {len(labels)} labels.")
    signs = np.full(rows, -1)
    signs[target_rows(labels, target)] = 1
    return signs


def gmean_score(
    y_true: Array, y_pred: Array, *, target: Any = 1, sample_weight: Array | None = None
) -> float:
    """Geometric mean of the true positive and the true negative rate, the paper's Gmean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels. All that is not `target` is an outlier, whatever it is called.
    target : label, default=1
        The label of target rows.
    sample_weight : array-like of shape (n,), default=None
        How much each row counts.

    Returns
    -------
    float
        √(TPR·TNR), between 0 and 1. Without a single target row or a single outlier in `y_true` the
        rate in question is not defined, and that is an error.

    Examples
    --------
    >>> from refold.model_selection import gmean_score
    >>> round(gmean_score([1, 1, -1, -1], [1, 1, 1, -1]), 4)
    0.7071
    """
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.ndim != 1 or y_true.shape != y_pred.shape:
        raise ValueError(
            "y_true and y_pred must be two lists of labels of one length; their shapes are "
            f"{y_true.shape} and {y_pred.shape}."
        )
    actual, predicted = y_true == target, y_pred == target
    weights = np.ones(len(y_true)) if sample_weight is None else np.asarray(sample_weight)
    counts = weights > 0.0
    actual, predicted, weights = actual[counts], predicted[counts], weights[counts]
    if actual.all() or not actual.any():
        missing = "outlier" if actual.all() else f"target row (label {target!r})"
        raise ValueError(
            f"y_true has no {missing}, so Gmean is not defined. It needs rows of both kinds: use "
            "StratifiedKFold, with no more folds than there are rows of the rarer kind."
        )
    tpr = np.average(predicted[actual], weights=weights[actual])
    tnr = np.average(~predicted[~actual], weights=weights[~actual])
    return float(np.sqrt(tpr * tnr))


gmean_scorer = make_scorer(gmean_score)
"""Scorer for scikit-learn's searches; for another label than 1: ``make_scorer(gmean_score,
target="ok")``."""


def scores_of(
    thresholds: Floats,
    distances: Floats,
    signs: NDArray[np.int64],
    metric: Metric | None = None,
    weights: Floats | None = None,
) -> list[float]:
    """Score every threshold; without a metric of one's own by Gmean, which knows weights."""
    labels = (np.where(distances <= t, 1, -1) for t in thresholds)
    if metric is not None:
        return [metric(signs, row) for row in labels]
    return [gmean_score(signs, row, sample_weight=weights) for row in labels]


def best_threshold(
    distances: Floats,
    signs: NDArray[np.int64],
    metric: str | Metric,
    weights: Floats | None = None,
) -> float:
    """Return the threshold at which the metric is largest, the lowest of equals.

    Weights say how many rows have each distance, of those that a model has kept: many normal ones,
    and a few outliers that somebody has met. Then it stays at the normal row that it lies at, for
    outliers that nobody has met yet may be nearer.
    """
    if metric != "gmean" and not callable(metric):
        raise ValueError(
            f"metric={metric!r} is not known: it must be 'gmean' or a function "
            "metric(y_true, y_pred) that is larger for the better labels."
        )
    thresholds = candidates(distances, signs, halfway=weights is None)
    own = metric if callable(metric) else None
    if own is not None and weights is not None:
        which = _one_by_one(weights)
        distances, signs, weights = distances[which], signs[which], None
    scores = np.asarray(scores_of(thresholds, distances, signs, own, weights))
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        raise ValueError(
            f"The metric is {scores[wrong[0]]} at the threshold {thresholds[wrong[0]]:g}; it must "
            "be a finite number."
        )
    return float(thresholds[scores.argmax()])


def _one_by_one(weights: Floats) -> NDArray[np.intp]:
    """Return each row as often as it counts, for a metric that knows no weights."""
    if weights.sum() > _MOST_ROWS:
        raise ValueError(
            f"The model was calibrated on {weights.sum():,.0f} rows, too many for a metric of your "
            "own. Use metric='gmean', or give X_val and y_val."
        )
    return np.repeat(np.arange(len(weights)), np.ceil(weights).astype(np.int64))


def candidates(distances: Floats, signs: NDArray[np.int64], *, halfway: bool = True) -> Floats:
    """Return the thresholds that can be best: between a target row and an outlier beyond it.

    They lie halfway, or at the target row.

    Anywhere else a threshold could move and get more labels right and none wrong. Of very many,
    evenly spread ones are taken.
    """
    values, group = np.unique(distances, return_inverse=True)
    has_target = np.bincount(group, weights=signs == 1) > 0
    has_outlier = np.bincount(group, weights=signs != 1) > 0
    if not has_outlier.any():
        raise ValueError("y has no outlier: a threshold is tuned between rows of both kinds.")
    last = np.flatnonzero(has_target & np.append(has_outlier[1:], True))
    last = last[np.linspace(0, len(last) - 1, min(len(last), _MOST)).astype(np.int64)]
    here, beyond = values[last], values[np.minimum(last + 1, len(values) - 1)]
    if not halfway:
        return here
    middle = here + (beyond - here) / 2.0
    return np.where(middle < beyond, middle, here)  # neighbouring doubles have none between
