"""Rows that look least like the rest are left out of training: where the cut is, and how many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Floats, Integers
from refold.base.findings import Finding
from refold.modelfile import arrays
from refold.modelfile.fields import LARGEST_INTEGER, Field

# Of half of the rows nobody can say which half is the normal one.
MOST_TRIM = 0.5
# How many of the rows that were left out a finding names.
_NAMED = 10


@dataclass(frozen=True)
class Cut:
    """How odd a row may be to be learned from; frozen once the first rows have set it.

    What makes a row odd, the estimators say: how far out it lies for what was learned first.
    """

    limit: float  # A row that is odder is left out
    # The weight of the rows that came, and of those among them that were left out
    seen: float = 0.0
    left_out: float = 0.0

    @classmethod
    def of(cls, oddness: Floats, weights: Floats, share: float) -> Cut:
        """Put the cut where at most a share of the weight lies beyond; equal rows stay together.

        Examples
        --------
        >>> import numpy as np
        >>> from refold.models.trim import Cut
        >>> Cut.of(np.array([1.0, 5.0, 2.0, 2.0]), np.ones(4), 0.25).limit
        2.0
        """
        used = weights > 0.0
        values, group = np.unique(oddness[used], return_inverse=True)
        counts = np.bincount(group, weights=weights[used])
        from_here = np.cumsum(counts[::-1])[::-1]
        beyond = np.append(from_here[1:], 0.0)
        most = np.floor(share * from_here[0] * (1.0 + 1e-12))  # 0.29 · 100 must not be 28.99…
        return cls(float(values[np.argmax(beyond <= most)]))

    def kept(self, oddness: Floats, weights: Floats) -> Floats:
        """Return how often rows count: those beyond the cut for nothing."""
        return np.where(oddness > self.limit, 0.0, weights)

    def counting(self, weights: Floats, kept: Floats) -> Cut:
        """Return the same with more rows counted, which `kept` says what is left of."""
        return self.plus(Cut(self.limit, float(weights.sum()), float((weights - kept).sum())))

    def plus(self, other: Cut) -> Cut:
        """Return the same with the rows of both counted."""
        return replace(self, seen=self.seen + other.seen, left_out=self.left_out + other.left_out)

    def minus(self, other: Cut) -> Cut:
        """Return the same without the rows that another has counted."""
        seen, left_out = self.seen - other.seen, self.left_out - other.left_out
        return replace(self, seen=max(seen, 0.0), left_out=max(left_out, 0.0))

    def emptied(self) -> Cut:
        """Return the same with nothing counted yet."""
        return Cut(self.limit)

    def noticed(self, dropped: Integers) -> Finding:
        """Say how many rows were left out, and by number the oddest of them as far as known."""
        return Finding(
            kind="trimmed",
            rows=tuple(dropped[:_NAMED].tolist()),
            values=(self.left_out, self.seen),
            message=f"{self.left_out:,.6g} of {self.seen:,.6g} rows were left out of training: "
            "they look least like the rest.",
        )


def dropped(oddness: Floats, weights: Floats, cut: Cut) -> Integers:
    """Return the numbers of the rows beyond the cut, the oddest first."""
    beyond = np.flatnonzero((oddness > cut.limit) & (weights > 0.0))
    return np.asarray(beyond[np.argsort(-oddness[beyond], kind="stable")], dtype=np.int64)


def read_cut(field: Field) -> Cut:
    """Return a checked cut of a model file, whose members are the fields of Cut."""
    limit, seen, left_out = field.members("limit", "seen", "left_out")
    if not 0.0 <= left_out.number() <= seen.number():
        left_out.refuse("must be from 0 to all that were seen")
    if limit.number() < 0.0:
        limit.refuse("must not be negative")
    return Cut(float(limit.number()), float(seen.number()), float(left_out.number()))


def read_share(field: Field) -> float:
    """Return the share of rows to leave out, of a model file."""
    if not 0.0 <= field.number() < MOST_TRIM:
        field.refuse(f"must be from 0 to below {MOST_TRIM}")
    return float(field.number())


def read_dropped(field: Field) -> Integers:
    """Return the numbers of the rows that were left out, of a model file."""
    return arrays.integers(field, arrays.length_of(field, LARGEST_INTEGER, least=0), least=0)
