"""How surprising it is to meet a value that so few rows have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.encoding.value_counts import ValueCounts

# Where so large a share of the rows has a value of its own, values are names.
_OPEN = 0.5
# Of fewer rows a value that two have says, as one that a single row has, that others may come: had
# it been closed, one new value in one of several columns would be more than the rates of alarms.
_FEW_ROWS = 250
# So many rows are as good as one more.
MANY = 10
# About a third of the rows are as surprising as this: nobody is surprised.
USUAL = 1.0
# So many at a time are looked up among those that were computed before.
_FEW = 64

# Whether rows were counted: no; yes, and what learns from them must not tell them from new rows,
# which have the same few surprises; or yes, and they are judged exactly as if they had not been.
LeftOut = bool | Literal["exactly"]


@dataclass(frozen=True, eq=False)
class Surprise:
    """−ln T(r), T(r) being the chance to meet a value that at most r rows have, or one as rare.

    T(r) = Σ min(n_c, r + 1) / n over all values c that n_c of the n rows have: values that are all
    alike surprise nobody, nor does a new one where each was. For r = 0 it is Good and Turing's
    estimate, N₁/n, N₁ being the values that one row has, at least 1.
    """

    counts: Integers  # the different counts n_c, ascending
    times: Floats  # how many values have each

    @classmethod
    def of(cls, tally: ValueCounts) -> Surprise:
        """Take the counts of a tally."""
        return cls(*tally.spectrum())

    @classmethod
    def of_counts(cls, counts: Integers) -> Surprise:
        """Take counts; 0 is nobody's."""
        found, times = np.unique(counts[counts > 0], return_counts=True)
        return cls(found, times.astype(np.float64))

    @cached_property
    def rows(self) -> float:
        """The number of rows."""
        return float(self.counts @ self.times)

    @cached_property
    def singles(self) -> float:
        """How many values one row has."""
        return float(self.times[self.counts == 1].sum())

    @property
    def closed(self) -> bool:
        """Whether there seem to be no further values: each came several times, most many times."""
        return self._closed_without(0.0)

    @property
    def closed_but_for_one(self) -> bool:
        """Whether it was closed before one row came with a value of its own."""
        return self.singles == 1.0 and self._closed_without(1.0)

    def _closed_without(self, alone: float) -> bool:
        """Say it of the rows but for some that have a value of their own."""
        rows, values = self.rows - alone, float(self.times.sum()) - alone
        rare = self.times[self.counts <= (2 if rows < _FEW_ROWS else 1)].sum() - alone
        return bool(rare == 0.0 and rows >= 10.0 * values)

    def of_rows(self, have: Integers, *, left_out: LeftOut = False) -> Floats:
        """Return the surprise of values that so many rows have, the own among them if left out."""
        if left_out == "exactly" or len(have) > _FEW:
            return self._computed(have, left_out)
        known, asked = self._left_out if left_out else self._new, have.tolist()
        if not known.keys() >= set(asked):
            known.update(zip(asked, self._computed(have, left_out).tolist(), strict=True))
        return np.array([known[count] for count in asked])

    @cached_property
    def _new(self) -> dict[int, float]:
        """The surprise of a new row by how many rows have its value, as far as it was asked for."""
        return {}

    @cached_property
    def _left_out(self) -> dict[int, float]:
        """The same of one of these rows."""
        return {}

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The rows of all values with fewer rows than each count, and how many values have more."""
        below, above = np.zeros((2, len(self.counts) + 1))
        np.cumsum(self.counts * self.times, out=below[1:])
        np.cumsum(self.times[::-1], out=above[1:])
        return below, above[::-1]

    def _computed(self, have: Integers, left_out: LeftOut) -> Floats:
        if self.rows <= float(left_out == "exactly"):
            return np.zeros(len(have))
        return _surprise(have, self._rows_up_to, self.rows, self.singles, left_out)

    def _rows_up_to(self, most: Integers) -> Floats:
        """Return Σ min(n_c, most)."""
        at = self.counts.searchsorted(most, side="right")
        below, above = self._sums
        return np.asarray(below[at] + most * above[at])


def surprise_by_row(counts: Integers, left_out: LeftOut) -> Floats:
    """Return the surprise of each count among those of its row, which each have rows to count."""

    def rows_up_to(most: Integers) -> Integers:
        return np.asarray(np.minimum(counts[:, None, :], most[:, :, None]).sum(axis=2))

    rows = counts.sum(axis=1, keepdims=True)
    singles = (counts == 1).sum(axis=1, keepdims=True)
    return _surprise(counts, rows_up_to, rows, singles, left_out)


def _surprise(
    have: Integers,
    rows_up_to: Callable[[Integers], Floats | Integers],
    rows: float | Integers,
    singles: float | Integers,
    left_out: LeftOut,
) -> Floats:
    """Return −ln T of values that so many rows have; `rows_up_to` is Σ min(n_c, most)."""
    without = left_out == "exactly"  # by the counts that are left without each row
    counted = have - 1 if without else have
    # What many rows have is as surprising to a new one as to one of them: what learns from
    # these must not tell the two apart.
    r = have - 1 if left_out is True else np.where(counted > MANY, counted - 1, counted)
    # Where most values have one row, it says nothing whether a value has one or none.
    r = np.where(singles >= _OPEN * rows, np.maximum(r, 1), r)
    total = rows - without
    share = (rows_up_to(r + 1) - (without & (have <= r + 1))) / total
    share = np.where(r <= 0, np.maximum(singles - without, 1.0) / total, share)
    return np.asarray(np.maximum(-np.log(np.maximum(share, 1e-300)), 0.0))
