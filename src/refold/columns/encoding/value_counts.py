"""How many rows have each value: it adds, merges and subtracts, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.algorithm import kernels

# Different values that are kept of a column: about 8 MB of short ones.
MOST_VALUES = 2**16
_BITS = 63  # of a hash


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Values and their counts.

    Up to 65,536 different values are all kept. Of more, two kinds are: frequent ones, and a sample
    of the values, drawn by a hash of each, whose counts are exact. How many values have which count
    is told by the sample; a frequent one may be short by `error` rows.
    """

    # How many rows have each value that is kept.
    counts: Mapping[str, int] = field(default_factory=dict)
    rows: int = 0  # how many rows there are, those without a value among them
    missing: int = 0  # how many have none
    level: int = 0  # one value in 2**level is in the sample
    error: int = 0  # more rows than this have none of the values that are not kept

    @classmethod
    def of(cls, values: Sequence[str], counts: Integers, missing: int = 0) -> ValueCounts:
        """Count rows that were counted by value; each value comes once."""
        rows = int(counts.sum()) + missing
        if (counts == 0).any():
            some = np.flatnonzero(counts)
            values, counts = [values[k] for k in some.tolist()], counts[some]
        if len(values) <= MOST_VALUES:
            return cls(dict(zip(values, counts.tolist(), strict=True)), rows, missing)
        return cls._bounded(list(values), counts, cls({}, rows, missing))

    def plus(self, other: ValueCounts) -> ValueCounts:
        """Return the counts of the rows of both."""
        more, fewer = (self, other) if len(self.counts) >= len(other.counts) else (other, self)
        counts = {**more.counts, **fewer.counts}
        if len(counts) < len(more.counts) + len(fewer.counts):  # of names hardly any come again
            for value in more.counts.keys() & fewer.counts.keys():
                counts[value] += more.counts[value]
        both = ValueCounts(
            counts,
            self.rows + other.rows,
            self.missing + other.missing,
            max(self.level, other.level),
            self.error + other.error,
        )
        if len(counts) <= MOST_VALUES:
            return both
        return self._bounded(list(counts), np.fromiter(counts.values(), np.int64), both)

    def minus(self, other: ValueCounts) -> ValueCounts:
        """Return the counts without those rows, which were counted in."""
        counts = dict(self.counts)
        for value, count in other.counts.items():
            left = counts.get(value, 0) - count
            if left < 0 and not self.level:
                raise ValueError(f"Rows with the value {value!r} were never counted in.")
            if left > 0:
                counts[value] = left
            else:
                counts.pop(value, None)
        missing = self.missing - other.missing
        if missing < 0:
            raise ValueError("Rows without a value were never counted in.")
        return ValueCounts(counts, self.rows - other.rows, missing, self.level, self.error)

    def counts_of(self, values: Sequence[str]) -> Integers:
        """Return how many rows have each value, 0 if none is known to."""
        return np.fromiter(map(self.counts.get, values, repeat(0)), np.int64, len(values))

    def spectrum(self) -> tuple[Integers, Floats]:
        """Return the different counts, ascending, and about how many values have each.

        Missing is a value like others.
        """
        if not self.level:
            known = np.fromiter(self.counts.values(), dtype=np.int64, count=len(self.counts))
            known = np.append(known, self.missing) if self.missing else known
            found, number = np.unique(known, return_counts=True)
            return found, number.astype(np.float64)
        counts = np.fromiter(self.counts.values(), dtype=np.int64, count=len(self.counts))
        sampled = _sampled(kernels.hashes(list(self.counts)), self.level)
        frequent = counts > self.error
        times = np.where(frequent, 1.0, np.where(sampled, 2.0**self.level, 0.0))
        if self.missing:
            counts, times = np.append(counts, self.missing), np.append(times, 1.0)
        found, group = np.unique(counts[times > 0.0], return_inverse=True)
        return found, np.bincount(group, weights=times[times > 0.0]).astype(np.float64)

    @cached_property
    def distinct(self) -> int:
        """How many different values there are; about, if not all are kept."""
        if not self.level:
            return len(self.counts)
        return round(float(self.spectrum()[1].sum())) - bool(self.missing)

    @cached_property
    def most_usual(self) -> str:
        """The value that most rows have; of several the last by its letters, "" if none."""
        return max(self.counts, key=lambda each: (self.counts[each], each), default="")

    def sampled(self, level: int) -> Mapping[str, int]:
        """Return the counts of one value in 2**level, all exact; `level` is at least the own."""
        if not level:
            return self.counts
        inside = _sampled(kernels.hashes(list(self.counts)), level).tolist()
        return {v: n for (v, n), kept in zip(self.counts.items(), inside, strict=True) if kept}

    @staticmethod
    def _bounded(values: list[str], counts: Integers, whole: ValueCounts) -> ValueCounts:
        """Let go of values until there is room for as many again."""
        hashes, level = kernels.hashes(values), whole.level
        inside = _sampled(hashes, level)
        while inside.sum() > MOST_VALUES // 4:
            level += 1
            inside = _sampled(hashes, level)
        others = counts[~inside]
        lost = int(np.partition(others, -MOST_VALUES // 4)[-MOST_VALUES // 4])
        kept = np.flatnonzero(inside | (counts > lost)).tolist()
        found = {values[k]: int(counts[k]) for k in kept}
        return ValueCounts(found, whole.rows, whole.missing, level, whole.error + lost)


def _sampled(hashes: Integers, level: int) -> Booleans:
    """Say which values are in the sample, by their hashes."""
    return np.asarray(hashes >> (_BITS - level) == 0)


def less(counts: Integers, fewer: Integers) -> Integers:
    """Return counts without those of rows that were counted in."""
    left = counts - fewer
    if (left < 0).any():
        raise ValueError("Rows would be forgotten that were never counted; nothing was changed.")
    return left
