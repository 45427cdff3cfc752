"""Everything that is kept of the rows seen; it adds up over chunks and sites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm import kernels
from refold.algorithm.engines.sketch import Sketch
from refold.base.once import fields_only, once
from refold.columns.box import Box
from refold.columns.extremes import TableExtremes, extremes_of, join_extremes
from refold.columns.summary import Summary
from refold.models.creased import row_sample
from refold.models.creased.creases import Creases
from refold.models.creased.leverage import Sums
from refold.models.creased.row_sample import Sample, n_threads
from refold.models.trim import Cut, dropped

Parts = tuple[tuple[NDArray[Any], Floats], ...]


@dataclass(frozen=True, eq=False)
class CreasedCut:
    """A cut, and by what a row lies beyond it; what is learned later changes neither.

    A row is as odd as its folded values are large. Their leverage would not do: a few rows that are
    alike buy themselves a direction of their own, in which they are ordinary.
    """

    creases: Creases  # Of the first rows, all of them
    cut: Cut  # Up to which sum of squares of the folded values rows are learned

    @classmethod
    def of(cls, creases: Creases, parts: Parts, share: float, n_jobs: int | None) -> CreasedCut:
        """Put the cut where at most a share of the rows lies beyond."""
        found = cls(creases, Cut(np.inf))
        odd = np.concatenate([found.oddness(X, n_jobs) for X, _ in parts])
        return cls(creases, Cut.of(odd, np.concatenate([w for _, w in parts]), share))

    def oddness(self, X: NDArray[Any], n_jobs: int | None = 1) -> Floats:
        """Return how odd each row is."""
        threads = n_threads(len(X) * self.creases.n_outputs, n_jobs)
        return kernels.crease_norms(self.creases.map, X, threads)

    def kept(self, X: NDArray[Any], counts: Floats, n_jobs: int | None = 1) -> Floats:
        """Return how often rows count: those beyond the cut for nothing."""
        return self.cut.kept(self.oddness(X, n_jobs), counts)

    def dropped(self, X: NDArray[Any], counts: Floats, n_jobs: int | None = 1) -> Integers:
        """Return the numbers of the rows beyond the cut, the oddest first."""
        return dropped(self.oddness(X, n_jobs), counts, self.cut)

    def counting(self, counts: Floats, kept: Floats) -> CreasedCut:
        """Return the same with more rows counted."""
        return replace(self, cut=self.cut.counting(counts, kept))

    def plus(self, other: CreasedCut) -> CreasedCut:
        """Return the same with the rows of both counted."""
        return replace(self, cut=self.cut.plus(other.cut))

    def emptied(self) -> CreasedCut:
        """Return the same with no rows counted."""
        return replace(self, cut=self.cut.emptied())


LEAST_CREASES = 256
# From so many rows on so many.
_CREASES_AT = {5_000: 512, 20_000: 1024}


@dataclass(frozen=True)
class Recipe:
    """What the creases are made by; see CreasedREF.

    `n_creases` is None for as many as the rows carry; so many of the last columns as `magnitudes`
    says are no values of the user's; `trim` is the share of the first rows that is left out.
    """

    n_creases: int | None
    n_levels: int
    ridge: float
    n_init: int
    seed: int
    box: float
    magnitudes: int
    trim: float

    def creases_of(self, rows: Floats, counts: Floats, n_jobs: int | None) -> Creases:
        """Make creases from rows that all count."""
        return Creases.of(
            rows,
            counts,
            n_creases=self.n_creases or enough_creases(counts.sum()),
            n_levels=self.n_levels,
            ridge=self.ridge,
            seed=self.seed,
            blind=self.box > 0.0,
            n_jobs=n_jobs,
        )


def enough_creases(rows: float) -> int:
    """Return how many creases so many rows carry.

    On ADBench's large sets twice as many add up to 4 points of AUROC, and take 2.5 times as long;
    below 5,000 rows they add little.
    """
    return max((n for least, n in _CREASES_AT.items() if rows >= least), default=LEAST_CREASES)


@dataclass(frozen=True, eq=False)
class TrainingState:
    """The creases, the sums, a sample and a sketch of the rows; nothing is changed in place."""

    recipe: Recipe  # Parameters, and the seed of everything random
    # Rows that wait until there are `n_init` to make the creases from
    waiting: tuple[tuple[Floats, Floats], ...]
    creases: Creases | None  # None as long as rows wait
    sums: Sums | None  # The sums of the features of all rows
    sample: Sample  # Some of the rows, to calibrate on
    sketch: Sketch | None  # All rows, column by column; None before the first
    # The outermost values and the levels of all rows, column by column; None before the first
    edges: TableExtremes | None
    # Which rows are left out of all but the sample; None if none are, or as long as rows wait
    cut: CreasedCut | None = None

    @classmethod
    def nothing(cls, recipe: Recipe, columns: int) -> Self:
        """Return what is known before the first row."""
        return cls(recipe, (), None, None, Sample.empty(recipe.seed, columns), None, None)

    @property
    def weight(self) -> float:
        """The weight of the rows."""
        if self.sums is not None:
            return self.sums.weight
        return float(sum(w.sum() for _, w in self.waiting))

    @property
    def seen(self) -> float:
        """The weight of the rows that came, of those beyond the cut too."""
        return self.weight if self.cut is None else self.cut.cut.seen

    def plus_rows(
        self, X: NDArray[Any], weights: Floats | None, *, last: bool, n_jobs: int | None = None
    ) -> TrainingState:
        """Return this and more rows; with `last` no further ones are waited for."""
        counts = row_sample.counted(X, weights)
        sample, edges, cut = self.sample.plus_rows(X, counts), self.edges, self.cut
        if cut is not None:
            weights = cut.kept(X, counts, n_jobs)
            cut, counts = cut.counting(counts, weights), weights
        sketch = Sketch.of(X, weights, n_jobs=n_jobs)  # this also refuses infinity
        numbers = np.arange(len(X)) + self.sample.seen
        more = extremes_of(X, counts, numbers, magnitudes=self.recipe.magnitudes)
        edges = more if edges is None else join_extremes(edges, more)
        sketch = sketch if self.sketch is None else self.sketch.plus(sketch)
        state = replace(self, sample=sample, sketch=sketch, edges=edges, cut=cut)
        if self.creases is not None and self.sums is not None:
            return replace(state, sums=self.sums.plus(Sums.of(self.creases, X, counts, n_jobs)))
        parts = (*self.waiting, (X, counts))
        if last or self.weight + counts.sum() >= self.recipe.n_init:
            return state._creased(parts, n_jobs)
        # The caller may reuse the array.
        return replace(state, waiting=(*self.waiting, (np.array(X, dtype=np.float64), counts)))

    @once
    def ready(self) -> TrainingState:
        """The same, with creases from the rows that wait if there are none yet."""
        return self if self.creases is not None else self._creased(self.waiting, 1)

    def _creased(self, parts: Parts, n_jobs: int | None) -> TrainingState:
        creases = self._creases_of(parts, n_jobs)
        if self.recipe.trim > 0.0:
            return self._trimmed(creases, parts, n_jobs)
        sums = reduce(Sums.plus, (Sums.of(creases, X, w, n_jobs) for X, w in parts))
        return replace(self, waiting=(), creases=creases, sums=sums)

    def _creases_of(self, parts: Parts, n_jobs: int | None) -> Creases:
        return self.recipe.creases_of(*row_sample.first(parts, self.recipe.n_init), n_jobs)

    def _trimmed(self, creases: Creases, parts: Parts, n_jobs: int | None) -> TrainingState:
        """Make new creases without the rows that look odd by the first."""
        cut = CreasedCut.of(creases, parts, self.recipe.trim, n_jobs)
        kept = tuple((X, cut.kept(X, counts, n_jobs)) for X, counts in parts)
        state = replace(self, creases=self._creases_of(kept, n_jobs), cut=cut).emptied()
        for X, counts in parts:
            state = state.plus_rows(X, counts, last=False, n_jobs=n_jobs)
        return state

    @once
    def box(self) -> Box | None:
        """What was learned of each column by itself; None before the first row."""
        if self.edges is None:
            return None
        learned = self.kept > 0.0
        rows, counts = self.sample.rows[learned], self.kept[learned]
        return Box.of(self.edges, rows, counts, magnitudes=self.recipe.magnitudes)

    @once
    def kept(self) -> Floats:
        """How often the rows of the sample were learned: those beyond the cut not at all."""
        if self.cut is None or self.creases is None:
            return self.sample.weights
        return self.cut.kept(self.sample.rows, self.sample.weights)

    @once
    def summary(self) -> Summary | None:
        """What is remembered of the rows, column by column; None before the first."""
        if self.sketch is None:
            return None
        return replace(Summary.of_sketch(self.sketch), box=self.box)

    def emptied(self) -> TrainingState:
        """Return the creases without any row; only where there are creases."""
        assert self.creases is not None
        return replace(
            TrainingState.nothing(self.recipe, len(self.creases.center)),
            creases=self.creases,
            sums=Sums.empty(self.creases.n_outputs),
            cut=None if self.cut is None else self.cut.emptied(),
        )

    def plus(self, other: TrainingState) -> TrainingState:
        """Return what is kept of the rows of both, which share their creases."""
        assert self.sums is not None
        assert other.sums is not None
        sketches = [s.sketch for s in (self, other) if s.sketch is not None]
        edges = [s.edges for s in (self, other) if s.edges is not None]
        return replace(
            self,
            sums=self.sums.plus(other.sums),
            sample=self.sample.plus(other.sample),
            sketch=reduce(Sketch.plus, sketches) if sketches else None,
            edges=_without_rows(edges),
            cut=None if self.cut is None or other.cut is None else self.cut.plus(other.cut),
        )

    __getstate__ = fields_only


def _without_rows(edges: list[TableExtremes]) -> TableExtremes | None:
    """Join the edges of tables: the number of a row says nothing without its table."""
    known = [tuple(edge.without_rows() for edge in each) for each in edges]
    return reduce(join_extremes, known) if known else None
