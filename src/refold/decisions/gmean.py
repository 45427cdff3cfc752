"""Gmean, the paper's measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from refold._typing import Array


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
