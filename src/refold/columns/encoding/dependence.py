"""A cell beside one other cell of its row: how surprising it is where that one is what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.encoding.surprise import LeftOut, surprise_by_row
from refold.columns.encoding.value_counts import less

# Codes of a column: its frequent values, all others, and none.
FREQUENT = 46
OTHER, NONE = FREQUENT, FREQUENT + 1
N_CODES = FREQUENT + 2
# A value that fewer rows have says nothing about what goes with it.
OFTEN = 5
BINS = 10
# What another column must tell of one, as a share of its entropy, to be looked at beside it.
_LEAST_SHARE = 0.02
# So many standard deviations are no chance, among so many pairs of columns.
_SIGMAS = 5.0
# A pair of values that nobody has is a contradiction if chance would have given it to so many rows.
_EXPECTED = 3.0
# Of more columns than this only some are compared with each other.
MOST_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """How many rows have each pair of codes of two columns."""

    counts: Integers  # (48, 48): by the code of the other column, and the own

    @classmethod
    def of(cls, beside: Integers, own: Integers) -> ContingencyTable:
        """Count rows."""
        pairs = np.bincount(beside * N_CODES + own, minlength=N_CODES**2)
        return cls(pairs.reshape(N_CODES, N_CODES))

    def plus(self, other: ContingencyTable) -> ContingencyTable:
        """Return the counts of the rows of both."""
        return ContingencyTable(self.counts + other.counts)

    def minus(self, other: ContingencyTable) -> ContingencyTable:
        """Return the counts without those rows, which were counted in."""
        return ContingencyTable(less(self.counts, other.counts))

    @once
    def surprise(self) -> Floats:
        """How surprising each own code is within the slice of the other."""
        return self._surprise(left_out=False)

    @once
    def surprise_left_out(self) -> Floats:
        """The same of a row that is counted, as if it were not."""
        return self._surprise(left_out=True)

    @once
    def surprise_left_out_exactly(self) -> Floats:
        """The same by the counts that are left without it."""
        return self._surprise(left_out="exactly")

    @once
    def contradictions(self) -> Booleans:
        """Which pairs no row has though they would be expected; none where one row alone has one.

        A pair that came once says that there are more to come.
        """
        never = self._expected & (self.counts == 0)
        return never if self._seen_once == 0 else np.zeros_like(never)

    @property
    def closed_but_for_one(self) -> bool:
        """Whether there were contradictions before one row came."""
        return self._seen_once == 1

    @property
    def _seen_once(self) -> int:
        return int((self._expected & (self.counts == 1)).sum())

    @once
    def _expected(self) -> Booleans:
        """Which pairs of frequent values would have rows if one did not tell of the other."""
        beside, own = self.counts.sum(axis=1), self.counts.sum(axis=0)
        often = np.outer(beside, own) >= _EXPECTED * max(int(beside.sum()), 1)
        often[OTHER:], often[:, OTHER:] = False, False
        return often

    def _surprise(self, *, left_out: LeftOut) -> Floats:
        out = np.zeros((N_CODES, N_CODES))
        slices = np.flatnonzero(self.counts.sum(axis=1) > bool(left_out))
        own = np.flatnonzero(self.counts.any(axis=0))
        # The last stands for all codes that no row has.
        counts = np.zeros((len(slices), len(own) + 1), dtype=np.int64)
        counts[:, :-1] = self.counts[np.ix_(slices, own)]
        found = surprise_by_row(counts, left_out)
        out[slices] = found[:, -1:]
        out[np.ix_(slices, own)] = found[:, :-1]
        return out


def partners(codes: Sequence[Integers]) -> list[int | None]:
    """Return for each column, given by its codes, the one that tells most about it, if one does.

    That is by the mutual information, less what chance makes of it, over the column's entropy.
    """
    columns = range(min(len(codes), MOST_COLUMNS))
    entropy = [_entropy(np.bincount(codes[j])) for j in columns]
    share = np.zeros((len(columns), len(columns)))
    for i in columns:
        for j in columns[:i]:
            told = _mutual_information(codes[i], codes[j])
            share[i, j] = told / entropy[i] if entropy[i] > 0.0 else 0.0
            share[j, i] = told / entropy[j] if entropy[j] > 0.0 else 0.0
    best = [int(share[j].argmax()) if share[j].max() > _LEAST_SHARE else None for j in columns]
    return best + [None] * (len(codes) - len(columns))


def _mutual_information(a: Integers, b: Integers) -> float:
    """Return what one column tells of the other, less what chance would; 0 if it may be chance."""
    counts = [np.bincount(codes) for codes in (a, b, a * N_CODES + b)]
    own, other, both = map(_entropy, counts)
    freedom = (np.count_nonzero(counts[0]) - 1) * (np.count_nonzero(counts[1]) - 1)
    # 2n times the information is about chi-squared, with a mean of `freedom`.
    beyond = 2.0 * len(a) * (own + other - both) - freedom
    return beyond / (2.0 * len(a)) if beyond > _SIGMAS * np.sqrt(2.0 * freedom) else 0.0


def _entropy(counts: Integers) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
