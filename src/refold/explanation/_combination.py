"""Which columns are unusual only together, of outliers whose columns say little by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from refold._typing import Floats, Integers
from refold.judgement import Judgement
from refold.models.creased import CreasedScorer
from refold.models.detector.scorer import TableScorer, inside

_MOST = 3  # columns of a combination
_TRIED = 16  # columns that are tried as the second and third
_NEARLY_ALL = 0.9  # of the distance: what remains is another, smaller matter


def combinations(found: Judgement) -> list[list[int]]:
    """Return for each outlier the columns without which it is normal, or most of it gone.

    Columns are left out one after another, each time the one without which the row is nearest. None
    are returned where three do not suffice, or where the model does not see combinations.
    """
    scorer = found.judge.scorer
    if not isinstance(inside(scorer), CreasedScorer):
        return [[] for _ in range(len(found))]
    rows, owners = found.rows.astype(np.float64), np.arange(len(found.names))
    if isinstance(scorer, TableScorer):
        rows = scorer.unpack(rows)[0]
        own = owners if rows.shape[1] > len(scorer.leading) else owners[:0]
        owners = np.concatenate([scorer.leading, own])
    each = zip(rows, found.thresholds_inside.tolist(), strict=True)
    return [_combination(inside(scorer), row, owners, threshold) for row, threshold in each]


def _combination(scorer: Any, row: Floats, owners: Integers, threshold: float) -> list[int]:
    def without(left_out: list[list[int]]) -> Floats:
        rows = np.stack([np.where(np.isin(owners, columns), np.nan, row) for columns in left_out])
        some, out = ~np.isnan(rows).all(axis=1), np.full(len(rows), np.inf)
        if some.any():
            out[some] = scorer.distances(rows[some])
        return out

    enough = max(threshold, (1.0 - _NEARLY_ALL) * float(without([[]])[0]))
    chosen: list[int] = []
    tried = np.unique(owners).tolist()
    for _ in range(min(_MOST, len(tried))):
        distances = without([[*chosen, column] for column in tried])
        order = np.argsort(distances, kind="stable")
        chosen.append(tried[order[0]])
        if distances[order[0]] <= enough:
            return [c for c in chosen if without([[o for o in chosen if o != c]])[0] > enough]
        tried = [tried[k] for k in order[1 : _TRIED + 1]]
    return []
