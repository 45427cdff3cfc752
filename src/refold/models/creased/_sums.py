"""The running sums: all that the score needs to know of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from refold._typing import Floats
from refold.models.creased import _blas
from refold.models.creased._creases import Creases


@dataclass(frozen=True, eq=False)
class Sums:
    """Weight, sum and sum of products of the features; they add up over chunks and sites.

    Parameters
    ----------
    weight : float
        Σ w.
    total : ndarray of shape (p,)
        Σ w φ.
    rows : ndarray of shape (r, p), counts : ndarray of shape (r,)
        φ and w one by one, as long as there are fewer rows than features: less than `gram`, and all
        that the dual form needs.
    gram : ndarray of shape (p, p) or None
        Σ w φ φᵀ once there are more; its lower triangle.
    """

    weight: float
    total: Floats
    rows: Floats
    counts: Floats
    gram: Floats | None

    @classmethod
    def empty(cls, p: int) -> Self:
        """Return the sums of no rows."""
        return cls(0.0, np.zeros(p), np.empty((0, p)), np.empty(0), None)

    @classmethod
    def of(cls, creases: Creases, X: NDArray[Any], weights: Floats) -> Self:
        """Sum over the rows of X in one pass."""
        p = creases.n_outputs
        total = np.zeros(p)
        gram = np.zeros((p, p), order="F") if len(X) >= p else None
        rows = np.empty((0 if gram is not None else len(X), p))
        for part, phi in _cut(creases.features(X)):
            w = weights[part]
            total += w @ phi
            if gram is None:
                rows[part] = phi
            else:
                add_products(gram, phi, w)
        counts = weights.copy() if gram is None else np.empty(0)
        return cls(float(weights.sum()), total, rows, counts, gram)

    @classmethod
    def of_features(cls, phi: Floats, weights: Floats) -> Sums:
        """Sum over rows whose features are known."""
        kept = cls(float(weights.sum()), weights @ phi, phi, weights, None)
        return kept.plus(cls.empty(phi.shape[1]))

    def plus(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        weight, total = self.weight + other.weight, self.total + other.total
        rows = np.concatenate([self.rows, other.rows])
        counts = np.concatenate([self.counts, other.counts])
        grams = [s.gram for s in (self, other) if s.gram is not None]
        if not grams and len(rows) < len(total):
            return Sums(weight, total, rows, counts, None)
        gram = np.asfortranarray(sum(grams, np.zeros((len(total),) * 2)))
        add_products(gram, rows, counts)
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
        gram = np.zeros((len(self.total),) * 2, order="F")
        add_products(gram, self.rows, self.counts)
        return gram


def _cut(features: Iterator[tuple[slice, Floats]]) -> Iterator[tuple[slice, Floats]]:
    """Leave out the rows that only fill up the last block."""
    for part, phi in features:
        yield part, phi[: part.stop - part.start]


def add_products(gram: Floats, phi: Floats, weights: Floats) -> None:
    """Add Σ w φ φᵀ to the lower triangle of `gram`, in place."""
    if len(phi) == 0:
        return
    if (weights != 1.0).any():
        phi = phi * np.sqrt(weights)[:, None]
    _blas.add_products(gram, phi)
