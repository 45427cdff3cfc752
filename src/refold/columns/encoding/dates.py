"""A column of dates or times: at which hours, on which days, from when to when, written how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.base.once import once
from refold.columns.encoding.surprise import LeftOut, Surprise
from refold.columns.encoding.value_counts import ValueCounts, less
from refold.columns.table import CellState, DateColumn

VIEWS = ("hour", "weekday", "form", "readable", "range")
HOURS, DAYS = 24, 7
_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class DateCounts:
    """What is kept of the rows."""

    # has_date, has_clock: What the column tells.
    has_date: bool
    has_clock: bool
    # hours, weekdays: (24,): how many rows have each.
    hours: Integers = field(default_factory=lambda: np.zeros(HOURS, dtype=np.int64))
    weekdays: Integers = field(default_factory=lambda: np.zeros(DAYS, dtype=np.int64))
    # (3,): how many rows are readable, missing, unreadable.
    states: Integers = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    shapes: ValueCounts = field(
        default_factory=ValueCounts
    )  # how they are written, if they are text
    # low, high: The earliest and the latest, in seconds.
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, dates: DateColumn) -> DateCounts:
        """Count a column."""
        seen = dates.state == CellState.READABLE
        seconds = dates.seconds[seen]
        shapes = dates.shapes
        return cls(
            dates.has_date,
            dates.has_clock,
            np.bincount(dates.hour[seen], minlength=HOURS),
            np.bincount(dates.weekday[seen], minlength=DAYS),
            np.bincount(dates.state, minlength=3),
            ValueCounts() if shapes is None else ValueCounts.of(shapes.values, shapes.counts),
            float(seconds.min(initial=np.inf)),
            float(seconds.max(initial=-np.inf)),
        )

    def plus(self, other: DateCounts) -> DateCounts:
        """Return the counts of the rows of both."""
        return replace(
            self,
            hours=self.hours + other.hours,
            weekdays=self.weekdays + other.weekdays,
            states=self.states + other.states,
            shapes=self.shapes.plus(other.shapes),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )

    def minus(self, other: DateCounts) -> DateCounts:
        """Return the counts without those rows; from when to when stays."""
        return replace(
            self,
            hours=less(self.hours, other.hours),
            weekdays=less(self.weekdays, other.weekdays),
            states=less(self.states, other.states),
            shapes=self.shapes.minus(other.shapes),
        )

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(self.states[CellState.MISSING])

    @property
    def has_range(self) -> bool:
        """Whether it is known from which day to which the rows are."""
        return self.has_date and self.low <= self.high

    @property
    def span(self) -> float:
        """From the first to the last day, or hour of a clock, in seconds."""
        return max(self.high - self.low, _DAY if self.has_date else 3600.0)

    def views(self, dates: DateColumn, *, ranged: bool, left_out: LeftOut = False) -> Floats:
        """Return how surprising each row is in each view.

        What is earlier than all is far out; what is later too, if the column is `ranged`: not so of
        a clock that runs on.
        """
        out = np.zeros((len(dates), len(VIEWS)))
        hours, weekdays, states, shapes = self._surprises
        seen = ~dates.is_null
        if self.has_clock:
            out[seen, 0] = hours.of_rows(self.hours, left_out=left_out)[dates.hour[seen]]
        if self.has_date:
            out[seen, 1] = weekdays.of_rows(self.weekdays, left_out=left_out)[dates.weekday[seen]]
        if dates.shapes is not None and self.shapes.rows:
            have = np.append(self.shapes.counts_of(dates.shapes.values), 0)
            surprise = shapes.of_rows(have, left_out=left_out)
            surprise[-1] = 0.0  # missing: another view says so
            out[:, 2] = surprise[dates.shapes.codes]
        if not dates.complete or self.states[1:].any():
            out[:, 3] = states.of_rows(self.states, left_out=left_out)[dates.state]
        if self.has_range:
            seconds = dates.seconds[seen]
            beyond = np.maximum(self.low - seconds, seconds - (self.high if ranged else np.inf))
            out[seen, 4] = np.maximum(beyond, 0.0) / self.span
        return out

    @once
    def _surprises(self) -> tuple[Surprise, Surprise, Surprise, Surprise]:
        """How surprising counts of hours, weekdays, states and shapes are."""
        hours, weekdays, states = map(Surprise.of_counts, (self.hours, self.weekdays, self.states))
        return hours, weekdays, states, Surprise.of(self.shapes)
