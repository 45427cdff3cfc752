"""How many rows have each value: it adds, merges and subtracts, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from refold._typing import Floats, Integers

# Different values that are kept of a column: about 8 MB of short ones.
MOST_VALUES = 2**16
_MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class Tally:
    """Values and their counts.

    Up to 65,536 different values are all kept. Of more, two kinds are: frequent ones, and a sample
    of the values, drawn by a hash of each, whose counts are exact. How many values have which count
    is told by the sample; a frequent one may be short by `error` rows.

    Parameters
    ----------
    counts : dict of str to int
        How many rows have each value that is kept.
    rows : int
        How many rows there are, those without a value among them.
    missing : int
        How many have none.
    level : int
        One value in 2**level is in the sample.
    error : int
        More rows than this have none of the values that are not kept.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    rows: int = 0
    missing: int = 0
    level: int = 0
    error: int = 0

    @classmethod
    def of(cls, values: Iterable[str], counts: Integers, missing: int = 0) -> Tally:
        """Count rows that were counted by value; a value may come twice."""
        found: dict[str, int] = {}
        for value, count in zip(values, counts.tolist(), strict=True):
            if count:
                found[value] = found.get(value, 0) + count
        return cls(found, int(counts.sum()) + missing, missing)._bounded()

    def plus(self, other: Tally) -> Tally:
        """Return the counts of the rows of both."""
        level = max(self.level, other.level)
        more, fewer = (self, other) if len(self.counts) >= len(other.counts) else (other, self)
        counts = dict(more.counts)
        for value, count in fewer.counts.items():
            counts[value] = counts.get(value, 0) + count
        return Tally(
            counts,
            self.rows + other.rows,
            self.missing + other.missing,
            level,
            self.error + other.error,
        )._bounded()

    def minus(self, other: Tally) -> Tally:
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
        return Tally(counts, self.rows - other.rows, missing, self.level, self.error)

    def counts_of(self, values: Iterable[str]) -> Integers:
        """Return how many rows have each value, 0 if none is known to."""
        get = self.counts.get
        return np.array([get(value, 0) for value in values], dtype=np.int64)

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
        sampled = np.fromiter(map(self._sampled, self.counts), dtype=np.bool_, count=len(counts))
        frequent = counts > self.error
        times = np.where(frequent, 1.0, np.where(sampled, 2.0**self.level, 0.0))
        if self.missing:
            counts, times = np.append(counts, self.missing), np.append(times, 1.0)
        found, group = np.unique(counts[times > 0.0], return_inverse=True)
        return found, np.bincount(group, weights=times[times > 0.0]).astype(np.float64)

    @property
    def distinct(self) -> int:
        """How many different values there are; about, if not all are kept."""
        if not self.level:
            return len(self.counts)
        return round(float(self.spectrum()[1].sum())) - bool(self.missing)

    def _sampled(self, value: str) -> bool:
        return _hash(value) >> (64 - self.level) == 0 if self.level else True

    def _bounded(self) -> Tally:
        """Let go of values until there is room for as many again."""
        if len(self.counts) <= MOST_VALUES:
            return self
        level = self.level
        hashes = {value: _hash(value) for value in self.counts}
        inside = list(self.counts)
        while len(inside) > MOST_VALUES // 4:
            level += 1
            inside = [value for value in inside if hashes[value] >> (64 - level) == 0]
        kept = {value: self.counts[value] for value in inside}
        others = [(count, value) for value, count in self.counts.items() if value not in kept]
        counts = np.array([count for count, _ in others])
        lost = int(np.partition(counts, -MOST_VALUES // 4)[-MOST_VALUES // 4])
        kept |= {value: count for count, value in others if count > lost}
        return Tally(kept, self.rows, self.missing, level, self.error + lost)


def _hash(value: str) -> int:
    """Return 64 bits that depend on the value alone: Python's hash changes with the process."""
    text = value.encode("utf-8", "surrogatepass")
    return ((zlib.crc32(text) << 32 | zlib.adler32(text)) * _MIXER + zlib.crc32(text)) % 2**64
