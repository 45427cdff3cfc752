"""Which columns of a table belong together: Cramér's V of every pair, as a small matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.columns.table import Column, DateColumn, NumberColumn

_BINS = 10  # of numbers and dates, with as many rows each
_VALUES = 20  # of texts; the others are one class
_ROWS, _COLUMNS = 10_000, 60  # looked at
_SHOWN = 12  # columns in the matrix
_SIGMAS = 4.0  # so far beyond what is expected of independent columns
_LEAST = 0.1  # what is less is no association worth a place


@dataclass(frozen=True, eq=False)
class Associations:
    """How much columns tell of one another."""

    names: tuple[str, ...]  #: columns that are associated with another one, the strongest first
    #: Cramér's V of each pair, corrected for bias: 0 none, 1 each tells the other. Numbers and
    #: dates are cut into tenths.
    values: Floats

    @property
    def strongest(self) -> list[tuple[str, str, float]]:
        """Each pair that is associated, the strongest first."""
        low, high = np.tril_indices(len(self.names), -1)
        pairs = [
            (self.names[j], self.names[i], float(self.values[i, j]))
            for i, j in zip(low, high, strict=True)
        ]
        return sorted((pair for pair in pairs if pair[2] >= _LEAST), key=lambda pair: -pair[2])


def associations_of(columns: Mapping[str, Column]) -> Associations:
    """Compare columns pair by pair; those without any association are left out."""
    named = dict(list(columns.items())[:_COLUMNS])
    codes = {name: found for name, cells in named.items() if len(found := _codes(cells))}
    names = [name for name, found in codes.items() if len(np.unique(found)) > 1]
    values = np.eye(len(names))
    for i in range(len(names)):
        for j in range(i):
            values[i, j] = values[j, i] = _cramers_v(codes[names[i]], codes[names[j]])
    best = np.where(np.eye(len(names), dtype=bool), 0.0, values).max(axis=1, initial=0.0)
    kept = [k for k in np.argsort(-best, kind="stable")[:_SHOWN].tolist() if best[k] >= _LEAST]
    return Associations(tuple(names[k] for k in kept), values[np.ix_(kept, kept)])


def _codes(cells: Column) -> Integers:
    """Return the class of each row, −1 of those without a value."""
    step = max(-(-len(cells) // _ROWS), 1)
    if isinstance(cells, NumberColumn | DateColumn):
        values = (cells.values if isinstance(cells, NumberColumn) else cells.seconds)[::step]
        seen = values[~np.isnan(values)]
        if len(seen) == 0:
            return np.empty(0, dtype=np.int64)
        edges = np.unique(np.quantile(seen, np.arange(1, _BINS) / _BINS, method="lower"))
        return np.where(np.isnan(values), -1, np.searchsorted(edges, values))
    frequent = np.argsort(-cells.counts, kind="stable")[:_VALUES]
    place = np.full(len(cells.values) + 1, _VALUES)  # the last is of missing cells
    place[frequent], place[-1] = np.arange(len(frequent)), -1
    return place[cells.codes[::step]]


def _cramers_v(a: Integers, b: Integers) -> float:
    """Return Cramér's V, less what chance makes of it (Bergsma 2013); 0 if it may be chance."""
    both = (a >= 0) & (b >= 0)
    n = int(np.count_nonzero(both))
    if n < 2:
        return 0.0
    (ours, a), (theirs, b) = (np.unique(codes[both], return_inverse=True) for codes in (a, b))
    rows, columns = len(ours), len(theirs)
    counts = np.bincount(a * columns + b, minlength=rows * columns).reshape(rows, columns)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    phi = float(((counts - expected) ** 2 / expected).sum()) / n
    freedom = (rows - 1) * (columns - 1)
    if n * phi <= freedom + _SIGMAS * (2.0 * freedom) ** 0.5:  # chi-squared
        return 0.0
    beyond = max(0.0, phi - freedom / (n - 1))
    fewer = min(size - (size - 1) ** 2 / (n - 1) for size in (rows, columns))
    return min(1.0, (beyond / (fewer - 1.0)) ** 0.5) if fewer > 1.0 else 0.0
