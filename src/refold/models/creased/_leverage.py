"""The score: how much a row would pull on a ridge regression over the rows learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from refold._typing import Booleans, Floats
from refold.models.creased import _blas
from refold.models.creased._creases import Creases
from refold.models.creased._heights import BLOCK, Product, least_height, operand
from refold.models.creased._sums import Sums


@dataclass(frozen=True, eq=False)
class Leverage:
    """s(φ) = 1/n + (φ−φ̄)ᵀ (Φ_cᵀΦ_c + ridge·I)⁻¹ (φ−φ̄), factored.

    Parameters
    ----------
    weight : float
        n, the weight of the rows.
    center : ndarray of shape (p,)
        φ̄.
    factor : ndarray
        Primal: the lower Cholesky factor L of Φ_cᵀΦ_c + ridge·I, shape (p, p), and the quadratic
        form is ‖L⁻¹v‖². Dual, for r rows fewer than features: G = L⁻¹Φ_c with the factor L of
        Φ_cΦ_cᵀ + ridge·I, shape (r, p), and the form is (‖v‖² − ‖Gv‖²)/ridge.
    ridge : float
        The ridge; never less than the rounding of the sums.
    dual : bool
        Which of the two.
    """

    weight: float
    center: Floats
    factor: Floats
    ridge: float
    dual: bool

    @classmethod
    def of(cls, sums: Sums, ridge: float) -> Leverage:
        """Factor the sums."""
        if sums.gram is not None:
            return cls.primal(sums, ridge)
        center = sums.total / sums.weight
        V = (sums.rows - center) * np.sqrt(sums.counts)[:, None]
        ridge = _at_least_rounding(ridge, np.einsum("ij,ij->j", V, V))
        kernel = V @ V.T
        kernel[np.diag_indices(len(V))] += ridge
        factor = solve_triangular(cholesky(kernel, lower=True), V, lower=True)
        return cls(sums.weight, center, factor, ridge, dual=True)

    @classmethod
    def primal(cls, sums: Sums, ridge: float) -> Leverage:
        """Factor the sums feature by feature, however few rows there are."""
        center = sums.total / sums.weight
        scatter = sums.products() - sums.weight * np.outer(center, center)
        diagonal = np.diag_indices(len(center))
        ridge = _at_least_rounding(ridge, scatter[diagonal])
        scatter[diagonal] += ridge
        factor = cholesky(scatter, lower=True, overwrite_a=True, check_finite=False)
        return cls(sums.weight, center, np.asfortranarray(factor), ridge, dual=False)

    def scores(self, phi: Floats) -> Floats:
        """Return s of each row; `phi` is overwritten."""
        phi -= self.center
        if self.dual:
            form = np.einsum("ij,ij->i", phi, self._outside(phi))
            return np.asarray(1.0 / self.weight + np.maximum(form, 0.0) / self.ridge)
        _blas.solve_lower(self.factor, phi)
        return np.asarray(1.0 / self.weight + np.einsum("ij,ij->i", phi, phi))

    def across(self, one: Floats, other: Floats) -> Floats:
        """Return 1/n + vᵀAw of pairs of rows, as ``scores`` has left them in its argument."""
        if self.dual:
            other = self._outside(other) / self.ridge
        return np.asarray(1.0 / self.weight + np.einsum("ij,ij->i", one, other))

    def _outside(self, v: Floats) -> Floats:
        return _outside(v, self.factor)

    @property
    def product(self) -> Product:
        """What a score takes, for the height of a block."""
        height, width = self.factor.shape
        return _Quadratic(height, width, self.dual)

    def left_out(self, scores: Floats, weights: Floats) -> Floats:
        """Return the scores that rows learned would have had without themselves.

        A row of weight w is left out once, or wholly where w is below 1.
        """
        kept = 1.0 - np.minimum(weights, 1.0) * scores
        return np.asarray(scores / np.maximum(kept, np.finfo(np.float64).eps))


@dataclass(frozen=True)
class _Quadratic:
    """The products that a score takes."""

    height: int
    width: int
    dual: bool

    def __call__(self, rows: int) -> Floats:
        phi, factor = operand(BLOCK, self.width)[:rows], operand(self.height, self.width)
        if self.dual:
            return _outside(phi, factor)
        factor /= self.width
        factor[np.diag_indices(self.width)] = 1.0
        phi = phi.copy()
        _blas.solve_lower(np.asfortranarray(factor), phi)
        return phi


def _outside(v: Floats, factor: Floats) -> Floats:
    """Return v − GᵀGv; its product with v loses fewer digits than a difference of two."""
    return np.asarray(v - (v @ factor.T) @ factor)


class LeftOut:
    """Scores of rows and of variants of them, by a model without those that were learned.

    Parameters
    ----------
    leverage : Leverage
        The model with them.
    learned : ndarray of bool, shape (n,)
        Which of the rows were learned, each with weight 1. The first call gives the rows
        themselves, later ones their variants.
    """

    def __init__(self, leverage: Leverage, learned: Booleans) -> None:
        self._leverage, self._learned = leverage, learned
        self._own: tuple[Floats, Floats] | None = None

    def scores(self, phi: Floats) -> Floats:
        """Return s of each row, h(x) + h(x, own)²/(1 − h(own)); `phi` is overwritten."""
        scores = self._leverage.scores(phi)
        if not self._learned.any():
            return scores
        # What is left in phi are the rows in the coordinates in which products are plain.
        if self._own is None:
            self._own = phi.copy(), scores
        own, h = self._own
        across = self._leverage.across(own, phi)
        left = np.maximum(1.0 - h, np.finfo(np.float64).eps)
        return np.where(self._learned, scores + np.square(across) / left, scores)


def _at_least_rounding(ridge: float, diagonal: Floats) -> float:
    """Return the ridge, or what keeps the Cholesky factor of rounded sums positive."""
    rounding = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(ridge, rounding)


def leverages(creases: Creases, leverage: Leverage, X: NDArray[Any]) -> Floats:
    """Return s of each row of X."""
    out = np.empty(len(X))
    height = least_height(len(X), *creases.products(), leverage.product)
    for part, phi in creases.features(X, height):
        out[part] = leverage.scores(phi)[: part.stop - part.start]
    return out
