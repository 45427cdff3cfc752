"""A run chart: how far out rows are, in their order or over time, with the limit and incidents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.base.words import number
from refold.explanation.gauges import short
from refold.monitoring import Incident, Incidents
from refold.monitoring.timeline import RowTimes, seconds_of

WIDE, TALL = 1000, 200
_EDGE = 6.0  # above and below the farthest points
_LEAST, _MOST = 0.01, 1000.0  # times the limit: what is beyond stands at the edge
_POINTS = 1000
_NARROW = 4.0  # a shade that is to be seen at all


@dataclass(frozen=True)
class RunPoint:
    """A row of the chart."""

    row: int  # its number
    name: str  # what people call it
    when: str  # its time in words; empty if rows have none
    distance: float
    outlier: bool
    x: str
    y: str


@dataclass(frozen=True)
class RunShade:
    """An incident from its begin to its end."""

    x: str
    width: str


@dataclass(frozen=True)
class RunChart:
    """Points, shades and axes, ready to be drawn."""

    points: tuple[RunPoint, ...]  #: from left to right
    rows_per_point: int  #: each point is the farthest out of so many rows that follow each other
    timed: bool  #: whether rows stand by their time, not by their number
    shades: tuple[RunShade, ...]  #: incidents
    limit: str  #: how high the limit is
    up: list[tuple[str, str]]  #: how high stands how many times the limit
    line: str  #: a path through all points

    def dots(self, *, outlier: bool) -> str:
        """Return the points of one verdict as a path."""
        return "".join(f"M{p.x} {p.y}h0" for p in self.points if p.outlier == outlier)

    @property
    def ends(self) -> tuple[str, str]:
        """What stands below the left and the right end."""
        first, last = self.points[0], self.points[-1]
        return (first.when, last.when) if self.timed else (f"row {first.name}", f"row {last.name}")


class RunRows:
    """Rows that come block by block; of very many the farthest out of every 2, 4, 8 … are kept."""

    def __init__(self, most: int = _POINTS) -> None:
        self._most, self._each = most, 1
        self._rows: Integers = np.empty(0, dtype=np.int64)
        self._distances, self._at = np.empty(0), np.empty(0)
        self._names = dict[int, object]()
        self._times: RowTimes | None = None

    def add(
        self,
        begin: int,
        distances: Floats,
        times: RowTimes | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        """Add rows, the first with the number `begin`; one without a distance is left out."""
        rows = np.flatnonzero(~np.isnan(distances))
        at = (begin + rows) if times is None else times.seconds[rows]
        self._times = times
        self._rows = np.concatenate([self._rows, begin + rows])
        self._distances = np.concatenate([self._distances, distances[rows]])
        self._at = np.concatenate([self._at, at])
        while self._buckets() > self._most:
            self._each *= 2
        order = np.lexsort((self._distances, self._rows // self._each))
        bucket = self._rows[order] // self._each
        kept = order[np.append(bucket[1:] != bucket[:-1], True)] if len(order) else order
        self._rows, self._distances = self._rows[kept], self._distances[kept]
        self._at = self._at[kept]
        if names is not None:
            known = {row: names[row - begin] for row in self._rows.tolist() if row >= begin}
            self._names |= known
            self._names = {row: self._names[row] for row in self._rows.tolist()}

    def _buckets(self) -> int:
        return len(np.unique(self._rows // self._each))

    def chart(self, threshold: float, incidents: Incidents) -> RunChart | None:
        """Draw them; None if no row has a distance."""
        if len(self._rows) == 0:
            return None
        order = np.argsort(self._at, kind="stable")
        axis = _RowAxis(self._at[order])
        times = _times_limit(self._distances, threshold)
        high = _LimitAxis(times)
        points = tuple(self._point(int(k), threshold, axis, high, times) for k in order)
        return RunChart(
            points=points,
            rows_per_point=self._each,
            timed=self._times is not None,
            shades=tuple(self._shade(one, axis) for one in incidents),
            limit=short(high.y(1.0)),
            up=high.ticks(),
            line="M" + "L".join(f"{point.x} {point.y}" for point in points),
        )

    def _point(
        self, k: int, threshold: float, axis: _RowAxis, high: _LimitAxis, times: Floats
    ) -> RunPoint:
        row, at, distance = int(self._rows[k]), float(self._at[k]), float(self._distances[k])
        when = ""
        if self._times is not None:
            when = str(RowTimes(np.array([at]), self._times.dated).value(0))
        return RunPoint(
            row=row,
            name=str(self._names.get(row, row)),
            when=when,
            distance=distance,
            outlier=distance > threshold,
            x=short(axis.x(at)),
            y=short(high.y(float(times[k]))),
        )

    def _shade(self, incident: Incident, axis: _RowAxis) -> RunShade:
        begin, end = (axis.x(seconds_of(each)) for each in (incident.begin, incident.end))
        middle, wide = (begin + end) / 2.0, max(end - begin + axis.step, _NARROW)
        return RunShade(short(middle - wide / 2.0), short(wide))


class _RowAxis:
    """From the first row or time to the last."""

    def __init__(self, at: Floats) -> None:
        self._begin, self._span = float(at[0]), float(at[-1] - at[0]) or 1.0
        self.step = WIDE / max(len(at), 2)  # as much as a point has for itself

    def x(self, at: float) -> float:
        inner = WIDE - 2.0 * self.step
        return self.step + (at - self._begin) / self._span * inner


class _LimitAxis:
    """Multiples of the limit on a logarithmic axis."""

    def __init__(self, times: Floats) -> None:
        self._low = math.log10(min(max(float(times.min()), _LEAST), 0.5))
        self._high = math.log10(min(max(float(times.max()), 2.0), _MOST))

    def y(self, times: float) -> float:
        at = math.log10(max(times, 10.0**self._low))
        share = min((at - self._low) / (self._high - self._low), 1.0)
        return TALL - _EDGE - share * (TALL - 2.0 * _EDGE)

    def ticks(self) -> list[tuple[str, str]]:
        powers = range(math.ceil(self._low), math.floor(self._high) + 1)
        return [(short(self.y(10.0**power)), number(10.0**power)) for power in powers]


def _times_limit(distances: Floats, threshold: float) -> Floats:
    """Return distances as multiples of the limit; of a limit of 0, none or very many."""
    if threshold > 0.0:
        return np.minimum(distances / threshold, _MOST)
    return np.where(distances > threshold, _MOST, 0.0)
