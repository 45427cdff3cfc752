"""What the other columns of a row say about one: fills gaps, and tells what was expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from refold._typing import Floats
from refold.models.creased._heights import BLOCK, Product, operand

# With more columns the products of all pairs would cost more than everything else.
MOST_COLUMNS = 1024


@dataclass(frozen=True, eq=False)
class Expected:
    """The ridge-linear prediction of standardized columns from each other.

    Parameters
    ----------
    precision : ndarray of shape (v, v)
        Inverse of the regularized sums of products. As with a normal distribution, the expected
        values of the columns m given the others o are −P[m,m]⁻¹ P[m,o] z[o].
    """

    precision: Floats

    @classmethod
    def of(cls, Z: Floats, weights: Floats, ridge: float) -> Expected:
        """Learn from standardized rows; where there are gaps, pair by pair of columns."""
        v = Z.shape[1]
        if v > MOST_COLUMNS:
            return cls(np.eye(v))
        observed = ~np.isnan(Z)
        filled = np.where(observed, Z, 0.0)
        products = (filled * weights[:, None]).T @ filled
        if not observed.all():
            seen = observed.astype(np.float64)
            together = (seen * weights[:, None]).T @ seen
            products *= np.divide(
                weights.sum(), together, out=np.zeros_like(together), where=together > 0.0
            )
            # Pairs counted on different rows need not fit together: keep the part that does.
            values, vectors = np.linalg.eigh(products)
            products = (vectors * np.maximum(values, 0.0)) @ vectors.T
        floor = v * np.finfo(np.float64).eps * products.diagonal().max(initial=0.0)
        products[np.diag_indices(v)] += max(ridge, floor)
        return cls(cho_solve(cho_factor(products, lower=True), np.eye(v)))

    def fill(self, Z: Floats) -> None:
        """Replace NaN by what the observed columns of the row lead to expect, in place."""
        missing = np.isnan(Z)
        holes = np.flatnonzero(missing.any(axis=1))
        if len(holes) == 0:
            return
        packed = np.packbits(missing[holes], axis=1)
        patterns, group = np.unique(packed, axis=0, return_inverse=True)
        for pattern in range(len(patterns)):
            rows = holes[group.ravel() == pattern]
            m = missing[rows[0]]
            # A row at a time: what a row is filled with must not depend on the rows beside it.
            solve = np.linalg.solve(self.precision[np.ix_(m, m)], self.precision[np.ix_(m, ~m)])
            for row in rows:
                Z[row, m] = -(solve @ Z[row, ~m])

    @property
    def product(self) -> Product:
        """What deviations take, for the height of a block."""
        return _Weighed(len(self.precision), bool(self.precision.flags.c_contiguous))

    def deviations(self, Z: Floats) -> Floats:
        """Return for each value how far it is from what the others of its row lead to expect."""
        return np.asarray((Z @ self.precision) / self.precision.diagonal())


@dataclass(frozen=True)
class _Weighed:
    """Rows of so many columns by a square matrix, whose rows or columns are in one piece."""

    columns: int
    by_rows: bool

    def __call__(self, rows: int) -> Floats:
        square = operand(self.columns, self.columns)
        return operand(BLOCK, self.columns)[:rows] @ (square if self.by_rows else square.T)
