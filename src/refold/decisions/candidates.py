"""Thresholds tried on labelled distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.decisions.gmean import gmean_score

Metric = Callable[..., float]

# So many are tried at most: each costs a look at all rows.
_MOST = 1000
# Rows that a metric of the user's is asked about so often.
_MOST_ROWS = 100_000


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
