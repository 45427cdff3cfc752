"""A table judged part by part: what a report needs of it, however many rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats, Integers
from refold.decisions.select import largest_selected
from refold.judgement import Judge, Judgement, WorstRows, unwrapped
from refold.models.draws import draws
from refold.monitoring import DriftMonitor, Incidents
from refold.monitoring.incident_finder import IncidentFinder
from refold.monitoring.timeline import Timeline
from refold.report._run_chart import RunChart, RunRows

# Reasons cost more than distances: the drivers are looked for among so many rows, the worst.
BLAMED = 1000
# Pictures are drawn from so many rows, and these are checked.
PICTURED = 100_000
_INCIDENTS = 1000  # that are kept, those with most outliers
_SEED = 1_618_034


class ReportedTable:
    """What a report needs of a table that is read part by part, in bounded memory.

    All rows are counted and compared with those of training; the worst are kept. Pictures need
    rows: of more than `pictured` so many are drawn at random, by their places.

    Parameters
    ----------
    model : REF, CreasedREF or Detector
        Fitted.
    worst : int, default=100
        How many of the rows farthest out a report may list.
    pictured : int or None, default=100_000
        The most rows for pictures; None is all.
    first : int, default=0
        The number of the first row.
    time, by, gap : optional
        When rows were, to which group they belong, and how far apart the outliers of an incident
        may be, see :func:`refold.incidents`.

    Attributes
    ----------
    rows, judged, rejected : int
        How many rows there are, have a value, and are outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.judgement import Judgement
    >>> from refold.report import ReportedTable, describe
    >>> rng = np.random.default_rng(0)
    >>> model = REF(alpha=0.01).fit(rng.normal(size=(500, 3)))
    >>> table = ReportedTable(model)
    >>> for _ in range(4):
    ...     table.add(Judgement.of(model, rng.normal(size=(100, 3))))
    >>> describe(model, table).rows
    400
    """

    def __init__(
        self,
        model: Any,
        *,
        worst: int = 100,
        pictured: int | None = PICTURED,
        first: int = 0,
        time: Any = None,
        by: Any = None,
        gap: Any = None,
    ) -> None:
        model = unwrapped(model)
        self.rows = self.judged = self.rejected = 0
        self.worst = WorstRows(max(worst, BLAMED))
        self.monitor, self._judge = DriftMonitor(model, watch=False), Judge.of(model)
        self._p_values = _PValues()
        self._some = _SomeRows(pictured)
        self._first, self._names = first, dict[int, object]()  # of the worst
        self._timeline, self._run = Timeline(model, time, by), RunRows()
        self._finder = IncidentFinder(
            model, gap, timed=self._timeline.timed, most=_INCIDENTS, most_rows=_INCIDENTS
        )

    @property
    def columns(self) -> list[str]:
        """The columns beside those of the model that say when rows were, and of which group."""
        return self._timeline.columns

    def add(
        self, found: Judgement, names: Sequence[object] | None = None, rows: Any = None
    ) -> None:
        """Count more rows, which may have names of their own.

        `rows` is a table with the columns of time and groups; without it they are looked for among
        those that the model has read.
        """
        numbers = self.rows + np.arange(len(found))
        begin = self._first + self.rows
        called = range(begin, begin + len(found)) if names is None else names
        place = found if rows is None else rows
        times, groups = self._timeline.times(place, found), self._timeline.groups(place, found)
        self._finder.add(found, self._first + numbers, times, groups, names)
        self._run.add(begin, found.distances, times, names)
        self.monitor.update(found)
        self.worst.add(found, numbers)
        self._names.update((k, called[k - self.rows]) for k in self.worst.rows if k >= self.rows)
        self._names = {number: self._names[number] for number in self.worst.rows}
        self._some.add(found, self.rows, called)
        if found.p_values is not None:
            self._p_values.add(found.p_values[found.judged], found.outlier[found.judged])
        self.rows += len(found)
        self.judged += int(np.count_nonzero(found.judged))
        self.rejected += int(np.count_nonzero(found.outlier))

    @property
    def worst_numbers(self) -> list[int]:
        """The numbers of the rows farthest out, the worst first."""
        return [self._first + row for row in self.worst.rows]

    @property
    def worst_names(self) -> list[str]:
        """What the rows farthest out are called, the worst first."""
        return [str(self._names[number]) for number in self.worst.rows]

    def incidents(self) -> tuple[Incidents, int]:
        """Return the incidents with most outliers, and how many there are in all."""
        return self._finder.incidents(), self._finder.total

    def run_chart(self) -> RunChart | None:
        """Return how far out rows are, one after the other or over time."""
        return self._run.chart(self._judge.threshold, self.incidents()[0])

    def pictured(self) -> tuple[Judgement, Sequence[object]]:
        """Return the rows to draw and to check, in their order, and what they are called."""
        return self._some.found(), self._some.names

    def selected(self, fdr: float) -> tuple[float, int] | None:
        """Return up to which p-value rows are selected, and how many of the rejected ones are.

        None if the model is not calibrated.
        """
        return None if self._judge.calibration is None else self._p_values.selected(fdr)


class _PValues:
    """How many rows have which p-value: there are no more than rows that were calibrated on."""

    def __init__(self) -> None:
        self._values: Floats = np.empty(0)
        self._rows = self._rejected = np.empty(0, dtype=np.int64)

    def add(self, p: Floats, rejected: Booleans) -> None:
        both = np.concatenate([self._values, p])
        values, place = np.unique(both, return_inverse=True)
        self._rows = _sums(place, self._rows, np.ones(len(p)))
        self._rejected = _sums(place, self._rejected, rejected)
        self._values = values

    def selected(self, fdr: float) -> tuple[float, int]:
        cut = largest_selected(self._values, self._rows, fdr)
        return cut, int(self._rejected[self._values <= cut].sum())


def _sums(place: Integers, before: Integers, more: NDArray[Any]) -> Integers:
    return np.bincount(place, np.concatenate([before, more])).astype(np.int64)


class _SomeRows:
    """Rows with the smallest random numbers, all as long as they are few."""

    def __init__(self, most: int | None) -> None:
        self._most, self._limit = most, 1.0
        self._parts: list[Judgement] = []
        self._keys, self.names = np.empty(0), list[object]()

    def add(self, found: Judgement, first: int, names: Sequence[object]) -> None:
        keys = draws(_SEED, first, len(found))
        chosen = np.flatnonzero(keys <= self._limit)
        self._parts.append(found if self._most is None else _bare(found, chosen))
        self._keys = np.concatenate([self._keys, keys[chosen]])
        self.names += [names[k] for k in chosen.tolist()]
        if self._most is not None and len(self.names) > 2 * self._most:
            self._trim(self._most)

    def found(self) -> Judgement:
        if self._most is not None and len(self.names) > self._most:
            self._trim(self._most)
        return self._joined()

    def _joined(self) -> Judgement:
        return self._parts[0] if len(self._parts) == 1 else Judgement.joined(self._parts)

    def _trim(self, most: int) -> None:
        kept = np.sort(np.argsort(self._keys, kind="stable")[:most])
        self._limit = float(self._keys[kept].max())
        self._parts = [_bare(self._joined(), kept)]
        self._keys, self.names = self._keys[kept], [self.names[k] for k in kept.tolist()]


def _bare(found: Judgement, rows: Integers) -> Judgement:
    """Return some rows and their distances; what each column has to do with them takes room."""
    cells = None if found.cells is None else found.cells.take(rows)
    bare = Judgement(found.judge, found.rows[rows], cells=cells)
    bare.distances = found.distances[rows]
    return bare
