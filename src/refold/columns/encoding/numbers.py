"""Columns of numbers: how far out each value is after folding, and whether there is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats, Integers
from refold.algorithm.chain import FoldChain
from refold.algorithm.engines import exact
from refold.algorithm.engines.sketch import Sketch
from refold.base.once import once
from refold.columns.box import weighted_quantiles, zero_as_end
from refold.columns.encoding.value_counts import less

VIEWS = ("value", "readable")
N_ITER, _MAX_GAIN = 101, 1e6
# Among more rows than this one row moves no fold; among fewer, rows are folded by the others.
_FEW = 10_000
_PARTS = 10
# Magnitudes are multiples of 1/GRID: equal values have equal ones, whatever else their rows lack
# and whichever language adds them up. What learns from them may have steps where many rows are.
GRID = 2.0**32


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """What is kept of all columns of numbers."""

    sketch: Sketch  # their values
    states: Integers  # (d, 3): how many rows of each are readable, missing, unreadable

    @classmethod
    def of(cls, X: Floats, unreadable: Integers, *, n_jobs: int | None = None) -> NumberCounts:
        """Count rows: numbers, NaN where there is none, and how many of these were unreadable."""
        missing = np.isnan(X).sum(axis=0) - unreadable
        states = np.column_stack([len(X) - missing - unreadable, missing, unreadable])
        return cls(Sketch.of(X, n_jobs=n_jobs), states.astype(np.int64))

    def plus(self, other: NumberCounts) -> NumberCounts:
        """Return the counts of the rows of both."""
        return NumberCounts(self.sketch.plus(other.sketch), self.states + other.states)

    def minus(self, other: NumberCounts) -> NumberCounts:
        """Return the counts without those rows."""
        return NumberCounts(self.sketch.minus(other.sketch), less(self.states, other.states))

    @once
    def chain(self) -> FoldChain:
        """The folds of all rows."""
        return _chain(self.sketch, None)

    @once
    def zero_ends(self) -> tuple[Floats, Floats]:
        """(d,) each: zero where a column never crosses it, as floor and as ceiling; else infinite.

        Bins of a sketch tell as much as values.
        """
        ends = np.tile([-np.inf, np.inf], (len(self.sketch.histograms), 1))
        for k, histogram in enumerate(self.sketch.histograms):
            if histogram.rows:
                values, counts = histogram.centroids()
                (median,) = weighted_quantiles(values, counts, (0.5,))
                ends[k] = zero_as_end(histogram.low, histogram.high, values, counts, median)
        return ends[:, 0], ends[:, 1]

    def magnitudes(self, X: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return how far out each value is, on average over the levels of folding; 0 if missing."""
        return _magnitudes(self.chain, X, n_jobs)

    def left_out(self, X: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return the same of rows that were counted, as if they had not been."""
        if self.sketch.rows > _FEW:
            return self.magnitudes(X, n_jobs=n_jobs)
        out = np.empty(X.shape)
        parts = min(_PARTS, len(X))
        for part in range(parts):
            rows = slice(part, None, parts)
            if len(X) == self.sketch.rows:  # in their context they may be others than were counted
                rest = Sketch.of(np.delete(X, rows, axis=0), n_jobs=n_jobs)
            else:
                rest = self.sketch.minus(Sketch.of(X[rows], n_jobs=n_jobs))
            chain = self.chain if _has_empty(rest) else _chain(rest, n_jobs)
            out[rows] = _magnitudes(chain, X[rows], n_jobs)
        return out


def _has_empty(sketch: Sketch) -> bool:
    return any(histogram.rows == 0 for histogram in sketch.histograms)


def _chain(sketch: Sketch, n_jobs: int | None) -> FoldChain:
    gain = min(max(sketch.weight, 1.0), _MAX_GAIN)
    return sketch.chain(n_iter=N_ITER, fold="abs", max_gain=gain, n_jobs=n_jobs)


def _magnitudes(chain: FoldChain, X: Floats, n_jobs: int | None) -> Floats:
    missing = np.isnan(X)
    if not missing.any():
        _, out = exact.contributions(chain, X, "l1", path=True, n_jobs=n_jobs)
        out *= X.shape[1] * GRID
    else:
        observed, out = (~missing).sum(axis=1), np.zeros(X.shape)
        some = observed > 0
        _, parts = exact.contributions(chain, X[some], "l1", path=True, n_jobs=n_jobs)
        out[some] = parts * observed[some, None] * GRID
    return np.asarray(np.rint(out, out=out) / GRID)
