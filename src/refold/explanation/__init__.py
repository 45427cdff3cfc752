"""Reasons: why a row is an outlier, and what would make it normal.

The distance of REF is a sum over features, so the share of each is exact, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refold.base.words import number
from refold.explanation._columns import normal_of_columns, normal_text
from refold.explanation._explanations import LEADS, Explanation, Explanations, times_limit
from refold.explanation._reason import Cell, Reason
from refold.explanation._reasons import explained_rows
from refold.judgement import Judgement, unwrapped
from refold.judgement.normal import normal_ranges
from refold.judgement.numbers import ranges_text, split_unit

__all__ = [
    "LEADS",
    "Cell",
    "Explanation",
    "Explanations",
    "Importance",
    "Reason",
    "importance",
    "normal_of_columns",
    "normal_ranges",
    "normal_text",
    "number",
    "ranges_text",
    "split_unit",
    "times_limit",
]


def explain(
    model: Any, X: Any, *, reasons: int | None = None, nearest: bool = True
) -> Explanations:
    """Say of each row whether it is an outlier, because of which columns, and what would help.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted; REF with ``distance="l1"`` or ``"l2"``.
    X : array-like, dataframe or Judgement of n rows
        Rows to explain. One without any value has label 0 and no reasons.
    reasons : int or None, default=None
        How many columns to name per row, those with the largest shares; None is all.
    nearest : bool, default=True
        Whether to look for the nearest values with which outliers would be normal; it takes
        most of the time.

    Returns
    -------
    Explanations
        One :class:`refold.explanation.Explanation` per row; ``.to_frame()`` makes a table of
        them, ``str`` a text.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, explain
    >>> rng = np.random.default_rng(0)
    >>> normal = rng.normal([75, 300], [2, 1], size=(500, 2))
    >>> model = REF().fit(normal)
    >>> print(explain(model, [[91.2, 300.1]])[0].reasons[0])
    x0 91.2 is 10.69 above the highest normal value, 80.51 – 100 % of the distance; ...
    """
    if reasons is not None and reasons < 1:
        raise ValueError(f"reasons={reasons!r}: at least one feature per row must be named.")
    model = unwrapped(model)
    found = Judgement.of(model, X)
    if found.judge.scorer.unexplained:
        raise ValueError(f"{found.judge.scorer.unexplained} Use distance='l1' or 'l2'.")
    found.attribution()  # before anything else: the distances come with it
    because, p_values = explained_rows(model, found, reasons, nearest), found.p_values
    return Explanations(
        [
            Explanation(
                row=i,
                name=None if found.row_names is None else found.row_names[i],
                label=int(found.labels[i]),
                distance=float(found.distances[i]),
                threshold=found.judge.threshold,
                p_value=None if p_values is None else float(p_values[i]),
                **(next(because) if found.judged[i] else {"reasons": ()}),
            )
            for i in range(len(found))
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
        The share of rows in which no feature matters more.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold import explain
    >>> model = REF(alpha=0.05).fit(np.random.default_rng(0).normal(size=(300, 2)))
    >>> found = explain(model, [[0.1, 0.2], [0.3, 9.0]])
    >>> from refold.explanation import importance
    >>> importance(model, [[0.1, 0.2], [0.3, 9.0]])[0].feature
    'x1'
    """

    feature: str
    contribution: float
    share: float
    leads: float


def importance(model: Any, X: Any) -> list[Importance]:
    """Return the features by what they add to the distances of the rows, the largest first.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted; REF with ``distance="l1"`` or ``"l2"``.
    X : array-like, dataframe or Judgement of n rows
        Rows, for example all outliers.

    Returns
    -------
    list of Importance

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.explanation import importance
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = REF().fit(X)
    >>> importance(model, X + [0, 9, 0])[0].feature
    'x1'
    """
    found = Judgement.of(model, X, explained=True)
    parts = found.attribution().parts[found.judged]
    mean = parts.mean(axis=0)
    leads = np.bincount(found.by_blame[found.judged, 0], minlength=len(mean)) / len(parts)
    total = mean.sum()
    shares = mean / total if total > 0.0 else np.zeros_like(mean)
    return [
        Importance(name, float(m), float(s), float(lead))
        for m, s, lead, name in sorted(
            zip(mean, shares, leads, found.names, strict=True), key=lambda item: -item[0]
        )
    ]
