"""Reasons: why a row is an outlier, and what would make it normal.

The distance of REF is a sum over features, so the share of each is exact, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refold.explanation._columns import normal_of_columns as normal_of_columns
from refold.explanation._columns import normal_text as normal_text
from refold.explanation._explain import explain as explain
from refold.explanation._explanations import LEADS as LEADS
from refold.explanation._explanations import Explanation, Explanations
from refold.explanation._explanations import times_limit as times_limit
from refold.explanation._reason import Reason
from refold.explanation._stream import RowStream
from refold.judgement import Judgement

__all__ = [
    "Explanation",
    "Explanations",
    "Importance",
    "Reason",
    "RowStream",
    "importance",
]


@dataclass(frozen=True)
class Importance:
    """How much a feature adds to the distances of many rows.

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

    feature: str  #: its name
    contribution: float  #: what it adds to a row's distance, on average
    share: float  #: the same as a share of the average distance; shares add up to 1
    leads: float  #: the share of rows in which no feature matters more


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
