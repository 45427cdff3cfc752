"""A column of dates or times: at which hours, on which days, from when to when, written how."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.encoding.shapes import shapes_of
from refold.columns.encoding.surprise import Surprise
from refold.columns.encoding.tally import Tally, less
from refold.columns.observed import Moments, Texts

VIEWS = ("hour", "weekday", "form", "readable", "range")
HOURS, DAYS = 24, 7
READABLE, MISSING, UNREADABLE = range(3)
_DAY = 86_400.0
_THURSDAY = 3  # 1 January 1970, counted from Monday


@dataclass(frozen=True, eq=False)
class Dated:
    """A column of dates as the views need it.

    Parameters
    ----------
    moments : Moments
        What could be read.
    state : ndarray of shape (n,)
        Whether each was readable (0), missing (1) or unreadable (2).
    shapes : Texts or None
        How each was written, if it was text.
    """

    moments: Moments
    state: Integers
    shapes: Texts | None

    @classmethod
    def of(cls, moments: Moments, unreadable: Booleans, texts: Texts | None) -> Dated:
        """Put together what was read and what was written."""
        state = np.where(unreadable, UNREADABLE, np.where(np.isnan(moments.seconds), MISSING, 0))
        if texts is None:
            return cls(moments, state, None)
        codes, shapes = shapes_of(texts.values)
        return cls(moments, state, Texts(shapes, np.append(codes, -1)[texts.codes]))

    @once
    def hour(self) -> Integers:
        """The hour of each row's clock, -1 where there is none."""
        return self._whole(np.mod(self.moments.seconds, _DAY) // 3600.0)

    @once
    def weekday(self) -> Integers:
        """The day of the week, Monday is 0, -1 where there is none."""
        return self._whole(np.mod(self.moments.seconds // _DAY + _THURSDAY, 7.0))

    def _whole(self, values: Floats) -> Integers:
        return np.where(np.isnan(values), -1.0, values).astype(np.int64)


@dataclass(frozen=True, eq=False)
class DateCounts:
    """What is kept of the rows.

    Parameters
    ----------
    has_date, has_clock : bool
        What the column tells.
    hours, weekdays : ndarray of shape (24,), (7,)
        How many rows have each.
    states : ndarray of shape (3,)
        How many rows are readable, missing, unreadable.
    shapes : Tally
        How they are written, if they are text.
    low, high : float
        The earliest and the latest, in seconds.
    """

    has_date: bool
    has_clock: bool
    hours: Integers = field(default_factory=lambda: np.zeros(HOURS, dtype=np.int64))
    weekdays: Integers = field(default_factory=lambda: np.zeros(DAYS, dtype=np.int64))
    states: Integers = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    shapes: Tally = field(default_factory=Tally)
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, dated: Dated) -> DateCounts:
        """Count a column."""
        seen = dated.state == READABLE
        seconds = dated.moments.seconds[seen]
        shapes = dated.shapes
        return cls(
            dated.moments.has_date,
            dated.moments.has_clock,
            np.bincount(dated.hour[seen], minlength=HOURS),
            np.bincount(dated.weekday[seen], minlength=DAYS),
            np.bincount(dated.state, minlength=3),
            Tally() if shapes is None else Tally.of(shapes.values, shapes.counts),
            float(seconds.min(initial=np.inf)),
            float(seconds.max(initial=-np.inf)),
        )

    def plus(self, other: DateCounts) -> DateCounts:
        """Return the counts of the rows of both."""
        return DateCounts(
            self.has_date,
            self.has_clock,
            self.hours + other.hours,
            self.weekdays + other.weekdays,
            self.states + other.states,
            self.shapes.plus(other.shapes),
            min(self.low, other.low),
            max(self.high, other.high),
        )

    def minus(self, other: DateCounts) -> DateCounts:
        """Return the counts without those rows; from when to when stays."""
        return DateCounts(
            self.has_date,
            self.has_clock,
            less(self.hours, other.hours),
            less(self.weekdays, other.weekdays),
            less(self.states, other.states),
            self.shapes.minus(other.shapes),
            self.low,
            self.high,
        )

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(self.states[MISSING])

    @property
    def span(self) -> float:
        """From the first to the last day, or hour of a clock, in seconds."""
        return max(self.high - self.low, _DAY if self.has_date else 3600.0)

    def views(self, dated: Dated, *, ranged: bool, left_out: bool = False) -> Floats:
        """Return how surprising each row is in each view.

        Parameters
        ----------
        dated : Dated
            The rows.
        ranged : bool
            Whether what is earlier or later than all is far out; not so of a clock that runs on.
        left_out : bool, default=False
            Whether these rows were counted, and are to be judged as if they were not.
        """
        out = np.zeros((len(dated.state), len(VIEWS)))
        seen = dated.state == READABLE
        if self.has_clock:
            out[seen, 0] = _surprise(self.hours, dated.hour[seen], left_out)
        if self.has_date:
            out[seen, 1] = _surprise(self.weekdays, dated.weekday[seen], left_out)
        if dated.shapes is not None and self.shapes.rows:
            have = np.append(self.shapes.counts_of(dated.shapes.values), 0)
            surprise = Surprise.of(self.shapes).of_rows(have, left_out=left_out)
            surprise[-1] = 0.0  # missing: another view says so
            out[:, 2] = surprise[dated.shapes.codes]
        out[:, 3] = _surprise(self.states, dated.state, left_out)
        if ranged and self.has_date and self.low <= self.high:
            seconds = dated.moments.seconds[seen]
            beyond = np.maximum(self.low - seconds, seconds - self.high)
            out[seen, 4] = np.maximum(beyond, 0.0) / self.span
        return out


def _surprise(counts: Integers, codes: Integers, left_out: bool) -> Floats:
    return Surprise.of_counts(counts).of_rows(counts, left_out=left_out)[codes]
