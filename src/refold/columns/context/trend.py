"""Numbers over time: the form of the trend, chosen by how well later rows are foreseen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from refold._typing import Booleans, Floats, Integers
from refold.base.errors import UserError
from refold.columns.context.design import learned_apart, ramps
from refold.columns.table import Column, DateColumn, NumberColumn, Table

Form = Literal["none", "line", "level"]
FORMS: tuple[Form, ...] = get_args(Form)

_KNOTS = 30
_DAY = 86_400.0
# Rows up to 30, 40, … 90 % of the span foresee all later tenths.
_ORIGINS = np.arange(3, 10) / 10.0
FIRST_ORIGIN = float(_ORIGINS[0])
_TENTHS = 10
FEWEST_TIMES = 20
# A form is taken that foresees better from so many of the seven origins.
_WINS = 5
# Or clearly from one, by so much per row, if what others lose is no more than a share of it all.
_CLEARLY, _MOST_LOST = 0.1, 0.25
# What was foreseen from an origin erred to one side if it is so many standard deviations off.
_ERRED = 0.3


@dataclass(frozen=True)
class TimeAxis:
    """The span of time that was learned."""

    column: str
    begin: float
    end: float  # of all rows; it moves on with them
    unit: float  # how long the first rows were: what shares are shares of

    @classmethod
    def learn(cls, table: Table, column: str) -> TimeAxis:
        """Take the span of a table."""
        times = seconds(table[column], column)
        times = times[~np.isnan(times)]
        if len(np.unique(times)) < FEWEST_TIMES:
            raise UserError(
                f"over={column!r} has {len(np.unique(times))} different times; a trend needs at "
                f"least {FEWEST_TIMES}. Leave over= out, or learn from more rows."
            )
        begin, end = float(times.min()), float(times.max())
        return cls(column, begin, end, end - begin)

    @property
    def last(self) -> float:
        """The share of the end: 1 until it moves on."""
        return (self.end - self.begin) / self.unit

    @property
    def tried(self) -> float:
        """How far ahead rows were foreseen while it learned."""
        return len(_ORIGINS) / _TENTHS * self.unit

    def text(self, *, dated: bool) -> str:
        """Return "learned until 2026-09-30, tried 90 days ahead"."""
        tried = self.tried
        if not dated:
            return f"learned until {self.end:.10g}, tried {tried:.3g} ahead"
        until = str(np.datetime64(int(self.end), "s"))
        until = until[:10] if tried >= _DAY else until.replace("T", " ")
        ahead = f"{tried / _DAY:.0f} days" if tried >= 2.0 * _DAY else f"{tried / 3600.0:.3g} hours"
        return f"learned until {until}, tried {ahead} ahead"

    def shares(self, table: Table) -> Floats:
        """Return when rows were: 0 at the beginning, 1 at the first end; a missing time is last."""
        times = seconds(table[self.column], self.column)
        share = (times - self.begin) / self.unit
        return np.where(np.isnan(share), self.last, share)

    def plus_rows(self, table: Table) -> TimeAxis:
        """Return the span until the last of further rows."""
        times = seconds(table[self.column], self.column)
        return replace(self, end=max(self.end, float(np.nanmax(times, initial=self.end))))


def seconds(cells: Column, name: str) -> Floats:
    """Return the times of a column of dates or numbers."""
    if isinstance(cells, DateColumn):
        if not cells.has_date:
            raise UserError(
                f"{name!r} holds times of day without a date: rows need a date as their time."
            )
        return cells.seconds
    if isinstance(cells, NumberColumn):
        return cells.values
    raise UserError(
        f"{name!r} holds texts, not dates or numbers: name another column as the time of rows."
    )


@dataclass(frozen=True)
class TrendFeatures:
    """A line over time, and a level that may change from each thirtieth of the span to the next.

    When the end has moved on there are more steps of the level; of more than sixty, two become one.
    """

    axis: TimeAxis

    @property
    def blocks(self) -> tuple[int, ...]:
        """The line; the level."""
        return (1, self._steps)

    @property
    def _doubled(self) -> int:
        """How often two steps have become one."""
        return max(int(np.ceil(np.log2(self.axis.last / 2.0 - 1e-9))), 0)

    @property
    def _width(self) -> float:
        """How long a step is, as a share."""
        return 2.0**self._doubled / _KNOTS

    @property
    def _steps(self) -> int:
        return int(np.ceil(self.axis.last / self._width - 1e-9))

    def of(self, table: Table) -> sparse.csr_array:
        """Return the features of rows; the level stays as it was at the end."""
        share = self.axis.shares(table)
        knots = self._width * np.arange(self._steps + 1, dtype=np.float64)
        return sparse.csr_array(np.column_stack([share - 1.0, *ramps(share, knots)]))

    def beyond(self, share: Floats) -> Floats:
        """Return how many steps of the level lie between the end and a time."""
        return np.maximum(share - self.axis.last, 0.0) / self._width

    def plus_rows(self, table: Table) -> TrendFeatures:
        """Return the features until the last of further rows."""
        return TrendFeatures(self.axis.plus_rows(table))

    def plus(self, other: TrendFeatures) -> TrendFeatures:
        """Return the features until the later end."""
        mine, theirs = self.axis, other.axis
        if (mine.begin, mine.unit) != (theirs.begin, theirs.unit):
            raise learned_apart()
        return self if mine.end >= theirs.end else other

    def within(self, other: TrendFeatures) -> sparse.csr_array:
        """Return what turns these features into those until a later end."""
        times = 2 ** (other._doubled - self._doubled)
        own = np.arange(self._steps)
        shape = (self._steps, other._steps)
        level = sparse.csr_array((np.full(len(own), 1.0 / times), (own, own // times)), shape=shape)
        return sparse.block_diag([np.ones((1, 1)), level], format="csr")


def tenths_ahead(share: Floats, origin: float) -> Floats:
    """Return how many tenths of the span a time is after another."""
    return np.maximum(share - origin, 0.0) * _TENTHS


@dataclass(frozen=True, eq=False)
class Foreseen:
    """What rows up to each origin say of later ones."""

    # z, likelihood: (n,): one for each origin; NaN where a row is not later.
    z: list[Floats]
    likelihood: list[Floats]
    share: Floats  # (n,): when the rows were

    def better_than(self, other: Foreseen) -> bool:
        """Return whether it foresees better, one tenth ahead and over all distances."""
        near: list[float] = []
        far: list[float] = []
        for origin, mine, theirs in zip(_ORIGINS, self.likelihood, other.likelihood, strict=True):
            later = ~np.isnan(mine) & ~np.isnan(theirs)
            next_tenth = later & next_rows(self.share, origin)
            for gains, rows in ((near, next_tenth), (far, later)):
                gains.append(float((mine - theirs)[rows].mean()) if rows.any() else 0.0)
        return _wins(near) and _wins(far)

    def spread_ahead(self) -> Floats:
        """Return how much wider numbers are spread than expected, 0, 1, … 7 tenths ahead."""
        ahead: list[list[Floats]] = [[] for _ in _ORIGINS]
        for origin, z in zip(_ORIGINS, self.z, strict=True):
            places = np.ceil(tenths_ahead(self.share, origin) - 1e-9).astype(np.int64)
            for k in range(len(_ORIGINS)):
                ahead[k].append(z[(places == k + 1) & ~np.isnan(z)])
        found = [1.0]
        for parts in ahead:
            values = np.minimum(np.abs(np.concatenate(parts)), 5.0)
            found.append(max(found[-1], float(np.sqrt((values**2).mean())) if len(values) else 1.0))
        return np.array(found)

    def one_ahead(self) -> Floats:
        """Return how each row was foreseen from the origin before it; NaN before the first."""
        out = np.full(len(self.share), np.nan)
        for origin, z in zip(_ORIGINS, self.z, strict=True):
            rows = next_rows(self.share, origin)
            out[rows] = z[rows]
        return out


def _wins(gains: list[float]) -> bool:
    """Say whether gains in log density, from each origin, are enough.

    Before a level changes nobody foresees it: few win then, by much, and others lose little.
    """
    won, lost = (sum(max(sign * gain, 0.0) for gain in gains) for sign in (1.0, -1.0))
    clearly = max(gains) > _CLEARLY and lost <= _MOST_LOST * won
    return clearly or sum(gain > 0.0 for gain in gains) >= _WINS


def origins(share: Floats) -> list[tuple[Booleans, Booleans]]:
    """Return for each origin the rows before it and those after."""
    return [(share <= origin, share > origin) for origin in _ORIGINS]


def next_rows(share: Floats, origin: float) -> Booleans:
    """Return the rows of the tenth after an origin."""
    return np.asarray((share > origin) & (tenths_ahead(share, origin) <= 1.0 + 1e-9))


def tenths_of(share: Floats) -> Integers:
    """Return the origin before each row, the first for those before it too."""
    tenths = np.ceil(tenths_ahead(share, FIRST_ORIGIN) - 1e-9).astype(np.int64) - 1
    return np.clip(tenths, 0, len(_ORIGINS) - 1)


def on_both_sides(scores: Floats, share: Floats) -> Floats:
    """Return 1 and -1 in turn for what was foreseen from each origin, if nearly all erred alike.

    A season that rose in all that was learned will fall: what comes next may lie as far to the
    other side.
    """
    parts = [next_rows(share, origin) & ~np.isnan(scores) for origin in _ORIGINS]
    errors = np.array([scores[rows].mean() if rows.any() else 0.0 for rows in parts])
    signs = np.ones(len(share))
    if max((errors > _ERRED).sum(), (errors < -_ERRED).sum()) >= _WINS:
        for rows in parts[1::2]:
            signs[rows] = -1.0
    return signs


def widened(ahead: Floats, tenths: Floats) -> Floats:
    """Return by what the spread is multiplied so far ahead; after the last, in proportion."""
    tried = len(ahead) - 1
    if tried == 0:
        return np.ones(len(tenths))
    inside = np.interp(tenths, np.arange(tried + 1), ahead)
    return np.where(tenths > tried, ahead[-1] * tenths / tried, inside)


@dataclass(frozen=True, eq=False)
class FeatureLayout:
    """How the features of the context are laid out."""

    blocks: list[int]  # how many features each block has
    trend: int  # the block of the line, which that of the level follows; -1 without a time
    groups: int  # how many groups there are

    def of_form(self, form: Form) -> tuple[Integers, list[int]]:
        """Return the features that a form of the trend has, and their blocks."""
        line, level = self.trend, self.trend + 1
        dropped = {"none": (line, level), "line": (level,), "level": (line,)}[form]
        kept = [k for k in range(len(self.blocks)) if self.trend < 0 or k not in dropped]
        first = np.cumsum([0, *self.blocks])
        features = np.concatenate([np.arange(first[k], first[k + 1]) for k in kept])
        return features, [self.blocks[k] for k in kept]
