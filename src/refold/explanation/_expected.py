"""What the numbers of a row lead to expect of each other, where a model has learned that."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from refold._typing import Floats, Integers
from refold.judgement import Judgement
from refold.models.creased import CreasedScorer, Creases
from refold.models.detector.scorer import TableScorer, inside

# Of models that are in use: what numbers say about each other, by how many of the columns they are.
_MARGINAL: WeakKeyDictionary[Creases, dict[int, Floats]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Relations:
    """How the numbers of some rows belong together.

    How surprising other cells are says nothing about what a number should be, and a surprise
    beyond all that was learned would lead to expect something absurd: these are left out.

    Parameters
    ----------
    creases : Creases
        What was learned.
    numbers : ndarray of shape (n, k)
        The rows' numbers, NaN where missing.
    Z : ndarray of shape (n, v)
        Those that vary, standardized, gaps filled.
    varying : ndarray of int, shape (v,)
        Which of the numbers that are.
    precision : ndarray of shape (v, v)
        The inverse of what they have in common.
    """

    creases: Creases
    numbers: Floats
    Z: Floats
    varying: Integers
    precision: Floats

    @classmethod
    def of(cls, found: Judgement) -> Relations | None:
        """Return the relations that a model has learned; None if it sees none."""
        scorer, k = inside(found.judge.scorer), len(found.judge.numeric)
        if not isinstance(scorer, CreasedScorer) or k == 0:
            return None
        creases = scorer.scoring.creases
        rows = found.rows.astype(np.float64)
        if isinstance(found.judge.scorer, TableScorer):
            rows = found.judge.scorer.unpack(rows)[0]
        Z, precision = creases.standardized(rows)[0], creases.precision
        varying = np.flatnonzero(creases.varying)
        own = varying < k
        if not own.all():
            precision = _marginal_precision(creases, k)
        return cls(creases, rows[:, :k], Z[:, own], varying[own], precision)

    @property
    def deviations(self) -> Floats:
        """How far each is from what the others lead to expect."""
        return np.asarray((self.Z @ self.precision) / self.precision.diagonal())

    @property
    def expected(self) -> Floats:
        """What the others lead to expect, in the columns' own units."""
        center, scale = self.creases.center, self.creases.scale
        out = np.tile(center[: self.numbers.shape[1]], (len(self.Z), 1))
        with np.errstate(over="ignore"):
            out[:, self.varying] += (self.Z - self.deviations) * scale[self.varying]
        return np.nan_to_num(out)


def _marginal_precision(creases: Creases, k: int) -> Floats:
    """Return what the first k columns say about each other if the others are not looked at."""
    known = _MARGINAL.setdefault(creases, {})
    if k not in known:
        own = np.flatnonzero(creases.varying) < k
        known[k] = np.linalg.pinv(np.linalg.pinv(creases.precision)[np.ix_(own, own)])
    return known[k]
