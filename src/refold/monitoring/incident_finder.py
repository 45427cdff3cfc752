"""Incidents: outliers that follow each other, or share their reason, as one event."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Integers
from refold.base.words import printable
from refold.explanation import Explanation, explain, times_limit
from refold.judgement import Judge, Judgement, unwrapped
from refold.monitoring._incident import Incident, Incidents
from refold.monitoring.timeline import RowTimes, Timeline, gap_of

_STRONG = 0.5  # of the share of the first column: such a column is a reason, too
_LEADING = 3  # columns that are compared and named
_OFTEN = 0.2  # of the outliers of an incident have a column that is named
_FARTHEST = 1000.0  # times the limit


def incidents(
    model: Any,
    X: Any,
    *,
    time: str | Sequence[Any] | None = None,
    by: str | Sequence[str] | NDArray[Any] | None = None,
    gap: int | str | dt.timedelta | float | None = None,
) -> Incidents:
    """Judge rows, and return outliers that belong together as one incident each.

    Outliers without a normal row between them belong together, and so do outliers at most `gap`
    apart that share a reason.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted.
    X : array-like, dataframe or Judgement of n rows
        Rows to judge.
    time : str, sequence of n times or None, default=None
        The column that says when a row was, as dates or numbers, or the times themselves; None is
        ``over`` of a Detector, else the order of the rows.
    by : str, sequence of str, array of n groups or None, default=None
        The columns whose values make a group, such as a machine, or the groups themselves: an
        incident is of one group. None is ``by`` of a Detector, else all rows are one group.
    gap : int, str, timedelta, float or None, default=None
        How far apart outliers with a common reason may be: so many rows if it is whole, a duration
        such as ``"90min"`` or a timedelta, seconds or units of a time column of numbers if it is a
        float. None is so many rows that chance alone has an outlier in them with probability 1/4.

    Returns
    -------
    Incidents
        In the order of their begin, each with ``begin``, ``end``, ``rows``, ``columns``,
        ``severity`` and ``text``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from refold import Detector, incidents
    >>> rng = np.random.default_rng(0)
    >>> good = pd.DataFrame({"pressure": rng.normal(5, 0.1, 400), "flow": rng.normal(2, 0.1, 400)})
    >>> model = Detector(alpha=0.01).fit(good)
    >>> new = good[:50].assign(at=pd.date_range("2026-03-04", periods=50, freq="10min"))
    >>> new.loc[20:29, "pressure"] += 2
    >>> print(incidents(model, new, time="at"))
    2026-03-04 03:20–04:50: pressure 759 × the limit in 10 of 10 rows
    """
    inner = unwrapped(model)
    found = Judgement.of(inner, X)
    timeline = Timeline(inner, time, by)
    moments, groups = timeline.times(X, found), timeline.groups(X, found)
    finder = IncidentFinder(inner, gap, timed=timeline.timed)
    finder.add(found, np.arange(len(found)), moments, groups)
    return finder.incidents()


@dataclass
class _Event:
    """An incident that may go on."""

    begin: Any
    end: Any
    first_position: int  # of the first outlier among the rows of its group
    position: int = 0  # of the last one
    second: float = 0.0  # when that was
    outliers: int = 0
    rows: list[int] = field(default_factory=list)  # the first of them
    columns: Counter[str] = field(default_factory=Counter)
    worst: int = -1
    distance: float = -1.0
    names: list[Any] = field(default_factory=list)  # of the first and the last row


class IncidentFinder:
    """Finds incidents in rows that come block by block, the earlier blocks first.

    Of incidents that have ended, `most` are kept, those with most outliers, and `most_rows` row
    numbers of each; `most_groups` are followed, those with the latest rows. `ended` counts all.
    """

    def __init__(
        self,
        model: Any,
        gap: Any,
        *,
        timed: bool,
        most: float = math.inf,
        most_rows: float = math.inf,
        most_groups: float = math.inf,
    ) -> None:
        self._model, judge = unwrapped(model), Judge.of(model)
        self._threshold = judge.threshold
        self._explained = not judge.scorer.unexplained
        self._rows, self._seconds = gap_of(gap, judge.alpha, timed=timed)
        self._timed = timed
        self._positions: dict[str | None, int] = {}
        self._open: dict[str | None, _Event] = {}
        self._kept: list[Incident] = []
        self._most, self._most_rows, self._most_groups = most, most_rows, most_groups
        self.ended = 0

    def add(
        self,
        found: Judgement,
        numbers: Integers,
        moments: RowTimes | None = None,
        groups: Sequence[str] | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        """Look at more rows, which have these numbers, times, groups and names."""
        order = np.arange(len(found))
        if moments is not None:
            order = np.argsort(moments.seconds, kind="stable")
        positions = self._places(order, groups)
        names = found.row_names if names is None else names
        leading = dict(zip(np.flatnonzero(found.outlier), self._leading(found), strict=True))
        for row in order[found.outlier[order]].tolist():
            group = None if groups is None else groups[row]
            second = 0.0 if moments is None else float(moments.seconds[row])
            event = self._open.get(group)
            at = int(numbers[row]) if moments is None else moments.value(row)
            columns = leading[row]
            if event is None or not self._belongs(event, int(positions[row]), second, columns):
                if event is not None:
                    self._end(self._incident(group, event))
                event = self._open[group] = _Event(at, at, int(positions[row]))
            event.position, event.second = int(positions[row]), second
            event.begin, event.end = min(event.begin, at), max(event.end, at)
            event.outliers += 1
            if len(event.rows) < self._most_rows:
                event.rows.append(int(numbers[row]))
            event.columns.update(columns)
            if names is not None:
                event.names = [*event.names[:1], names[row]]
            if found.distances[row] > event.distance:
                event.worst, event.distance = int(numbers[row]), float(found.distances[row])
        while len(self._positions) > self._most_groups:
            group = next(iter(self._positions))
            del self._positions[group]
            if (event := self._open.pop(group, None)) is not None:
                self._end(self._incident(group, event))

    def going_on(self) -> list[Incident]:
        """Return the incidents that more rows may belong to."""
        return [self._incident(group, event) for group, event in self._open.items()]

    def take_ended(self) -> list[Incident]:
        """Return and forget the incidents that have ended: rows beyond the gap are normal."""
        for group, event in list(self._open.items()):
            if self._positions[group] - event.position > self._rows:
                del self._open[group]
                self._end(self._incident(group, event))
        taken, self._kept = self._kept, []
        return taken

    def _end(self, incident: Incident) -> None:
        self.ended += 1
        self._kept.append(incident)
        if len(self._kept) > 2 * self._most:
            self._kept = sorted(self._kept, key=_by_weight)[: int(self._most)]

    @property
    def total(self) -> int:
        """How many incidents there are, those that may go on too."""
        return self.ended + len(self._open)

    def incidents(self) -> Incidents:
        """Return the incidents so far, those that may go on too, in the order of their begin."""
        found = sorted([*self._kept, *self.going_on()], key=_by_weight)
        found = found if len(found) <= self._most else found[: int(self._most)]
        return Incidents(sorted(found, key=lambda incident: incident.begin))

    def _places(self, order: Integers, groups: Sequence[str] | None) -> Integers:
        """Return which row of its group each is, from 0 on over all blocks."""
        places = np.empty(len(order), dtype=np.int64)
        if groups is None:
            start = self._positions.get(None, -1) + 1
            self._positions[None] = start + len(order) - 1
            places[order] = start + np.arange(len(order))
            return places
        for row in order.tolist():
            group = groups[row]
            places[row] = self._positions.pop(group, -1) + 1
            self._positions[group] = int(places[row])  # the latest last
        return places

    def _leading(self, found: Judgement) -> list[list[str]]:
        """Return for each outlier the columns that are its strongest reasons."""
        part = found.of_outliers
        if not self._explained or len(part) == 0:
            return [[] for _ in range(len(part))]
        return [_strong(row) for row in explain(self._model, part, reasons=_LEADING, nearest=False)]

    def _belongs(self, event: _Event, position: int, second: float, columns: Sequence[str]) -> bool:
        steps = position - event.position
        if self._seconds is not None:
            near = second - event.second <= self._seconds
            return near and (steps <= 1 or self._common(event, columns))
        return steps <= 1 or (steps <= self._rows and self._common(event, columns))

    def _common(self, event: _Event, columns: Sequence[str]) -> bool:
        return any(column in columns for column, _ in event.columns.most_common(_LEADING))

    def _incident(self, group: str | None, event: _Event) -> Incident:
        often = max(_OFTEN * event.outliers, 1)
        columns = tuple(
            column for column, count in event.columns.most_common(_LEADING) if count >= often
        )
        total = event.position - event.first_position + 1
        limit = self._threshold
        severity = min(event.distance / limit, _FARTHEST) if limit > 0.0 else _FARTHEST
        when = _when(event, timed=self._timed)
        whose = "" if group is None else f", {group}"
        what = ", ".join(columns) or ("unusual only together," if self._explained else "distance")
        share = f" in {event.outliers:,} of {total:,} rows" if total > 1 else ""
        return Incident(
            begin=event.begin,
            end=event.end,
            rows=tuple(event.rows),
            outliers=event.outliers,
            total=total,
            columns=columns,
            severity=severity,
            worst=event.worst,
            group=group,
            text=printable(f"{when}{whose}: {what} {times_limit(event.distance, limit)}{share}"),
        )


def _strong(row: Explanation) -> list[str]:
    """Return the columns that an explanation leads with; none of an unknown combination."""
    if row.together:
        return [each.feature for each in row.combination]
    first = row.first(_LEADING)
    return [each.feature for each in first if each.share >= _STRONG * first[0].share]


def _by_weight(incident: Incident) -> tuple[int, float]:
    return -incident.outliers, -incident.severity


def _when(event: _Event, *, timed: bool) -> str:
    """Say when an incident was; rows are called by their names, else by their numbers."""
    if not timed:
        names = event.names or [event.begin, event.end]
        return f"row {names[0]}" if event.outliers == 1 else f"rows {names[0]}–{names[-1]}"
    begin, end = event.begin, event.end
    if not isinstance(begin, dt.datetime):
        return f"{begin:.15g}" if begin == end else f"{begin:.15g}–{end:.15g}"
    if begin == begin.replace(hour=0, minute=0, second=0, microsecond=0) and end == end.replace(
        hour=0, minute=0, second=0, microsecond=0
    ):
        return f"{begin:%Y-%m-%d}" if begin == end else f"{begin:%Y-%m-%d} – {end:%Y-%m-%d}"
    clock = "%H:%M:%S" if begin.second or end.second else "%H:%M"
    first, last = (moment.strftime(f"%Y-%m-%d {clock}") for moment in (begin, end))
    if first == last:
        return first
    return f"{first}–{end.strftime(clock)}" if begin.date() == end.date() else f"{first} – {last}"
