"""The smallest shift of a value from which on its row stays rejected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.progress import steps
from refold.checks._normal_rows import NormalRows
from refold.columns.summary import Summary
from refold.judgement import Judge

# Without a box: so few different values among 257 quantiles are the steps of a discrete column.
_FEW_VALUES = 64
# … if each came so often on average.
_OFTEN = 5
# So that a thousand times the range is still a number.
_LARGEST = np.finfo(np.float64).max / 1e4


class LearnedColumn(NamedTuple):
    """From where to where a column goes."""

    low: float  # the ends of what was taken as normal
    high: float
    scale: float  # what shifts are measured by: the range; of a constant column its value
    # Values within, ascending: all of a discrete column, else some that lie where others do.
    marks: Floats
    step: float  # the smallest step of a discrete column, else 0


def learned_columns(summary: Summary) -> list[LearnedColumn]:
    """Return what is remembered of each column."""
    return [_column(summary, j) for j in range(len(summary.low))]


def _column(summary: Summary, j: int) -> LearnedColumn:
    if summary.box is None:
        low, high = float(summary.low[j]), float(summary.high[j])
        values = np.unique(summary.quantiles[:, j])
        levels = values if len(values) <= min(_FEW_VALUES, summary.sampled / _OFTEN) else None
    else:
        low, high = float(summary.box.low[j]), float(summary.box.high[j])
        levels = summary.box.levels[j]
    if high > low:
        scale = min(high / 2.0 - low / 2.0, _LARGEST) * 2.0
    else:
        scale = min(abs(high), _LARGEST) or 1.0
    if levels is not None and len(levels) > 1:
        return LearnedColumn(low, high, scale, levels, float(np.diff(levels).min()))
    among = np.clip(summary.quantiles[::16, j], low, high)
    even = low + (high / 2.0 - low / 2.0) * np.arange(13) / 6.0
    return LearnedColumn(low, high, scale, np.unique(np.append(among, even)), 0.0)


# Rows are shifted in a column: so many, fewer where there are many columns, but at least a few.
_ROWS_PER_COLUMN, _ROWS_IN_ALL, _LEAST_ROWS = 200, 2_000, 50
# Up to so many ranges a shift counts as found; ten times as far is looked whether it stays so.
_FARTHEST = 100.0
# How far beyond the end of what was learned to go, in ranges.
_BEYOND = np.concatenate(
    [np.geomspace(10.0 * _FARTHEST, _FARTHEST, 8), 2.5 ** np.arange(4, -4, -1)]
)
_PRECISION, _SMALLEST = 0.02, 1e-6  # of the shift; of the range
_CELLS_AT_ONCE = 4_000_000
_FINITE = np.finfo(np.float64).max


class ShiftSearch:
    """All rows, columns and directions at once: each is a task of its own."""

    def __init__(self, judge: Judge, normal: NormalRows, columns: list[LearnedColumn]) -> None:
        self._judge, self._normal = judge, normal
        most = min(max(_ROWS_IN_ALL // len(columns), _LEAST_ROWS), _ROWS_PER_COLUMN)
        seen = [np.flatnonzero(~np.isnan(values))[:most] for values in normal.values.T]
        column = np.repeat(np.arange(len(columns)), [len(rows) for rows in seen])
        self._rows, self._columns = np.tile(np.concatenate(seen), 2), np.tile(column, 2)
        self._signs = np.repeat([1.0, -1.0], len(column))
        self._values = normal.values[self._rows, self._columns]
        self._steps = np.array([column.step for column in columns])
        self._scales = np.array([column.scale for column in columns])
        ends = np.array([[column.high, column.low] for column in columns])
        self._room = self._signs * (ends[self._columns, self._down] - self._values)
        self._rungs = _rungs(columns)

    def limits(self) -> list[tuple[Integers, Floats, Floats]]:
        """Return for each column its rows, and their shifts up and down; infinity if none."""
        lower, upper = self._bracketed()
        upper[lower > _FARTHEST * self._scales[self._columns]] = np.inf
        found = self._narrowed(lower, upper)
        columns = (self._columns == j for j in range(len(self._steps)))
        ways = ((here & (self._signs > 0), here & (self._signs < 0)) for here in columns)
        return [(self._rows[up], found[up], found[down]) for up, down in ways]

    @property
    def _down(self) -> Integers:
        return np.asarray(self._signs < 0, dtype=np.int64)

    def _bracketed(self) -> tuple[Floats, Floats]:
        """Try shifts from the largest down; return the first that is missed, the one before it."""
        lower, upper = np.zeros(len(self._rows)), np.full(len(self._rows), np.inf)
        going = np.arange(len(self._rows))
        for rung in steps(range(self._rungs.shape[2])):
            shifts = self._shifts(going, rung)
            going, shifts = going[shifts > 0.0], shifts[shifts > 0.0]  # others are through
            caught = self._rejected(going, shifts)
            upper[going[caught]], lower[going[~caught]] = shifts[caught], shifts[~caught]
            going = going[caught]
        return lower, upper

    def _shifts(self, tasks: Integers, rung: int) -> Floats:
        """Return how far it is to what is tried next."""
        there = self._rungs[self._down[tasks], self._columns[tasks], rung]
        return np.asarray(np.nan_to_num(self._signs[tasks] * (there - self._values[tasks])))

    def _narrowed(self, lower: Floats, upper: Floats) -> Floats:
        """Halve what is between a shift that is missed and one that is not."""
        steps, smallest = (a[self._columns] for a in (self._steps, _SMALLEST * self._scales))
        # Between two values of a discrete column there is nothing to try.
        open_ = np.isfinite(upper) & ((steps == 0.0) | (lower >= self._room * (1.0 - 1e-9)))
        while True:
            wide = upper - lower > np.maximum(np.maximum(_PRECISION * upper, smallest), 1.5 * steps)
            tasks = np.flatnonzero(open_ & wide)
            if len(tasks) == 0:
                return upper
            half, step = (upper[tasks] - lower[tasks]) / 2.0, steps[tasks]
            whole = np.divide(half, step, out=np.zeros_like(half), where=step > 0.0).round() * step
            shifts = lower[tasks] + np.where(step > 0.0, whole, half)
            caught = self._rejected(tasks, shifts)
            upper[tasks[caught]], lower[tasks[~caught]] = shifts[caught], shifts[~caught]

    def _rejected(self, tasks: Integers, shifts: Floats) -> Booleans:
        """Return whether rows are rejected after these shifts."""
        out = np.empty(len(tasks), dtype=bool)
        at_once = max(1, _CELLS_AT_ONCE // len(self._steps))
        for start in range(0, len(tasks), at_once):
            part = slice(start, start + at_once)
            mine = tasks[part]
            moved = self._normal.values[self._rows[mine]]
            to = self._values[mine] + self._signs[mine] * shifts[part]
            moved[np.arange(len(mine)), self._columns[mine]] = np.clip(to, -_FINITE, _FINITE)
            distances = self._normal.distances(self._judge, self._rows[mine], moved)
            out[part] = distances > self._judge.threshold
        return out


def _rungs(columns: list[LearnedColumn]) -> Floats:
    """Return the values to go to, of shape (2, d, k): up and down, the farthest first, then NaN."""
    ladders = [
        (
            _ladder(column, column.marks, column.high, 1.0),
            _ladder(column, column.marks[::-1], column.low, -1.0),
        )
        for column in columns
    ]
    longest = max(len(way) for ways in ladders for way in ways)
    out = np.full((2, len(columns), longest), np.nan)
    for j, ways in enumerate(ladders):
        for direction, way in enumerate(ways):
            out[direction, j, : len(way)] = way
    return out


def _ladder(column: LearnedColumn, marks: Floats, end: float, sign: float) -> Floats:
    """Return where to go: beyond what was learned, then down from mark to mark."""
    beyond = _BEYOND * column.scale
    if column.step > 0.0:
        beyond = np.unique(np.ceil(beyond / column.step * (1.0 - 1e-9)))[::-1] * column.step
    return np.concatenate([np.clip(end + sign * beyond, -_FINITE, _FINITE), marks[::-1]])
