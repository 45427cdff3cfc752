"""The running sums: all that the score needs to know of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.algorithm import kernels
from refold.models.creased._creases import Creases
from refold.models.creased._rows import n_threads, weighted_sum


@dataclass(frozen=True, eq=False)
class Sums:
    """Weight, sum and sum of products of the features; they add up over chunks and sites."""

    weight: float  # Σ w
    total: Floats  # (p,): σ w φ
    # φ and w one by one, as long as there are fewer rows than features: less than `gram`, and all
    # that the dual form needs
    rows: Floats
    counts: Floats
    gram: Floats | None  # (p, p): σ w φ φᵀ once there are more; its lower triangle

    @classmethod
    def empty(cls, p: int) -> Self:
        """Return the sums of no rows."""
        return cls(0.0, np.zeros(p), np.empty((0, p)), np.empty(0), None)

    @classmethod
    def of(
        cls, creases: Creases, X: NDArray[Any], weights: Floats, n_jobs: int | None = None
    ) -> Self:
        """Sum over the rows of X in one pass."""
        p, weight = creases.n_outputs, float(weights.sum())
        threads = n_threads(len(X) * p * p // 2, n_jobs)
        if len(X) < p:
            rows = kernels.crease_features(creases.map, X, threads)
            return cls(weight, weighted_sum(weights, rows), rows, weights.copy(), None)
        total, gram = kernels.crease_sums(creases.map, X, weights, threads)
        return cls(weight, total, np.empty((0, p)), np.empty(0), gram)

    def plus(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        weight, total = self.weight + other.weight, self.total + other.total
        rows = np.concatenate([self.rows, other.rows])
        counts = np.concatenate([self.counts, other.counts])
        grams = [s.gram for s in (self, other) if s.gram is not None]
        if not grams and len(rows) < len(total):
            return Sums(weight, total, rows, counts, None)
        if len(rows):
            grams.append(kernels.sum_products(rows, counts, 1))
        gram = reduce(np.add, grams)
        return Sums(weight, total, rows[:0], counts[:0], gram)

    def __getstate__(self) -> dict[str, Any]:
        """Send half of what is symmetric: sums travel between machines."""
        if self.gram is None:
            return vars(self)
        return {**vars(self), "gram": self.gram.T[np.triu_indices(len(self.gram))]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if (half := state["gram"]) is not None:
            p = len(state["total"])
            gram = np.zeros((p, p))
            gram[np.triu_indices(p)] = half
            state = {**state, "gram": gram.T}  # in Fortran's order, its lower triangle
        self.__dict__.update(state)

    def products(self) -> Floats:
        """Return Σ w φ φᵀ, its lower triangle."""
        if self.gram is not None:
            return self.gram
        return kernels.sum_products(self.rows, self.counts, 1)
