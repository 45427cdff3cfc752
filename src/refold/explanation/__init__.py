"""Reasons: why a row is an outlier, and what would make it normal.

The distance of REF is a sum over features, so the share of each is exact, not an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from refold.base.results import Backend, ResultSequence, native_frame, plain
from refold.explanation._explain import explain as explain
from refold.explanation._explanations import LEADS as LEADS
from refold.explanation._explanations import Explanation, Explanations
from refold.explanation._explanations import times_limit as times_limit
from refold.explanation._normal_columns import normal_of_columns as normal_of_columns
from refold.explanation._normal_columns import normal_text as normal_text
from refold.explanation._reason import Reason
from refold.explanation._stream import RowStream
from refold.judgement import Judgement

__all__ = [
    "Explanation",
    "Explanations",
    "Importances",
    "Reason",
    "RowStream",
    "importance",
]


@dataclass(frozen=True)
class Importance:
    """How much a column adds to the distances of many rows; one of what `importance` returns."""

    feature: str  #: the column's name
    contribution: float  #: what it adds to a row's distance, on average
    share: float  #: the same as a share of the average distance; shares add up to 1
    leads: float  #: the share of rows in which no column matters more


class Importances(ResultSequence[Importance]):
    """The columns by what they add to the distances of rows, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.explanation import importance
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> importance(REF().fit(X), X + [0, 9, 0])
    Importances(3 columns, most by x1)
    """

    def __init__(self, found: Iterable[Importance]) -> None:
        self._items = tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: ``features``, one entry each."""
        return {"features": plain(self._items)}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per column as a dataframe of pandas, polars or pyarrow."""
        names = [field.name for field in fields(Importance)]
        columns = {name: [getattr(each, name) for each in self] for name in names}
        return native_frame(columns, backend, texts=["feature"])

    def __repr__(self) -> str:
        most = f", most by {self[0].feature}" if self else ""
        return f"Importances({len(self)} columns{most})"


def importance(model: Any, X: Any) -> Importances:
    """Return the columns by what they add to the distances of the rows, the largest first.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted; REF with ``distance="l1"`` or ``"l2"``.
    X : array-like, dataframe or Judgement of n rows
        Rows, for example all outliers.

    Returns
    -------
    Importances
        A sequence; ``to_frame()`` is a dataframe, ``to_dict()`` plain values.

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
    return Importances(
        Importance(name, float(m), float(s), float(lead))
        for m, s, lead, name in sorted(
            zip(mean, shares, leads, found.names, strict=True), key=lambda item: -item[0]
        )
    )
