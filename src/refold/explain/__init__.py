"""Reasons: why a row is not normal, and what would make it so.

The distance of REF is a sum over features, so the share of each is exact, not an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from refold._typing import Floats
from refold.base.arrays import is_foreign_array, to_numpy
from refold.columns.frames import feature_names, read_table
from refold.explain._nearest import is_exact, magnitude, nearest_accepted
from refold.explain._ranges import normal_ranges
from refold.explain._results import (
    Explanation,
    Explanations,
    Reason,
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
    model : REF or CreasedREF
        Fitted; REF with ``distance="l1"`` or ``"l2"``.
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
    rows = _plain(read_table(model, X, reset=False, native=False)).astype(np.float64, copy=False)
    distances = -_plain(model.score_samples(X))
    calibrated = getattr(model, "calibration_", None) is not None
    p_values = model.p_values(X) if calibrated else None
    because = (_expectations if hasattr(model, "reasons") else _shares)(model, X, rows, reasons)
    return Explanations(
        [
            Explanation(
                row=i,
                label=1 if distances[i] <= model.threshold_ else -1,
                distance=float(distances[i]),
                threshold=model.threshold_,
                p_value=None if p_values is None else float(p_values[i]),
                reasons=tuple(found),
            )
            for i, found in enumerate(because)
        ]
    )


def _shares(model: Any, X: Any, rows: Floats, most: int | None) -> Iterator[list[Reason]]:
    """Divide the distances of REF, which are sums over features."""
    contributions = _plain(model.contributions(X))
    order = np.argsort(-contributions, axis=1, kind="stable")[:, :most]
    nearest = nearest_accepted(model, rows, order)
    names, ranges, exact = feature_names(model), normal_ranges(model.summary_), is_exact(model)
    for row, parts, total, features, accepted in zip(
        rows, contributions, contributions.sum(axis=1), order, nearest, strict=True
    ):
        yield [
            Reason(
                feature=names[j],
                value=float(row[j]),
                contribution=float(parts[j]),
                share=float(parts[j] / total) if total > 0.0 else 0.0,
                normal=ranges[j],
                accepted_at=None if np.isnan(at) else float(at),
                exact=exact,
            )
            for j, at in zip(features, accepted, strict=True)
        ]


def _expectations(model: Any, X: Any, rows: Floats, most: int | None) -> Iterator[list[Reason]]:
    """Compare the values of rows with what CreasedREF expected in their place."""
    found, distances = model.reasons(X), -model.score_samples(X)
    names, ranges = feature_names(model), normal_ranges(model.summary_)
    order = np.argsort(-found.drop, axis=1, kind="stable")[:, :most]
    for i, features in enumerate(order):
        drops = np.maximum(found.drop[i], 0.0)
        yield [
            Reason(
                feature=names[j],
                value=float(rows[i, j]),
                contribution=float(drops[j]),
                share=float(drops[j] / distances[i]) if distances[i] > 0.0 else 0.0,
                normal=ranges[j],
                accepted_at=None,
                exact=False,
                expected=float(found.expected[i, j]),
            )
            for j in features
        ]


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
