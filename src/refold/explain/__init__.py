"""Reasons: why a row is not normal, and what would make it so.

The distance of REF is a sum over features, so the share of each is exact, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from refold._arrays import is_foreign_array, to_numpy
from refold._tables import read_table
from refold.explain._nearest import is_exact, magnitude, nearest_accepted
from refold.explain._ranges import normal_ranges
from refold.explain._results import (
    Explanation,
    Explanations,
    Reason,
    feature_names,
    number,
    ranges_text,
)

__all__ = [
    "Explanation",
    "Explanations",
    "Importance",
    "Reason",
    "explain",
    "feature_names",
    "importance",
    "magnitude",
    "normal_ranges",
    "number",
    "ranges_text",
]


def explain(model: Any, X: Any, *, reasons: int | None = None) -> Explanations:
    """Say of each row whether it is normal, and because of which features.

    Parameters
    ----------
    model : REF
        Fitted, with ``distance="l1"`` or ``"l2"``.
    X : array-like or dataframe of shape (n, d)
        Rows to explain.
    reasons : int or None, default=None
        How many features to name per row, those with the largest shares; None is all.

    Returns
    -------
    Explanations
        One :class:`Explanation` per row; ``.to_frame()`` makes a table of them, ``str`` a text.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.explain import explain
    >>> rng = np.random.default_rng(0)
    >>> normal = rng.normal([75, 300], [2, 1], size=(500, 2))
    >>> model = REF().fit(normal)
    >>> print(explain(model, [[91.2, 300.1]])[0].reasons[0])
    column 0 91.2: 100 % of the distance; normal 68.79–79.78
    """
    check_is_fitted(model)
    if reasons is not None and reasons < 1:
        raise ValueError(f"reasons={reasons!r}: at least one feature per row must be named.")
    contributions = _plain(model.contributions(X))
    distances = -_plain(model.score_samples(X))
    calibrated = getattr(model, "calibration_", None) is not None
    p_values = model.p_values(X) if calibrated else None
    rows = _plain(read_table(model, X, reset=False, native=False)).astype(np.float64, copy=False)
    order = np.argsort(-contributions, axis=1, kind="stable")[:, :reasons]
    nearest = nearest_accepted(model, rows, order)
    names, ranges, exact = feature_names(model), normal_ranges(model.summary_), is_exact(model)
    total = contributions.sum(axis=1)

    def reason(i: int, k: int) -> Reason:
        j = int(order[i, k])
        at = float(nearest[i, k])
        part = float(contributions[i, j])
        return Reason(
            feature=names[j],
            value=float(rows[i, j]),
            contribution=part,
            share=part / total[i] if total[i] > 0.0 else 0.0,
            normal=ranges[j],
            accepted_at=None if np.isnan(at) else at,
            exact=exact,
        )

    return Explanations(
        [
            Explanation(
                row=i,
                label=1 if distances[i] <= model.threshold_ else -1,
                distance=float(distances[i]),
                threshold=model.threshold_,
                p_value=None if p_values is None else float(p_values[i]),
                reasons=tuple(reason(i, k) for k in range(order.shape[1])),
            )
            for i in range(len(rows))
        ]
    )


@dataclass(frozen=True)
class Importance:
    """How much a feature adds to the distances of many rows.

    Attributes
    ----------
    feature : str
        Its name.
    contribution : float
        What it adds to a row's distance, on average.
    share : float
        The same as a share of the average distance; shares add up to 1.
    leads : float
        The share of rows in which no feature adds more.
    """

    feature: str
    contribution: float
    share: float
    leads: float


def importance(model: Any, X: Any) -> list[Importance]:
    """Return the features by what they add to the distances of the rows, the largest first.

    Parameters
    ----------
    model : REF
        Fitted, with ``distance="l1"`` or ``"l2"``.
    X : array-like or dataframe of shape (n, d)
        Rows, for example all that were called not normal.

    Returns
    -------
    list of Importance

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.explain import importance
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = REF().fit(X)
    >>> importance(model, X + [0, 9, 0])[0].feature
    'column 1'
    """
    contributions = _plain(model.contributions(X))
    mean = contributions.mean(axis=0)
    leads = np.bincount(contributions.argmax(axis=1), minlength=len(mean)) / len(contributions)
    total = mean.sum()
    shares = mean / total if total > 0.0 else np.zeros_like(mean)
    return [
        Importance(name, float(m), float(s), float(lead))
        for m, s, lead, name in sorted(
            zip(mean, shares, leads, feature_names(model), strict=True), key=lambda item: -item[0]
        )
    ]


def _plain(array: Any) -> Any:
    return to_numpy(array) if is_foreign_array(array) else np.asarray(array)
