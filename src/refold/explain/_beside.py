"""Which other values of a row one is unlikely with."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from refold._typing import Booleans, Integers
from refold.judgement import Judgement

# Pairs are looked for among the feature that matters most and so many more.
_LEADING = 3
_MOST_NAMED = 3


def beside(found: Judgement, order: Integers, inside: Booleans) -> list[dict[int, list[int]]]:
    """Return for each rejected row which features are unlikely because of which others.

    Parameters
    ----------
    found : Judgement
        Of rows that all have a value.
    order : ndarray of int, shape (n, k)
        Each row's features, by number, those that matter most first.
    inside : ndarray of bool, shape (n, d)
        Which values are normal by themselves: only they need others to be unlikely.

    Returns
    -------
    list of dict
        A feature may have none: it is too far out whatever the others are.
    """
    out: list[dict[int, list[int]]] = [{} for _ in range(len(found))]
    rows = np.flatnonzero(found.outlier)
    if len(rows):
        together = _adding_up if found.judge.scorer.additive else _in_pairs
        found_there = together(found.take(rows), order[rows])
        for row, pairs in zip(rows.tolist(), found_there, strict=True):
            out[row] = {j: others for j, others in pairs.items() if inside[row, j]}
    return out


def _adding_up(found: Judgement, order: Integers) -> list[dict[int, list[int]]]:
    """Name the largest other parts with which a feature's own is more than the threshold."""
    enough, out = found.judge.threshold, []
    for parts, features in zip(found.attribution().parts.tolist(), order.tolist(), strict=True):
        largest = sorted(features, key=parts.__getitem__, reverse=True)[: _MOST_NAMED + 1]
        pairs: dict[int, list[int]] = {}
        for j in features:
            total, pairs[j] = parts[j], []
            for k in largest:
                if total > enough or parts[k] == 0.0 or len(pairs[j]) == _MOST_NAMED:
                    break
                if k != j:
                    pairs[j].append(k)
                    total += parts[k]
        out.append(pairs)
    return out


def _in_pairs(found: Judgement, order: Integers) -> list[dict[int, list[int]]]:
    """Name the feature without which another's part would shrink most.

    The distance without both is what neither has to do with; its difference from the distance
    without the one is what the other still adds then.
    """
    n, few = len(order), min(_LEADING, order.shape[1] - 1)
    every, leading = np.arange(n), order[:, : few + 1]
    own = np.take_along_axis(found.attribution().parts, leading, axis=1)
    left = np.full((n, few + 1, few + 1), np.inf)  # of one's part, without the other
    for a, b in combinations(range(few + 1), 2):
        rows = found.rows.astype(np.float64)
        rows[every, leading[:, a]] = rows[every, leading[:, b]] = np.nan
        without = found.judge.rows(rows).distances  # NaN where no value is left
        left[:, a, b] = found.distances - own[:, b] - without
        left[:, b, a] = found.distances - own[:, a] - without
    left = np.where(np.isnan(left), np.inf, left)
    partner, helps = left.argmin(axis=2), left.min(axis=2) < own
    return [
        {j: [features[k]] for j, k, good in zip(features, others, some, strict=True) if good}
        for features, others, some in zip(
            leading.tolist(), partner.tolist(), helps.tolist(), strict=True
        )
    ]
