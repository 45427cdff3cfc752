"""What the other columns of a row say about one: fills gaps, and tells what was expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats
from refold.algorithm import kernels

# With more columns the products of all pairs would cost more than everything else.
MOST_COLUMNS = 1024


@dataclass(frozen=True, eq=False)
class Expected:
    """The ridge-linear prediction of standardized columns from each other."""

    # (v, v): inverse of the regularized sums of products. As with a normal distribution, the
    # expected values of the columns m given the others o are −P[m,m]⁻¹ P[m,o] z[o].
    precision: Floats

    @classmethod
    def of(cls, Z: Floats, weights: Floats, ridge: float) -> Expected:
        """Learn from standardized rows; where there are gaps, pair by pair of columns."""
        v = Z.shape[1]
        if v > MOST_COLUMNS:
            return cls(np.eye(v))
        observed = ~np.isnan(Z)
        filled = np.where(observed, Z, 0.0)
        products = _products(filled, weights)
        if not observed.all():
            together = _products(observed.astype(np.float64), weights)
            products *= np.divide(
                weights.sum(), together, out=np.zeros_like(together), where=together > 0.0
            )
            # Pairs counted on different rows need not fit together: keep the part that does.
            values, vectors = np.linalg.eigh(products)
            products = kernels.product(vectors * np.maximum(values, 0.0), vectors)
        floor = v * np.finfo(np.float64).eps * products.diagonal().max(initial=0.0)
        products[np.diag_indices(v)] += max(ridge, floor)
        roots = kernels.solve_lower(kernels.cholesky(products)).T
        return cls(kernels.product(roots, roots))

    def fill(self, Z: Floats) -> None:
        """Replace NaN by what the observed columns of the row lead to expect, in place."""
        kernels.filled(Z, self.precision)

    def deviations(self, Z: Floats) -> Floats:
        """Return for each value how far it is from what the others of its row lead to expect."""
        pulls = kernels.product(Z, np.ascontiguousarray(self.precision.T))
        return np.asarray(pulls / self.precision.diagonal())


def _products(Z: Floats, weights: Floats) -> Floats:
    """Return Σ w z zᵀ."""
    return kernels.product(Z.T * weights, np.ascontiguousarray(Z.T))
