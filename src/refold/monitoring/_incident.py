"""Incidents as values, as a table and as text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from refold.base.results import Backend, ResultSequence, plain_fields


@dataclass(frozen=True)
class Incident:
    """Outliers that belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, incidents
    >>> model = REF(alpha=0.01).fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> (found,) = incidents(model, [[0.1, 0.2], [9.0, 0.1], [8.5, 0.3], [0.2, 0.0]])
    >>> found.rows, found.columns
    ((1, 2), ('x0',))
    >>> found.text
    'rows 1–2: x0 16 × the limit in 2 of 2 rows'
    """

    #: begin, end: when the first and the last of the outliers were; row numbers where there is no
    #: time
    begin: Any
    end: Any
    #: The numbers of the outliers in the table, in the order of time; of a file the first 1,000
    rows: tuple[int, ...]
    outliers: int  #: how many outliers there are
    total: int  #: how many rows there are from the first to the last outlier, of the same group
    columns: tuple[str, ...]  #: the columns that are most often a reason, at most three
    #: The largest distance as a multiple of the threshold, at most 1000: beyond that it is no
    #: measure
    severity: float
    worst: int  #: the number of the row with the largest distance
    #: Whose rows they are, such as ``"machine M17"``; None if all rows are one group
    group: str | None
    text: str  #: all of it in one sentence

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return plain_fields(self)

    def __str__(self) -> str:
        return self.text


class Incidents(ResultSequence[Incident]):
    """Incidents in the order of their begin.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF, incidents
    >>> model = REF(alpha=0.01).fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> incidents(model, [[9.0, 0.1], [0.1, 0.2]])
    Incidents(1 of 1 outliers)
    """

    def __init__(self, found: Sequence[Incident]) -> None:
        self._items = tuple(found)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return everything as plain values, ready for JSON: ``incidents``, one entry each."""
        return {"incidents": [incident.to_dict() for incident in self._items]}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a line per incident as a dataframe of pandas, polars or pyarrow."""
        moments: dict[str, Any] = {}
        for name in ("begin", "end"):
            values = [getattr(incident, name) for incident in self._items]
            dated = any(isinstance(value, dt.datetime) for value in values)
            moments[name] = np.array(values, dtype="M8[us]" if dated else None)
        columns = {
            **moments,
            "outliers": [incident.outliers for incident in self._items],
            "total": [incident.total for incident in self._items],
            "group": [incident.group for incident in self._items],
            "columns": [", ".join(incident.columns) for incident in self._items],
            "severity": [incident.severity for incident in self._items],
            "first": [incident.rows[0] for incident in self._items],
            "worst": [incident.worst for incident in self._items],
            "text": [incident.text for incident in self._items],
        }
        whole = dict.fromkeys(("outliers", "total", "first", "worst"), nw.Int64())
        texts = dict.fromkeys(("group", "columns", "text"), nw.String())
        schema = {**whole, **texts, "severity": nw.Float64()}
        series = [
            nw.new_series(name, values, schema.get(name), backend=backend)
            if name in schema
            else nw.new_series(name, values, backend=backend)
            for name, values in columns.items()
        ]
        return nw.from_dict({one.name: one for one in series}, backend=backend).to_native()

    def __repr__(self) -> str:
        rows = sum(incident.outliers for incident in self._items)
        return f"Incidents({len(self)} of {rows} outliers)"

    def __str__(self) -> str:
        return "\n".join(map(str, self._items)) or "No incidents."
