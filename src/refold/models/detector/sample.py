"""Some of the rows of a table, as they were brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refold._typing import Floats
from refold.columns.table import Table
from refold.models.draws import draws

SIZE = 10_000


@dataclass(frozen=True, eq=False)
class RowSample:
    """At most 10,000 rows, each of all rows seen with the same chance.

    Parameters
    ----------
    seed : int
        Where the random numbers come from: that of a row depends on this and its place alone.
    seen : int
        How many rows have had theirs.
    keys : ndarray of shape (r,)
        The random numbers of the rows kept: the smallest.
    rows : Table or None
        These rows; None before the first.
    """

    seed: int
    seen: int = 0
    keys: Floats = field(default_factory=lambda: np.empty(0))
    rows: Table | None = None

    def plus_rows(self, table: Table) -> RowSample:
        """Return the sample with more rows to choose from."""
        keys = draws(self.seed, self.seen, table.rows)
        return self.plus(RowSample(self.seed, self.seen + table.rows, keys, table))

    def select(self, names: Sequence[str]) -> RowSample:
        """Return the same rows, and of their columns only some."""
        return self if self.rows is None else replace(self, rows=self.rows.select(names))

    def plus(self, other: RowSample) -> RowSample:
        """Return the sample of the rows of both."""
        keys = np.concatenate([self.keys, other.keys])
        parts = [sample.rows for sample in (self, other) if sample.rows is not None]
        rows = Table.concat(parts) if parts else None
        if rows is not None and len(keys) > SIZE:
            chosen = np.sort(np.argpartition(keys, SIZE)[:SIZE])
            keys, rows = keys[chosen], rows.take(chosen)
        return RowSample(self.seed, max(self.seen, other.seen), keys, rows)
