"""The score: how much a row would pull on a ridge regression over the rows learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refold._typing import Floats
from refold.algorithm import kernels
from refold.models.creased._creases import Creases
from refold.models.creased._rows import n_threads
from refold.models.creased._sums import Sums


@dataclass(frozen=True, eq=False)
class Leverage:
    """s(φ) = 1/n + (φ−φ̄)ᵀ (Φ_cᵀΦ_c + ridge·I)⁻¹ (φ−φ̄), factored."""

    weight: float  # n, the weight of the rows
    center: Floats  # (p,): φ̄
    # Primal: the lower Cholesky factor L of Φ_cᵀΦ_c + ridge·I, shape (p, p), and the quadratic form
    # is ‖L⁻¹v‖². Dual, for r rows fewer than features: G = L⁻¹Φ_c with the factor L of Φ_cΦ_cᵀ +
    # ridge·I, shape (r, p), and the form is (‖v‖² − ‖Gv‖²)/ridge.
    factor: Floats
    ridge: float  # The ridge; never less than the rounding of the sums
    dual: bool  # Which of the two

    @classmethod
    def of(cls, sums: Sums, ridge: float) -> Leverage:
        """Factor the sums."""
        if sums.gram is not None:
            return cls.primal(sums, ridge)
        center = sums.total / sums.weight
        V = (sums.rows - center) * np.sqrt(sums.counts)[:, None]
        ridge = _at_least_rounding(ridge, np.einsum("ij,ij->j", V, V))
        roots = kernels.cholesky(kernels.product(V, V), ridge=ridge)
        factor = kernels.solve_lower(roots, V)
        return cls(sums.weight, center, factor, ridge, dual=True)

    @classmethod
    def primal(cls, sums: Sums, ridge: float) -> Leverage:
        """Factor the sums feature by feature, however few rows there are."""
        center = sums.total / sums.weight
        gram = sums.products()
        spread = gram.diagonal() - sums.weight * np.square(center)
        ridge = _at_least_rounding(ridge, spread)
        factor = kernels.cholesky(gram, center=center, weight=sums.weight, ridge=ridge)
        return cls(sums.weight, center, factor, ridge, dual=False)

    def form(self, creases: Creases, n_jobs: int | None = 1) -> kernels.LeverageForm:
        """Return what scores features along creases."""
        threads = n_threads(len(self.center) ** 3 // 6, n_jobs)
        return kernels.leverage_form(
            creases.map,
            self.center,
            self.factor,
            weight=self.weight,
            ridge=self.ridge,
            dual=self.dual,
            n_threads=threads,
        )

    @property
    def products(self) -> int:
        """How many multiplications a score takes."""
        height, width = self.factor.shape
        return int(2 * height * width if self.dual else height * width // 2)

    def left_out(self, scores: Floats, weights: Floats) -> Floats:
        """Return the scores that rows learned would have had without themselves.

        A row of weight w is left out once, or wholly where w is below 1.
        """
        kept = 1.0 - np.minimum(weights, 1.0) * scores
        return np.asarray(scores / np.maximum(kept, np.finfo(np.float64).eps))


def _at_least_rounding(ridge: float, diagonal: Floats) -> float:
    """Return the ridge, or what keeps the Cholesky factor of rounded sums positive."""
    rounding = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(ridge, rounding)
