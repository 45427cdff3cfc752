"""Rows in their context, how far their numbers are off, and these in the column's own unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from refold._typing import Booleans, Floats, Integers
from refold.columns.context.spread import t_values

if TYPE_CHECKING:
    from refold.columns.context.column_context import ColumnContext


@dataclass(frozen=True, eq=False)
class ContextScores:
    """How far numbers are from what their context lets expect."""

    z: Floats  # (n,): in standard deviations, as of a normal distribution
    # expected, spread, freedom: (n,): ``t = (y - expected) / spread`` has a t distribution with so
    # many degrees of freedom; y is the number, or its logarithm, in the units of the model.
    expected: Floats
    spread: Floats
    freedom: Floats


@dataclass(frozen=True, eq=False)
class ContextRows:
    """Rows to learn from or to judge: features of their context, group, and when they were."""

    x: sparse.csr_array
    groups: Integers
    # share, tenths, steps: When they were, from 0 to 1; how many tenths of the span after the end;
    # and how many steps of the level. None without a time.
    share: Floats | None = None
    tenths: Floats | None = None
    steps: Floats | None = None

    def take(self, rows: Booleans | slice) -> ContextRows:
        """Return some of them."""
        times = (self.share, self.tenths, self.steps)
        return ContextRows(
            self.x[rows],
            self.groups[rows],
            *(None if each is None else each[rows] for each in times),
        )


@dataclass(frozen=True, eq=False)
class ContextUnits:
    """Turns scores of a column into numbers in its own unit, row by row."""

    column: ColumnContext
    scores: ContextScores
    values: Floats

    def number(self, row: int, z: float, *, more: int = 0, farther: bool = False) -> float:
        """Return the number that would have this score in the row, rounded, to `more` digits.

        With `farther` it does not come nearer to the number of the row by that.
        """
        found = self.scores
        t = float(t_values(np.array([z]), found.freedom[[row]])[0])
        value = self.column.number(found.expected[row] + found.spread[row] * t)
        digits, own = self._digits(row) + more, float(self.values[row])
        near = round(value, digits)
        if farther and abs(near - own) < abs(value - own):
            near = round(value + float(np.copysign(10.0**-digits, value - own)), digits)
        return near

    def numbers(self, rows: Integers, z: Floats) -> Floats:
        """Return the numbers that would have these scores in rows, not rounded."""
        found = self.scores
        finite = np.where(np.isfinite(z), z, 0.0)
        t = t_values(finite, found.freedom[rows])
        y = (found.expected[rows] + found.spread[rows] * t) * self.column.scale + self.column.middle
        numbers = np.exp(np.minimum(y, 700.0)) if self.column.log else y
        return np.where(np.isfinite(z), numbers, np.nan)

    def _digits(self, row: int) -> int:
        """Return how many digits behind the point a hundredth of the spread has."""
        middle, spread = self.scores.expected[row], self.scores.spread[row]
        width = abs(self.column.number(middle + spread) - self.column.number(middle))
        return int(np.clip(np.ceil(2.0 - np.log10(width)), 0, 300)) if width > 0.0 else 15
