"""Columns of texts and dates: how many rows are of each class, before and now.

A text is of the class of its value, and one that is no category of that of its shape; a date of
those of its hour and its weekday, and of those earlier or later than all of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.date_form import DateForm
from refold.columns.encoding.counts import ColumnCounts
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.plan import ColumnPlan
from refold.columns.encoding.shapes import count_shapes
from refold.columns.encoding.surprise import Surprise
from refold.columns.encoding.value_counts import ValueCounts
from refold.columns.role_findings import moment
from refold.columns.table import CellState, Column, DateColumn, TextColumn
from refold.monitoring.statistics import most_uneven, no_more_new, share_not_larger

Tallies = Mapping[str, ValueCounts]

HOURS = tuple(f"{hour} o'clock" for hour in range(24))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OTHERS = "(others)"
# A class that could not even have this p-value, however uneven, is counted with the others.
_TELLING = 1e-4


@dataclass(frozen=True, eq=False)
class ColumnClasses:
    """A column whose rows are divided into classes, and the training rows of each."""

    before: Tallies
    low: float = -np.inf
    high: float = np.inf
    ends: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, column: ColumnPlan, counts: ColumnCounts) -> ColumnClasses:
        """Take what was counted of training rows."""
        if not isinstance(counts, DateCounts):
            shapes = {} if column.role == "category" else {"shape": counts.collapsed}
            return cls({"value": counts.values, **shapes})
        if not column.ranged:  # the rows of one morning are all of one morning
            return cls({})
        ways = {}
        if counts.has_clock:
            ways["hour"] = ValueCounts.of(HOURS, counts.hours)
        if counts.has_date:
            ways["weekday"] = ValueCounts.of(WEEKDAYS, counts.weekdays)
        if not counts.has_date or counts.low > counts.high:
            return cls(ways)
        form = DateForm("iso", has_date=True, has_clock=counts.has_clock)
        ends = (f"before {moment(counts.low, form)}", f"after {moment(counts.high, form)}")
        within = ValueCounts(dict.fromkeys(ends, 0), int(counts.states[CellState.READABLE]))
        return cls({**ways, "range": within}, counts.low, counts.high, ends)

    def nothing(self) -> Tallies:
        """Have counted no row."""
        return dict.fromkeys(self.before, ValueCounts())

    def counted(self, cells: Column, chosen: Booleans) -> Tallies:
        """Count the chosen rows of a column."""
        if isinstance(cells, TextColumn):
            return self._texts(cells, chosen)
        assert isinstance(cells, DateColumn)
        return self._dates(cells, chosen)

    def _texts(self, texts: TextColumn, chosen: Booleans) -> Tallies:
        codes = texts.codes[chosen]
        missing = int(np.count_nonzero(codes < 0))
        counts = np.bincount(codes[codes >= 0], minlength=len(texts.values))
        ways = {"value": ValueCounts.of(texts.values, counts, missing)}
        if "shape" in self.before:
            _, ways["shape"] = count_shapes(texts.values, counts, missing)
        return ways

    def _dates(self, dates: DateColumn, chosen: Booleans) -> Tallies:
        seen = chosen & (dates.state == CellState.READABLE)
        ways = {}
        if "hour" in self.before:
            ways["hour"] = ValueCounts.of(HOURS, np.bincount(dates.hour[seen], minlength=24))
        if "weekday" in self.before:
            ways["weekday"] = ValueCounts.of(
                WEEKDAYS, np.bincount(dates.weekday[seen], minlength=7)
            )
        if "range" in self.before:
            seconds = dates.seconds[seen]
            outside = np.array([(seconds < self.low).sum(), (seconds > self.high).sum()])
            ways["range"] = ValueCounts(
                dict(zip(self.ends, outside.tolist(), strict=True)), len(seconds)
            )
        return ways

    def compared(self, now: Tallies, rejected: Tallies) -> list[ClassComparison]:
        """Put the classes of new rows beside those of training."""
        return [
            ClassComparison(way, before, now[way], rejected[way])
            for way, before in self.before.items()
        ]


def added(some: Tallies, more: Tallies) -> Tallies:
    """Return the counts of the rows of both."""
    return {way: tally.plus(more[way]) for way, tally in some.items()}


@dataclass(frozen=True, eq=False)
class ClassComparison:
    """The classes of one way to divide a column."""

    way: str
    before: ValueCounts
    now: ValueCounts
    rejected: ValueCounts

    @property
    def rows(self) -> int:
        """How many new rows have a class."""
        return self.now.rows - self.now.missing

    @property
    def rows_before(self) -> int:
        """How many training rows have one."""
        return self.before.rows - self.before.missing

    @once
    def _level(self) -> int:
        return max(self.before.level, self.now.level, self.rejected.level)

    @once
    def _values(self) -> tuple[list[str], Integers]:
        """All values whose counts are exact; and the counts before, now, and of rejected rows."""
        parts = [tally.sampled(self._level) for tally in (self.before, self.now, self.rejected)]
        values = sorted({*parts[0], *parts[1]})
        counts = [[part.get(value, 0) for value in values] for part in parts]
        return values, np.array(counts, dtype=np.int64).reshape(3, -1)

    @once
    def classes(self) -> tuple[list[str], Integers]:
        """The values that can tell something and, as one class, all others; and their counts.

        Which values these are depends on both samples together, not on how they are divided: so
        the p-values hold.
        """
        values, counts = self._values
        if self.way == "range":
            return values, counts
        telling = most_uneven(counts[0] + counts[1], self.rows, self.rows_before) <= _TELLING
        kept = counts[:, telling]
        rows = (self.rows_before, self.rows, self.rejected.rows - self.rejected.missing)
        others = np.array(rows) - kept.sum(axis=1)
        names = [value for value, tells in zip(values, telling.tolist(), strict=True) if tells]
        return [*names, OTHERS], np.column_stack([kept, others])

    @once
    def new(self) -> dict[str, int]:
        """How many rows have each value that training has not."""
        values, (before, now, _) = self._values
        return {values[k]: int(now[k]) for k in np.flatnonzero((before == 0) & (now > 0))}

    @property
    def unseen(self) -> float:
        """The share of the new rows with such a value; about, if not all values are kept."""
        return min(sum(self.new.values()) * 2.0**self._level / max(self.rows, 1), 1.0)

    @property
    def unseen_expected(self) -> float:
        """The same if nothing has changed, as Good and Turing estimate it: what came only once."""
        return min(Surprise.of(self.before).singles / max(self.rows_before, 1), 1.0)

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """The share of each class, before and now."""
        before, now, _ = self.classes[1]
        return before / max(self.rows_before, 1), now / max(self.rows, 1)

    @property
    def distance(self) -> float:
        """The largest difference between the shares of a class."""
        before, now = self.shares
        return float(np.abs(now - before).max(initial=0.0)) if self.rows else 0.0

    def p_values(self, outliers: int) -> Floats:
        """Return the p-value of each class, and of how many new values there are.

        Up to `outliers` of the rejected rows are left out, for each class those that bring its
        shares closest together.
        """
        before, now, rejected = self.classes[1]
        n, m = self.rows, self.rows_before
        outliers = min(outliers, n // 2)
        out = np.minimum(outliers, rejected)
        more = share_not_larger(now - out, n - out, before, m)
        if self.way == "range":  # of training no row is outside
            return more
        out = np.minimum(outliers, self.rejected.rows - self.rejected.missing - rejected)
        fewer = share_not_larger(n - out - now, n - out, m - before, m)
        either = np.minimum(2.0 * np.minimum(more, fewer), 1.0)
        return np.append(either, self._of_new(outliers))

    def _of_new(self, outliers: int) -> float:
        _, (before, now, rejected) = self._values
        new = (before == 0) & (now > 0)
        found = np.count_nonzero(new) - min(outliers, int(rejected[new].sum()))
        return no_more_new(int(found), self.rows, self.rows_before, before + now)


def column_p_value(comparisons: list[ClassComparison], outliers: int) -> float:
    """Return the chance that any class of a column differs so much if nothing has changed."""
    found = [p for each in comparisons if each.rows for p in each.p_values(outliers).tolist()]
    return min(len(found) * min(found, default=1.0), 1.0) if found else 1.0
