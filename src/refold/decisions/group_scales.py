"""Thresholds of groups whose rows are farther out than those of others."""

from __future__ import annotations

import numpy as np

from refold._typing import Floats, Integers

# A group's own rows count as much as those of all once there are so many, times 1/alpha.
_ROWS = 2.0


def group_scales(distances: Floats, groups: Integers, n_groups: int, alpha: float) -> Floats:
    """Return how many times as large as that of all the threshold of each group is.

    The distribution of a group's distances is shrunk to that of all; its threshold is exceeded by
    the same share of it as that of all is. None is smaller than that of all: rows of a group that
    are nearer than others are no reason to reject more of them.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Distances of normal rows to a model that has not seen them.
    groups : ndarray of shape (n,)
        Their groups; -1 for a row of none.
    n_groups : int
        How many groups there are.
    alpha : float
        The share of all rows that lies beyond the threshold.

    Returns
    -------
    ndarray of shape (n_groups,)
        At least 1.
    """
    scales, threshold = np.ones(n_groups), float(np.quantile(distances, 1.0 - alpha))
    beyond = np.flatnonzero(distances > threshold)
    if threshold <= 0.0 or not len(beyond):
        return scales
    rows = np.bincount(groups[groups >= 0], minlength=n_groups)
    beyond = beyond[np.argsort(distances[beyond], kind="stable")]
    candidates = distances[beyond]
    above = len(beyond) - np.searchsorted(candidates, candidates, side="right")
    share, known = len(beyond) / len(distances), _ROWS / alpha
    for group in np.unique(groups[beyond][groups[beyond] >= 0]).tolist():
        own = candidates[groups[beyond] == group]
        allowed = share * (rows[group] + known)
        if len(own) + share * known <= allowed:
            continue
        own_above = len(own) - np.searchsorted(own, candidates, side="right")
        found = own_above + known * above / len(distances) <= allowed
        scales[group] = candidates[found.argmax()] / threshold
    return scales
