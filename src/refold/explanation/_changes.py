"""The smallest set of values that would have to change for a row to be accepted.

Features are given up one by one, the one that matters most first; the others say what to expect in
their place. What turns out not to be needed is put back.
"""

from __future__ import annotations

import numpy as np

from refold._typing import Booleans, Floats
from refold.judgement import Judgement
from refold.judgement.normal import Normal
from refold.models.detector.scorer import inside
from refold.models.scoring import FoldScorer, Scorer

# How many more features are given up at a time: first in view of those before, then quickly.
_STEPS = (1, 1, 1, 1, 1, 2, 4, 8)


def smallest_changes(found: Judgement, normal: Normal, learned: Floats | None) -> Floats:
    """Return normal rows that differ from the outliers in as few values as were found."""
    X = found.rows.astype(np.float64, copy=False)
    instead, chosen = X.copy(), np.zeros(X.shape, dtype=bool)
    typical = normal.short(_typical(inside(found.judge.scorer), normal)[None])
    open_, parts = np.arange(len(X)), found.attribution().parts
    for step in _steps(X.shape[1]):
        chosen[open_] = _with_more(chosen[open_], np.isnan(X[open_]), parts, step)
        given_up = np.where(chosen[open_], np.nan, X[open_])
        asked = found.judge.rows(given_up)
        _, parts, expected, _ = asked.attribution()
        usual = np.broadcast_to(typical, parts.shape)
        if expected is not None:  # of a row that has no value left nothing is expected
            usual = np.where(asked.judged[:, None], normal.short(normal.nearest(expected)), usual)
        instead[open_] = np.where(chosen[open_], usual, X[open_])
        rejected = found.judge.rows(instead[open_]).outlier
        open_, parts = open_[rejected], parts[rejected]
        if len(open_) == 0:
            break
    if len(open_):  # a whole other row; it may be what is missing that is needed
        instead[open_] = typical if learned is None else _most_alike(X[open_], learned, found)
        instead[open_[found.judge.rows(instead[open_]).outlier]] = np.nan
    while _put_back(found, X, instead):
        pass  # what was needed beside others may not be any more
    return instead


def _steps(features: int) -> list[int]:
    steps = list(_STEPS)
    while sum(steps) < features:
        steps.append(2 * steps[-1])
    return steps


def _with_more(chosen: Booleans, missing: Booleans, parts: Floats, step: int) -> Booleans:
    """Choose so many more features, those with the largest parts."""
    left = np.where(chosen | missing, -1.0, parts)
    largest = np.argsort(-left, axis=1, kind="stable")[:, :step]
    more = np.zeros_like(chosen)
    np.put_along_axis(more, largest, values=True, axis=1)
    return np.asarray(chosen | (more & ~missing))


def _most_alike(X: Floats, learned: Floats, found: Judgement) -> Floats:
    """Return for each row the learned one that is accepted and differs in the fewest features."""
    good = learned[~found.judge.rows(learned).outlier & ~np.isnan(learned).any(axis=1)]
    if len(good) == 0:
        return X
    unit = np.maximum(np.ptp(good, axis=0), np.finfo(np.float64).tiny)
    away = np.stack([np.fmin(np.abs(good - row) / unit, 1.0).sum(axis=1) for row in X])
    return np.asarray(good[away.argmin(axis=1)])


def different(instead: Floats, X: Floats) -> Booleans:
    """Say which values were changed; one that was missing may have been put in."""
    return np.asarray((instead != X) & ~np.isnan(instead))


def _put_back(found: Judgement, X: Floats, instead: Floats) -> bool:
    """Undo changes that a row does not need, in place; say whether there were any."""
    undone = False
    changed = different(instead, X)
    several = np.flatnonzero(changed.sum(axis=1) > 1)
    parts = np.where(changed, found.attribution().parts, np.inf)[several]
    for place, features in enumerate(np.argsort(parts, axis=1, kind="stable").T):
        here = np.flatnonzero(changed[several].sum(axis=1) > max(place, 1))
        if len(here) == 0:
            break
        rows, columns = several[here], features[here]
        tried = instead[rows]
        tried[np.arange(len(rows)), columns] = X[rows, columns]
        fine = ~found.judge.rows(tried).outlier
        instead[rows[fine]] = tried[fine]
        undone |= bool(fine.any())
    return undone


def _typical(scorer: Scorer, normal: Normal) -> Floats:
    """Return a value of each feature that adds little: its median, or near it."""
    quantiles = normal.summary.quantiles
    medians = np.array(quantiles[len(quantiles) // 2])
    if isinstance(scorer, FoldScorer):  # folding may have put the median itself far out
        for j, q in enumerate(quantiles.T):
            sizes = scorer.magnitudes(j, q).mean(axis=1)
            near = q[sizes <= np.quantile(sizes, 0.25)]
            medians[j] = near[np.abs(near - medians[j]).argmin()]
    return medians
