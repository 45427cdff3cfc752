"""Incidents as values, as a table and as text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import narwhals.stable.v2 as nw
import numpy as np


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
        moments = {
            name: value.isoformat(" ") if isinstance(value, dt.datetime) else value
            for name, value in (("begin", self.begin), ("end", self.end))
        }
        return {**vars(self), **moments, "rows": list(self.rows), "columns": list(self.columns)}

    def __str__(self) -> str:
        return self.text


class Incidents(Sequence[Incident]):
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
        self._found = tuple(found)

    @overload
    def __getitem__(self, index: int) -> Incident: ...
    @overload
    def __getitem__(self, index: slice) -> Incidents: ...
    def __getitem__(self, index: int | slice) -> Incident | Incidents:
        """Return an incident, or several."""
        if isinstance(index, slice):
            return Incidents(self._found[index])
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Incident]:
        return iter(self._found)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return everything as plain values, ready for JSON: ``incidents``, one entry each."""
        return {"incidents": [incident.to_dict() for incident in self._found]}

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a line per incident as a dataframe of pandas, polars or pyarrow."""
        moments: dict[str, Any] = {}
        for name in ("begin", "end"):
            values = [getattr(incident, name) for incident in self._found]
            dated = any(isinstance(value, dt.datetime) for value in values)
            moments[name] = np.array(values, dtype="M8[us]" if dated else None)
        columns = {
            **moments,
            "outliers": [incident.outliers for incident in self._found],
            "total": [incident.total for incident in self._found],
            "group": [incident.group for incident in self._found],
            "columns": [", ".join(incident.columns) for incident in self._found],
            "severity": [incident.severity for incident in self._found],
            "first": [incident.rows[0] for incident in self._found],
            "worst": [incident.worst for incident in self._found],
            "text": [incident.text for incident in self._found],
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
        rows = sum(incident.outliers for incident in self._found)
        return f"Incidents({len(self)} of {rows} outliers)"

    def __str__(self) -> str:
        return "\n".join(map(str, self._found)) or "No incidents."
