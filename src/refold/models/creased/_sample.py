"""A uniform sample of the rows seen, to calibrate on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.models.draws import draws

SIZE = 10_000


@dataclass(frozen=True, eq=False)
class Sample:
    """At most 10,000 rows, each of all rows seen with the same chance.

    Every row is given a random number; those with the smallest are kept. So samples of parts make
    the sample of the whole.
    """

    # Where the random numbers come from: that of a row depends on this and its place alone
    seed: int
    seen: int  # How many rows have had theirs
    keys: Floats  # (r,): the random numbers of the rows kept
    rows: Floats  # (r, d): these rows
    weights: Floats  # (r,): how often each counts

    @classmethod
    def empty(cls, seed: int, columns: int) -> Self:
        """Return the sample of no rows."""
        return cls(seed, 0, np.empty(0), np.empty((0, columns)), np.empty(0))

    def plus_rows(self, X: NDArray[Any], weights: Floats) -> Sample:
        """Return the sample with more rows to choose from; those that count for nothing are out."""
        keys = draws(self.seed, self.seen, len(X))
        keys[weights == 0.0] = np.inf
        chosen = _smallest(keys)
        rows = np.asarray(X[chosen], dtype=np.float64)
        more = Sample(self.seed, self.seen + len(X), keys[chosen], rows, weights[chosen])
        return self.plus(more)

    def plus(self, other: Sample) -> Sample:
        """Return the sample of the rows of both."""
        keys = np.concatenate([self.keys, other.keys])
        chosen = _smallest(keys)
        return Sample(
            self.seed,
            max(self.seen, other.seen),
            keys[chosen],
            np.concatenate([self.rows, other.rows])[chosen],
            np.concatenate([self.weights, other.weights])[chosen],
        )


def _smallest(keys: Floats) -> NDArray[np.intp]:
    """Return where the smallest keys are, in the order of the rows."""
    chosen = np.flatnonzero(np.isfinite(keys))
    if len(chosen) > SIZE:
        chosen = np.sort(chosen[np.argpartition(keys[chosen], SIZE)[:SIZE]])
    return chosen
