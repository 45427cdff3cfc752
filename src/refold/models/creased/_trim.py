"""Which rows CreasedREF leaves out of training: those that the folds put farthest out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats, Integers
from refold.algorithm import kernels
from refold.models.creased._creases import Creases
from refold.models.creased._rows import n_threads
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
