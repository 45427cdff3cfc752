"""How surprising it is to meet a value that so few rows have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.encoding.tally import Tally

# Where so large a share of the rows has a value of its own, values are names.
_OPEN = 0.5
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
    def of(cls, tally: Tally) -> Surprise:
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
        return self.singles == 0.0 and self.rows >= 10.0 * float(self.times.sum())

    @property
    def closed_but_for_one(self) -> bool:
        """Whether it was closed before one row came with a value of its own."""
        return self.singles == 1.0 and self.rows - 1.0 >= 10.0 * float(self.times.sum() - 1.0)

    def of_rows(self, have: Integers, *, left_out: LeftOut = False) -> Floats:
        """Return the surprise of values that so many rows have.

        Parameters
        ----------
        have : ndarray of int
            How many rows were counted with each value.
        left_out : bool or "exactly", default=False
            Whether the row in question is one of them, and is to be judged as if it were not.
        """
        if left_out == "exactly":
            return self._without_one(have)
        if len(have) > _FEW:
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

    def _computed(self, have: Integers, left_out: bool) -> Floats:
        # What many rows have is as surprising to a new one as to one of them: what learns from
        # these must not tell the two apart.
        r = have - 1 if left_out else np.where(have > MANY, have - 1, have)
        if self._open:
            r = np.maximum(r, 1)
        if self.rows == 0.0:
            return np.zeros(len(have))
        share = self._rows_up_to(r + 1) / self.rows
        share = np.where(r <= 0, min(max(self.singles, 1.0) / self.rows, 1.0), share)
        return _minus_log(share)

    def _without_one(self, have: Integers) -> Floats:
        """Return the surprise of rows by the counts that are left without each of them."""
        rows = self.rows - 1.0
        if rows <= 0.0:
            return np.zeros(len(have))
        r = np.where(have - 1 > MANY, have - 2, have - 1)
        if self._open:
            r = np.maximum(r, 1)
        share = (self._rows_up_to(r + 1) - (have <= r + 1)) / rows
        return _minus_log(np.where(r <= 0, max(self.singles - 1.0, 1.0) / rows, share))

    @property
    def _open(self) -> bool:
        """Whether it says nothing if one row had a value or none."""
        return self.singles >= _OPEN * self.rows

    def _rows_up_to(self, most: Integers) -> Floats:
        """Return Σ min(n_c, most)."""
        at = self.counts.searchsorted(most, side="right")
        below, above = self._sums
        return np.asarray(below[at] + most * above[at])


def _minus_log(share: Floats) -> Floats:
    return np.asarray(np.maximum(-np.log(np.clip(share, 1e-300, 1.0)), 0.0))
