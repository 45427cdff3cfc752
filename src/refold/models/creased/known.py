"""Rows that were learned are recognised: they are judged as if they had been left out.

A model has bent towards the rows it learned; without this it would call none of them abnormal. In a
table whose rows repeat, a row that equals a learned one is more likely a new one: there none is
recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from refold._typing import Booleans, Floats
from refold.algorithm import kernels

# How far they may be off: other libraries round a row, or standardize it first.
TOLERANCE = 1e-6
# The share of rows with an equal one up to which a row is recognised by being equal.
_MOST_TWINS = 0.1


@lru_cache(maxsize=64)
def weights_of_marks(d: int) -> tuple[Floats, Floats]:
    """Return what standardized values are multiplied by, and what a gap counts as."""
    random = np.random.RandomState(d)
    return random.standard_normal((d, kernels.MARKS)) / np.sqrt(d), 3.0 + random.random_sample(d)


def marks_of(z: Floats) -> Floats:
    """Return the marks of standardized rows: the same bits for equal rows, whoever is beside."""
    weights, gaps = weights_of_marks(z.shape[1])
    return kernels.row_marks(z, weights, gaps)


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Marks of rows that were learned, from which the rows cannot be told, and their distances."""

    # (k, 4): random sums of the standardized values of each different row, ascending by the first
    marks: Floats
    distances: Floats  # (k,): how far out the row would have been without itself

    @classmethod
    def of(cls, z: Floats, weights: Floats, distances: Floats) -> KnownRows:
        """Remember standardized rows, unless many have a twin; copies of one have their mean."""
        marks, group = np.unique(marks_of(z), axis=0, return_inverse=True)
        counts = np.bincount(group.ravel(), weights=weights, minlength=len(marks))
        if counts[counts > 1.0].sum() > _MOST_TWINS * counts.sum():
            return cls(np.empty((0, kernels.MARKS)), np.empty(0))
        total = np.bincount(group.ravel(), weights=weights * distances, minlength=len(marks))
        return cls(marks, total / counts)

    def find(self, z: Floats) -> tuple[Booleans, Floats]:
        """Say which standardized rows were learned, and give the distances of these."""
        at = kernels.find_known(self.compiled(z.shape[1]), z)
        return at >= 0, self.distances[at[at >= 0]]

    def compiled(self, d: int) -> kernels.KnownMarks:
        """Return the same as the kernels look at rows of so many columns."""
        weights, gaps = weights_of_marks(d)
        return kernels.known_marks(self.marks, self.distances, weights, gaps, TOLERANCE)


def have_twins(rows: Floats, weights: Floats) -> Booleans:
    """Say which rows have an equal one."""
    _, group = np.unique(marks_of(rows), axis=0, return_inverse=True)
    counts = np.bincount(group.ravel(), weights=weights)
    return np.asarray(counts[group.ravel()] > 1.0)
